"""A plan held by Landlock and a filter of system calls, where namespaces are refused.

The rules are taken on by a thread of its own that then starts the process: they are a thread's and
are inherited, so nothing has to run between fork and exec. What was opened before, such as the
files by which control groups are joined, stays usable: Landlock judges opening, not writing.

What a program notices: paths are those of the machine; /tmp and the home are folders elsewhere
(TMPDIR, HOME), and the machine's own /tmp is closed; of /proc only what is about the machine can
be read, of processes only the numbers, even of its own; there is no /dev/shm, so no POSIX
semaphore, and no new terminal; without a network no socket connects, not even to the process
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.confinement import Confinement
from truepenny.sandbox.gap import Situation, gaps
from truepenny.sandbox.held import Identities, identities
from truepenny.sandbox.launch import prepare, program_verdict
from truepenny.sandbox.level import Containment, Level
from truepenny.sandbox.place import NotAPlace, open_place, reason
from truepenny.sandbox.plan import Network, Plan
from truepenny.sandbox.sandbox import Sandbox
from truepenny.sandbox.seccomp import filter_program, install
from truepenny.sandbox.syscall import forbid_new_privileges
from truepenny.sandbox.trusted import check_variables

from .folder import OwnFolders
from .grants import Around, Grant, grants, unprotected
from .ruleset import OLDEST, WRITE, Ruleset, version

WHERE = "sandbox.level"

SYSTEM_FILES = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
"""Variables for programs that stop at a file of /etc which is there and closed to them; where
namespaces are made the file is not there, and they go on."""


class LandlockSandbox(Sandbox):
    """Made by `truepenny.sandbox.choice`. What the plan's sources are is noted here, so that a
    folder that is replaced before a start is not granted in place of the one that was planned."""

    def __init__(self, plan: Plan, containment: Containment) -> None:
        super().__init__(plan, containment)
        self._known = identities(plan)
        self._unprotected = bool(unprotected(plan))
        self._grants: tuple[Grant | Around, ...] | None = None

    def confine(self, cwd: Path | None = None) -> Confinement:
        """Prepare one start; see `Sandbox.confine`."""
        plan, kernel = self.plan, version()
        _check(plan, kernel)
        try:
            with ExitStack() as stack:
                filters = filter_program(plan, namespaces=False)
                rules = Ruleset(kernel, network=plan.network is Network.HOST)
                stack.callback(rules.close)
                for grant in self._planned():
                    _allow(rules, grant, self._known)
                folders = OwnFolders(plan, stack)
                for path in folders.paths:
                    _allow(rules, Grant(path, WRITE, optional=False), {})
                launch = prepare(plan, stack, closed=True)
                situation = Situation(
                    plan, Level.LANDLOCK, launch.layout, kernel, self._unprotected
                )

                def environment(env: Mapping[str, str]) -> Mapping[str, str]:
                    check_variables(env, plan.account)
                    return {**SYSTEM_FILES, **folders.environment(env)}

                def before_start() -> None:
                    forbid_new_privileges()
                    rules.restrict()
                    install(filters)

                return Confinement(
                    containment=replace(
                        self.containment,
                        level=Level.LANDLOCK,
                        limits=launch.layout,
                        network=str(plan.network),
                        gaps=gaps(situation),
                    ),
                    argv=lambda program: (*launch.words, *program),
                    cwd=folders.translate(str(cwd or plan.cwd)),
                    environment=environment,
                    descriptors=launch.descriptors,
                    before_start=before_start,
                    group=launch.group,
                    verdict=lambda code, stderr: program_verdict(
                        launch, plan.account, code, stderr
                    ),
                    close=stack.pop_all().close,
                )
        except OSError as error:
            raise CouldNotRun(
                f"Landlock cannot hold the plan: {error.strerror or error}",
                where=WHERE,
                remedy="Run `truepenny doctor`: it tries each level.",
            ) from error
        raise AssertionError("a context that swallows nothing was left")

    def _planned(self) -> Iterator[Grant]:
        if self._grants is None:
            self._grants = grants(self.plan)
        for one in self._grants:
            if isinstance(one, Grant):
                yield one
            else:
                yield from one.grants()


def _check(plan: Plan, kernel: int) -> None:
    if kernel < OLDEST:
        have = f"version {kernel}" if kernel else "none"
        raise CouldNotRun(
            f"this kernel has no Landlock that holds a network ({have}, version {OLDEST} needed)",
            where=WHERE,
            remedy="Use Linux 6.7 or newer with `landlock` among its security modules.",
        )
    if plan.network is Network.PROXY:
        raise CouldNotRun(
            "Landlock cannot hold a process to our proxy alone: a network of its own is needed",
            where=WHERE,
            remedy="Use the level `bwrap`, or set sandbox.network to `none` or `host`.",
        )


def _allow(rules: Ruleset, grant: Grant, known: Identities) -> None:
    """Open the place through no link, see that it is the one that was planned, and grant it."""
    try:
        place = open_place(grant.path)
    except (OSError, NotAPlace) as error:
        if grant.optional and isinstance(error, OSError):
            return
        raise CouldNotRun(
            f"{grant.path} cannot be granted: {reason(error)}",
            where="sandbox",
            remedy="Put it back as it was; symbolic links are not followed here.",
        ) from error
    try:
        if known.get(grant.path, place.identity) != place.identity:
            raise CouldNotRun(
                f"{grant.path} was replaced by another folder since the plan was made",
                where="sandbox",
                remedy="Start again with the folder that is there now.",
            )
        rules.allow(place.descriptor, grant.rights)
    finally:
        place.close()
