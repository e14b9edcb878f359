"""Mining: what a table, a distribution or a set of baskets tells about those who were not asked."""
