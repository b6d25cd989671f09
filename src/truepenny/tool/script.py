"""A script of a skill, as it is handed from what knows skills to the tools that run it."""

from __future__ import annotations

from dataclasses import dataclass

from truepenny.errors import UsageError


@dataclass(frozen=True, slots=True)
class Script:
    """One script. `interpreter` is `bash`, `sh` or `python3`, `contexts` where it may run (`local`,
    `node`, `pod`, `host`), `documentation` what a caller must know of its arguments."""

    skill: str
    name: str
    body: bytes
    interpreter: str
    contexts: tuple[str, ...]
    documentation: str = ""


class UnknownScript(UsageError):
    """There is no such skill, or no such script in it. `known` are those there are, each as
    `skill/script`; `documentation` is the skill's own text, where the skill is known."""

    def __init__(
        self, skill: str, name: str, known: tuple[str, ...] = (), documentation: str = ""
    ) -> None:
        there = ", ".join(known) or "none"
        super().__init__(f"there is no script {skill}/{name}", remedy=f"There are: {there}.")
        self.known = known
        self.documentation = documentation
