"""The flag table against the help of the installed kubectl."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from truepenny.command.kubectl_flag import FAMILIES, GLOBAL, VERBS, WHY, Flag, FlagRefusal

_beside = Path(sys.executable).with_name("kubectl")
KUBECTL = str(_beside) if _beside.exists() else shutil.which("kubectl")

_LINE = re.compile(r"^\s+(?:-(?P<short>.), )?--(?P<name>[a-z-]+)=(?P<default>.*):$")


def flags_in_help(*arguments: str) -> dict[str, tuple[str, bool]]:
    """Return what kubectl says: name to (short form, whether it is a switch)."""
    assert KUBECTL is not None
    text = subprocess.run(
        [KUBECTL, *arguments], capture_output=True, check=True, encoding="utf-8", timeout=30
    ).stdout
    matches = [m for m in map(_LINE.match, text.splitlines()) if m]
    return {m["name"]: (m["short"] or "", m["default"] in ("true", "false")) for m in matches}


def table(flags: tuple[Flag, ...]) -> dict[str, tuple[str, bool]]:
    return {flag.name: (flag.short, flag.switch) for flag in flags}


def test_the_global_table_covers_kubectl_options() -> None:
    theirs = flags_in_help("options")
    assert len(theirs) > 20
    ours = table(GLOBAL)
    assert {name: ours.get(name) for name in theirs} == theirs


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_table_of_each_verb_covers_its_help(verb: str) -> None:
    theirs = flags_in_help(*verb.split(), "--help")
    ours = table(VERBS[verb])
    assert {name: ours.get(name) for name in theirs} == theirs


def test_the_families_lead_to_verbs() -> None:
    named = {
        f"{family} {member}" for family, members in FAMILIES.items() for member in members.values()
    }
    assert named == {verb for verb in VERBS if " " in verb}


def test_every_refusal_says_why() -> None:
    assert set(WHY) == set(FlagRefusal)
    used = {flag.refusal for flags in (GLOBAL, *VERBS.values()) for flag in flags}
    assert used - {None} == set(FlagRefusal)


def test_no_short_form_means_two_flags_of_one_verb() -> None:
    for verb, flags in VERBS.items():
        shorts = [flag.short for flag in (*GLOBAL, *flags) if flag.short]
        assert len(shorts) == len(set(shorts)), verb
