"""The plan: typed sections, columns, and the record of all."""
