"""The configuration: one settings tree, read from a file and the environment.

`settings.Settings` is the tree, `load.load` reads it, `secret.resolve` follows references to
secrets, `show.effective` prints what is in force. Nothing is imported before it is used.
"""
