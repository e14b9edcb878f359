"""Local recoding: different rows with the same value may get labels of different levels."""

from sfumato.publish.local.algorithm import Local
from sfumato.publish.local.cells import CellSuppression

__all__ = ["CellSuppression", "Local"]
