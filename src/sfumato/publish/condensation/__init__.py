"""Condensation: groups of at least k records become their moments, and new records are drawn from these."""

from sfumato.publish.condensation.condense import Condense

__all__ = ["Condense"]
