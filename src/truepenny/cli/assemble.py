"""Putting an agent together from the settings: one way for `run` and for `evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .workbench import Workbench

if TYPE_CHECKING:
    from truepenny.agent.agent import Agent
    from truepenny.agent.investigation.investigation import Investigation
    from truepenny.agent.session import Session
    from truepenny.diagnose.cluster import Clusters
    from truepenny.diagnose.host.host import Hosts
    from truepenny.model.request import Model
    from truepenny.skill import Skills
    from truepenny.tool.admission import Policy
    from truepenny.tool.invoke import Ask
    from truepenny.workspace.opening import OpenWorkspace
    from truepenny.workspace.workspace import Workspace


MOST_HOSTS = 20
"""Hosts that the prompt names; the tool `host_list` has all of them."""

LONGEST_LINE = 300
"""Characters of a cluster's name or description: two sentences of a person."""


def assemble(
    bench: Workbench,
    model: Model,
    clusters: Clusters,
    session: Session,
    policy: Policy,
    *,
    max_turns: int | None = None,
    hosts: Hosts | None = None,
    work: OpenWorkspace | None = None,
    ask: Ask | None = None,
    deep: bool = False,
) -> Agent:
    """Return an agent over the clusters, hosts and the workspace; the caller closes model and
    session. Where no host is bound, no tool for hosts takes room in the prompt.

    `deep` makes it a deep investigation. Without `ask` nobody is there: what needs approval is
    denied.
    """
    from truepenny.agent.agent import Agent
    from truepenny.agent.limits import Limits
    from truepenny.agent.prompt import system_prompt
    from truepenny.tool.admission import Admission
    from truepenny.tool.autonomy import Autonomy

    investigation: Investigation | None = None
    if deep:
        from truepenny.agent.investigation.investigation import Investigation

        earlier = bench.sessions.read(session.id).records if session.resumed else ()
        investigation = Investigation(session.ledger.calls, earlier)
    own = (*(work.tools if work else ()), *((investigation.tool,) if investigation else ()))
    settings = bench.settings
    bound = hosts if hosts is not None and hosts.names else None
    return Agent(
        model=model,
        registry=bench.registry(clusters, own, bound),
        admission=Admission(policy, investigation.silence.judge if investigation else None),
        session=session,
        limits=Limits(
            max_turns=max_turns or settings.run.max_turns,
            max_tool_calls=settings.run.max_tool_calls,
            timeout=settings.run.timeout,
            max_output_tokens=settings.model.max_output_tokens,
            temperature=settings.model.temperature,
            effort=settings.model.effort,
        ),
        system_prompt=system_prompt(
            environment=environment(
                clusters, work.workspace if work else None, bound, bench.skills
            ),
            read_only=policy.autonomy is Autonomy.READ_ONLY,
            deep=deep,
        ),
        clock=bench.clock,
        ids=bench.ids,
        redactor=bench.redactor,
        ask=ask,
        investigation=investigation,
    )


def environment(
    clusters: Clusters,
    workspace: Workspace | None = None,
    hosts: Hosts | None = None,
    skills: Skills | None = None,
) -> str:
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
    told = ["Clusters you can reach:", *lines] if lines else ["No cluster is bound."]
    if hosts is not None:
        told += ["Hosts you can reach with host_exec:", *_hosts(hosts)]
    if workspace is not None:
        told.append(f"Your workspace, the only folder that you can change: {_line(workspace.root)}")
    if skills is not None and skills.by_name:
        from truepenny.skill.catalogue import catalogue

        told += ["Skills that you can load with skill, each for one problem:", catalogue(skills)]
    return "\n".join(told)


def _hosts(hosts: Hosts) -> list[str]:
    lines = [
        f"- host {_line(host.name)}"
        + (f": {_line(host.entry.description)}" if host.entry.description else "")
        + (" (people depend on it)" if host.entry.production else "")
        for host in hosts
    ]
    more = len(lines) - MOST_HOSTS
    return lines if more <= 0 else [*lines[:MOST_HOSTS], f"- and {more} more: host_list"]


def _line(text: object) -> str:
    from truepenny.text.control import strip_control

    line = " ".join(strip_control(str(text)).split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
