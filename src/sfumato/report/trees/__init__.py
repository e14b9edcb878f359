"""The report of published trees."""
