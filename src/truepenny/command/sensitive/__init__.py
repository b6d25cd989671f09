"""Places whose content is a credential or a person's own, in every spelling of their path."""
