"""Dialling a host, through its jump hosts where it has some.

Each jump host forwards a channel to the next one, and the handshake with the next one goes through
it end to end: a jump host relays what it cannot read. Each host gets its own login and nothing of
another's; no configuration file, default key or agent of the person is used unless the settings
say so. Whatever is missing or fails on the way ends the dialling before anything ran.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from truepenny.config.host_secret import HostSecrets
from truepenny.errors import TruepennyError

from .failure import DialFailed, Stage
from .host import AGENT_VARIABLE, Host, Hosts
from .known_hosts import KnownHosts, KnownKey

if TYPE_CHECKING:
    import asyncssh

CONNECT_SECONDS = 10.0
"""One host, from the first packet to the end of its login (diagnostics spec 6)."""

KEEPALIVE_SECONDS, KEEPALIVES = 30, 3
"""A connection is given up when a host was silent for so long, so many times."""

CLOSE_SECONDS = 2.0
"""For the goodbye to one host; then the connection is dropped."""

_SIGNATURES = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}
"""How keys of a kind sign, where that has another name than the key. SHA-1 is not taken."""

_KEYS = (
    "ssh-ed25519",
    "ssh-ed448",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    *_SIGNATURES["ssh-rsa"],
)
"""Host keys that are taken from a host not seen before, the best first. No certificates: there is
no authority here to check them against."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection. `way` names the hosts it goes through, the target last; `first_use` are
    those whose key was seen for the first time."""

    ssh: asyncssh.SSHClientConnection
    way: tuple[str, ...]
    key: KnownKey
    first_use: tuple[str, ...]


@asynccontextmanager
async def dial(hosts: Hosts, host: Host, user: str) -> AsyncGenerator[Connection]:
    """Connect to a host while the context is open. `user` is whose known keys count.

    Raises DialFailed. Connections are closed in the order opposite to their making, also when the
    surrounding scope is cancelled.
    """
    assert hosts.known is not None, "hosts that can be dialled come with their keys"
    try:
        way = hosts.way(host)
    except TruepennyError as error:
        raise DialFailed(
            host.name, host.name, Stage.UNKNOWN, str(error.where + " " + error.message),
            remedy=error.remedy,
        ) from error  # fmt: skip
    # All before the first packet: no host is bothered for a chain that cannot be walked.
    secrets = [_secrets(host, hop) for hop in way]
    first_use: list[str] = []
    async with AsyncExitStack() as stack:
        tunnel: asyncssh.SSHClientConnection | None = None
        key: KnownKey | None = None
        for hop, secret in zip(way, secrets, strict=True):
            step = _Step(host, hop, user, hosts.known, hosts.identity(hop))
            tunnel, key = await step.connect(secret, tunnel)
            stack.push_async_callback(_close, tunnel)
            key = await step.check(key)
            if step.first_use:
                first_use.append(hop.name)
        assert tunnel is not None and key is not None, "a way has at least its target"
        names = tuple(hop.name for hop in way)
        yield Connection(tunnel, names, key, tuple(first_use))


def _secrets(host: Host, hop: Host) -> HostSecrets:
    try:
        return hop.secrets()
    except TruepennyError as error:
        raise DialFailed(
            host.name, hop.name, Stage.AUTHENTICATION, f"{error.where}: {error.message}",
            remedy=error.remedy, detail={"credential": "missing"},
        ) from error  # fmt: skip


class _Step:
    """One host of the way."""

    def __init__(
        self, target: Host, hop: Host, user: str, known: KnownHosts, identity: str
    ) -> None:
        self._target = target
        self._hop = hop
        self._user = user
        self._store = known
        self._identity = identity
        self._known: KnownKey | None = None
        self._offered: KnownKey | None = None
        self.first_use = False

    async def connect(
        self, secrets: HostSecrets, tunnel: asyncssh.SSHClientConnection | None
    ) -> tuple[asyncssh.SSHClientConnection, KnownKey]:
        """Shake hands and log in. The key is the known one, or was not seen before."""
        import asyncssh

        try:
            self._known = self._store.get(self._user, self._identity)
        except TruepennyError as error:
            raise self._failed(
                Stage.HOST_KEY, f"{error.where}: {error.message}", error.remedy
            ) from error
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                ssh = await self._handshake(secrets, tunnel)
        except TimeoutError:
            raise self._failed(
                Stage.NETWORK, f"did not answer within {CONNECT_SECONDS:g} s", _CHECK_NETWORK
            ) from None
        except (OSError, asyncssh.Error) as error:
            raise self._why(error) from error
        assert self._offered is not None, "no connection without a key that was looked at"
        return ssh, self._offered

    async def _handshake(
        self, secrets: HostSecrets, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        import asyncssh

        async with AsyncExitStack() as held:
            login = await self._login(secrets, held)
            return await asyncssh.connect(
                self._hop.address,
                self._hop.port,
                tunnel=tunnel or (),
                config=None,
                known_hosts=_nobody_known,
                client_factory=self._client,
                server_host_key_algs=self._algorithms(),
                x509_trusted_certs=None,
                username=self._hop.entry.user,
                agent_path=None,
                agent_forwarding=False,
                pkcs11_provider=None,
                gss_host=None,
                host_based_auth=False,
                keepalive_interval=KEEPALIVE_SECONDS,
                keepalive_count_max=KEEPALIVES,
                **login,
            )

    async def check(self, key: KnownKey) -> KnownKey:
        """Keep a key that was not seen before; somebody else may have kept another meanwhile."""
        if self._known is not None:
            return self._known
        try:
            kept = await self._store.remember(self._user, self._identity, key)
        except TruepennyError as error:
            raise self._failed(
                Stage.HOST_KEY, f"{error.where}: {error.message}", error.remedy
            ) from error
        if not kept.same(key):
            self._known = kept
            raise self._changed()
        self.first_use = True
        return kept

    def _algorithms(self) -> list[str]:
        """Ask a known host for the key that is known: one it got later is no change of that."""
        if self._known is None:
            return list(_KEYS)
        return list(_SIGNATURES.get(self._known.algorithm, (self._known.algorithm,)))

    async def _login(self, secrets: HostSecrets, held: AsyncExitStack) -> dict[str, Any]:
        """Return the arguments that log in to this host and no other, while `held` is open."""
        import asyncssh

        match self._hop.entry.auth:
            case "password":
                ways = ("password", "keyboard-interactive")
                return {"password": secrets.password, "client_keys": None, "preferred_auth": ways}
            case "agent":
                keys: list[Any] = []
                with suppress(OSError, ValueError):
                    agent = asyncssh.SSHAgentClient(self._hop.env[AGENT_VARIABLE])
                    await held.enter_async_context(agent)
                    keys = list(await agent.get_keys())
                if not keys:
                    message = "the SSH agent cannot be asked, or has no key"
                    raise self._failed(Stage.AUTHENTICATION, message, "Run: ssh-add -l")
            case "key":
                try:
                    text = f"{secrets.key}\n"
                    # A passphrase takes long on purpose: some tenths of a second of one processor.
                    key = await anyio.to_thread.run_sync(
                        asyncssh.import_private_key, text, secrets.passphrase
                    )
                    keys = [key]
                except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
                    raise self._failed(
                        Stage.AUTHENTICATION,
                        f"hosts.{self._hop.name}.key cannot be used: {error}",
                        _USABLE_KEY,
                    ) from None
        return {"password": None, "client_keys": keys, "preferred_auth": ("publickey",)}

    def _client(self) -> asyncssh.SSHClient:
        import asyncssh

        step = self

        class Client(asyncssh.SSHClient):
            """Looks at the key. It is kept only after the handshake has proven who holds it."""

            def validate_host_public_key(
                self, host: str, addr: str, port: int, key: asyncssh.SSHKey
            ) -> bool:
                step._offered = KnownKey(key.get_algorithm(), key.get_fingerprint("sha256"))
                return step._known is None or step._known.same(step._offered)

        return Client()

    def _why(self, error: Exception) -> DialFailed:
        """Return what an error of the handshake means."""
        import asyncssh

        if isinstance(error, asyncssh.HostKeyNotVerifiable) and self._offered is not None:
            return self._changed()
        exchange = isinstance(error, asyncssh.KeyExchangeFailed) and "host key" in str(error)
        if exchange and self._known is not None:
            return self._failed(
                Stage.HOST_KEY,
                f"it no longer has a key of the known kind ({self._known})",
                self._forget,
                {"known": str(self._known), "offered": None},
            )
        denied = isinstance(error, asyncssh.PermissionDenied)
        if denied or "authentication failures" in str(error):
            how = f"as {self._hop.entry.user} by {self._hop.entry.auth}"
            return self._failed(
                Stage.AUTHENTICATION, f"the login {how} was refused: {error}",
                f"Check user, auth and secret of hosts.{self._hop.name}.",
            )  # fmt: skip
        if isinstance(error, OSError | asyncssh.ConnectionLost | asyncssh.ChannelOpenError):
            message = str(error) or type(error).__name__
            return self._failed(Stage.NETWORK, f"{self._hop.place}: {message}", _CHECK_NETWORK)
        return self._failed(Stage.UNKNOWN, f"{type(error).__name__}: {error}")

    def _changed(self) -> DialFailed:
        known, offered = str(self._known), str(self._offered)
        return self._failed(
            Stage.HOST_KEY,
            f"its key has changed: known since {self._known.first_seen if self._known else ''} is "
            f"{known}, offered is {offered}",
            self._forget,
            {"known": known, "offered": offered},
        )

    @property
    def _forget(self) -> str:
        return (
            "If that is no surprise (a new machine, a new installation): "
            f"truepenny host forget {self._hop.name}"
        )

    def _failed(
        self, stage: Stage, message: str, remedy: str = "", detail: dict[str, Any] | None = None
    ) -> DialFailed:
        return DialFailed(
            self._target.name, self._hop.name, stage, message, remedy=remedy, detail=detail
        )


_USABLE_KEY = (
    "Name a private key, and its passphrase if it has one; what it is says: ssh-keygen -l -f FILE"
)

_CHECK_NETWORK = "Check address, port and network."


def _nobody_known(host: str, addr: str, port: int | None) -> tuple[list[Any], list[Any], list[Any]]:
    """No key is trusted before we have looked at it (an empty file would mean the default one)."""
    return [], [], []


async def _close(ssh: asyncssh.SSHClientConnection) -> None:
    """Say goodbye, for a moment; whatever happens, the connection is gone afterwards."""
    with anyio.CancelScope(shield=True):
        try:
            with anyio.move_on_after(CLOSE_SECONDS):
                ssh.close()
                await ssh.wait_closed()
        finally:
            ssh.abort()
