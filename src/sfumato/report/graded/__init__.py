"""The report of pseudonymized rows."""
