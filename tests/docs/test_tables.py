"""Lists in the documentation are whole: what is shipped is on the page, and nothing else."""

from __future__ import annotations

import re

from truepenny.agent.event import TYPES
from truepenny.agent.stop import StopKind
from truepenny.cli.app import COMMANDS
from truepenny.command.kubectl_flag import FlagRefusal
from truepenny.demo.fault import ACTIONS
from truepenny.tool.outcome import Cause, Outcome

from .examples import PAGES, ROOT


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_every_shipped_incident_is_in_the_table_of_the_analyst() -> None:
    shipped = {path.parent.name for path in (ROOT / "evals").glob("*/incident.toml")}
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| (?:passed|failed|could not run) \| (?:\d\.\d\d|unmeasured) \|",
        page("evaluate.md"),
        re.MULTILINE,
    )
    assert sorted(rows) == sorted(shipped), "paste `./dev evaluate --markdown` into evaluate.md"


def test_every_outcome_is_explained_once() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", _section(page("results.md"), "Outcomes"), re.MULTILINE)
    assert sorted(rows) == sorted(Outcome)
    assert all(f"`{cause}`" in page("results.md") for cause in Cause)


def test_every_run_event_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", _section(page("investigate.md"), "Use it from a program")))
    assert set(TYPES) <= named


def test_limits_that_end_a_run_are_spelt_as_the_stop_is() -> None:
    found = re.search(r"a limit \(`(\w+)`, `(\w+)`", page("investigate.md"))
    assert found
    assert set(found.groups()) <= set(StopKind)


def test_every_refused_flag_and_every_fault_is_explained() -> None:
    assert all(f"`{refusal}`" in page("tools.md") for refusal in FlagRefusal)
    assert all(f"`{action}" in page("practice-cluster.md") for action in ACTIONS)


def test_no_page_names_a_command_that_is_not_there() -> None:
    for one in PAGES:
        text = one.read_text(encoding="utf-8")
        used = set(re.findall(r"(?<![\w/.-])truepenny ([a-z]+)", text))
        assert used <= set(COMMANDS), one.name


def _section(text: str, heading: str) -> str:
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]
