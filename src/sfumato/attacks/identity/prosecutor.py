"""Picking the row of a person whose quasi-identifiers are known, and how surely that works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.subject import Codes, Ints, Mask, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import at_least, between
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """Somebody knows all quasi-identifiers of a person, and that she is in the release.

    He wants her row. He reads the labels, keeps the rows that fit what he knows, and picks one of them at random: he is
    right with probability 1 / rows that fit. It costs him one pass over the release. This is the prosecutor; without
    the release he picks any row, and is right once in as many times as there are rows. Where no row fits, the attack
    could not be carried out. A person of the control file has no row: whatever is picked for her is wrong.

    With a control file two more adversaries are counted among the figures. The journalist does not know who is in the
    release: he starts from a row and picks one of the people of the whole population that fit it. The marketer does
    this for all rows, and counts how many he gets right.

    Needs: a release that tells the truth about the people in it. On a synthetic or perturbed table a row that fits is
        nobody's row, and the figure is the chance of a match, not of a re-identification.
    Cost: people times classes in the first column, and only the classes that still fit in the others.
    Source: El Emam and Dankar 2008, Protecting privacy using k-anonymity; El Emam 2013, Guide to the de-identification
        of personal health information.
    """

    name: ClassVar[str] = "linkage"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many people are attacked."""
    threshold: float = 0.2
    """A person whose chance is above this counts as at risk."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("threshold", self.threshold, 0, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return _nothing_known(subject)

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        rows = fitting_rows(subject, subject.some(self.trials, chance))
        chances = np.where(rows > 0, 1.0 / np.maximum(rows, 1), 0.0)
        trials, released = len(rows), subject.release.height
        figures = {
            "unique": float((rows == 1).mean()) if trials else 0.0,
            "at_risk": float((chances > self.threshold).mean()) if trials else 0.0,
            "marketer": float(chances.mean()) if trials else 0.0,
        }
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="a person's quasi-identifiers and that she is in the release",
            does="pick her row",
            rate=Rate(hits=float(chances.sum()), trials=trials, failed=int((rows == 0).sum())),
            naive=Rate(hits=trials / released if released else 0.0, trials=trials, exact=True),
            control=self._outsiders(subject, chance),
            limit=limit,
            worst=float(chances.max()) if trials else None,
            figures=figures | journalist(subject, chance, most=self.trials, threshold=self.threshold),
        )

    def _outsiders(self, subject: Subject, chance: Chance) -> Rate | None:
        if subject.control is None:
            return None
        rows = fitting_rows(subject, subject.some(self.trials, chance, control=True))
        return Rate(hits=0.0, trials=len(rows), failed=int((rows == 0).sum()))


def fitting_rows(subject: Subject, people: pl.DataFrame) -> Ints:
    """For each person, how many released rows fit all her quasi-identifiers."""
    labels, sizes, _ = subject.classes
    return _weights(subject.coded(people), labels, sizes, [table.T for table in _readable(subject)])


def fitting_people(subject: Subject, labels: Codes, people: pl.DataFrame) -> Ints:
    """For each combination of labels, a column of codes, how many people it covers."""
    found, counts = np.unique(subject.coded(people), axis=1, return_counts=True)
    return _weights(labels, found.astype(np.int32), counts.astype(np.int64), _readable(subject))


def journalist(subject: Subject, chance: Chance, *, most: int, threshold: float) -> dict[str, float]:
    """The figures of somebody who knows the population, people and control together; none without a control file.

    He picks a row, and one of the N people of the population that fit it: 1/N. Figures: the largest, the share of rows
    above the threshold, and the average, which is the marketer's share of right matches.
    """
    if subject.control is None or not subject.release.height:
        return {}
    labels, sizes, of_row = subject.classes
    rows = chance.generator().permutation(len(of_row))[:most]
    classes, of_chosen = np.unique(of_row[rows], return_inverse=True)
    everybody = pl.concat([frame.select(pl.col(list(subject.quasi)).cast(pl.String)) for frame in _population(subject)])
    behind = np.maximum(fitting_people(subject, labels[:, classes], everybody), sizes[classes])
    chances = 1.0 / behind[of_chosen.reshape(-1)]
    return {
        "journalist": float(chances.max()),
        "journalist_at_risk": float((chances > threshold).mean()),
        "marketer_of_population": float(chances.mean()),
    }


def _population(subject: Subject) -> tuple[pl.DataFrame, ...]:
    return (subject.people,) if subject.control is None else (subject.people, subject.control)


def _nothing_known(subject: Subject) -> str:
    return "" if subject.quasi else "there are no quasi-identifiers"


def _readable(subject: Subject) -> list[Mask]:
    """Labels by values for each column; the last value is a strange one: only a label for everything covers it."""
    tables = [subject.coverage[name].covers for name in subject.quasi]
    return [np.concatenate([table, table.all(axis=1, keepdims=True)], axis=1) for table in tables]


def _weights(asked: Codes, others: Codes, weights: Ints, tables: Sequence[Mask]) -> Ints:
    """For each column of ``asked``, the weight of the columns of ``others`` that agree with it in all rows.

    Columns are put in the order of their selectivity and asked for in lexicographic order, so that what begins alike is
    filtered once.
    """
    share = [float(table[asked[c]].mean()) if asked.shape[1] else 1.0 for c, table in enumerate(tables)]
    order = np.argsort(share, kind="stable")
    found, of_asked = np.unique(asked[order], axis=1, return_inverse=True)
    total = np.zeros(found.shape[1], np.int64)
    kept: list[NDArray[np.int64]] = []
    before: list[int] = []
    for number, codes in enumerate(found.T.tolist()):
        same = next((depth for depth, (a, b) in enumerate(zip(codes, before, strict=False)) if a != b), len(before))
        del kept[same:]
        for depth in range(same, len(codes)):
            column, code = order[depth], codes[depth]
            row = tables[column][code]
            if depth == 0:
                kept.append(np.flatnonzero(row[others[column]]))
            else:
                kept.append(kept[-1][row[others[column][kept[-1]]]])
        before = codes
        total[number] = weights[kept[-1]].sum() if kept else weights.sum()
    return np.asarray(total[of_asked.reshape(-1)])
