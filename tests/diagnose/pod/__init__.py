"""Tests of what runs in containers."""
