"""The page of a frontier."""
