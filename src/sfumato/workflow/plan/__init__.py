"""The plan: the same tree as a TOML file, as records, and as the form of a user interface."""
