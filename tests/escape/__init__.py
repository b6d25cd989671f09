"""Attempts to get out of the sandbox, each run for real and judged from outside."""
