"""A start without walls. Root still becomes the account, and the limits still hold."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.cgroup import layout
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.gap import Situation, gaps
from truepenny.sandbox.launch import prepare, program_verdict
from truepenny.sandbox.level import Containment, Level, LimitLayout
from truepenny.sandbox.plan import Network, Plan
from truepenny.sandbox.sandbox import Sandbox
from truepenny.sandbox.trusted import check_variables


class NoneSandbox(Sandbox):
    """Made by `truepenny.sandbox.choice` for the level `none` alone.

    Paths and network are the machine's, whatever the plan says, and `Containment` says so. Only a
    plan with our proxy is refused: its person asked for a bound that is checked.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, contained(plan, layout()))

    def confine(self, cwd: Path | None = None) -> Confinement:
        """Prepare one start; see `Sandbox.confine`."""
        plan = self.plan
        if plan.network is Network.PROXY:
            raise CouldNotRun(
                "the network cannot be bounded without a sandbox",
                where="sandbox.level",
                remedy="Use the level `bwrap`, or set sandbox.network to `host`.",
            )
        with ExitStack() as stack:
            launch = prepare(plan, stack)

            def environment(env: Mapping[str, str]) -> Mapping[str, str]:
                check_variables(env, plan.account)
                return env

            return Confinement(
                containment=contained(plan, launch.layout),
                argv=lambda program: (*launch.words, *program),
                cwd=str(cwd or plan.cwd),
                environment=environment,
                descriptors=launch.descriptors,
                group=launch.group,
                verdict=partial(program_verdict, launch, plan.account),
                close=stack.pop_all().close,
            )
        raise AssertionError("a context that swallows nothing was left")


def contained(plan: Plan, limits: LimitLayout) -> Containment:
    """Return what is in force around a start: the account and the limits."""
    return Containment(
        level=Level.NONE,
        limits=limits,
        account=plan.account.name,
        network=str(Network.HOST),
        gaps=gaps(Situation(plan, Level.NONE, limits)),
    )
