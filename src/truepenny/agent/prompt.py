"""The system prompt and the runtime's own notes, assembled from the files in `prompts/`.

Order: identity, behaviour, environment, mode, safety. An agent definition may replace identity and
behaviour. Safety always comes last and cannot be replaced. The result is stable for a session, so
that providers can cache it.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path
from string import Template

from truepenny.errors import ConfigurationError

_FOLDER = Path(__file__).parent / "prompts"


class Layer(StrEnum):
    """The prompt files, by name."""

    IDENTITY = "identity"
    BEHAVIOUR = "behaviour"
    ENVIRONMENT = "environment"
    READ_ONLY = "read_only"
    DEEP = "deep"
    SAFETY = "safety"
    NOTICE_BUDGET = "notice_budget"
    NOTICE_LOOP = "notice_loop"
    CONCLUDE = "conclude"


@cache
def _template(layer: Layer) -> Template:
    return Template((_FOLDER / f"{layer}.md").read_text(encoding="utf-8").strip())


def render(layer: Layer, **values: object) -> str:
    """Fill a prompt file. Raises ConfigurationError when placeholders and values do not match."""
    template = _template(layer)
    wanted = set(template.get_identifiers())
    if wanted != set(values):
        raise ConfigurationError(
            f"placeholders {sorted(wanted)} do not match values {sorted(values)}",
            where=f"prompt {layer}",
            remedy="Each placeholder needs one value, and each value one placeholder.",
        )
    return template.substitute({name: str(value) for name, value in values.items()})


def system_prompt(
    *,
    environment: str = "",
    read_only: bool = False,
    deep: bool = False,
    identity: str | None = None,
    behaviour: str | None = None,
) -> str:
    """Return the system prompt.

    `environment` describes what can be reached (clusters, hosts), written by us, not by a target.
    `identity` and `behaviour` replace their layer; None keeps ours, an empty text leaves it out.
    """
    layers = [
        render(Layer.IDENTITY) if identity is None else identity.strip(),
        render(Layer.BEHAVIOUR) if behaviour is None else behaviour.strip(),
        render(Layer.ENVIRONMENT, environment=environment.strip()) if environment.strip() else "",
        render(Layer.READ_ONLY) if read_only else "",
        render(Layer.DEEP) if deep else "",
        render(Layer.SAFETY),
    ]
    return "\n\n".join(layer for layer in layers if layer) + "\n"
