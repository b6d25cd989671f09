"""One settings tree from a TOML file and the environment, with the source of every value."""
