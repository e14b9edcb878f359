"""Records drawn from the moments of groups of at least k."""
