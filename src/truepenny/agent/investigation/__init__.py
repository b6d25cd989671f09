"""Deep investigation: hypotheses kept through a tool, and no long silence (diagnostics spec 8)."""
