"""Linked tables released together."""
