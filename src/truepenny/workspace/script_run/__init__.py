"""One run of a script with its folder: logs, manifest, provenance, and how long they are kept."""
