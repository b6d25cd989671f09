"""Putting an agent together from the settings: one way for `run` and for `evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.agent.agent import Agent
    from truepenny.agent.session import Session
    from truepenny.diagnose.cluster import Clusters
    from truepenny.model.request import Model


LONGEST_LINE = 300
"""Characters of a cluster's name or description: two sentences of a person."""


def assemble(
    bench: Workbench,
    model: Model,
    clusters: Clusters,
    session: Session,
    *,
    max_turns: int | None = None,
    read_only: bool = False,
) -> Agent:
    """Return an agent over the clusters; the caller closes model and session.

    Nobody is there to be asked: what needs approval is denied.
    """
    from truepenny.agent.agent import Agent
    from truepenny.agent.limits import Limits
    from truepenny.agent.prompt import system_prompt
    from truepenny.tool.admission import Admission, Policy

    settings = bench.settings
    read_only = read_only or settings.run.read_only
    return Agent(
        model=model,
        registry=bench.registry(clusters),
        admission=Admission(Policy(read_only=read_only)),
        session=session,
        limits=Limits(
            max_turns=max_turns or settings.run.max_turns,
            max_tool_calls=settings.run.max_tool_calls,
            timeout=settings.run.timeout,
            max_output_tokens=settings.model.max_output_tokens,
            temperature=settings.model.temperature,
            effort=settings.model.effort,
        ),
        system_prompt=system_prompt(environment=environment(clusters), read_only=read_only),
        clock=bench.clock,
        ids=bench.ids,
        redactor=bench.redactor,
    )


def environment(clusters: Clusters) -> str:
    """Return what the model is told about where it is.

    Names and descriptions come from files that others may write (a generated kubeconfig): each is
    one short line, so that none can pose as a rule of ours.
    """
    lines = [
        f"- cluster {_line(cluster.name)}"
        + (f": {_line(cluster.description)}" if cluster.description else "")
        + (" (people depend on it)" if cluster.production else "")
        for cluster in clusters
    ]
    return "\n".join(["Clusters you can reach:", *lines] if lines else ["No cluster is bound."])


def _line(text: str) -> str:
    from truepenny.text.control import strip_control

    line = " ".join(strip_control(text).split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
