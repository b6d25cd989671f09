"""Control groups: one for each run, which holds its memory, processes and processor time.

Version 2 first, version 1 as the second layout; where neither is ours to use, `rlimits` is left.
The run's first words join it (`truepenny.sandbox.placement`), so nothing it starts is outside.
"""

from __future__ import annotations

from .choice import layout, open_group, sweep

__all__ = ["layout", "open_group", "sweep"]
