"""Pages of sanitized releases."""
