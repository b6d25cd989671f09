from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from truepenny.errors import CouldNotRun
from truepenny.sandbox import drop
from truepenny.sandbox.confinement import NotStarted, Refused
from truepenny.sandbox.plan import Account
from truepenny.sandbox.trusted import ENVIRONMENT

OWN = Account("ada", 1000, 1000, drop=False)
OTHER = Account("nobody", 65534, 65534, drop=True)


def test_an_account_that_is_ours_needs_no_words() -> None:
    assert drop.drop_words(OWN) == ()


def test_the_words_name_the_account_and_take_everything_else_away() -> None:
    program, *words = drop.drop_words(OTHER)
    assert program.endswith("/setpriv")
    user, group, *rest = words
    # Numbers where the machine has no names for them; whatever is written means these.
    assert user in ("--reuid=65534", f"--reuid={OTHER.name}")
    assert group.startswith("--regid=")
    assert rest == [
        "--clear-groups",
        "--no-new-privs",
        "--inh-caps=-all",
        "--bounding-set=-all",
    ]


def test_a_name_is_written_where_the_table_has_it_for_that_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = pwd.getpwuid(0)
    table = tmp_path / "passwd"
    monkeypatch.setattr(drop, "USERS", str(table))
    assert drop.drop_words(replace(OTHER, uid=0))[1] == "--reuid=0"
    # A name that means another number everywhere else is not taken.
    table.write_text(f"{own.pw_name}:x:7:7::/:\nno-such-name:x:8:8::/:\n", encoding="utf-8")
    assert drop.drop_words(replace(OTHER, uid=7))[1] == "--reuid=7"
    assert drop.drop_words(replace(OTHER, uid=8))[1] == "--reuid=8"
    table.unlink()
    table.write_text(f"broken\n{own.pw_name}:x:0:0::/:\n", encoding="utf-8")
    assert drop.drop_words(replace(OTHER, uid=0))[1] == f"--reuid={own.pw_name}"


def test_without_the_program_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drop, "find", lambda name: None)
    with pytest.raises(CouldNotRun, match="cannot become nobody"):
        drop.drop_words(OTHER)


def test_it_becomes_the_account_or_says_that_it_cannot() -> None:
    done = subprocess.run(
        [*drop.drop_words(OTHER), "/usr/bin/id", "-u"], env=ENVIRONMENT, capture_output=True
    )
    if os.geteuid() == 0:
        assert done.stdout == b"65534\n"
        ids = subprocess.run(
            [*drop.drop_words(OTHER), "/bin/cat", "/proc/self/status"],
            env=ENVIRONMENT,
            capture_output=True,
        ).stdout.decode()
        assert "Uid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n" in ids
        assert "\nGroups:\t \n" in ids or "\nGroups:\t\n" in ids
    else:
        assert done.returncode != 0
        assert done.stderr.startswith(b"setpriv: ")
        assert drop.exec_failure(done.returncode, done.stderr.decode()) is None


@pytest.mark.parametrize(
    ("code", "stderr", "why"),
    [
        (127, "setpriv: failed to execute x: No such file or directory\n", Refused.MISSING),
        (126, "setpriv: failed to execute x: Permission denied\n", Refused.NOT_EXECUTABLE),
        (1, "setpriv: failed to execute x: No such file or directory\n", None),
        (127, "setpriv: failed to execute x: y\nand more\n", None),
        (127, "sh: 1: x: not found\n", None),
        (None, "setpriv: failed to execute x: No such file or directory\n", None),
        (0, "", None),
    ],
)
def test_its_own_line_alone_says_that_nothing_started(
    code: int | None, stderr: str, why: Refused | None
) -> None:
    found = drop.exec_failure(code, stderr)
    assert (found and found.why) is why
    if found is not None:
        assert found == NotStarted(found.why, stderr.strip().partition("execute ")[2])
