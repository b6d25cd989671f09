"""The history validator: any sequence of operations leaves a history that a provider accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truepenny.agent.history import History
from truepenny.agent.repair import RepairKind
from truepenny.agent.validity import validate
from truepenny.model.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user,
)

TEXTS = st.sampled_from(["", " ", "\n", "hello", "more", "é"])
IDS = st.sampled_from(["", "a", "b", "c", "call_0", " ", "\ud800", "\x1b]0;x\x07", "x" * 300])
NAMES = st.sampled_from(["echo", "kubectl", "", "bad name!", "x" * 70, "ok-1"])
texts = TEXTS.map(Text)
tool_calls = st.builds(ToolCall, IDS, NAMES, st.none() | st.just({}), problem=st.just("p"))
users = st.builds(UserMessage, st.lists(texts, max_size=2).map(tuple))
assistants = st.builds(
    AssistantMessage,
    st.lists(texts | tool_calls | st.builds(Thinking, TEXTS), max_size=4).map(tuple),
    st.just(StopReason.TOOL_USE),
)
results = st.builds(ToolResultMessage, IDS, NAMES, st.lists(texts, max_size=2).map(tuple))
messages = users | assistants | results


def assistant(*parts: Text | ToolCall) -> AssistantMessage:
    return AssistantMessage(parts, StopReason.TOOL_USE)


def call(call_id: str, name: str = "echo") -> ToolCall:
    return ToolCall(call_id, name, {})


def result(call_id: str, text: str = "out") -> ToolResultMessage:
    return ToolResultMessage(call_id, "echo", (Text(text),))


def kinds(repairs: object) -> list[RepairKind]:
    return [repair.kind for repair in repairs]  # type: ignore[attr-defined]


operations = st.lists(
    messages.map(lambda message: ("append", message))
    | st.integers(0, 12).map(lambda length: ("cut", length))
    | st.just(("abort", None))
    | st.just(("send", None))
    | st.just(("answer", None)),
    max_size=30,
)


@given(operations)
def test_any_sequence_of_operations_leaves_a_valid_history(plan: list[tuple[str, object]]) -> None:
    history = History()
    live = history.messages
    for what, value in plan:
        if what == "append":
            history.append(value)  # type: ignore[arg-type]
        elif what == "cut":
            history.cut(value)  # type: ignore[arg-type]
        elif what == "abort":
            history.seal()
        elif what == "answer" and history.open_calls:
            history.append(result(history.open_calls[-1].id))
        elif what == "send" and len(history):
            history.ready()
            assert validate(history.messages) == ()
    if len(history):
        history.ready()
        assert validate(history.messages) == ()
    assert history.messages is live, "wires rely on one list"


@given(st.lists(messages, max_size=20))
def test_rebuilding_repairs_anything_and_a_valid_history_not_at_all(
    given_messages: list[Message],
) -> None:
    history, _ = History.rebuilt(given_messages)
    if not len(history):
        return
    history.ready()
    again, repairs = History.rebuilt(history.messages)
    assert repairs == ()
    assert list(again.messages) == list(history.messages)


@given(st.lists(messages, max_size=20))
def test_a_repair_is_reported_whenever_something_was_changed(given_messages: list[Message]) -> None:
    history, repairs = History.rebuilt(given_messages)
    if not repairs:
        assert list(history.messages) == given_messages


@given(st.permutations(["a", "b", "c"]))
def test_results_in_any_order_are_put_in_call_order(order: list[str]) -> None:
    history = History()
    history.append(user("go"))
    history.append(assistant(call("a"), call("b"), call("c")))
    for call_id in order:
        history.append(result(call_id))
    found = [m.call_id for m in history.messages if isinstance(m, ToolResultMessage)]
    assert found == ["a", "b", "c"]
    assert validate(history.messages) == ()


def test_an_unanswered_call_gets_an_answer_that_claims_nothing() -> None:
    history = History()
    history.append(user("go"))
    history.append(assistant(call("a"), call("b")))
    history.append(result("b"))
    appended = history.append(user("next"))
    assert kinds(appended.repairs) == [RepairKind.MISSING_RESULT]
    made = history.messages[2]
    assert isinstance(made, ToolResultMessage) and made.call_id == "a" and made.failed
    assert isinstance(made.content[0], Text) and "outcome interrupted" in made.content[0].text
    assert validate(history.messages) == ()


def test_an_orphan_and_a_second_result_are_left_out_and_named() -> None:
    history = History()
    history.append(user("go"))
    assert kinds(history.append(result("ghost")).repairs) == [RepairKind.ORPHAN_RESULT]
    history.append(assistant(call("a")))
    history.append(result("a"))
    assert kinds(history.append(result("a")).repairs) == [RepairKind.ORPHAN_RESULT]
    assert validate(history.messages) == ()


def test_providers_that_repeat_their_call_ids_get_new_ones() -> None:
    history = History()
    history.append(user("go"))
    history.append(assistant(call("call_0")))
    history.append(result("call_0"))
    appended = history.append(assistant(call("call_0"), call("call_0")))
    assert kinds(appended.repairs) == [RepairKind.DUPLICATE_CALL_ID] * 2
    ids = [found.id for found in history.open_calls]
    assert len({"call_0", *ids}) == 3


def test_a_repaired_message_does_not_keep_the_bytes_of_the_old_one() -> None:
    broken = AssistantMessage(
        (Text(" "), Text("yes")), StopReason.END_TURN, encoded={"some_wire": b"old"}
    )
    history = History()
    history.append(user("go"))
    history.append(broken)
    kept = history.messages[-1]
    assert kept is not broken and kept.encoded == {}


def test_a_cut_opens_the_calls_whose_results_it_removed() -> None:
    history = History()
    history.append(user("go"))
    history.append(assistant(call("a"), call("b")))
    history.append(result("a"))
    history.append(result("b"))
    history.cut(3)
    assert [found.id for found in history.open_calls] == ["b"]
    history.cut(1)
    assert history.open_calls == ()
    history.append(assistant(call("a")))
    assert [found.id for found in history.open_calls] == ["a"]


def test_an_empty_history_is_not_sent() -> None:
    try:
        History().ready()
    except ValueError:
        return
    raise AssertionError("an empty history must not be sent")
