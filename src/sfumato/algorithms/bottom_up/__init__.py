"""Bottom-up generalization: labels are joined step by step until the requirement holds."""

from sfumato.algorithms.bottom_up.generalizer import BottomUp

__all__ = ["BottomUp"]
