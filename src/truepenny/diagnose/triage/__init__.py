"""Triage: pure rules over what was read from a cluster, and the engine that decides what to read.

`rules` yield findings from `evidence` and ask for more; `engine` runs them; `report` writes what
was found, what was looked at and what was not; `tool` is all of it as one tool.
"""
