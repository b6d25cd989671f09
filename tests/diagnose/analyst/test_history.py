from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truepenny.diagnose.analyst.history import read_history, read_result
from truepenny.model.message import (
    AssistantMessage,
    StopReason,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user,
)
from truepenny.tool.outcome import Outcome
from truepenny.tool.result import Completeness, Facts, Result
from truepenny.tool.view import model_content

CALL = ToolCall("call_1", "kubectl", {"args": ["get", "pods"], "cluster": "blue"})


def test_a_result_reads_back_as_it_was() -> None:
    facts = Facts(
        reason="forbidden",
        hint="ask for rights",
        completeness=Completeness("unknown", "nothing was read"),
        source={"cluster": "blue", "namespace": "shop"},
    )
    result = Result(Outcome.TARGET_FAILED, (Text("no\n\nway"),), facts)
    message = ToolResultMessage("call_1", "kubectl", model_content(result, "call_1"), True)
    seen = read_result(CALL, message)
    assert (seen.outcome, seen.reason, seen.hint) == (
        "target_failed",
        "forbidden",
        "ask for rights",
    )
    assert seen.body == "no\n\nway" and seen.namespace == "shop" and seen.cluster == "blue"
    assert seen.argv == ("get", "pods")


@given(st.text())
def test_a_body_cannot_pose_as_a_header(text: str) -> None:
    result = Result(Outcome.NO_MATCH, (Text(text or "x"),))
    message = ToolResultMessage("call_1", "kubectl", model_content(result, "call_1"))
    assert read_result(CALL, message).outcome == "no_match"


@given(st.text())
def test_a_result_without_a_header_is_unknown(text: str) -> None:
    message = ToolResultMessage("call_1", "kubectl", (Text(f"x{text}"),))
    assert read_result(CALL, message).outcome == "unknown"


def test_a_turn_begins_after_the_last_answer_and_joins_what_was_added() -> None:
    asks = AssistantMessage((CALL,), StopReason.TOOL_USE)
    messages = [
        user("first"),
        AssistantMessage((Text("done"),), StopReason.END_TURN),
        user("second"),
        asks,
        ToolResultMessage("call_1", "kubectl", (Text("[outcome success]\n\nrows"),)),
        UserMessage((Text("and more"),), synthetic="steer"),
        UserMessage((Text("a job ended"),), synthetic="task_event"),
    ]
    seen = read_history(messages)
    assert seen.question == "second\nand more" and seen.earlier == ("first",)
    assert [call.body for call in seen.calls] == ["rows"] and seen.past == ()
    assert seen.count == 1


def test_what_a_cut_off_turn_read_is_past_and_what_was_stopped_is_forgotten() -> None:
    stopped = ToolCall("call_2", "kubectl", {"args": ["get", "events"]})
    facts = Facts(reason="process_ended")
    cut = model_content(Result(Outcome.INTERRUPTED, (Text("?"),), facts), "call_2")
    seen = read_history(
        [
            user("first"),
            AssistantMessage((CALL, stopped), StopReason.TOOL_USE),
            ToolResultMessage("call_1", "kubectl", (Text("[outcome success]\n\nrows"),)),
            ToolResultMessage("call_2", "kubectl", cut, True),
            user("go on"),
        ]
    )
    assert seen.question == "first\ngo on" and seen.earlier == ()
    assert seen.calls == () and [call.body for call in seen.past] == ["rows"]
    assert seen.count == 2
