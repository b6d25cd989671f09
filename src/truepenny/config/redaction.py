"""The redactor that the settings ask for: the built-in rules, theirs, and their secret values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError

from .host_secret import learn_host_secrets
from .secret import resolve, shown

if TYPE_CHECKING:
    from truepenny.text.redact import Redactor

    from .settings import Settings


def redactor(settings: Settings, env: Mapping[str, str]) -> Redactor:
    """Return a new redactor; it knows the values to redact and every credential.

    Raises ConfigurationError for a value that is not there, or too short to be told from ordinary
    text: leaving it out would look as if it were redacted.
    """
    from truepenny.text.known import MIN_CERTAIN_LENGTH
    from truepenny.text.redact import Redactor

    if settings.redact.rules:
        from truepenny.text.rule import Rule
        from truepenny.text.rules import RULES

        ours = [
            Rule(rule.name, (rule.anchor,), rule.pattern, positive=())
            for rule in settings.redact.rules
        ]
        made = Redactor((*ours, *RULES))
    else:
        made = Redactor()
    for number, value in enumerate(settings.redact.values):
        if not made.learn(resolve(value, env), f"redact.values.{number}", certain=True):
            raise ConfigurationError(
                f"the value {shown(value)} is shorter than {MIN_CERTAIN_LENGTH} characters",
                where=f"redact.values[{number}]",
                remedy="Use a longer secret; one so short would blank ordinary words.",
            )
    learn_host_secrets(made, settings, env)
    for name, value in credential_values(settings, env).items():
        if not made.learn(value, name, certain=True):
            raise ConfigurationError(
                f"the value is shorter than {MIN_CERTAIN_LENGTH} characters",
                where=f"credentials.{name}.value",
                remedy="Use a longer secret; one so short cannot be kept out of outputs.",
            )
    return made


def credential_values(settings: Settings, env: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials that are there, by name.

    One whose environment variable is not set is not there: whoever asks for it is told so. Raises
    ConfigurationError for a file that cannot be read.
    """
    found: dict[str, str] = {}
    for name, one in settings.credentials.items():
        kind, _, rest = one.value.get_secret_value().partition(":")
        if kind == "env" and not env.get(rest):
            continue
        try:
            found[name] = resolve(one.value, env)
        except ConfigurationError as error:
            where = f"credentials.{name}.value ({error.where})"
            raise ConfigurationError(error.message, where=where, remedy=error.remedy) from error
    return found
