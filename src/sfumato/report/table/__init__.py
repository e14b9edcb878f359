"""The report of a table with quasi-identifiers."""
