"""Checks what an answer asserts against the recorded results that it cites.

`check.check(answer, sources)` gives one verdict a sentence. The check is mechanical: it finds
names, numbers, quotations and reasons in the cited output, and says nothing about what they mean.
"""
