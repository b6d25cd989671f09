"""Running a process and telling the truth about it: capture, caps, how it ended, what that means.

A process is an argument list; a line for a shell is one by `shell.py`, and by nothing else.
"""
