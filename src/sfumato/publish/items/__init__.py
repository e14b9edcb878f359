"""Releases of baskets, paths and rows as sets of items: suppression and generalization against bounded knowledge."""

from sfumato.publish.items.algorithm import Sets, Trajectory

__all__ = ["Sets", "Trajectory"]
