"""Mondrian: groups are cut in two as long as both parts meet the requirement."""

from sfumato.publish.mondrian.multidimensional import Mondrian, mondrian

__all__ = ["Mondrian", "mondrian"]
