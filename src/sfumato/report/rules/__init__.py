"""Mined rules as pictures."""
