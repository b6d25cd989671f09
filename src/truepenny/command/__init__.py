"""Understanding a command before it runs."""
