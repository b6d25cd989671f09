"""What a line would do to the world, for the admission of tools that run any line."""

from .classify import Risk, RiskClass, classify, shell_projection

__all__ = ["Risk", "RiskClass", "classify", "shell_projection"]
