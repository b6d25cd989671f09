from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truepenny.tool.admission import Admission, Policy
from truepenny.tool.contract import ActionClass
from truepenny.tool.decision import ALLOW, Decision, Verdict, deny

from .tools import tool


def decide(policy: Policy, **kwargs) -> Decision:
    return Admission(policy).decide(tool(**kwargs), {"say": "x"})


def test_a_read_is_allowed() -> None:
    assert decide(Policy()).verdict is Verdict.ALLOW


def test_no_whitelist_and_an_empty_one_are_different_instructions() -> None:
    assert decide(Policy(allow=None)).verdict is Verdict.ALLOW
    assert decide(Policy(allow=frozenset())).reason == "tool_not_allowed"


def test_a_denied_name_beats_the_whitelist() -> None:
    policy = Policy(allow=frozenset({"echo"}), deny=frozenset({"echo"}))
    assert decide(policy).reason == "tool_denied"


def test_the_tools_own_denial_is_passed_on_whole() -> None:
    own = deny("verb_not_allowed", "no", rule="kubectl.verbs", hint="get", matched="delete")
    assert decide(Policy(human=True), judge=lambda arguments: own) == own


def test_a_tool_may_ask_even_for_a_read() -> None:
    own = Decision(Verdict.ASK, "large")
    assert decide(Policy(human=True), judge=lambda arguments: own).verdict is Verdict.ASK


def test_without_a_person_ask_becomes_deny() -> None:
    decision = decide(Policy(human=False), action_class=ActionClass.WRITE)
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "nobody_to_ask")
    assert decide(Policy(human=True), action_class=ActionClass.WRITE).verdict is Verdict.ASK


@given(
    st.sampled_from(ActionClass),
    st.booleans(),
    st.sampled_from([ALLOW, Decision(Verdict.ASK, "x"), deny("x", "x")]),
)
def test_a_read_only_session_never_lets_another_class_through(
    action_class: ActionClass, human: bool, own: Decision
) -> None:
    decision = decide(
        Policy(read_only=True, human=human), action_class=action_class, judge=lambda _: own
    )
    if action_class is not ActionClass.READ:
        assert decision.verdict is Verdict.DENY
    if own.verdict is Verdict.DENY:
        assert decision.verdict is Verdict.DENY
