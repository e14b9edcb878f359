"""DiffGen: a generalized table with noisy counts, epsilon-differentially private."""

from sfumato.algorithms.diffgen.noisy_specializer import DiffGen

__all__ = ["DiffGen"]
