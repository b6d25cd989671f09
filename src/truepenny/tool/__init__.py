"""The tool contract: one result, one admission, one registry, one way to call."""
