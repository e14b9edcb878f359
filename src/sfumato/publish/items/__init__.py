"""Releases of baskets, paths and rows as sets of items: suppression and generalization against bounded knowledge."""

from sfumato.publish.items.item_algorithms import Sets, Trajectory
from sfumato.publish.items.local_sets import LocalSets
from sfumato.publish.items.top_down_sets import TopDownSets

__all__ = ["LocalSets", "Sets", "TopDownSets", "Trajectory"]
