"""The `local_script` tool: one script of a skill on this machine, in a sandbox of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truepenny.diagnose.cluster import Cluster, Clusters, Unbound
from truepenny.diagnose.pod.pod_exec import DEFAULT_BYTES, ERROR_BYTES, both_streams, view_of
from truepenny.diagnose.reader import Reader
from truepenny.errors import ConfigurationError, CouldNotRun
from truepenny.execute.command import STOP_AFTER_BYTES, CaptureLimits, Command
from truepenny.execute.execution import Execution
from truepenny.execute.outcome import classify
from truepenny.execute.process import run as run_process
from truepenny.model.message import Text
from truepenny.system.scratch import scratch_folder
from truepenny.text.bound import Limits
from truepenny.tool.contract import ActionClass, CallContext, Plane, Tool
from truepenny.tool.process_facts import not_contained, not_started, process_facts
from truepenny.tool.result import Result

from .kubeconfig import kubeconfig_of
from .request import (
    DEFAULT_SECONDS,
    MAX_SECONDS,
    MEANING,
    Request,
    properties,
    read_request,
    with_status,
)
from .source import ScriptSource

if TYPE_CHECKING:
    from truepenny.config.settings import SandboxSettings
    from truepenny.sandbox.sandbox import Sandbox

MARGIN_SECONDS = 30.0
"""For making the kubeconfig and the sandbox, and for ending what is left."""

KUBECONFIG = "kubeconfig"
"""In the script's own folder."""

_DESCRIPTION = f"""\
Run a script of a skill on this machine, in a sandbox with an empty folder of its own. With a \
cluster it gets a kubeconfig of that cluster alone and the machine's network; kubectl is what \
such scripts run. {MEANING}"""

_NOTE = "the script had the credential of cluster {name}, and the network of this machine"


def local_script_tool(
    clusters: Clusters,
    source: ScriptSource,
    settings: SandboxSettings,
    env: Mapping[str, str],
    *,
    max_bytes: int = DEFAULT_BYTES,
) -> Tool:
    """Return the tool; `env` is our own environment, from which the script's clean one is made.

    `Facts.detail` has what `process_facts` tells, `script` and `status` (None where the script's
    last line says none). `Facts.source` holds the cluster, where one was given.
    """

    async def run(arguments: Mapping[str, Any], context: CallContext) -> Result:
        request = read_request(arguments, source, "local")
        if isinstance(request, Result):
            return request
        cluster = None
        if clusters.names or "cluster" in arguments:
            found = clusters.get(arguments.get("cluster"))
            if isinstance(found, Unbound):
                return found.result()
            cluster = found
            reader = Reader(cluster, context.redactor, context.clock)
            if stopped := await reader.unguarded("script"):
                return stopped
        seconds = arguments.get("timeout_seconds", DEFAULT_SECONDS)
        with ExitStack() as stack:
            try:
                access = (
                    None if cluster is None else _Access.of(cluster, await kubeconfig_of(cluster))
                )
                outer = stack.enter_context(scratch_folder("script"))
                sandbox, own = _prepare(outer, settings, access)
            except OSError as error:
                problem = CouldNotRun(f"no folder for the script: {error.strerror}")
                return not_contained(problem, request.line)
            except (ConfigurationError, CouldNotRun) as error:
                return not_contained(error, request.line)
            execution = await run_process(
                Command(
                    argv=request.argv,
                    env=_environment(env, sandbox, own, access),
                    cwd=own,
                    stdin=request.stdin,
                    timeout=seconds,
                    limits=CaptureLimits(
                        Limits(bytes=max_bytes), Limits(bytes=ERROR_BYTES), STOP_AFTER_BYTES
                    ),
                    redactor=context.redactor,
                    sandbox=sandbox,
                ),
                clock=context.clock,
            )
        return with_status(_result(execution, request, cluster), execution, request)

    return Tool(
        name="local_script",
        description=_DESCRIPTION,
        parameters=_parameters(clusters),
        run=run,
        action_class=ActionClass.EXECUTE,
        plane=Plane.OBSERVE,
        timeout=MAX_SECONDS + MARGIN_SECONDS,
        example={"skill": "volcano-job-diagnose", "script": "diagnose-job.py", "args": ["train"]},
    )


@dataclass(frozen=True, slots=True)
class _Access:
    """What a script needs to ask a cluster: a kubeconfig, and kubectl by its real path."""

    kubeconfig: str
    program: Path

    @classmethod
    def of(cls, cluster: Cluster, kubeconfig: str) -> _Access:
        return cls(kubeconfig, Path(os.path.realpath(cluster.kubectl.find())))


def _prepare(
    outer: Path, settings: SandboxSettings, access: _Access | None
) -> tuple[Sandbox, Path]:
    """Return the sandbox, and the folder that the script has for itself.

    Raises OSError, ConfigurationError, CouldNotRun.
    """
    from truepenny.sandbox.access import reaches
    from truepenny.sandbox.account import account_for
    from truepenny.sandbox.choice import open_sandbox
    from truepenny.sandbox.plan import Mode, Mount, Profile
    from truepenny.sandbox.planning import plan_for

    outer = outer.resolve()
    account = account_for(outer, settings.account)
    own = outer / "own"
    own.mkdir(mode=0o700)
    mounts: list[Mount] = []
    if access is not None:
        config = own / KUBECONFIG
        config.touch(mode=0o600)
        config.write_text(access.kubeconfig, encoding="utf-8")
        settings = settings.model_copy(update={"network": "host"})
        program = access.program
        # Where the account cannot come to it the script finds none, or another, and says so.
        if program.is_file() and (not account.drop or reaches(account, program.parent)):
            mounts.append(Mount(Mode.READ, program, "kubectl", program))
    elif settings.network == "proxy":
        # Its way out is a workspace's; a script without a cluster needs none.
        settings = settings.model_copy(update={"network": "none"})
    if account.drop:
        outer.chmod(0o711)
        for path in (own, *own.iterdir()):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
    plan = plan_for(Profile.COMMAND, own, account, settings, mounts=mounts)
    return open_sandbox(plan, settings.level), own


def _environment(
    env: Mapping[str, str], sandbox: Sandbox, own: Path, access: _Access | None
) -> dict[str, str]:
    from truepenny.sandbox.credential.environment import clean_environment
    from truepenny.sandbox.level import Level
    from truepenny.sandbox.search_path import search_path

    clean = clean_environment(env, own, account=sandbox.plan.account)
    if sandbox.containment.level is not Level.NONE:
        clean = {**clean, "PATH": search_path(clean["PATH"], sandbox.plan)}
    if access is None:
        return {**clean, "KUBECONFIG": os.devnull}
    return {
        **clean,
        "PATH": f"{access.program.parent}{os.pathsep}{clean['PATH']}",
        "KUBECONFIG": str(own / KUBECONFIG),
        "KUBECTL_KUBERC": "false",
    }


def _result(execution: Execution, request: Request, cluster: Cluster | None) -> Result:
    meaning = classify(execution)
    source = {} if cluster is None else cluster.source
    if execution.failure is not None:
        return not_started(execution, meaning, request.line).with_facts(source=source)
    notes = () if cluster is None else (_NOTE.format(name=cluster.name),)
    view = view_of(execution, "ask the script for less")
    facts = process_facts(execution, meaning, view, command=request.line, notes=notes)
    facts = replace(facts, source=source)
    return Result(meaning.outcome, (Text(both_streams(execution)),), facts)


def _parameters(clusters: Clusters) -> dict[str, Any]:
    known = ", ".join(clusters.names) or "none"
    rule = "may be left out" if len(clusters.names) < 2 else "required"
    return {
        "type": "object",
        "properties": {
            "cluster": {"type": "string", "description": f"Bound: {known}; {rule}."},
            **properties(),
        },
        "required": ["skill", "script"],
        "additionalProperties": False,
    }
