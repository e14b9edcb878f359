"""The report of condensed releases."""
