"""The building blocks: one protocol in each file, with its claim, its source and its leakage."""
