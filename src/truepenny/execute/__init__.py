"""Running a process and telling the truth about it: capture, caps, how it ended, what that means.

Here a process is an argument list, never a line for a shell.
"""
