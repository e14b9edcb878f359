"""Trees published instead of rows."""
