"""Many releases of one table, compared by privacy and utility."""
