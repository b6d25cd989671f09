"""Why a line may not run, for a person, a model and a program alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that may not run.

    `rejected_by` is a machine word, `matched` the part of the line it is about. `hint` is a line
    that passes the same check in the same context, or empty when nothing close to it does.
    `expands_onto` is the path that a pattern would reach, for `rejected_by="sensitive_path"`.
    """

    rejected_by: str
    matched: str
    message: str
    hint: str = ""
    expands_onto: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the fields that say something, for `--json` and for the model."""
        fields = {
            "rejected_by": self.rejected_by,
            "matched": self.matched,
            "message": self.message,
            "hint": self.hint,
            "expands_onto": self.expands_onto,
        }
        return {name: value for name, value in fields.items() if value or name == "rejected_by"}
