"""The report of swapped rows."""
