"""Which models there are, and the model that a name means.

A name is `provider/model`, a model's own name where exactly one provider lists it, or a provider's
name where it lists exactly one model. With none named or configured the embedded analyst answers.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from truepenny.errors import ConfigurationError, TruepennyError

from .provider import LOCAL_WIRE, Provider, SettingsLike, presets, providers, timeouts
from .request import Model
from .wires import builtin

if TYPE_CHECKING:
    from truepenny.text.redact import Redactor

    from .endpoint import Timeouts
    from .probe import ProbeReport
    from .profile import Profile

WIRES: Mapping[str, str] = {
    "anthropic_messages": "truepenny.model.wires.anthropic_messages:AnthropicMessagesModel",
    "openai_chat": "truepenny.model.wires.openai_chat:OpenAIChatModel",
    "openai_responses": "truepenny.model.wires.openai_responses:OpenAIResponsesModel",
    LOCAL_WIRE: "truepenny.model.wires.local:LocalModel",
}
"""Every wire by its name in the settings, imported when a model needs it."""

MEMORY_FILE = "capabilities.json"
"""In the state directory: what servers' refusals taught (`truepenny.model.capability`)."""


class StateDirectory(Protocol):
    """What is needed of `truepenny.system.directories.Directories`."""

    @property
    def state(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model that may be named. `name` is what people type; `model` the id on the wire.

    A provider that lists no models has one entry with an empty `model`: any id may follow the
    slash. `problem` says why the entry cannot be used, `remedy` what to do about it.
    """

    name: str
    provider: str
    model: str
    wire: str
    source: str
    problem: str = ""
    remedy: str = ""
    default: bool = False
    profile: Profile | None = None
    origin: Provider | None = field(default=None, repr=False)
    timeouts: Timeouts | None = field(default=None, repr=False)

    @property
    def ready(self) -> bool:
        """Whether it has all it needs to be asked; says nothing about the server's health."""
        return not self.problem and bool(self.model)


def available(settings: SettingsLike, env: Mapping[str, str]) -> list[ModelEntry]:
    """Return the builtin models, then each provider's listed models, then open providers.

    Reads no network. Providers that lack something are in the list with their `problem`.
    """
    default = settings.model.default or builtin.DEFAULT
    found = [_builtin_entry(name, default) for name in builtin.names()]
    for provider in providers(settings, env).values():
        for model in _listed(provider):
            found.append(_entry(provider, model, settings, default))
        if not _listed(provider):
            found.append(_entry(provider, "", settings, default))
    return found


def find(name: str | None, settings: SettingsLike, env: Mapping[str, str]) -> ModelEntry:
    """Return the entry that a name means; None is the settings' default, else the embedded one.

    Raises ConfigurationError (exit code 3) for a name that is not configured, listing what is and
    the nearest names, and for one that is configured but lacks something.
    """
    default = settings.model.default or builtin.DEFAULT
    wanted = name or default
    if wanted in builtin.names():
        return _builtin_entry(wanted, default)
    known = providers(settings, env)
    matches = _matches(wanted, known)
    if len(matches) != 1:
        where = "" if name else "model.default"
        raise _unknown(wanted, where, known, matches, settings, env)
    provider, model = matches[0]
    entry = _entry(provider, model, settings, default)
    if entry.problem:
        raise ConfigurationError(
            f"the model {wanted} cannot be used: {entry.problem}",
            where=f"providers.{provider.name}",
            remedy=entry.remedy,
        )
    return entry


def resolve(
    name: str | None,
    settings: SettingsLike,
    directories: StateDirectory,
    env: Mapping[str, str],
    redactor: Redactor | None = None,
) -> Model:
    """Return the model that a name means, ready to be asked; nothing is contacted yet.

    The key and the headers' values are taught to the redactor. Raises as `find`.
    """
    return open_entry(find(name, settings, env), directories, redactor)


def open_entry(
    entry: ModelEntry, directories: StateDirectory, redactor: Redactor | None = None
) -> Model:
    """Return the model of an entry. ConfigurationError if what it needs is not there."""
    if entry.origin is None:
        return builtin.lookup(entry.name)
    provider = entry.origin
    if redactor is not None:
        _teach(redactor, provider)
    from .capability import CapabilityMemory
    from .endpoint import Timeouts

    memory = CapabilityMemory(directories.state / MEMORY_FILE)
    limits = entry.timeouts or Timeouts()
    assert entry.profile is not None, "an entry with an origin has a profile"
    make = _wire(entry.wire)
    redact = None if redactor is None else _redact(redactor)
    if entry.wire == LOCAL_WIRE:
        return make(provider, entry.profile, limits, redact=redact)
    endpoint = provider.endpoint(limits)
    model: Model = make(endpoint, entry.profile, capabilities=memory, redact=redact)
    if entry.profile.text_tool_calls:
        from .tool_text.model import TextToolModel

        return TextToolModel(model, prompted=not entry.profile.tools)
    return model


async def probe(
    entry: ModelEntry, directories: StateDirectory, redactor: Redactor | None = None
) -> ProbeReport:
    """Return what works with an entry's model (`truepenny.model.probe`); raises nothing for it."""
    from . import probe as probing

    try:
        if entry.problem:
            raise ConfigurationError(entry.problem, remedy=entry.remedy)
        if not entry.model:
            raise ConfigurationError("it lists no model; probe it by a full name, provider/model")
        model = open_entry(entry, directories, redactor)
    except TruepennyError as error:
        return probing.unusable(entry.name, error)
    try:
        if entry.origin is None:
            return probing.builtin(entry.name)
        return await probing.probe_model(model)
    finally:
        with anyio.CancelScope(shield=True):
            await model.close()


def _wire(name: str) -> Callable[..., Any]:
    module, _, attribute = WIRES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _redact(redactor: Redactor) -> Callable[[str], str]:
    return lambda text: redactor.text(text).text


def _teach(redactor: Redactor, provider: Provider) -> None:
    from truepenny.text.sensitive import is_secret

    if provider.api_key:
        redactor.learn(provider.api_key, f"{provider.name}-key")
    for header, value in provider.headers.items():
        # Others (a referer, an organisation) are no secrets and would blank ordinary words.
        if is_secret(header, value):
            redactor.learn(value, f"{provider.name}-{header.lower()}")


def _listed(provider: Provider) -> tuple[str, ...]:
    if provider.models:
        return tuple(provider.models)
    # A local provider runs one file: its model is called as the file is.
    return (Path(provider.model_path).stem,) if provider.model_path else ()


def _builtin_entry(name: str, default: str) -> ModelEntry:
    provider, _, model = name.partition("/")
    return ModelEntry(name, provider, model, "builtin", "truepenny", default=name == default)


def _entry(provider: Provider, model: str, settings: SettingsLike, default: str) -> ModelEntry:
    name = f"{provider.name}/{model or '…'}"
    problem, remedy = provider.problem, provider.remedy
    profile, wire_id = None, model
    if model and not problem:
        profile, wire_id = _profile(provider, model)
    return ModelEntry(
        name,
        provider.name,
        wire_id,
        provider.wire,
        provider.source,
        problem,
        remedy,
        default in (name, model, provider.name),
        profile,
        provider,
        timeouts(settings),
    )


def _profile(provider: Provider, model: str) -> tuple[Profile, str]:
    from .profile_data import profile_of

    given = provider.models.get(model)
    wire_id, like, pinned = model, provider.like, dict[str, Any]()
    if given is not None:
        wire_id, like = given.id or model, given.profile or like
        pinned.update(given.pinned())
    if provider.context_window is not None:
        pinned.setdefault("context_window", provider.context_window)
    additions = provider.additions
    profile = profile_of(wire_id, provider.wire, like=like, additions=additions, overrides=pinned)
    return profile, wire_id


def _matches(wanted: str, known: Mapping[str, Provider]) -> list[tuple[Provider, str]]:
    head, separator, rest = wanted.partition("/")
    if separator and rest and head in known:
        return [(known[head], rest)]
    if not separator and wanted in known:
        listed = _listed(known[wanted])
        return [(known[wanted], model) for model in listed]
    return [
        (provider, model)
        for provider in known.values()
        for model in _listed(provider)
        if model == wanted
    ]


def _unknown(
    wanted: str,
    where: str,
    known: Mapping[str, Provider],
    matches: list[tuple[Provider, str]],
    settings: SettingsLike,
    env: Mapping[str, str],
) -> ConfigurationError:
    if matches:
        names = ", ".join(f"{provider.name}/{model}" for provider, model in matches)
        return ConfigurationError(
            f"{wanted!r} means more than one model", where=where, remedy=f"Name one: {names}."
        )
    head = wanted.partition("/")[0]
    if wanted in known:
        return ConfigurationError(
            f"{wanted!r} is a provider, not a model",
            where=where,
            remedy=f"Name one of its models: {wanted}/MODEL.",
        )
    names = [entry.name for entry in available(settings, env)]
    near = difflib.get_close_matches(wanted, [name for name in names if "…" not in name], n=3)
    preset = presets().get(head)
    if preset is not None:
        key = f"set {preset.key_env}, or " if preset.key_env else ""
        remedy = f"To use {head}, {key}add [providers.{head}] to the settings."
    elif near:
        remedy = f"Did you mean {' or '.join(near)}?"
    else:
        remedy = "Add its provider to the settings (docs/models.md)."
    return ConfigurationError(
        f"the model {wanted!r} is not configured; configured: {', '.join(names)}",
        where=where,
        remedy=remedy,
    )
