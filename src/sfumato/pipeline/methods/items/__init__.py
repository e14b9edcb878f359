"""Paths, sets and mixed records."""
