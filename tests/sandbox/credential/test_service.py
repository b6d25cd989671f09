"""The client and the stand-ins: by themselves, and inside a real sandbox with real programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from tests.sandbox.inside import Ended, bwrap, plan_of, run
from tests.sandbox.network.wire import ME
from truepenny.errors import PolicyDenied
from truepenny.sandbox.credential import client
from truepenny.sandbox.credential.proxy import ProgramRun
from truepenny.sandbox.credential.request import ANSWER_BYTES
from truepenny.sandbox.credential.service import CredentialService, credential_service
from truepenny.sandbox.credential.split import MARKER, CredentialSpec, Split, split
from truepenny.text.redact import Redactor

pytestmark = pytest.mark.anyio

SPECS = (CredentialSpec("MAIL_PASSWORD", frozenset({"mail"})),)
TASK = {"PATH": "/usr/bin:/bin", "MAIL_PASSWORD": "correct-horse-battery"}
PROGRAMS = {"mail": ("/bin/sh", "-c", 'echo "$0 $1: $MAIL_PASSWORD"; echo err >&2; exit 3')}


def made() -> Split:
    return split(TASK, SPECS, host={})


async def really(tool: str, words: tuple[str, ...], env: Mapping[str, str]) -> ProgramRun:
    done = await anyio.run_process(words, env=env, check=False)
    return ProgramRun(done.stdout.decode(), done.stderr.decode(), done.returncode)


def asking(*words: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", client.__file__, *words],
        env=dict(env),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_two_ends_agree() -> None:
    assert client.ANSWER_BYTES == ANSWER_BYTES
    assert client.MARKER == MARKER


@pytest.mark.parametrize("words", [("tool", "sh", "-c", "echo ran"), ("credential", "HOME")])
def test_inside_without_a_socket_nothing_is_done_directly(words: tuple[str, ...]) -> None:
    done = asking(*words, env={"PATH": "/usr/bin:/bin", "HOME": "here", MARKER: "1"})
    assert (done.returncode, done.stdout) == (client.REFUSED, "")
    assert client.SOCKET in done.stderr


def test_outside_without_a_socket_it_is_done_directly() -> None:
    env = {"PATH": "/usr/bin:/bin", "MAIL_PASSWORD": "x"}
    done = asking("tool", "sh", "-c", 'echo "$0"; exit 3', "word", env=env)
    assert (done.returncode, done.stdout) == (3, "word\n")
    assert asking("credential", "MAIL_PASSWORD", env=env).stdout == "x\n"
    missing = asking("credential", "OTHER", env=env)
    assert (missing.returncode, missing.stdout) == (client.REFUSED, "")
    assert asking("tool", "no-such-program", env=env).returncode == 127


def test_a_socket_that_nobody_serves_is_a_fault(tmp_path: Path) -> None:
    done = asking("tool", "sh", env={"PATH": "/bin", client.SOCKET: str(tmp_path / "none")})
    assert (done.returncode, done.stdout) == (5, "")
    assert "does not answer" in done.stderr


@pytest.mark.parametrize("words", [(), ("tool",), ("other", "x")])
def test_wrong_words(words: tuple[str, ...]) -> None:
    assert asking(*words, env={}).returncode == 2


async def test_the_client_reaches_the_proxy() -> None:
    with anyio.fail_after(30):
        async with credential_service(made(), PROGRAMS, really, Redactor(), ME) as service:

            def ask(*words: str) -> subprocess.CompletedProcess[str]:
                return asking(*words, env=service.environment)

            value = await anyio.to_thread.run_sync(ask, "credential", "MAIL_PASSWORD")
            assert (value.returncode, value.stdout) == (0, "correct-horse-battery\n")
            ran = await anyio.to_thread.run_sync(ask, "tool", "mail", "a b", "c")
            assert (ran.returncode, ran.stderr) == (3, "err\n")
            assert ran.stdout == "a b c: [REDACTED:MAIL_PASSWORD]\n"
            refused = await anyio.to_thread.run_sync(ask, "credential", "OTHER")
            assert refused.returncode == client.REFUSED
            assert "not_authorized_credential" in refused.stderr
            unknown = await anyio.to_thread.run_sync(ask, "tool", "other")
            assert unknown.returncode == 1
            assert "unknown_tool; tools: mail" in unknown.stderr


async def started(folder: Path, line: str) -> tuple[Ended | None, CredentialService]:
    """Run a line inside a sandbox with the service; None where there are no namespaces."""
    plan = plan_of(folder)
    with anyio.fail_after(60):
        async with credential_service(
            made(), PROGRAMS, really, Redactor(), plan.account
        ) as service:
            sandbox = bwrap(service.into(plan))
            if sandbox is None:
                return None, service
            return await anyio.to_thread.run_sync(
                lambda: run(sandbox, "sh", "-c", line, env=service.environment)
            ), service


async def test_a_tool_is_a_program_inside(folder: Path) -> None:
    ended, _ = await started(folder, "mail 'a b' c; echo $?")
    if ended is not None:
        assert ended.out == "a b c: [REDACTED:MAIL_PASSWORD]\n3\n"
        assert ended.err == "err\n"


async def test_the_environment_inside_holds_no_credential(folder: Path) -> None:
    ended, service = await started(folder, "env; cat /proc/1/environ /proc/self/environ")
    assert "MAIL_PASSWORD" not in service.environment
    if ended is not None:
        assert "correct-horse-battery" not in ended.out
        assert f"{MARKER}=1" in ended.out


async def test_stand_ins_cannot_be_changed_from_inside(folder: Path) -> None:
    line = 'for f in "$(command -v mail)" "$TRUEPENNY_CREDENTIAL_SOCKET"; do rm -f "$f"; done; mail'
    ended, _ = await started(folder, line)
    if ended is not None:
        assert "[REDACTED:MAIL_PASSWORD]" in ended.out


async def test_a_tool_has_the_name_of_a_file() -> None:
    bad = split(TASK, (CredentialSpec("X", frozenset({"../sh"})),), host={}, selected={"../sh"})
    with pytest.raises(PolicyDenied):
        async with credential_service(bad, {"../sh": ("/bin/sh",)}, really, Redactor(), ME):
            pass


async def test_a_barred_service_says_why_and_is_reached_by_nobody(folder: Path) -> None:
    plan = plan_of(folder)
    with anyio.fail_after(60):
        async with credential_service(
            made(), PROGRAMS, really, Redactor(), plan.account
        ) as service:
            barred = service.barred("this level cannot open one socket alone")
            assert barred.into(plan).sockets == ()
            assert client.SOCKET not in barred.environment
            sandbox = bwrap(barred.into(plan))
            if sandbox is None:
                return
            ended = await anyio.to_thread.run_sync(
                lambda: run(sandbox, "sh", "-c", "mail x; echo $?", env=barred.environment)
            )
    assert ended.out == f"{client.REFUSED}\n"
    assert ended.err == "truepenny: mail: this level cannot open one socket alone\n"


async def test_a_value_is_printed_by_a_program_of_ours(folder: Path) -> None:
    ended, _ = await started(folder, "truepenny-credential MAIL_PASSWORD | tr a-z A-Z")
    if ended is not None:
        assert ended.out == "CORRECT-HORSE-BATTERY\n"
