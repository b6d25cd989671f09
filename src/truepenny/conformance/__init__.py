"""The result-contract suite that every tool has to pass."""
