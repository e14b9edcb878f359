"""Whether somebody's record is among those that a tree was learnt from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.frame.tree_subject import Reals, TreeSubject, Whole
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.trees.tree_inference import log_shares
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMembership:
    """They know a person's attributes and class, and want to know whether the tree was learnt from their record.

    A record is more likely where its class is more frequent in its leaf than in the whole tree, in all trees together;
    a leaf without any record of the class rules it out. Half of the trials are people who are in the data, and half are
    not, so guessing is right half of the time.
    Source: Yeom, Giacomelli, Fredrikson and Jha 2018 (a model fits its own records better).
    """

    name: ClassVar[str] = "tree-membership"
    threat: ClassVar[str] = "membership"

    trials: int = 1000
    """So many people are asked about at most, on either side half of them."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: TreeSubject) -> str:
        """Why it cannot be made; empty if it can."""
        if subject.outside_truth is None or not len(subject.outside_truth):
            return "it needs people who are not in the data ([attack] control, or --control)"
        return "" if len(subject.truth) and subject.trees else "nobody is in the data"

    def run(self, subject: TreeSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Ask about people of both sides, equally many."""
        dice, others = chance.generator(), subject.outside_truth
        if others is None:  # pragma: no cover  fits says so
            raise ValueError(self.name)
        many = max(min(self.trials // 2, len(subject.truth), len(others)), 1)
        inside = dice.permutation(len(subject.truth))[:many]
        outside = dice.permutation(len(others))[:many]
        told = _scores(subject, inside, subject.truth, outside=False) > 0
        denied = _scores(subject, outside, others, outside=True) <= 0
        figures = {"people in the data who are told so": float(told.mean())}
        figures["people not in it who are told so"] = float(1 - denied.mean())
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's attributes and class, and the tree",
            does="tell whether the tree was learnt from their record",
            rate=Rate(hits=int(told.sum() + denied.sum()), trials=2 * many),
            naive=Rate(hits=many, trials=2 * many, exact=True),
            limit=limit,
            figures=figures,
        )


def _scores(subject: TreeSubject, people: Whole, truth: Whole, *, outside: bool) -> Reals:
    """How much more frequent their classes are in their leaves than everywhere."""
    found = np.zeros(len(people))
    for one in subject.every:
        place = one.outside if outside else one.inside
        if place is not None:
            found += log_shares(one.shares, one.overall)[place[people], truth[people]]
    return found
