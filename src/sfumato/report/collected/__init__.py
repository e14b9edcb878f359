"""The report of answers that were randomized at the source."""
