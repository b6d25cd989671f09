"""Columns of every served kind. Loaded with the first table that is asked for."""
