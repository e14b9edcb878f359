"""Hierarchies of map squares: neighbouring squares become larger ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.texts import leaf_counts
from sfumato.ground.arguments import at_least
from sfumato.ground.errors import HierarchyError, ParameterError, listed

_SQUARE = re.compile(r"r([0-9]+)c([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Squares:
    """Squares of a grid, named by row and column as in r04c11, in blocks of some squares along each side."""

    widths: tuple[int, ...]
    """How many squares each level's blocks have along a side; each a multiple of the one before."""

    def __post_init__(self) -> None:
        """Refuse blocks that do not nest."""
        if not self.widths:
            raise ParameterError("widths must name at least one number of squares")
        before = 1
        for width in self.widths:
            at_least("widths", width, 2)
            if width % before or width == before:
                raise ParameterError(f"widths must each be a multiple of the one before, not {list(self.widths)}")
            before = width

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column of squares."""
        bad = [value for value in domain.values if not _SQUARE.fullmatch(value)]
        if bad:
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {listed(bad)} is no square of a grid such as 'r04c11'; squares are "
                "made from points by grid"
            )
        rows = [[_block(value, width) for width in self.widths] for value in domain.values]
        return chain(domain, rows, leaf_counts(rows, len(self.widths)), total=float(len(domain.values)))


def _block(square: str, width: int) -> str:
    """The block of a square.

    >>> _block("r05c11", 4)
    'r04-07c08-11'
    """
    found = _SQUARE.fullmatch(square)
    if found is None:
        raise ValueError(square)
    row, column = found.groups()
    return f"r{_span(row, width)}c{_span(column, width)}"


def _span(digits: str, width: int) -> str:
    low = int(digits) // width * width
    return f"{low:0{len(digits)}d}-{low + width - 1:0{len(digits)}d}"
