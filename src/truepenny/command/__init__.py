"""Understanding a command before it runs. Reading is pure: no file, process or network."""
