"""A hierarchy as a person sees it: level by level, the labels and how many rows each has."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.describe.domains import ObservedDomain
from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.keys import total
from sfumato.workflow.plan.builders import builder

MOST_LABELS = 200
"""How many labels of a level are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShown:
    """One level of a hierarchy over the values of a column."""

    number: int
    """0 for the values themselves."""
    labels: tuple[tuple[str, int], ...]
    """The first labels, each with its rows."""
    different: int
    """How many labels there are."""


def levels_shown(tree: Mapping[str, Any], domain: ObservedDomain, *, folder: Path) -> tuple[LevelShown, ...]:
    """The levels that a plan's hierarchy gives a column; what cannot be built is refused as a release would."""
    bound = builder(tree, f"columns.{domain.column}.hierarchy", folder).build(domain)
    return tuple(_shown(number, bound, domain) for number in range(bound.height + 1))


def leaf_table(tree: Mapping[str, Any], domain: ObservedDomain, *, folder: Path) -> list[list[str]]:
    """The hierarchy as lines of a file, leaf first: what `hierarchy = { file = ... }` reads."""
    bound = builder(tree, f"columns.{domain.column}.hierarchy", folder).build(domain)
    codes = range(len(domain.values))
    return [[level.labels[int(level.parent[code])] for level in bound.levels] for code in codes]


def nested_tree(lines: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The lines of a file, leaf first, as the tree of groups that `hierarchy = { tree = ... }` reads.

    >>> nested_tree([["a", "x", "z"], ["b", "x", "z"], ["c", "y", "z"]])
    {'tree': {'z': {'x': ['a', 'b'], 'y': ['c']}}}
    """
    return {"tree": _group(lines)}


def as_file(lines: Sequence[Sequence[str]]) -> str:
    """The lines as the text of a file; every cell is quoted, so that a value may hold any mark."""
    out = io.StringIO()
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _group(lines: Sequence[Sequence[str]]) -> Any:
    """What lies in a group: leaves as a list, groups by name."""
    if len(lines[0]) == 1:
        return [line[0] for line in lines]
    below: dict[str, list[Sequence[str]]] = {}
    for line in lines:
        below.setdefault(line[-1], []).append(line[:-1])
    return {name: _group(inner) for name, inner in below.items()}


def _shown(number: int, bound: Hierarchy, domain: ObservedDomain) -> LevelShown:
    level = bound.levels[number]
    rows = total(level.parent.astype(np.int64), domain.all_counts, len(level.labels))
    used = [(label, int(many)) for label, many in zip(level.labels, rows, strict=True) if many]
    return LevelShown(number=number, labels=tuple(used[:MOST_LABELS]), different=len(used))
