"""Probing: two questions, typed findings, nothing raised."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import anyio
import pytest

from tests.peers.model_script import Call, Counts, Refuse, Reply
from tests.peers.model_server import ModelServer
from truepenny.model.endpoint import Timeouts
from truepenny.model.event import ModelEvent
from truepenny.model.failure import FailureKind
from truepenny.model.probe import ProbeReport, probe_model
from truepenny.model.profile import Profile
from truepenny.model.request import ModelRequest
from truepenny.model.wires.openai_chat import OpenAIChatModel

pytestmark = pytest.mark.anyio

TEXT = Reply(text="ready", counts=Counts())
CALL = Reply(calls=(Call("report_word", {"word": "ready"}, id="c1"),))


async def probed(*script: Reply | Refuse, refused: tuple[str, ...] = ()) -> ProbeReport:
    with ModelServer(list(script), refused=refused) as server:
        endpoint = server.endpoint("openai_chat", Timeouts(1.0, 0.2, 0.2))
        model = OpenAIChatModel(endpoint, Profile("m"))
        try:
            return await probe_model(model)
        finally:
            await model.close()


async def test_a_model_that_works() -> None:
    report = await probed(TEXT, CALL)
    assert report.ok
    assert (report.reachable, report.authorized) == (True, True)
    assert (report.streaming, report.tool_call) == (True, True)
    assert report.first_event is not None and report.total is not None
    assert report.first_event <= report.total
    assert json.loads(json.dumps(report.to_json()))["ok"] is True


async def test_a_model_that_answers_instead_of_calling() -> None:
    report = await probed(TEXT, Reply(text="ready"))
    assert (report.tool_call, report.ok, report.failure) == (False, False, None)


async def test_a_call_with_broken_arguments_is_no_call() -> None:
    broken = Reply(calls=(Call("report_word", raw='{"word": ', id="c1"),))
    report = await probed(TEXT, broken)
    assert report.tool_call is False
    assert "malformed_arguments" in report.quirks


@pytest.mark.parametrize(
    ("answer", "kind", "reachable", "authorized"),
    [
        (Refuse(401, "bad key"), FailureKind.AUTH, True, False),
        (Refuse(429, "slow down"), FailureKind.RATE_LIMIT, True, None),
        (Refuse(500, "oops"), FailureKind.SERVER_ERROR, True, None),
        (Reply(text="x", stall="before"), FailureKind.TIMEOUT, True, None),
    ],
)
async def test_faults_are_typed(
    answer: Reply | Refuse, kind: FailureKind, reachable: bool, authorized: bool | None
) -> None:
    report = await probed(answer)
    assert report.failure is not None
    assert report.failure.kind is kind
    assert (report.reachable, report.authorized) == (reachable, authorized)
    assert (report.streaming, report.tool_call, report.ok) == (None, None, False)


async def test_what_was_learned_is_reported() -> None:
    report = await probed(TEXT, CALL, refused=("max_tokens",))
    assert report.learned == {"max_tokens_field": "max_completion_tokens"}
    assert report.ok


async def test_an_unreachable_server_is_unreachable() -> None:
    with ModelServer([]) as server:
        endpoint = server.endpoint("openai_chat", Timeouts(1.0, 1.0, 1.0))
    model = OpenAIChatModel(endpoint, Profile("m"))
    report = await probe_model(model)
    await model.close()
    assert report.reachable is False
    assert report.failure is not None
    assert report.failure.kind is FailureKind.NETWORK


async def test_a_model_that_never_ends_is_cut_off() -> None:
    class Endless:
        name = "test/endless"

        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            await anyio.sleep_forever()
            yield  # pyright: ignore[reportReturnType]

        async def close(self) -> None: ...

    report = await probe_model(Endless(), seconds=0.05)
    assert report.failure is not None
    assert report.failure.kind is FailureKind.TIMEOUT
