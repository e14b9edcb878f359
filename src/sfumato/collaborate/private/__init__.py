"""DiffGen by two parties: one noisy release of both parties' records, which neither shows the other."""
