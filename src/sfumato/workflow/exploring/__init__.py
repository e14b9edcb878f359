"""Looking at a table before it is released: rows, hierarchies, what the raw table reaches, and single nodes."""
