"""Count cells, equivalence classes, subsets and item sets; the two sources of counts that searches use."""
