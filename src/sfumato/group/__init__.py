"""Counting: cells, equivalence classes with histograms, subset counts. Nothing here looks at single rows twice."""
