"""One command in a container."""
