"""The practice cluster as a thing to start: a simulator of a Kubernetes API on a loopback port.

    with PracticeCluster(World.load("checkout-oom")) as cluster:
        subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, "get", "pods", "-A"])

It serves in its own thread and keeps nothing but a private temporary folder, removed on exit (or,
after a `kill -9`, by the next practice cluster).
"""

from __future__ import annotations

import base64
import json
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truepenny.demo.fault import Fault
from truepenny.demo.server.authorization import authorizers
from truepenny.demo.server.certificate import self_signed
from truepenny.errors import ConfigurationError, CouldNotRun, UsageError
from truepenny.system.scratch import scratch_folder

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from truepenny.demo.server.app import PracticeApp, RequestRecord
    from truepenny.demo.server.surroundings import World
    from truepenny.demo.server.value import Object
    from truepenny.system.clock import Clock

CONTEXT = "demo"
CLUSTER = "practice"
USER = "practice"

LOOPBACK = "127.0.0.1"

START_LIMIT = 10.0
"""Seconds until a server that does not come up is given up; it takes 0.1."""

STOP_LIMIT = 0.3
"""Seconds that open connections get to end when the cluster stops; then they are dropped."""

_BACKLOG = 128  # connections the kernel queues; a burst of parallel kubectl fits
_KEEP_ALIVE = 60  # seconds an idle client connection is kept, as an API server does


class PracticeCluster:
    """A running practice cluster; a context manager that may be entered once.

    `url` and `kubeconfig` (context `demo`, cluster `practice`, mode 0600) hold from entering to
    leaving. Each further identity of the world has a context of its name; `identity` says which
    one is current. `faults` are `Fault`s or their written form. Raises ConfigurationError for an
    identity that the world has not; entering raises CouldNotRun when the address cannot be bound
    or the server does not come up.
    """

    def __init__(
        self,
        world: World,
        faults: Sequence[Fault | str] = (),
        *,
        host: str = LOOPBACK,
        port: int = 0,
        clock: Clock | None = None,
        identity: str = "",
    ) -> None:
        self.world = world
        known = authorizers(world.permissions)
        self.identities: tuple[str, ...] = tuple(known)[1:]
        """The names of the identities beside the default one."""
        if identity and identity not in self.identities:
            raise ConfigurationError(
                f"there is no identity named {identity!r} in this incident",
                remedy=f"Choose: {', '.join(self.identities)}."
                if self.identities
                else "It has the default one alone: leave out the @ and what follows it.",
            )
        self.identity = identity
        self._home = {name: reader.home for name, reader in known.items()}
        self.faults = tuple(f if isinstance(f, Fault) else Fault.parse(f) for f in faults)
        self.tokens = {name: secrets.token_urlsafe(24) for name in ("", *self.identities)}
        """The bearer token of each identity, the default one's under the empty name."""
        self.url = ""
        self.certificate = b""
        """The PEM certificate that clients check the server by."""
        self.hosts: Mapping[str, Mapping[str, Any]] = {}
        """The settings of each simulated machine, as `[hosts.NAME]` holds them; while it runs."""
        self._host = host
        self._port = port
        self._clock = clock
        self._folder = Path()
        self._app: PracticeApp | None = None
        self._portal: Any = None
        self._exit = ExitStack()

    @property
    def token(self) -> str:
        """Return the bearer token of the default identity."""
        return self.tokens[""]

    @property
    def kubeconfig(self) -> Path:
        """Return the path of the kubeconfig file."""
        return self._folder / "kubeconfig"

    @property
    def settings(self) -> Path:
        """Return the path of settings that bind the simulated hosts; there are some, or no file."""
        return self._folder / "truepenny.toml"

    @property
    def state(self) -> Path:
        """Return a folder for what is known of this cluster's hosts: their keys are never seen
        again."""
        return self._folder / "state"

    @property
    def requests(self) -> tuple[RequestRecord, ...]:
        """Return the latest requests in the order of their answers (10,000 are kept)."""
        return tuple(self._running().requests)

    def _running(self) -> PracticeApp:
        if self._app is None:
            raise UsageError("the practice cluster is not serving", where="practice cluster")
        return self._app

    def put(self, value: Object) -> None:
        """Add or replace an object, as a controller would; watchers see it."""
        self._portal.call(self._running().put, value)

    def remove(self, api_version: str, kind: str, namespace: str, name: str) -> bool:
        """Delete an object; watchers see it; False where it was not there."""
        return self._portal.call(self._running().remove, api_version, kind, namespace, name)

    def __enter__(self) -> PracticeCluster:
        with ExitStack() as stack:
            self._folder = stack.enter_context(scratch_folder("practice"))
            listener = self._bind(stack)
            port = listener.getsockname()[1]
            host = LOOPBACK if self._host in ("", "0.0.0.0") else self._host
            self.url = f"https://{host}:{port}"
            self.certificate, key = self_signed(host)
            self._start(stack)
            if not any(fault.action == "refuse" for fault in self.faults):
                listener.listen(_BACKLOG)
                self._serve(stack, listener, key)
            self._write_kubeconfig()
            self._exit = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exit.close()
        self._app = None

    def _bind(self, stack: ExitStack) -> socket.socket:
        # A bound socket that does not listen refuses connections and keeps its port: `refuse`.
        # The protocol is named, else asyncio leaves Nagle on and each answer takes 40 ms more.
        listener = stack.enter_context(
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        )
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self._host, self._port))
        except OSError as error:
            raise CouldNotRun(
                f"cannot listen on {self._host}:{self._port}: {error.strerror or error}",
                where="practice cluster",
                remedy="choose another port, or port 0 for a free one",
            ) from error
        return listener

    def _start(self, stack: ExitStack) -> None:
        from anyio.from_thread import start_blocking_portal

        self._portal = stack.enter_context(start_blocking_portal())
        if self.world.hosts:
            # Imported here: most incidents do without SSH.
            from truepenny.demo.host.serving import serving

            made = serving(self.world.hosts, self._folder)
            self.hosts = stack.enter_context(self._portal.wrap_async_context_manager(made))
            self._write_settings()

    def _serve(self, stack: ExitStack, listener: socket.socket, key: bytes) -> None:
        # Imported here: everything but a start does without an HTTP server.
        from truepenny.demo.server.app import PracticeApp
        from truepenny.demo.server.listening import Listening

        server = Listening(self._folder, self.certificate, key, _KEEP_ALIVE, STOP_LIMIT)
        self._app = self._portal.call(
            lambda: PracticeApp(self.world, self.tokens, self.faults, self._clock)
        )
        done = self._portal.start_task_soon(server.serve, self._app, listener)
        stack.callback(self._stop, server, done)
        if not server.up.wait(START_LIMIT):
            raise CouldNotRun("the practice cluster did not come up", where="practice cluster")

    def _stop(self, server: Any, done: Any) -> None:
        self._portal.call(self._running().closing.set)
        server.stop()
        done.result()

    def _write_settings(self) -> None:
        lines = ["# The simulated hosts of a truepenny practice cluster."]
        for name, entry in self.hosts.items():
            lines.append(f"[hosts.{name}]")
            # JSON's strings and numbers are TOML's as well.
            lines += [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        self.settings.touch(mode=0o600)
        text = "\n".join(lines)
        self.settings.write_text(f"{text}\n", encoding="utf-8")

    def _write_kubeconfig(self) -> None:
        self.kubeconfig.touch(mode=0o600)
        authority = base64.b64encode(self.certificate).decode()
        lines = [
            "# A truepenny practice cluster: a simulator, gone when its process ends.",
            "apiVersion: v1",
            "kind: Config",
            f"current-context: {self.identity or CONTEXT}",
            "clusters:",
            f"- name: {CLUSTER}",
            "  cluster:",
            f"    server: {self.url}",
            f"    certificate-authority-data: {authority}",
            "contexts:",
        ]
        for name in self.tokens:
            lines += [f"- name: {name or CONTEXT}", "  context:"]
            lines += [f"    cluster: {CLUSTER}", f"    user: {name or USER}"]
            if self._home[name]:
                lines.append(f"    namespace: {self._home[name]}")
        lines.append("users:")
        for name, token in self.tokens.items():
            lines += [f"- name: {name or USER}", "  user:", f"    token: {token}"]
        text = "\n".join(lines)
        self.kubeconfig.write_text(f"{text}\n", encoding="utf-8")


def serve(
    world: World,
    host: str = LOOPBACK,
    port: int = 0,
    faults: Sequence[Fault | str] = (),
    on_ready: Callable[[PracticeCluster], None] | None = None,
    *,
    identity: str = "",
) -> None:
    """Serve until Ctrl-C or SIGTERM, then clean up and return; `on_ready` is told the address.

    Raises CouldNotRun and ConfigurationError as `PracticeCluster` does. Call it from the main
    thread.
    """
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with PracticeCluster(world, faults, host=host, port=port, identity=identity) as cluster:
            if on_ready is not None:
                on_ready(cluster)
            stopped.wait()
    except KeyboardInterrupt:
        # The asked-for way to end it.
        return
    finally:
        signal.signal(signal.SIGTERM, before)
