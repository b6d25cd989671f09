"""Redaction by structure (spec/field.md B3 rows 28, 29, 32, 33)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from truepenny.text.redact import Redactor
from truepenny.text.redact_json import MAX_DEPTH

REDACTOR = Redactor()


def _clean(value: Any) -> Any:
    return REDACTOR.json(value)[0]


def test_a_secret_keeps_its_names_and_loses_its_values() -> None:
    value = {"kind": "Secret", "data": {"user": "Ym9i", "empty": ""}, "stringData": {"a": "b"}}
    got, counts = REDACTOR.json(value)
    assert got == {
        "kind": "Secret",
        "data": {"user": "[REDACTED:secret-data]", "empty": ""},
        "stringData": {"a": "[REDACTED:secret-data]"},
    }
    assert counts == {"secret-data": 2}
    assert value["data"]["user"] == "Ym9i"  # type: ignore[index]


def test_items_of_a_typed_list_have_its_kind() -> None:
    got = _clean({"kind": "SecretList", "items": [{"metadata": {}, "data": {"k": "Ym9i"}}]})
    assert got["items"][0]["data"]["k"] == "[REDACTED:secret-data]"


def test_each_item_of_a_list_is_judged_by_its_own_kind() -> None:
    got = _clean(
        {
            "kind": "List",
            "items": [
                {"kind": "Secret", "data": {"k": "Ym9i"}},
                {"kind": "ConfigMap", "data": {"color": "blue", "db_password": "x1"}},
                {"kind": "List", "items": [{"kind": "Secret", "data": {"k": "Ym9i"}}]},
            ],
        }
    )
    assert got["items"][0]["data"]["k"] == "[REDACTED:secret-data]"
    assert got["items"][1]["data"] == {"color": "blue", "db_password": "[REDACTED:key]"}
    assert got["items"][2]["items"][0]["data"]["k"] == "[REDACTED:secret-data]"


def test_the_last_applied_annotation_is_walked() -> None:
    applied = json.dumps({"kind": "Secret", "data": {"k": "cGxhaW4="}})
    got = _clean({"kind": "Secret", "metadata": {"annotations": {"last-applied": applied}}})
    inner = json.loads(got["metadata"]["annotations"]["last-applied"])
    assert inner["data"] == {"k": "[REDACTED:secret-data]"}


def test_environment_arguments_and_registries() -> None:
    got = _clean(
        {
            "env": [
                {"name": "DB_PASSWORD", "value": "hunter2"},
                {"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
                {"name": "LEVEL", "value": "debug"},
                {"key": "SESSION_SECRET", "value": "abc"},
            ],
            "args": ["--password", "hunter2", "--token=abc1", "--port", "80", "PASSWORD=hunter2"],
            "auths": {"r.example": {"auth": "Ym9iOmh1bnRlcjI=", "password": "hunter2"}},
            "tokens": ["abcdefgh1"],
        }
    )
    assert "hunter2" not in json.dumps(got)
    assert got["env"][1]["valueFrom"] == {"secretKeyRef": {"name": "s", "key": "token"}}
    assert got["env"][2] == {"name": "LEVEL", "value": "debug"}
    assert got["env"][3]["value"] == "[REDACTED:key]"
    assert got["args"][:2] == ["--password", "[REDACTED:key]"]
    assert got["args"][3:5] == ["--port", "80"]
    assert got["auths"]["r.example"]["auth"] == "[REDACTED:key]"
    assert got["tokens"] == ["[REDACTED:key]"]


def test_pod_fields_that_sound_secret_stay() -> None:
    pod = {
        "kind": "Pod",
        "metadata": {"uid": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "resourceVersion": "184467"},
        "spec": {
            "automountServiceAccountToken": True,
            "imagePullSecrets": [{"name": "regcred"}],
            "volumes": [
                {"name": "v", "secret": {"secretName": "db", "defaultMode": 420}},
                {"projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607}}]}},
            ],
        },
        "status": {"message": 'secret "db" not found'},
    }
    assert REDACTOR.json(pod) == (pod, {})


def test_numbers_booleans_and_null() -> None:
    value = {"password": 12345, "token": 5, "secret": None, "apiKey": True, "n": 1.5}
    assert _clean(value) == {**value, "password": "[REDACTED:key]"}


def test_known_values_are_found_in_values_and_names() -> None:
    redactor = Redactor()
    redactor.learn("Known-value-1", "k")
    got, counts = redactor.json({"Known-value-1": ["x Known-value-1"]})
    assert got == {"[REDACTED:k]": ["x [REDACTED:k]"]}
    assert counts == {"k": 2}


def test_too_deep_is_masked_not_crashed() -> None:
    value: Any = "x"
    for _ in range(MAX_DEPTH * 3):
        value = [value]
    got, counts = REDACTOR.json(value)
    assert counts == {"too-deep": 1}
    assert "[REDACTED:too-deep]" in json.dumps(got)


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["x", "hunter2", '{"password":"a"}']),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["a", "kind", "data", "password", "token", "name", "value", "items"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(_values)
def test_twice_changes_nothing_and_it_stays_json(value: Any) -> None:
    once, _ = REDACTOR.json(value)
    json.dumps(once)
    assert REDACTOR.json(once) == (once, {})
