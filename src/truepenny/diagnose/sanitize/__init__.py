"""Output without its secrets: by its form, while it comes, and then projected.

The order is a contract (spec/diagnostics.md 4): sanitize, project, annotate, truncate. Projecting
first would take away the shape that the sanitizer goes by; a cut document has no shape at all.
"""
