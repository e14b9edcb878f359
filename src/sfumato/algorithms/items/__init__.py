"""Releases of baskets, paths and rows as sets of items: suppression and generalization against bounded knowledge."""

from sfumato.algorithms.items.local_sets import LocalSets
from sfumato.algorithms.items.suppression import Sets, Trajectory
from sfumato.algorithms.items.top_down_sets import TopDownSets

__all__ = ["LocalSets", "Sets", "TopDownSets", "Trajectory"]
