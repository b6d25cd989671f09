"""What a tool said about one command, in neutral terms. None everywhere: it does not say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Observed:
    """One answer. Fill only what the tool really states; a driver never completes it.

    `text` is all that a model reads. `output` is what the command wrote, both streams, without
    words of the tool's own; where a tool mixes both it is the text. `flagged` is its error flag.
    `died` says why there was no answer at all: the tool crashed, or hung and had to be ended.
    """

    text: str = ""
    output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    flagged: bool | None = None
    timed_out: bool | None = None
    interrupted: bool | None = None
    truncated: bool | None = None
    stage_failure: bool | None = None
    bytes_written: int | None = None
    undecodable: bool | None = None
    sandbox: str | None = None
    other: str = ""
    """Whatever else came with the answer (fields as JSON): searched for secrets."""
    died: str = ""

    @property
    def failure_told(self) -> bool | None:
        """Whether the account says that it failed: True beats False beats silence."""
        if (
            self.flagged or self.timed_out or self.interrupted or self.stage_failure
            or self.signal is not None or self.exit_code not in (None, 0)
        ):  # fmt: skip
            return True
        return False if self.exit_code == 0 or self.flagged is False else None
