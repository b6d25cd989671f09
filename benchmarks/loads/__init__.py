"""Work that a benchmark measures in a process of its own."""
