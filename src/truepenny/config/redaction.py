"""The redactor that the settings ask for: the built-in rules, theirs, and their secret values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from truepenny.errors import ConfigurationError

from .secret import resolve, shown

if TYPE_CHECKING:
    from truepenny.text.redact import Redactor

    from .settings import Settings


def redactor(settings: Settings, env: Mapping[str, str]) -> Redactor:
    """Return a new redactor.

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
    return made
