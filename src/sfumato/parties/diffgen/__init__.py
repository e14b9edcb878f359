"""DiffGen by several parties: one noisy release of all records."""
