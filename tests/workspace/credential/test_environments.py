"""What each process of a session has in its environment, with secrets planted wherever one may be.

The whole way: settings, an open workspace, its tools, real programs at each end.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.workspace.world import LEVELS
from truepenny.tool.outcome import Outcome

from .session import Session, place, program, session

pytestmark = pytest.mark.anyio

SECRETS = {
    "A_TOKEN": "a-value-of-a-token",
    "B_TOKEN": "b-value-of-a-token",
    "SHARED_TOKEN": "shared-value-of-it",
    "OPEN_TOKEN": "open-value-of-a-token",
    "FILE_TOKEN": "file-value-of-a-token",
}

PLANTED = {
    "ANTHROPIC_API_KEY": "sk-planted-model-key",
    "OPENAI_API_KEY": "sk-planted-other-key",
    "TRUEPENNY_MASTER_KEY": "planted-master-key",
    "TRUEPENNY_RUN__MAX_TURNS": "7",
    "GITHUB_TOKEN": "planted-of-the-shell",
    "NOBODY_THOUGHT_OF_IT": "planted-without-a-name",
    "BASH_ENV": "/planted/bash-env",
    "LD_PRELOAD": "",
}
"""In our own environment, for nobody."""

DUMP = ('echo "$0 $*"', "exec env")

INSIDE = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TERM", "NO_COLOR", "SHELLOPTS"}
"""A clean environment; what bash adds by itself comes on top."""

REACH = {"TRUEPENNY_SANDBOXED", "TRUEPENNY_CREDENTIAL_SOCKET"}
ADDED = {"PWD", "SHLVL", "_", "OLDPWD", "TRUEPENNY_RUN"}
"""By shells, and by what runs them to find the processes of a run again."""

CHECKS = """version: 2
checks:
  - id: env
    argv: [python3, env.py]
"""

ENV = "import os\nprint(*(f'{n}={v}' for n, v in os.environ.items()), sep='\\n')\n"


@pytest.fixture
def base() -> Iterator[Path]:
    with place() as path:
        for name in ("a", "b"):
            program(path / name, *DUMP)
        (path / "secret").write_text(SECRETS["FILE_TOKEN"] + "\n", encoding="utf-8")
        (path / "secret").chmod(0o600)
        yield path


def opened(base: Path, level: str) -> AbstractAsyncContextManager[Session]:
    settings = {
        "sandbox": {"level": level},
        "providers": {"own": {"api_key": "env:OWN_MODEL", "base_url": "http://127.0.0.1:9/v1"}},
        "programs": {
            "a": {"argv": [str(base / "a"), "--fixed"], "allow": ["show *"]},
            "b": {"argv": [str(base / "b")], "allow": ["*"]},
        },
        "credentials": {
            "A_TOKEN": {"value": SECRETS["A_TOKEN"], "tools": ["a"]},
            "B_TOKEN": {"value": "env:OF_B", "tools": ["b"]},
            "SHARED_TOKEN": {"value": SECRETS["SHARED_TOKEN"]},
            "OPEN_TOKEN": {"value": SECRETS["OPEN_TOKEN"], "tools": ["b"], "proxy_only": False},
            "FILE_TOKEN": {"value": f"file:{base / 'secret'}", "tools": ["a"]},
        },
    }
    ours = {**PLANTED, "OF_B": SECRETS["B_TOKEN"], "OWN_MODEL": "planted-own-model"}
    return session(base, settings, ours)


def variables(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def assert_nothing_planted(text: str) -> None:
    assert "planted" not in text
    assert "sk-" not in text


@pytest.fixture(params=[level for level in LEVELS if level != "landlock"])
def level(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_commands_have_none_of_it(base: Path, level: str) -> None:
    async with opened(base, level) as at:
        (base / "work" / "env.py").write_text(ENV, encoding="utf-8")
        bash = await at.bash("env; cat /proc/self/environ | tr '\\0' '\\n'")
        script = await at.call("run_script", {"interpreter": "python3", "script": "env.py"})
    # A line has pipefail by an option of its own.
    for result, own in ((bash, INSIDE - {"SHELLOPTS"}), (script, INSIDE)):
        assert result.outcome is Outcome.SUCCESS, result.text
        assert variables(result.text).keys() - ADDED == own | REACH
        assert_nothing_planted(result.text)
        assert not any(value in result.text for value in SECRETS.values())
        # None was there to be masked, either.
        assert not any(f"REDACTED:{name}" in result.text for name in SECRETS)
        assert "credential_uses" not in result.facts.detail


async def test_each_program_has_its_own(base: Path, level: str) -> None:
    asked = base / "state" / "asked"
    asked.mkdir()
    # What it has is written down by itself: what comes back is masked.
    for name in ("a", "b"):
        program(base / name, f"env > {asked / name}; pwd > {asked / name}.cwd", *DUMP)
    async with opened(base, level) as at:
        done = await at.bash("a show x && b")
    assert done.outcome is Outcome.SUCCESS, done.text
    assert done.facts.detail["credential_uses"] == [
        {"program": "a", "arguments": 2, "exit": 0},
        {"program": "b", "arguments": 0, "exit": 0},
    ]
    assert f"{base / 'a'} --fixed show x" in done.text
    common = (INSIDE - {"SHELLOPTS"}) | {"SHARED_TOKEN"}
    own = {"a": {"A_TOKEN", "FILE_TOKEN"}, "b": {"B_TOKEN", "OPEN_TOKEN"}}
    for name in ("a", "b"):
        text = (asked / name).read_text(encoding="utf-8")
        found = variables(text)
        assert found.keys() - ADDED == common | own[name]
        assert all(found[key] == SECRETS[key] for key in own[name] | {"SHARED_TOKEN"})
        assert_nothing_planted(text)
        assert found["HOME"] == str(base)
        assert found["USER"] == pwd.getpwuid(os.getuid()).pw_name
        assert str(base / "work") not in found["PATH"]
        where = (asked / f"{name}.cwd").read_text(encoding="utf-8").strip()
        assert where == found["TMPDIR"]
        assert not Path(where).exists()  # gone with the session
        assert not any(value in done.text for value in SECRETS.values())


async def test_the_tool_server_has_none_and_no_way_to_it(base: Path, level: str) -> None:
    async with opened(base, level) as at:
        (base / "work" / "x").write_text("x\n", encoding="utf-8")
        result = await at.call("read", {"path": str(base / "work" / "x")})
        assert result.outcome is Outcome.SUCCESS, result.text
        servers = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if _is_ours(path)]
        texts = [text for text in map(_environment, servers) if text is not None]
    # A server closes itself to everybody but root; what holds it does not.
    assert servers
    assert texts or os.geteuid() != 0
    for text in texts:
        assert_nothing_planted(text)
        assert not any(value in text for value in SECRETS.values())
        assert "TRUEPENNY_CREDENTIAL_SOCKET" not in text


def _environment(process: Path) -> str | None:
    try:
        return (process / "environ").read_text(encoding="utf-8", errors="replace")
    except PermissionError:
        return None


def _is_ours(cmdline: Path) -> bool:
    """Whether a process below us is the tool server, or what holds it."""
    try:
        words = cmdline.read_bytes()
        stat = (cmdline.parent / "stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return b"truepenny" in words and b"server" in words and f" {os.getpid()} " in stat


async def test_checks_have_what_commands_have(base: Path, level: str) -> None:
    declared = base / "work" / ".truepenny"
    declared.mkdir()
    (declared / "verifiers.yaml").write_text(CHECKS, encoding="utf-8")
    (base / "work" / "env.py").write_text(ENV, encoding="utf-8")
    async with opened(base, level) as at:
        result = await at.call("verify", {"check": "env"})
    assert result.outcome is Outcome.SUCCESS, result.text
    text = result.text
    assert variables(text).keys() - ADDED == INSIDE | REACH
    assert_nothing_planted(text)
    assert not any(value in text for value in SECRETS.values())
