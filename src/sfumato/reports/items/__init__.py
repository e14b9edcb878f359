"""The report of paths, sets and mixed records."""
