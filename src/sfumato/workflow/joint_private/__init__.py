"""Differentially private releases that several parties make together: terms, protocols, what becomes a bundle."""
