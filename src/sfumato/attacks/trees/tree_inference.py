"""Following a person to a leaf: what it says about their class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.frame.tree_subject import TreeSubject, Whole
from sfumato.attacks.frame.trials import SURE, Finding, Limit, Rate
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

TOLD = "share of records that leaves tell rightly"
"""A figure that follows from the document: hits over all records of all trees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeInference:
    """They know a person's attributes, follow them to a leaf, and take its most frequent class for the person's.

    Where several trees are published, each person is followed in one of them. The naive guesser says the most frequent
    class of all. Simple l-diversity allows 1 / l, (c, l)-diversity c / (c + 1): hit is below c times a tail that is
    part of the misses.
    Source: document 004, section 3.2 (homogeneity of a leaf).
    """

    name: ClassVar[str] = "tree-inference"
    threat: ClassVar[str] = "attribute disclosure"

    trials: int = 1000
    """So many people are followed at most."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: TreeSubject) -> str:
        """Why it cannot be made; empty if it can."""
        return "" if subject.trees else "no tree is published"

    def run(self, subject: TreeSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Follow people who are in the data, and those who are not."""
        dice = chance.generator()
        people = dice.permutation(len(subject.truth))[: self.trials]
        which = dice.integers(0, len(subject.trees), len(people))
        surest = [one.shares.max(axis=1)[one.inside[people[which == n]]] for n, one in enumerate(subject.trees)]
        control = None
        if subject.outside_truth is not None:
            others = dice.permutation(len(subject.outside_truth))[: self.trials]
            seats = dice.integers(0, len(subject.trees), len(others))
            control = _rate(subject, others, seats, subject.outside_truth, outside=True)
        records = sum(int(one.sizes.sum()) for one in subject.trees)
        hits = sum(float((one.shares.max(axis=1, initial=0) * one.sizes).sum()) for one in subject.trees)
        usual = int(subject.trees[0].overall.argmax())
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the attributes that the tree asks for, and the tree",
            does="tell somebody's class",
            rate=_rate(subject, people, which, subject.truth),
            naive=Rate(hits=int((subject.truth[people] == usual).sum()), trials=len(people)),
            control=control,
            limit=limit or subject.promised,
            worst=max((float(one.max()) for one in surest if len(one)), default=None),
            figures={TOLD: hits / max(records, 1)},
        )


def _rate(subject: TreeSubject, people: Whole, which: Whole, truth: Whole, *, outside: bool = False) -> Rate:
    right = 0
    for n, one in enumerate(subject.trees):
        mine = people[which == n]
        place = one.outside if outside and one.outside is not None else one.inside
        said = one.shares.argmax(axis=1)[place[mine]]
        right += int((said == truth[mine]).sum())
    return Rate(hits=right, trials=len(people), confidence=0.95 if outside else SURE)


def log_shares(tree_shares: np.ndarray, overall: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """How much more frequent each class is in each leaf than in the whole tree, as a logarithm; none at all: -inf."""
    known = np.where(overall > 0, overall, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(overall > 0, tree_shares / known, 1.0)))
