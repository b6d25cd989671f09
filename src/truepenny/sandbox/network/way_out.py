"""The way out of runs with `network = "proxy"`: the proxy outside, the bridge inside, and what
the plan and each start need to join the two.

    async with way_out(settings.allow_hosts, account) as way:
        sandbox = way.through(open_sandbox(way.into(plan), level))
        mark = way.proxy.decisions.mark()
        ...
        way.proxy.decisions.since(mark)

The namespace has a loopback of its own, so the bridge has the same port in each and nobody else
can use it. Without namespaces the port would be everybody's, so other levels are refused.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from truepenny.errors import CouldNotRun
from truepenny.sandbox.confinement import Confinement, NotStarted, Refused
from truepenny.sandbox.level import Level
from truepenny.sandbox.plan import Account, Mode, Mount, Network, Plan
from truepenny.sandbox.sandbox import Sandbox
from truepenny.system.clock import Clock
from truepenny.system.scratch import scratch_folder

from . import bridge
from .allow import read_allowed
from .proxy import ConnectProxy, ProxyLimits
from .python import copy_program, system_python
from .resolver import Resolver, resolve

PORT = 18080
"""Of the bridge, inside."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """An open one, for one run or a session of them. `proxy` holds the decisions."""

    proxy: ConnectProxy
    _socket: Path
    _bridge: Path
    _python: Path

    def into(self, plan: Plan) -> Plan:
        """Return the plan with the socket and the bridge in it, at the same paths as outside."""
        reason = "the way out to allowed hosts"
        carrier = Mount(Mode.READ, self._bridge, reason, self._bridge, required=True)
        socket = Mount(Mode.READ, self._socket, reason, self._socket, required=True)
        return replace(
            plan,
            network=Network.PROXY,
            mounts=(*plan.mounts, carrier),
            sockets=(*plan.sockets, socket),
        )

    def through(self, sandbox: Sandbox) -> Sandbox:
        """Return the sandbox with the bridge in each of its starts.

        Raises CouldNotRun for a level that has no network of its own.
        """
        if sandbox.containment.level is not Level.BWRAP:
            raise CouldNotRun(
                f"the network proxy needs namespaces, and the level is {sandbox.containment.level}",
                where="sandbox.network",
                remedy="Install bubblewrap, or set sandbox.network to none.",
            )
        return _Bridged(sandbox, self)

    def words(self, report: int) -> tuple[str, ...]:
        """Return the words before the program's own. `report` is a descriptor of the start."""
        python, script, socket = str(self._python), str(self._bridge), str(self._socket)
        return (python, "-I", "-S", script, socket, str(PORT), str(report), "--")


@asynccontextmanager
async def way_out(
    entries: Iterable[str],
    account: Account,
    *,
    resolver: Resolver = resolve,
    limits: ProxyLimits | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[WayOut]:
    """Open a way out to the given `host:port` entries for processes of one account.

    Raises ConfigurationError for a bad entry, CouldNotRun where no socket can be made or where no
    Python is there for the bridge.
    """
    proxy = ConnectProxy(read_allowed(entries), resolver=resolver, limits=limits)
    python = system_python()
    with scratch_folder("net") as name:
        folder = name.resolve()
        if account.drop:
            os.chmod(folder, 0o711)  # it may go through, and see nothing
        script = folder / "bridge.py"
        copy_program(Path(bridge.__file__), script)
        socket = folder / "proxy.sock"
        async with proxy.listening(socket, account, clock=clock):
            yield WayOut(proxy, socket, script, python)


class _Bridged(Sandbox):
    def __init__(self, inner: Sandbox, way: WayOut) -> None:
        super().__init__(inner.plan, inner.containment)
        self._inner = inner
        self._way = way

    def confine(self, cwd: Path | None = None) -> Confinement:
        inner = self._inner.confine(cwd)
        try:
            report = _Report()
        except OSError:
            inner.close()
            raise

        def argv(program: tuple[str, ...]) -> tuple[str, ...]:
            return inner.argv((*self._way.words(report.write), *program))

        def verdict(code: int | None, stderr: str) -> NotStarted | None:
            return inner.verdict(code, stderr) or report.verdict()

        def close() -> None:
            report.close()
            inner.close()

        return replace(
            inner,
            argv=argv,
            descriptors=(*inner.descriptors, report.write),
            verdict=verdict,
            close=close,
        )


class _Report:
    """The bridge's word on a start that failed, read once: at the verdict, or at the close."""

    def __init__(self) -> None:
        self._read, self.write = os.pipe()
        os.set_blocking(self._read, False)
        self._taken: bytes | None = None

    def verdict(self) -> NotStarted | None:
        word, _, message = self._take().decode("utf-8", "replace").partition(": ")
        return NotStarted(Refused(word), message) if message else None

    def close(self) -> None:
        self._take()
        os.close(self._read)
        os.close(self.write)

    def _take(self) -> bytes:
        if self._taken is None:
            try:
                self._taken = os.read(self._read, bridge.REPORTED)
            except BlockingIOError:
                self._taken = b""
        return self._taken
