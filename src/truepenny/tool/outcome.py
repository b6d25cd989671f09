"""The closed answers to "what happened" (architecture, section 3), as tools speak them."""

from __future__ import annotations

from truepenny.execute.ending import Cause, Leg, Outcome

__all__ = ["Cause", "Leg", "Outcome"]
