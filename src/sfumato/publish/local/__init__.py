"""Local recoding: different rows with the same value may get labels of different levels."""

from sfumato.publish.local.cell_suppression import CellSuppression
from sfumato.publish.local.local_recoding import Local

__all__ = ["CellSuppression", "Local"]
