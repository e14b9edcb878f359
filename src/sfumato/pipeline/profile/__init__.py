"""A table examined before a plan is written, and a draft plan for it."""
