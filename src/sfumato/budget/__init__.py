"""What a release or an answer costs: events, their composition, accountants, and the ledger that keeps them."""
