"""Faults met through the real tools: whatever breaks, and wherever, nothing is left behind."""
