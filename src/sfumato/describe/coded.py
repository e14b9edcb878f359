"""Hierarchies of codes of public systems, and of categories of which only the common ones keep their name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.data.code_chapters import SYSTEMS, above
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy, chain
from sfumato.describe.texts import leaf_counts
from sfumato.ground.arguments import one_of
from sfumato.ground.errors import HierarchyError, ParameterError, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """A code becomes its category, then its chapter: E11.9, E11.-, E00-E90."""

    system: str
    """The system of codes."""

    def __post_init__(self) -> None:
        """Refuse a system that is not known."""
        one_of("system", self.system, tuple(SYSTEMS))

    def declared(self) -> None:
        """Nothing: the labels are read off the rows."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to a column of codes; sizes are numbers of observed values, and a value that is no code is refused."""
        found = [above(value, self.system) for value in domain.values]
        bad = [place for place, labels in enumerate(found) if labels is None]
        if bad:
            shown = ", ".join(f"{domain.values[i]!r} ({int(domain.counts[i])} rows)" for i in bad[:5])
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {shown} is no code of {SYSTEMS[self.system].title}; declare such "
                'values in [input] missing, or use { kind = "mask" } or { kind = "flat" }'
            )
        rows = [list(labels) for labels in found if labels is not None]
        levels = max(len(SYSTEMS[self.system].cuts), 2)
        return chain(domain, rows, leaf_counts(rows, levels), total=float(len(domain.values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Each level keeps some values and shows one label for all others: a value that nobody named is hidden first."""

    keep: tuple[tuple[str, ...], ...]
    """The values that each level keeps; each level keeps some of those of the level before."""

    def __post_init__(self) -> None:
        """Refuse levels without a value, and levels that do not shrink."""
        if not self.keep or not all(self.keep):
            raise ParameterError("keep must name at least one level, and at least one value in each")
        for more, fewer in pairwise(self.keep):
            if not set(fewer) < set(more):
                raise ParameterError(f"keep: {listed(fewer)} must be some of {listed(more)}, and fewer")

    def declared(self) -> None:
        """Nothing: values that no level keeps are not named."""

    def build(self, domain: ObservedDomain) -> Hierarchy:
        """Bind to any column; a label depends on its value and level alone, sizes are numbers of observed values."""
        kept = [frozenset(level) for level in self.keep]
        others = [others_label(level) for level in self.keep]
        strange = [value for value in domain.values if value in others]
        if strange:
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {strange[0]!r} is also the label of other values; rename it"
            )
        rows = [
            [value if value in level else label for level, label in zip(kept, others, strict=True)]
            for value in domain.values
        ]
        return chain(domain, rows, leaf_counts(rows, len(kept)), total=float(len(domain.values)))


def others_label(kept: Sequence[str]) -> str:
    """What all values but some are called; the kept ones are named where they are few.

    >>> others_label(["m", "f"]), others_label(["a", "b", "c", "d"])
    ("other than 'f' or 'm'", 'other than 4 values')
    """
    names = sorted(map(repr, kept))
    return f"other than {' or '.join(names)}" if len(names) <= 2 else f"other than {len(names)} values"
