"""What a shell completes beside commands and options: the names that exist here.

Completing is silent whatever is broken or warned about: its output lands in a line that a person is
typing, and the command itself will say what is wrong.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable

import click

from truepenny.errors import TruepennyError

Completion = Callable[[click.Context, click.Parameter, str], list[str]]


def completing(names: Callable[[], Iterable[str]]) -> Completion:
    """Return a completion that offers those of the names that begin with what is typed."""

    def complete(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                return [name for name in names() if name.startswith(typed)]
        except (TruepennyError, OSError):
            return []

    return complete


def _cases() -> Iterable[str]:
    from truepenny.conformance.case import shipped

    return [case.id for case in shipped().cases]


def _skills() -> Iterable[str]:
    from truepenny.skill import Skills, shipped

    return Skills.load([shipped()]).by_name


def _categories() -> Iterable[str]:
    from truepenny.conformance.case import shipped

    return [category.category for category in shipped().categories]


def _clusters() -> Iterable[str]:
    from .workbench import Workbench

    return Workbench().clusters().names


def _evals() -> Iterable[str]:
    from truepenny.evaluate.shipped import shipped

    return sorted(path.parent.name for path in shipped().glob("*/incident.toml"))


def _incidents() -> Iterable[str]:
    from truepenny.demo.world import scenarios

    return [found.name for found in scenarios()]


def _hosts() -> Iterable[str]:
    from .workbench import Workbench

    return Workbench().hosts().names


def _models() -> Iterable[str]:
    from truepenny.model.catalog import available

    from .workbench import Workbench

    bench = Workbench()
    return [entry.name for entry in available(bench.settings, bench.env) if entry.model]


def _sessions() -> Iterable[str]:
    from .workbench import Workbench

    return [entry.id for entry in Workbench().sessions.list()]


def _settings() -> Iterable[str]:
    from truepenny.config.show import effective

    from .workbench import Workbench

    keys = [row.key for row in effective(Workbench().loaded)]
    sections = dict.fromkeys(key.partition(".")[0] for key in keys)
    return [*sections, *(key for key in keys if key not in sections)]


def _tools() -> Iterable[str]:
    from .work import every_tool
    from .workbench import Workbench

    return every_tool(Workbench()).names


case = completing(_cases)
category = completing(_categories)
cluster = completing(_clusters)
evaluated = completing(_evals)
host = completing(_hosts)
incident = completing(_incidents)
model = completing(_models)
session = completing(_sessions)
setting = completing(_settings)
skill = completing(_skills)
tool = completing(_tools)
