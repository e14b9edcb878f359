"""Kits that test what others write: run one over a new model and its claims are tried."""
