"""Machines that are reached over SSH: who they are, the way to them, and one command on them."""
