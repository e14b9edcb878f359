"""DiffGen: a generalized table with noisy counts, epsilon-differentially private."""

from sfumato.publish.diffgen.noisy_specializer import DiffGen

__all__ = ["DiffGen"]
