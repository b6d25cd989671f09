"""Scoring answers against incidents with known causes."""
