"""Truepenny: a self-hosted agent runtime whose results never say more than what happened."""

__version__ = "0.1.0"
