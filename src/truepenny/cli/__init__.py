"""Commands: thin shells over library calls."""
