"""The three-way split of a task's variables (assistant spec 3.2, contract 3 of its section 12).

What a task's set-up produced goes to three places: to every program of ours on the host (the
base), to single tools (the credentials), and to the model. Four orders carry this; each has a test
that fails when its two lines are swapped:

1. proxy-only names leave before credentials are looked for, so that no tool can ask for one;
2. credentials leave before the rest becomes the model's environment;
3. the base is taken before the sandbox marker is set, or our own programs would think that they
   are inside; and before hooks put folders on PATH, which lead to stand-ins that call us;
4. top-ups come last and fill gaps only: what a tool brings is never overridden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from .names import is_ours

MARKER = "TRUEPENNY_SANDBOXED"
"""Set to 1 in every environment inside. A client that sees it never runs a program itself."""

TRUST_STORES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
)
"""Paths of certificates, topped up for every program on the host."""

PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
"""Topped up together or not at all: half of one proxy and half of another reach nothing."""

MODEL_ADDRESSES = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")

MODEL_KEYS = frozenset(
    {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY"}
)
"""Known keys of models; `split` takes the names of configured providers beside them."""


class NotGiven(StrEnum):
    """Why a value is not handed out."""

    NOT_AUTHORISED = "not_authorized_credential"
    """No such credential, or not one of this task. The two are the same to who asks."""
    NOT_PRESENT = "credential_not_present"
    """It is one of this task's, and nobody has set it."""
    NOT_MASKABLE = "credential_not_maskable"
    """It is too short to be found again in an output, so it must not get into one."""


@dataclass(frozen=True, slots=True)
class CredentialSpec:
    """One variable that tools declare, with the tools that may have it.

    `proxy_only` goes to all programs on the host and to nobody else. `sensitive` goes to the
    tools alone; a variable that is neither is the model's to see. A sensitive one that is not
    `handed` is in the environments of its tools, and its value is given to nobody who asks.
    """

    name: str
    tools: frozenset[str]
    proxy_only: bool = False
    sensitive: bool = True
    handed: bool = True


@dataclass(frozen=True, slots=True)
class Split:
    """The result. `model` is the environment of what the model runs, `base` that of our programs.

    `credentials` holds the values of each tool that has any. `selected` are the tools that this
    task uses; a tool with a credential of its own is authorised as well, used or not.
    `hidden` names the variables of the base that are secrets all the same.
    """

    model: Mapping[str, str]
    base: Mapping[str, str]
    credentials: Mapping[str, Mapping[str, str]]
    selected: frozenset[str]
    hidden: frozenset[str]
    _declared: Mapping[str, frozenset[str]]
    _host: Mapping[str, str] = field(repr=False)
    _model_tools: frozenset[str]

    @property
    def authorised(self) -> frozenset[str]:
        """The tools that may be run through the proxy."""
        return self.selected | frozenset(self.credentials)

    @property
    def hands_out(self) -> bool:
        """Whether there is any value that may be asked for."""
        return bool(self._declared)

    def environment(self, tool: str) -> dict[str, str]:
        """Return the whole environment of a tool's program on the host.

        Raises KeyError for a tool that is not authorised: there is no environment to fall back on.
        """
        if tool not in self.authorised:
            raise KeyError(tool)
        found = {**self.base, **self.credentials.get(tool, {})}
        _top_up(found, self._host, calls_a_model=tool in self._model_tools)
        return found

    def lookup(self, name: str) -> str | NotGiven:
        """Return a credential's value for a program inside, or why it gets none."""
        tools = self._declared.get(name, frozenset[str]()) & self.authorised
        if not tools:
            return NotGiven.NOT_AUTHORISED
        found = (self.credentials.get(tool, {}).get(name) for tool in sorted(tools))
        return next((value for value in found if value), NotGiven.NOT_PRESENT)

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Yield names and values of all that must be known to the redactor before anything runs."""
        for values in (*self.credentials.values(), {n: self.base[n] for n in sorted(self.hidden)}):
            yield from ((name, value) for name, value in values.items() if value)


def split(
    task: Mapping[str, str],
    specs: Sequence[CredentialSpec],
    *,
    host: Mapping[str, str],
    selected: Collection[str] = (),
    path_prepends: Iterable[Path] = (),
    model_tools: Collection[str] = (),
    model_keys: Collection[str] = (),
) -> Split:
    """Split a task's variables; `task` is a clean environment with what set-up hooks added.

    `host` is our own environment, of which only top-ups are taken. `selected` are the task's
    tools, `model_tools` those that call a model. `model_keys` are further names of model keys:
    neither they nor our settings come out of here, whatever a spec says.
    """
    forbidden = MODEL_KEYS | frozenset(model_keys)
    rest = {k: v for k, v in task.items() if not (is_ours(k) or k in forbidden)}
    specs = [spec for spec in specs if not (is_ours(spec.name) or spec.name in forbidden)]
    # Order 1: a name that one tool declares proxy-only and another sensitive is proxy-only.
    proxy_only = _take(rest, {spec.name for spec in specs if spec.proxy_only})
    # Order 2: what is left as a credential never reaches the model.
    secret = _take(rest, {spec.name for spec in specs if spec.sensitive})
    model = rest
    # Order 3: ours first, then what only a process inside may see.
    base = {**model, **proxy_only}
    model[MARKER] = "1"
    model = with_path(model, path_prepends)
    credentials: dict[str, dict[str, str]] = {}
    declared: dict[str, frozenset[str]] = {}
    for spec in specs:
        if not spec.sensitive or spec.name in proxy_only:
            continue
        if spec.handed:
            declared[spec.name] = declared.get(spec.name, frozenset()) | spec.tools
        if spec.name in secret:
            for tool in sorted(spec.tools):
                credentials.setdefault(tool, {})[spec.name] = secret[spec.name]
    return Split(
        model=MappingProxyType(model),
        base=MappingProxyType(base),
        credentials=MappingProxyType(credentials),
        selected=frozenset(selected),
        hidden=frozenset(spec.name for spec in specs if spec.sensitive and spec.name in proxy_only),
        _declared=declared,
        _host=MappingProxyType(dict(host)),
        _model_tools=frozenset(model_tools),
    )


def _take(source: dict[str, str], names: Collection[str]) -> dict[str, str]:
    """Move the named variables out of `source`."""
    return {name: source.pop(name) for name in sorted(names) if name in source}


def with_path(env: Mapping[str, str], folders: Iterable[Path]) -> dict[str, str]:
    """Return an environment with folders before all others on PATH."""
    entries = [str(folder) for folder in folders]
    if env.get("PATH"):
        entries.append(env["PATH"])
    return {**env, **({"PATH": ":".join(entries)} if entries else {})}


def _top_up(env: dict[str, str], host: Mapping[str, str], *, calls_a_model: bool) -> None:
    """Order 4: fill gaps in a complete environment, and override nothing."""
    _fill(env, host, TRUST_STORES)
    if not calls_a_model:
        return
    _fill(env, host, MODEL_ADDRESSES)
    if not any(name in env for proxy in PROXIES for name in (proxy, proxy.lower())):
        _fill(
            env, {name: host.get(name) or host.get(name.lower(), "") for name in PROXIES}, PROXIES
        )


def _fill(env: dict[str, str], host: Mapping[str, str], names: Iterable[str]) -> None:
    for name in names:
        if host.get(name):
            env.setdefault(name, host[name])
