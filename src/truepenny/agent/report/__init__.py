"""Reports of deep investigations: built from what was recorded, saved, rendered."""
