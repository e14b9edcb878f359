"""Differential privacy: mechanisms (the only import of OpenDP), accounting and the ledger."""
