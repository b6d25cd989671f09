"""Text as bytes arrive and as models read it: decode, bound, redact, frame, canonical JSON."""
