"""Namespaces by bubblewrap: its arguments from a plan, its start, and what it reports."""
