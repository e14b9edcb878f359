"""Looking at a table before anything is decided, and drafting a plan."""
