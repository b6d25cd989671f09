from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truepenny.tool.admission import Admission, Policy
from truepenny.tool.autonomy import VERDICTS, Autonomy
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
        Policy(autonomy=Autonomy.READ_ONLY, human=human),
        action_class=action_class,
        judge=lambda _: own,
    )
    if action_class is not ActionClass.READ:
        assert decision.verdict is Verdict.DENY
    if own.verdict is Verdict.DENY:
        assert decision.verdict is Verdict.DENY


@given(st.sampled_from(ActionClass), st.booleans())
def test_a_wider_level_never_takes_back_what_a_narrower_one_gave(
    action_class: ActionClass, human: bool
) -> None:
    strict = [Verdict.DENY, Verdict.ASK, Verdict.ALLOW]
    levels = [
        decide(Policy(autonomy=level, human=human), action_class=action_class).verdict
        for level in Autonomy
    ]
    assert [strict.index(one) for one in levels] == sorted(strict.index(one) for one in levels)


def test_every_class_has_a_row() -> None:
    assert set(VERDICTS) == set(ActionClass)


def test_nothing_of_the_system_changes_unasked() -> None:
    for level in Autonomy:
        for human in (True, False):
            decision = decide(
                Policy(autonomy=level, human=human), action_class=ActionClass.SYSTEM_MODIFY
            )
            assert decision.verdict is not Verdict.ALLOW


def test_a_denial_names_the_level_that_would_let_it_through() -> None:
    policy = Policy(autonomy=Autonomy.AUTO_EDIT)
    assert decide(policy, action_class=ActionClass.WRITE).verdict is Verdict.ALLOW
    denied = decide(policy, action_class=ActionClass.EXECUTE)
    assert (denied.reason, "--autonomy full-auto" in denied.hint) == ("nobody_to_ask", True)
    never = decide(policy, action_class=ActionClass.GIT_DESTRUCTIVE)
    assert (never.verdict, never.reason) == (Verdict.DENY, "never_allowed")
