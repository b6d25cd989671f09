"""Read-only tools over clusters, and the rules that explain what they show."""
