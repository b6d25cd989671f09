"""The simulator's HTTP side, one noun a file."""
