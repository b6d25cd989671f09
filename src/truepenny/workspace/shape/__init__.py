"""What of an output a model reads: one policy, one budget, and never a silent cut."""

from .policy import Policy
from .shaper import RESULT_BYTES, Shaped, Shaper

__all__ = ["RESULT_BYTES", "Policy", "Shaped", "Shaper"]
