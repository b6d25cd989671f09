"""Tools that work in one folder: commands, scripts, checks and files, held by a sandbox."""
