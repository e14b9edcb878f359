"""Attacks on answers, noise, pseudonyms and perturbed columns."""
