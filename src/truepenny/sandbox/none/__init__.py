"""No walls: only by an explicit setting, and said in every result."""
