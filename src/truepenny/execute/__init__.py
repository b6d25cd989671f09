"""Running a process and telling the truth about it."""
