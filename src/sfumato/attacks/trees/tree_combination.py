"""Several trees over the same people: what all leaves of a person tell together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.attacks.frame.tree_subject import TreeSubject, Whole
from sfumato.attacks.frame.trials import SURE, Finding, Limit, Rate
from sfumato.attacks.trees.tree_inference import log_shares
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance
from sfumato.group.keys import distinct

FEW = 5
"""A meeting of leaves with fewer people is told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCombination:
    """They follow a person to a leaf in each of several trees about the same people, and put together what these say.

    Every leaf makes some classes more likely than they are overall; the product of these odds is the guess (naive
    Bayes). The naive guesser says the most frequent class; the control follows people who are not in the data. The
    steward is told how many people the trees part from all others.
    Source: Ganta, Kasiviswanathan and Smith 2008 (composition); document 004 judges each tree alone.
    """

    name: ClassVar[str] = "tree-combination"
    threat: ClassVar[str] = "attribute disclosure"

    trials: int = 1000
    """So many people are followed at most."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: TreeSubject) -> str:
        """Why it cannot be made; empty if it can."""
        return "" if len(subject.every) > 1 else "there is one tree about these people; name earlier bundles"

    def run(self, subject: TreeSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Combine all trees for people who are in the data, and for those who are not."""
        dice = chance.generator()
        people = dice.permutation(len(subject.truth))[: self.trials]
        usual = int(subject.every[0].overall.argmax())
        control = None
        if subject.outside_truth is not None:
            others = dice.permutation(len(subject.outside_truth))[: self.trials]
            said = combined(subject, others, outside=True)
            control = Rate(hits=int((said == subject.outside_truth[others]).sum()), trials=len(others))
        sizes = _meetings(subject)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"the attributes that {len(subject.every)} trees about the same people ask for, and the trees",
            does="tell somebody's class",
            rate=Rate(
                hits=int((combined(subject, people) == subject.truth[people]).sum()),
                trials=len(people),
                confidence=SURE,
            ),
            naive=Rate(hits=int((subject.truth[people] == usual).sum()), trials=len(people)),
            control=control,
            limit=limit or subject.together,
            figures={
                "smallest meeting of leaves": float(sizes.min(initial=len(subject.truth))),
                f"people in meetings of fewer than {FEW}": float(np.mean(sizes < FEW)),
            },
            exact=True,
        )


def combined(subject: TreeSubject, people: Whole, *, outside: bool = False) -> Whole:
    """The class that all trees make most likely for each person."""
    overall = subject.every[0].overall
    with np.errstate(divide="ignore"):
        found = np.repeat(np.log(overall)[None, :], len(people), axis=0)
    for one in subject.every:
        place = one.outside if outside else one.inside
        if place is not None:
            found = found + log_shares(one.shares, one.overall)[place[people]]
    return np.asarray(np.nan_to_num(found, nan=-np.inf, neginf=-1e300).argmax(axis=1))


def _meetings(subject: TreeSubject) -> Whole:
    """For every person, how many reach the same leaves in all trees."""
    leaves = [one.inside.astype(np.int32) for one in subject.every]
    ids, count = distinct(leaves, [len(one.sizes) for one in subject.every], len(subject.truth))
    return np.asarray(np.bincount(ids, minlength=count)[ids])
