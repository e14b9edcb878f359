"""Everything that a plan can name, ours and that of plugins, by one door."""
