"""Differentially private releases of three and more parties: counts that are only ever opened with noise."""
