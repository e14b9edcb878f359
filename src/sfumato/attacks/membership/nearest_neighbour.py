"""Membership of synthetic rows by the distance to the nearest one: the simplest test, and often the strongest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import Reals, texts_of
from sfumato.attacks.frame.numeric_labels import numbers
from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.membership.membership import auc, threshold
from sfumato.describe.spans import read_interval
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

_CELLS = 2**22
"""So many distances are computed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestNeighbour:
    """The attacker has synthetic rows and a person's record, and wants to know whether they were in the table.

    Rows that were drawn from small groups lie close to the records of these groups. The attacker divides every column
    of numbers by the standard deviation that it has in the release, counts two different words as one such deviation,
    and measures the Euclidean distance from the person to the nearest released row: who is near was a member. Where
    "near" ends is learnt from half of the people tried, as in ``membership``, and tested on the other half.

    Half of the people tried are members, so a guesser is right once in two.
    Figures: auc, how often a member is nearer than another person; members_found; others_taken_for_members.
    Needs: people who are not in the table (a control file); numbers or words that the release shows as such.
    Cost: the distance of every person tried to every released row.
    Source: the distance to the closest record, as in Chen, Yu, Zhang and Fritz 2020 (GAN-Leaks, full black box).
    """

    name: ClassVar[str] = "nearest-neighbour"
    threat: ClassVar[str] = "membership"

    trials: int = 2000
    """At most so many people, half of them members; half of both are for learning."""
    rows: int = 100_000
    """Released rows that the attacker compares with; a random choice where there are more."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 4)
        at_least("rows", self.rows, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.synthetic:
            return "the released rows are no synthetic ones; membership reads their labels"
        if subject.control is None or subject.control.height < 2:
            return "there is no control file: nobody is known not to be in the table"
        return "" if subject.quasi else "there is no quasi-identifier"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Measure distances, learn a threshold on one half, test it on the other."""
        if reason := self.fits(subject):
            raise ParameterError(f"subject cannot be attacked: {reason}")
        assert subject.control is not None
        draw = chance.generator()
        each = min(self.trials // 2, subject.people.height, subject.control.height)
        inside = subject.people[draw.permutation(subject.people.height)[:each]]
        outside = subject.control[draw.permutation(subject.control.height)[:each]]
        release = subject.release[draw.permutation(subject.release.height)[: self.rows]]
        near, far = (_nearest(subject, release, people) for people in (inside, outside))
        half = each // 2
        cut, below = threshold(near[:half], far[:half])
        said_in = [(part <= cut) == below for part in (near[half:], far[half:])]
        tested = len(said_in[0]) + len(said_in[1])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's whole record",
            does="tell whether they were in the table by the nearest released row",
            rate=Rate(hits=int(said_in[0].sum() + (~said_in[1]).sum()), trials=tested),
            naive=Rate(hits=tested / 2, trials=tested, exact=True),
            limit=limit,
            figures={
                "auc": auc(-near, -far),
                "members_found": float(said_in[0].mean()) if len(said_in[0]) else 0.0,
                "others_taken_for_members": float(said_in[1].mean()) if len(said_in[1]) else 0.0,
            },
            note="the control people are half of the trials",
        )


def _nearest(subject: Subject, release: pl.DataFrame, people: pl.DataFrame) -> Reals:
    """For each person the distance to the nearest released row."""
    columns = [_apart(subject, name, release, people) for name in subject.quasi]
    distances = np.full(people.height, np.inf)
    step = max(_CELLS // max(release.height, 1), 1)
    for first in range(0, people.height, step):
        some = slice(first, first + step)
        total = np.zeros((len(distances[some]), release.height), np.float32)
        for theirs, mine in columns:
            left, right = theirs[some, None], mine[None, :]
            gap = left - right if theirs.dtype.kind == "f" else (left != right).astype(np.float32)
            total += np.nan_to_num(gap, nan=1.0) ** 2
        distances[some] = np.sqrt(total.min(axis=1, initial=np.inf))
    return distances


def _apart(subject: Subject, name: str, release: pl.DataFrame, people: pl.DataFrame) -> tuple[Reals, Reals]:
    """A column of people and of released rows: numbers in standard deviations of the release, words as codes."""
    if name in subject.numeric:
        values = _middles(numbers(release[name]), release[name])
        known = values[~np.isnan(values)]
        spread = float(known.std()) if len(known) else 0.0
        spread = spread or 1.0
        return (numbers(people[name]) / spread).astype(np.float32), (values / spread).astype(np.float32)
    both = pl.concat([texts_of(people, name), texts_of(release, name)])
    codes = both.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    return codes[: people.height], codes[people.height :]  # type: ignore[return-value]


def _middles(values: Reals, cells: pl.Series) -> Reals:
    """Numbers; of intervals their middles."""
    odd = np.flatnonzero(np.isnan(values))
    for place in odd.tolist():
        interval = read_interval(str(cells[place]))
        if interval is not None and np.isfinite(interval.low + interval.high):
            values[place] = (interval.low + interval.high) / 2
    return values
