"""Compact YAML into Kubernetes objects as a real cluster writes them."""
