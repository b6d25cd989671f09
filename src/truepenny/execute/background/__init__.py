"""Runs that go on while others work: their registry, their output files, their records."""
