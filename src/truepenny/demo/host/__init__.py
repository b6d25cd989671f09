"""Simulated machines of an incident: SSH servers on this machine that answer recorded lines."""
