"""Grouping along one dimension: rows are put on a line, and groups are made of neighbours on it."""

from sfumato.publish.one_dimensional.hilbert import OneDimensional

__all__ = ["OneDimensional"]
