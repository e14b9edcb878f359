"""Neighbouring tables on which a private algorithm would show a mistake, and everything that its release tells.

Each pair differs by one record and brings out one look at the rows: counts where nothing is to be chosen, a choice that
one record decides, a value that nobody else has. All people are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.table import Table
from sfumato.ground.work import Work
from sfumato.publish.noisy_table import NoisyTable, PrivateTable
from sfumato.workflow.kinds.private.declared import declared_table
from sfumato.workflow.plan.plan import Plan

Mechanism = Callable[[PrivateTable, Work], NoisyTable]
Row = tuple[str, int, str]
Seen = dict[str, Any]
ROWS: tuple[Row, ...] = (("cook", 1, "yes"),) * 3 + (("baker", 2, "no"),) * 2
"""A few people; nobody is a smith or a clerk."""
MORE: tuple[Row, ...] = (("cook", 1, "yes"), ("smith", 3, "no"))
"""With each of them, the table is a neighbour: one like the others, and one like nobody."""
_DOMAIN = {
    "columns": {
        "job": {"role": "quasi", "hierarchy": {"tree": {"food": ["cook", "baker"], "other": ["smith", "clerk"]}}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 4, "grid": 1}},
        "good": {"role": "target", "values": ["yes", "no"]},
    },
    "privacy": {"epsilon": 1},
}
_NARROW = {
    "columns": {"job": {"role": "quasi", "hierarchy": {"tree": {"kitchen": ["cook"], "bakery": ["baker"]}}}},
    "privacy": {"epsilon": 1},
}
_DECIDING = {
    "columns": {
        "job": {"role": "quasi", "values": ["cook", "baker"]},
        "shift": {"role": "quasi", "values": ["day", "night"]},
        "good": {"role": "target", "values": ["no", "yes"]},
    },
    "privacy": {"epsilon": 1},
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two tables that differ by one record."""

    name: str
    """What they bring out."""
    first: PrivateTable
    """Without the record."""
    second: PrivateTable
    """With it."""


def tiny_table(rows: Sequence[Row]) -> PrivateTable:
    """Rows of job, age and class over declared domains."""
    schema = {"job": pl.String, "age": pl.Int64, "good": pl.String}
    return declared_table(Plan.parse(_DOMAIN), Table(frame=pl.DataFrame(list(rows), schema=schema, orient="row")))


def narrow_table(cooks: int) -> PrivateTable:
    """So many cooks and twenty bakers: one attribute of two values and no class, so that nothing is to be chosen."""
    frame = pl.DataFrame({"job": ["cook"] * cooks + ["baker"] * 20})
    return declared_table(Plan.parse(_NARROW), Table(frame=frame))


def deciding_table(alike: int, *others: tuple[str, str, str]) -> PrivateTable:
    """So many equal records, between which no attribute tells, and a few others."""
    frame = pl.DataFrame([("cook", "day", "no")] * alike + list(others), schema=["job", "shift", "good"], orient="row")
    return declared_table(Plan.parse(_DECIDING), Table(frame=frame))


def pairs() -> tuple[Pair, ...]:
    """The pairs that every private algorithm is audited on; tables that are the same are one object."""
    few, alike = tiny_table(ROWS), deciding_table(10)
    return (
        Pair(name="one count more", first=narrow_table(20), second=narrow_table(21)),
        Pair(name="one more like others", first=few, second=tiny_table((*ROWS, MORE[0]))),
        Pair(name="one like nobody", first=few, second=tiny_table((*ROWS, MORE[1]))),
        Pair(name="one who decides a choice", first=alike, second=deciding_table(10, ("baker", "day", "yes"))),
    )


def outputs(run: Mechanism, table: PrivateTable, runs: int, work: Work | None = None) -> list[Seen]:
    """What so many releases of a table tell."""
    tree = table.attributes[0].tree
    places = {label: place for place, label in enumerate(tree.labels)} if tree is not None else {}
    found = []
    for number in range(runs):
        found.append(seen(run(table, Work()), places))
        if work is not None and number % 20 == 0:
            work.advance("audit", number, runs)
    return found


def seen(found: NoisyTable, places: Mapping[str, int]) -> Seen:
    """Which groups there are, what was done and told about the search, and how many groups and rows there are."""
    labels = [np.array(one)[keys].tolist() for one, keys in zip(found.labels, found.keys, strict=True)]
    groups = sorted(zip(*labels, strict=True))
    jobs = np.zeros((len(places), found.counts.shape[1]), np.int64)
    known = np.array([job in places for job in labels[0]], bool)
    np.add.at(jobs, [places[job] for job in labels[0] if job in places], found.counts[known])
    sums = [found.counts.sum(axis=0), jobs.sum(axis=1), jobs.ravel()]
    return {
        "labels": repr((found.labels, groups)),
        "steps": repr(found.steps),
        "words": repr((found.steps, found.effort)),
        "counts": np.concatenate([[len(groups)], *sums]),
    }
