"""The manifest of a bundle: its form, its sections per kind, its seal."""
