"""DiffGen: a generalized table with noisy counts, epsilon-differentially private."""

from sfumato.publish.diffgen.algorithm import DiffGen

__all__ = ["DiffGen"]
