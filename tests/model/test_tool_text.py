"""Tool calls written as text: what is understood, what stays text, what streams meanwhile."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepenny.model.event import (
    MessageEnd,
    ModelEvent,
    Quirk,
    StreamFailed,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from truepenny.model.failure import Failure, FailureKind
from truepenny.model.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    user,
)
from truepenny.model.request import ModelRequest, ToolSchema
from truepenny.model.tool_text.model import TextToolModel
from truepenny.model.tool_text.parse import MAX_CALLS, parse
from truepenny.system.ids import CountingIds

pytestmark = pytest.mark.anyio

KUBECTL = ToolSchema(
    "kubectl",
    "Read a cluster.",
    {
        "type": "object",
        "properties": {"args": {"type": "array", "items": {"type": "string"}}},
        "required": ["args"],
        "additionalProperties": False,
    },
)
TOOLS = (KUBECTL, ToolSchema("cluster_list", "List clusters.", {"type": "object"}))
CALL = '{"name": "kubectl", "arguments": {"args": ["get", "pods"]}}'
ARGUMENTS = {"args": ["get", "pods"]}


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        f"```json\n{CALL}",
        f"I will look.\n```json\n{CALL}\n```",
        f"```bash\nls\n```\nThen:\n```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"<function_call>{CALL}</function_call>",
        f"<|python_tag|>{CALL}",
        f"[TOOL_CALLS] [{CALL}]",
        '<function=kubectl>{"args": ["get", "pods"]}</function>',
        f"[{CALL}]",
        '{"name": "kubectl", "parameters": {"args": ["get", "pods"]}}',
        '{"tool": "kubectl", "args": {"args": ["get", "pods"]}}',
        '{"function": {"name": "kubectl", "arguments": "{\\"args\\": [\\"get\\", \\"pods\\"]}"}}',
        f'{{"tool_calls": [{{"type": "function", "function": {CALL}}}]}}',
    ],
)
def test_every_written_form_is_the_same_call(text: str) -> None:
    parsed = parse(text, TOOLS, CountingIds())
    assert [(c.id, c.name, c.arguments, c.problem) for c in parsed.calls] == [
        ("call_1", "kubectl", ARGUMENTS, "")
    ]
    assert parsed.dropped == 0


@pytest.mark.parametrize(
    "text",
    [
        "The pods are fine.",
        '{"answer": "the pods are fine"}',
        f"For example:\n{CALL}\nwould list them.",
        f"Run\n```json\n{CALL}\n```\nto list them.",
        '{"name": "checkout", "arguments": {"replicas": 2}}',
        '[{"name": "kubectl", "arguments": {"args": []}}, 3]',
        '{"name": "kubectl"}',
        f"{CALL} and more",
        "{not json}",
        "```json\n{broken\n```",
        "",
    ],
)
def test_what_is_not_plainly_a_call_stays_text(text: str) -> None:
    parsed = parse(text, TOOLS)
    assert (parsed.calls, parsed.prose) == ((), text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "kubectl", "arguments": {"args": "get pods"}}', "kubectl"),
        ('{"name": "kubectl", "arguments": {"args": [], "shell": true}}', "kubectl"),
        ('{"name": "kubectl", "arguments": {}}', "kubectl"),
        ('{"name": "kubectl", "arguments": ["get"]}', "kubectl"),
        ('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "rm"),
    ],
)
def test_a_call_that_does_not_fit_is_never_runnable(text: str, name: str) -> None:
    (call,) = parse(text, TOOLS).calls
    assert (call.name, call.arguments) == (name, None)
    assert call.problem


@pytest.mark.parametrize("opening", ["<tool_call>", "", "```json\n"])
def test_a_call_that_breaks_off_is_named(opening: str) -> None:
    parsed = parse(opening + '{"name": "kubectl", "argu', TOOLS)
    assert not parsed.calls
    assert parsed.rejected


def test_several_calls_and_what_follows_are_counted() -> None:
    text = f"Both.\n<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>\nfoo: bar"
    parsed = parse(text, TOOLS)
    assert len(parsed.calls) == 2
    assert parsed.prose == "Both.\n"
    assert parsed.dropped == len("foo: bar")
    many = parse("".join(f"<tool_call>{CALL}</tool_call>" for _ in range(MAX_CALLS + 3)), TOOLS)
    assert len(many.calls) == MAX_CALLS
    assert many.dropped > 0


@given(st.text(alphabet='{}[]"`<>:,\\ \nabtool_call|=1', max_size=80))
def test_any_text_parses_without_an_error(text: str) -> None:
    parsed = parse(text, TOOLS)
    assert text.startswith(parsed.prose)


class Scripted:
    """A model that sends the same events for every request and keeps the requests."""

    name = "test/scripted"

    def __init__(self, *events: ModelEvent) -> None:
        self.events = events
        self.requests: list[ModelRequest] = []
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        for event in self.events:
            yield event

    async def close(self) -> None:
        self.closed = True


def answer(text: str, pieces: Sequence[str] | None = None) -> Scripted:
    deltas = [TextDelta(piece) for piece in pieces or list(text)]
    return Scripted(*deltas, MessageEnd(AssistantMessage((Text(text),), StopReason.END_TURN)))


async def collect(model: TextToolModel, messages: Sequence[Message] = ()) -> list[ModelEvent]:
    request = ModelRequest("Be brief.", messages or [user("hi")], TOOLS)
    return [event async for event in model.stream(request)]


def streamed(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_written_call_becomes_a_call_and_is_announced() -> None:
    events = await collect(TextToolModel(answer(f"I look.\n<tool_call>{CALL}</tool_call>")))
    end = events[-1]
    assert isinstance(end, MessageEnd)
    assert end.message.stop is StopReason.TOOL_USE
    assert end.message.text == "I look."
    assert [call.arguments for call in end.message.tool_calls] == [ARGUMENTS]
    assert streamed(events).strip() == "I look."
    kinds = [type(event) for event in events if not isinstance(event, TextDelta)]
    assert kinds == [Quirk, ToolCallStart, ToolCallEnd, MessageEnd]
    assert [event.kind for event in events if isinstance(event, Quirk)] == ["text_tool_call"]


PROSE = [
    "All is well.",
    "Use ```bash\nkubectl get pods\n``` and then\n```json\n{}\n```\nas above. <b>x</b>",
    '{"answer": 1}',
    "a < b and [x] and `code`",
    "``` \n",
    "<tool_",
]


@pytest.mark.parametrize("text", PROSE)
async def test_text_without_a_call_arrives_whole(text: str) -> None:
    events = await collect(TextToolModel(answer(text)))
    assert streamed(events) == text
    assert isinstance(events[-1], MessageEnd)
    assert events[-1].message.text == text


@given(
    st.lists(
        st.sampled_from(
            ["a ", "\n", "```", "json", "\n{", "}", CALL, "<tool_call>", "</tool_call>", "`", "["]
        ),
        max_size=12,
    ),
    st.lists(st.integers(0, 60), max_size=12),
)
def test_what_streams_is_what_the_message_says(pieces: list[str], cuts: list[int]) -> None:
    import anyio

    text = "".join(pieces)
    edges = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    chunks = [text[a:b] for a, b in itertools.pairwise(edges)]
    model = TextToolModel(answer(text, chunks or [""]), ids=CountingIds())
    events = anyio.run(collect, model)
    end = events[-1]
    assert isinstance(end, MessageEnd)
    assert streamed(events).strip() == end.message.text.strip()
    if not end.message.tool_calls:
        assert end.message.text == text


async def test_plain_text_is_not_delayed() -> None:
    events = await collect(TextToolModel(answer("", ["The pod ", "restarts ", "because"])))
    assert [event.text for event in events if isinstance(event, TextDelta)][:2] == [
        "The pod ",
        "restarts ",
    ]


async def test_real_calls_and_failures_pass_through_unchanged() -> None:
    call = ToolCall("c1", "kubectl", ARGUMENTS)
    message = AssistantMessage((Text(CALL), call), StopReason.TOOL_USE)
    end = MessageEnd(message)
    events = await collect(TextToolModel(Scripted(TextDelta(CALL), end)))
    assert events[-1] is end
    failed = StreamFailed(Failure(FailureKind.NETWORK, "gone"))
    assert await collect(TextToolModel(Scripted(TextDelta("{"), failed))) == [failed]


async def test_thinking_is_kept_beside_a_found_call() -> None:
    thought = Thinking("hm", "openai_chat")
    message = AssistantMessage((thought, Text(CALL)), StopReason.END_TURN)
    events = await collect(TextToolModel(Scripted(TextDelta(CALL), MessageEnd(message))))
    assert isinstance(events[-1], MessageEnd)
    assert events[-1].message.content[0] is thought


async def test_without_tools_nothing_is_read_as_a_call() -> None:
    request = ModelRequest("", [user("hi")], TOOLS, tool_choice="none")
    events = [event async for event in TextToolModel(answer(CALL)).stream(request)]
    assert isinstance(events[-1], MessageEnd)
    assert not events[-1].message.tool_calls


async def test_prompted_tools_are_in_the_text_and_rewritten_messages_are_kept() -> None:
    inner = answer("done")
    model = TextToolModel(inner, prompted=True)
    call = ToolCall("c1", "kubectl", ARGUMENTS)
    history: list[Message] = [
        user("Why?"),
        AssistantMessage((Text("I look."), call), StopReason.TOOL_USE),
        ToolResultMessage("c1", "kubectl", (Text("CrashLoopBackOff"),)),
        user("Hurry."),
    ]
    await collect(model, history)
    history.append(AssistantMessage((Text("done"),), StopReason.END_TURN))
    await collect(model, history)
    first, second = inner.requests
    assert first.tools == ()
    assert '"name": "kubectl"' in first.system
    roles = [type(message).__name__ for message in first.messages]
    assert roles == ["UserMessage", "AssistantMessage", "UserMessage"]
    assert all(a is b for a, b in zip(first.messages, second.messages, strict=False))
    written = first.messages[1]
    assert isinstance(written, AssistantMessage)
    assert not written.tool_calls
    assert parse(written.text, TOOLS).calls[0].arguments == ARGUMENTS
    assert json.dumps("kubectl") in "".join(
        part.text for part in first.messages[2].content if isinstance(part, Text)
    )


async def test_closing_closes_the_inner_model() -> None:
    inner = answer("x")
    await TextToolModel(inner).close()
    assert inner.closed
