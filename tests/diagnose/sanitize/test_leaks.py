"""Planted secrets of forty kinds, in every place and every form: none is seen."""

from __future__ import annotations

import base64
import json
from itertools import chain, repeat

import pytest
import yaml

from truepenny.diagnose.sanitize.choice import form_for
from truepenny.diagnose.sanitize.form import DESCRIBE, ENV, JSON, LOGS, YAML, Form
from truepenny.text.redact import Redactor

from . import planted
from .planted import Entry

REDACTOR = Redactor()
ENTRIES = list(planted.entries())
STEP = 997


def shown(form: Form, text: str) -> str:
    sanitizer = form.open(REDACTOR)
    parts = (text[at : at + STEP] for at in range(0, len(text), STEP))
    return "".join(sanitizer.feed(part) for part in parts) + sanitizer.finish()


def leaked(secret: str, text: str) -> bool:
    """Whether it is seen, as it is or in the forms in which it was planted."""
    encoded = base64.b64encode(secret.encode()).decode()
    # An escaped text is seen as well as a plain one.
    plain = text.replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/")
    return any(one in whole for one in (secret, encoded) for whole in (text, plain))


def test_there_are_forty_kinds() -> None:
    assert len(planted.KINDS) == len(set(planted.KINDS)) == 40
    texts = [planted.mixed(name, value) for name, value, _ in ENTRIES]
    assert all(
        leaked(secret, json.dumps(text, ensure_ascii=False))
        for text, (_, _, secret) in zip(texts, ENTRIES, strict=True)
    )


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("kind", ["mixed", *planted.OBJECTS])
def test_json(kind: str, indent: int | None) -> None:
    make = planted.mixed if kind == "mixed" else planted.OBJECTS[kind]
    assert [
        name
        for name, value, secret in ENTRIES
        if leaked(secret, shown(JSON, json.dumps(make(name, value), indent=indent)))
    ] == []


@pytest.mark.parametrize("kind", ["mixed", *planted.OBJECTS])
def test_yaml(kind: str) -> None:
    make = planted.mixed if kind == "mixed" else planted.OBJECTS[kind]
    assert [
        name
        for name, value, secret in ENTRIES
        if leaked(secret, shown(YAML, yaml.safe_dump(make(name, value), width=10_000)))
    ] == []


def _texts(entry: Entry) -> dict[str, tuple[Form, str]]:
    name, value, _ = entry
    pod, config = planted.OBJECTS["pod"](name, value), planted.OBJECTS["config map"](name, value)
    inspected = planted.OBJECTS["crictl"](name, value)
    jsonpath = form_for([["kubectl", "get", "cm", "c", "-o", "jsonpath={.data}"]])
    columns = form_for([["kubectl", "get", "cm", "c", "-o", f"custom-columns=V:.data.{name}"]])
    return {
        "describe": (DESCRIBE, planted.described(name, value)),
        "env": (ENV, planted.environment(name, value)),
        "env -0": (ENV, planted.environment(name, value, "\0")),
        "logs": (LOGS, planted.logged(name, value)),
        "jsonpath": (jsonpath, json.dumps(config["data"])),
        "custom-columns": (columns, f"V\n{value}\n"),
        "go template of text": (LOGS, planted.go_map({"data": {name: value}, "x": 1})),
        "jsonpath of an environment": (LOGS, json.dumps(pod["spec"]["containers"][0]["env"])),
        "json as text": (LOGS, json.dumps(inspected, indent=2)),
        "yaml as text": (LOGS, yaml.safe_dump({"spec": {name: value}}, width=10_000)),
        "wide": (LOGS, f"NAME   MESSAGE\np      failed {name}={value}\n"),
    }


@pytest.mark.parametrize("form", list(_texts(ENTRIES[0])))
def test_other_output(form: str) -> None:
    found = chain(zip(ENTRIES, repeat(form), strict=False))
    assert [
        entry[0] for entry, name in found if leaked(entry[2], shown(*_texts(entry)[name]))
    ] == []


def test_each_text_has_the_secret_before() -> None:
    for entry in ENTRIES:
        for form, (_, text) in _texts(entry).items():
            assert leaked(entry[2], text), (entry[0], form)
