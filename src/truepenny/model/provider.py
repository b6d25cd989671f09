"""Providers: what the settings and the environment say, filled in from the known ones.

A provider is ready only if it has all it needs; otherwise `problem` says what is missing, and the
rest of the catalog works without it. A known provider whose key variable is set needs no settings.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from truepenny.errors import ConfigurationError

from .endpoint import Endpoint, Timeouts

PRESETS_FILE = Path(__file__).with_name("providers.toml")

LOCAL_WIRE = "local"


class OverridesLike(Protocol):
    """What is needed of one model's settings: the id on the wire, a like-named profile, fields."""

    @property
    def id(self) -> str | None: ...
    @property
    def profile(self) -> str | None: ...
    def pinned(self) -> Mapping[str, Any]:
        """Return the profile fields that a person set."""
        ...


class ProviderLike(Protocol):
    """What is needed of one provider's settings (`truepenny.config.settings`)."""

    @property
    def wire(self) -> str | None: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def profile(self) -> str | None: ...
    @property
    def model_path(self) -> str | None: ...
    @property
    def context_window(self) -> int | None: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def models(self) -> Mapping[str, OverridesLike]: ...
    def resolved_key(self, env: Mapping[str, str]) -> str | None: ...
    def resolved_headers(self, env: Mapping[str, str]) -> dict[str, str]: ...


class ModelSettingsLike(Protocol):
    """What is needed of the settings' `model` table."""

    @property
    def default(self) -> str | None: ...
    @property
    def connect_timeout(self) -> float: ...
    @property
    def first_byte_timeout(self) -> float: ...
    @property
    def idle_timeout(self) -> float: ...


class SettingsLike(Protocol):
    """What is needed of the settings."""

    @property
    def model(self) -> ModelSettingsLike: ...
    @property
    def providers(self) -> Mapping[str, ProviderLike]: ...


@dataclass(frozen=True, slots=True)
class Preset:
    """A known provider. `wire_elsewhere` is spoken where the address is not its own."""

    name: str
    wire: str
    base_url: str = ""
    base_url_env: str = ""
    key_env: str = ""
    wire_elsewhere: str = ""
    profile: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider, ready to be used unless `problem` says why not.

    `source` is `settings` or the environment variable that configured it. `additions` are profile
    fields that hold for all its models. No representation shows the key or a header.
    """

    name: str
    wire: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    additions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    like: str = ""
    models: Mapping[str, OverridesLike] = field(default_factory=dict[str, OverridesLike])
    model_path: str = ""
    context_window: int | None = None
    threads: int | None = None
    source: str = "settings"
    problem: str = ""
    remedy: str = ""

    def endpoint(self, timeouts: Timeouts) -> Endpoint:
        """Return where requests go."""
        return Endpoint(self.name, self.base_url, self.api_key, self.headers, timeouts)


@cache
def presets() -> Mapping[str, Preset]:
    """Return the known providers by name."""
    document = tomllib.loads(PRESETS_FILE.read_text(encoding="utf-8"))
    return {name: Preset(name, **values) for name, values in document.items()}


def providers(settings: SettingsLike, env: Mapping[str, str]) -> dict[str, Provider]:
    """Return the providers of the settings, then the known ones that a key variable configures."""
    found = {name: _configured(name, one, env) for name, one in settings.providers.items()}
    for name, preset in presets().items():
        if name not in found and preset.key_env and env.get(preset.key_env):
            found[name] = _from_environment(preset, env)
    return found


def timeouts(settings: SettingsLike) -> Timeouts:
    """Return the three limits of waiting; zero in the settings is no limit."""
    model = settings.model
    return Timeouts(
        model.connect_timeout or None, model.first_byte_timeout or None, model.idle_timeout or None
    )


def _from_environment(preset: Preset, env: Mapping[str, str]) -> Provider:
    elsewhere = env.get(preset.base_url_env, "") if preset.base_url_env else ""
    return Provider(
        preset.name,
        (elsewhere and preset.wire_elsewhere) or preset.wire,
        elsewhere or preset.base_url,
        env[preset.key_env],
        additions=preset.profile,
        source=f"environment {preset.key_env}",
    )


def _configured(name: str, given: ProviderLike, env: Mapping[str, str]) -> Provider:
    preset = presets().get(name, Preset(name, ""))
    elsewhere = given.base_url or (env.get(preset.base_url_env, "") if preset.base_url_env else "")
    wire = given.wire or (elsewhere and preset.wire_elsewhere) or preset.wire
    base_url = elsewhere or preset.base_url
    key, headers = "", dict[str, str]()
    problem, remedy = _missing(name, wire, base_url, given)
    try:
        key = given.resolved_key(env) or (env.get(preset.key_env, "") if preset.key_env else "")
        headers = given.resolved_headers(env)
    except ConfigurationError as error:
        problem, remedy = f"{error.where}: {error.message}", error.remedy
    if not problem and preset.key_env and not key and not elsewhere and not headers:
        problem = "it has no key"
        remedy = f'Set {preset.key_env}, or api_key = "env:NAME" in [providers.{name}].'
    return Provider(
        name,
        wire,
        base_url,
        key,
        headers,
        preset.profile,
        given.profile or "",
        given.models,
        given.model_path or "",
        given.context_window,
        given.threads,
        problem=problem,
        remedy=remedy,
    )


def _missing(name: str, wire: str, base_url: str, given: ProviderLike) -> tuple[str, str]:
    table = f"[providers.{name}]"
    if not wire:
        known = ", ".join(presets())
        return (
            "it names no wire and is not a known provider",
            f'Add wire = "openai_chat" (or another) to {table}; known providers: {known}.',
        )
    if wire == LOCAL_WIRE:
        return _missing_locally(given.model_path, table)
    if not base_url:
        return "it has no address", f'Add base_url = "https://host/v1" to {table}.'
    return "", ""


def _missing_locally(model_path: str | None, table: str) -> tuple[str, str]:
    if not model_path:
        return "it names no model file", f'Add model_path = "/path/model.gguf" to {table}.'
    if not Path(model_path).expanduser().is_file():
        return f"there is no file {model_path}", f"Correct model_path in {table}."
    if importlib.util.find_spec("xllamacpp") is None:
        return "llama.cpp is not installed", "Run: pip install 'truepenny[local]'"
    return "", ""
