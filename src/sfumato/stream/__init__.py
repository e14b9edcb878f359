"""Condensation of data that never ends: groups kept as moments, batches that are published once, state that lasts."""
