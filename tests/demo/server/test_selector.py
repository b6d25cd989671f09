from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.demo.practice import make
from truepenny.demo.server.kind import KINDS
from truepenny.demo.server.selector import field_selector, label_selector
from truepenny.demo.server.status import Refusal

POD = next(kind for kind in KINDS if kind.kind == "Pod")


@pytest.mark.parametrize(
    ("written", "labels", "matches"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a in (b, c),d", {"a": "c", "d": "x"}, True),
        ("a in (b,c)", {}, False),
        ("a notin (b,c)", {}, True),
        ("a notin (b,c)", {"a": "b"}, False),
        ("n>3", {"n": "4"}, True),
        ("n<3", {"n": "x"}, False),
        ("app.kubernetes.io/name=web", {"app.kubernetes.io/name": "web"}, True),
        ("a=", {"a": ""}, True),
    ],
)
def test_label_selectors(written: str, labels: dict[str, str], matches: bool) -> None:
    value = make("Pod", "p", metadata={"labels": labels})
    assert label_selector(written).matches(value) is matches


@pytest.mark.parametrize("written", ["a b", "a in b", "=x", "a in (b", ","])
def test_a_selector_that_does_not_read_is_refused(written: str) -> None:
    with pytest.raises(Refusal) as caught:
        label_selector(written)
    assert caught.value.code == 400


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(written: str) -> None:
    for read in (label_selector, lambda text: field_selector(text, POD)):
        try:
            read(written).matches(make("Pod", "p"))
        except Refusal as refusal:
            assert refusal.code == 400


def test_field_selectors() -> None:
    pod = make("Pod", "p", spec={"nodeName": "n1"}, status={"phase": "Running"})

    def matches(written: str) -> bool:
        return field_selector(written, POD).matches(pod)

    assert matches("metadata.name=p,spec.nodeName==n1")
    assert not matches("status.phase!=Running")
    assert matches("spec.hostNetwork=false")
    assert matches("status.podIP=")
    with pytest.raises(Refusal):
        matches("spec.foo=1")
