"""The true counts of pairs of attributes, with the class: read from a source of counts, for choices and for noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.table import Codes
from sfumato.group.cut_counts import Division, Groups
from sfumato.publish.looking import Counts
from sfumato.publish.noisy_table import PrivateTable

Coded = tuple[int, Codes, int]
"""An attribute by its place, the group of each of its values, and how many groups there are."""


def counts_of(table: PrivateTable, one: Coded) -> Counts:
    """Groups x classes of one attribute: private."""
    place, child_of, size = one
    walk = table.counts.root(table.figures)
    return np.asarray(walk.histogram(Division(column=place, parts=None, child_of=child_of, children=size))[0])


def pairs_of(table: PrivateTable, first: Coded, others: Sequence[Coded]) -> list[Counts]:
    """Groups of one attribute x groups of another x classes, for several others: private."""
    place, child_of, size = first
    walk = table.counts.root(table.figures)
    start = np.zeros(int(walk.total().any()), np.int64)
    divided = walk.refine(Division(column=place, parts=start, child_of=child_of, children=size)).occupied()
    places = divided.places(1)
    walk.apply(divided, places)
    into = Groups(of=divided.child.astype(np.int32), count=size)
    return [
        np.asarray(walk.histogram(Division(column=at, parts=places, child_of=codes, children=many), into))
        for at, codes, many in others
    ]
