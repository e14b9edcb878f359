"""Differentially private releases."""
