"""Releases of baskets, paths and rows as sets of items: suppression and generalization against bounded knowledge."""

from sfumato.publish.items.item_algorithms import Sets, Trajectory
from sfumato.publish.items.local_sets import LocalSets

__all__ = ["LocalSets", "Sets", "Trajectory"]
