"""Servers of the Model Context Protocol: reaching them through our own way of running programs."""
