"""Linked tables in one plan: one person, keys kept as keyed pseudonyms, claims that hold on the join."""
