"""Values in, pages and pictures out; nothing is computed here that a reader relies on."""
