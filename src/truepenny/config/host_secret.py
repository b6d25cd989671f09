"""The secrets of hosts: what logs in, and what the redactor has to know of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError

from .secret import resolve

if TYPE_CHECKING:
    from truepenny.text.redact import Redactor

    from .settings import HostSettings, Settings

KINDS = ("password", "key", "passphrase")
"""The fields of a host that hold a secret."""

_KEY_FRAME = re.compile(r"^(?:-----.*|[A-Za-z-]+: .*)$", re.MULTILINE)
"""What is around the base64 of a key: the same in every key, so no secret."""


@dataclass(frozen=True, slots=True)
class HostSecrets:
    """What one host's login is made of; each is None where it has none of that kind."""

    password: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)


def host_secrets(name: str, host: HostSettings, env: Mapping[str, str]) -> HostSecrets:
    """Return the secrets themselves; ConfigurationError, naming the key, if one is not there.

    Where it should be is not said: a model reads this, too.
    """
    found: dict[str, str] = {}
    for kind in KINDS:
        reference = getattr(host, kind)
        if reference is None:
            continue
        try:
            found[kind] = resolve(reference, env)
        except ConfigurationError as error:
            where = f"hosts.{name}.{kind}"
            remedy = f"See what {where} names in the settings."
            raise ConfigurationError(error.message, where=where, remedy=remedy) from error
    return HostSecrets(**found)


def too_short(secrets: HostSecrets) -> bool:
    """Whether one is so short that the redactor could not tell it from ordinary text."""
    from truepenny.text.known import MIN_CERTAIN_LENGTH

    words = (secrets.password, secrets.passphrase)
    return any(word is not None and len(word.strip()) < MIN_CERTAIN_LENGTH for word in words)


def learn_host_secrets(redactor: Redactor, settings: Settings, env: Mapping[str, str]) -> None:
    """Teach a redactor the secrets of every host.

    One that is not there cannot leak; that host is not dialled, and says why when it is asked.
    """
    for name, host in settings.hosts.items():
        for kind in KINDS:
            reference = getattr(host, kind)
            if reference is None:
                continue
            try:
                value = resolve(reference, env)
            except ConfigurationError:
                continue
            if kind == "key":
                value = _KEY_FRAME.sub("", value)
            redactor.learn(value, f"hosts.{name}.{kind}", certain=kind != "key")
