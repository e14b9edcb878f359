"""Public code systems (ICD, ATC) and the hierarchies of their codes and of rare categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from sfumato.core.arguments import one_of
from sfumato.core.errors import HierarchyError, ParameterError, listed
from sfumato.tables.hierarchy import Hierarchy, chain
from sfumato.tables.hierarchy_builders import leaf_counts
from sfumato.tables.schema import ObservedDomain

# Where a code of a public system stands: its category, the groups above it and its chapter.


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSystem:
    """How the codes of a system look, and where they are cut."""

    title: str
    """What messages call it."""
    code: str
    """What a code looks like, as a pattern, without its point and in capitals."""
    cuts: tuple[str, ...]
    """What of a code each level keeps, as patterns, the finest first; the last one finds the chapter."""
    rest: str
    """What stands for the part of a code that is left out."""


SYSTEMS = {
    "icd-10": CodeSystem(
        title="ICD-10", code="[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}", cuts=("[A-Z][0-9][0-9A-Z]",), rest=".-"
    ),
    "icd-9": CodeSystem(
        title="ICD-9",
        code="[0-9]{3,5}|V[0-9]{2,4}|E[0-9]{3,4}",
        cuts=("[0-9]{3}|V[0-9]{2}|E[0-9]{3}",),
        rest=".-",
    ),
    "icd-9-procedures": CodeSystem(title="ICD-9 procedures", code="[0-9]{2,4}", cuts=("[0-9]{2}",), rest=".-"),
    "atc": CodeSystem(
        title="ATC",
        code="[A-Z](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?",
        cuts=(".{1,5}", ".{1,4}", ".{1,3}", "."),
        rest="-",
    ),
}
"""The systems by the name that a plan uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A range of categories with a name."""

    first: str
    """The first category."""
    last: str
    """The last category."""
    name: str
    """What it is about."""

    @property
    def label(self) -> str:
        """As a release shows it."""
        return f"{self.first} {self.name}" if self.first == self.last else f"{self.first}-{self.last} {self.name}"

    def holds(self, category: str) -> bool:
        """Whether a category lies in the range: categories of one length are compared as texts."""
        return len(category) == len(self.first) and self.first <= category <= self.last


@cache
def chapters(system: str) -> tuple[Chapter, ...]:
    """The chapters of a system in their order."""
    text = files("sfumato.tables.code_systems").joinpath(f"{system}.csv").read_text("utf-8")
    lines = [line.split(";") for line in text.splitlines()]
    return tuple(Chapter(first=first, last=last, name=name) for first, last, name in lines)


def above(code: str, system: str) -> tuple[str, ...] | None:
    """The labels above a code, from its category to its chapter; None for a text that is no code of the system.

    >>> above("E11.9", "icd-10")
    ('E11.-', 'E00-E90 Endocrine, nutritional and metabolic diseases')
    >>> above("sepsis", "icd-9") is None, above("42731", "icd-9")
    (True, ('427.-', '390-459 Diseases of the circulatory system'))
    """
    known, plain = SYSTEMS[system], code.strip().upper().replace(".", "")
    if not re.fullmatch(known.code, plain):
        return None
    matches = [re.match(cut, plain) for cut in known.cuts]
    parts = [match[0] for match in matches if match is not None]
    chapter = next((candidate for candidate in chapters(system) if parts and candidate.holds(parts[-1])), None)
    if chapter is None:
        return None
    lower = parts[:-1] if len(known.cuts) > 1 else parts
    return (*(f"{part}{known.rest}" for part in lower), chapter.label)


# Hierarchies of codes of public systems, and of categories of which only the common ones keep their name.


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
        paths = [above(value, self.system) for value in domain.values]
        bad = [place for place, labels in enumerate(paths) if labels is None]
        if bad:
            examples = ", ".join(f"{domain.values[i]!r} ({int(domain.counts[i])} rows)" for i in bad[:5])
            raise HierarchyError(
                f"hierarchy of {domain.column!r}: {examples} is no code of {SYSTEMS[self.system].title}; declare such "
                'values in [input] missing, or use { kind = "mask" } or { kind = "flat" }'
            )
        rows = [list(labels) for labels in paths if labels is not None]
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
