"""`bash` for diagnosis: one line of programs that only read, beside kubectl."""
