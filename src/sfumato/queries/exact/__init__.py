"""Exact answers under audit: counts, sums, means, minima and maxima, answered as they are or refused.

Whether an answer is refused depends on the questions and on what was told before, never on values that were not told.
"""
