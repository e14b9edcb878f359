"""Releases of baskets, paths and rows as sets of items: suppression and generalization against bounded knowledge."""

from sfumato.publish.items.item_algorithms import Sets, Trajectory

__all__ = ["Sets", "Trajectory"]
