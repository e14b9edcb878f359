"""Attacks on published trees: what leaves tell about a class, about who is in the data, and together."""
