"""Reasoning from the way ATP merges: leaves were merged because one of them failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.tree_subject import Reals, ToldTree, TreeSubject, Whole
from sfumato.attacks.frame.trials import SURE, Finding, Limit, Rate
from sfumato.ground.arguments import at_least
from sfumato.ground.chance import Chance

MERGING = ("atp",)
"""Algorithms that merge leaves which fail with their siblings."""
WORLDS = 4_000
"""So many ways to deal the classes of a leaf are drawn at most."""
MOST_CELLS = 8_000_000
"""And so many that they have at most so many records together."""
Claims = Sequence[Mapping[str, Any]]
"""Models and parameters, as a manifest states them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMinimality:
    """They know everyone's attributes, the tree and the algorithm, and want a person's class.

    ATP merges a leaf with a sibling only where a leaf fails the requirement. An edge with several values of a category
    shows that leaves of single values were merged, and the register tells how many people each of them would have held.
    The attacker deals the classes of the merged leaf to its people in every way that the counts allow, strikes out the
    ways in which every single leaf would have passed, and averages over the rest. Where that makes a class of a part
    more likely than the claims allow and than the leaf says, the attacker bets on the people of this part.

    A trial is a bet. The naive guesser makes the same bets and knows the leaf alone. Ways are drawn at random, up to
    4,000 for each leaf. Merges of intervals, and of all children of a node, do not show and are not reasoned about.
    Source: Wong, Fu, Wang and Pei 2007 (minimality); document 004, section 4 (ATP).
    """

    name: ClassVar[str] = "tree-minimality"
    threat: ClassVar[str] = "method"

    trials: int = 1000
    """So many bets are counted at most."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def fits(self, subject: TreeSubject) -> str:
        """Why it cannot be made; empty if it can."""
        if subject.algorithm not in MERGING:
            return f"{subject.algorithm or 'the algorithm'} merges no leaves"
        if _allowed(subject.claims) >= 1:
            return "no claim bounds how frequent a class may be, by which an attacker could reason"
        if not any(True for tree in subject.trees for _ in _merged(tree)):
            return "no edge shows that leaves were merged, or leaves do not tell the counts of their classes"
        return ""

    def run(self, subject: TreeSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Work out beliefs part by part, bet where they are high, and count."""
        dice = chance.generator()
        allowed = _allowed(subject.claims)
        people: list[Whole] = []
        classes: list[Whole] = []
        shares: list[Reals] = []
        believed: list[float] = []
        for tree in subject.trees:
            for counts, parts in _merged(tree):
                beliefs = part_beliefs(counts, [len(part) for part in parts], subject.claims, dice)
                for belief, part in zip(beliefs, parts, strict=True):
                    top = int(belief.argmax())
                    if belief[top] > max(allowed, counts[top] / counts.sum()) + 1e-9:
                        people.append(part)
                        classes.append(np.full(len(part), top))
                        shares.append(np.full(len(part), counts[top] / counts.sum()))
                        believed.append(float(belief[top]))
        who, bet, share = (np.concatenate(parts) if parts else np.zeros(0) for parts in (people, classes, shares))
        some = dice.permutation(len(who))[: self.trials]
        missed = 0 if len(who) else min(self.trials, len(subject.truth))
        usual = int(subject.trees[0].overall.argmax())
        right = int((subject.truth[who[some].astype(np.int64)] == bet[some]).sum()) if len(who) else 0
        naive = float(share[some].sum()) if len(who) else float((subject.truth == usual).mean() * missed)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="everyone's attributes, the tree and the algorithm",
            does="tell a person's class, because leaves were merged",
            rate=Rate(hits=right, trials=missed or len(some), failed=missed, confidence=SURE),
            naive=Rate(hits=naive, trials=missed or len(some)),
            limit=limit or _promised(subject),
            worst=max(believed, default=None),
            figures={"allowed_by_claims": allowed, "singled_out": len(who) / max(len(subject.truth), 1)},
            note="a trial is a bet on somebody whose value is believed more firmly than the release allows",
            exact=True,
        )


def part_beliefs(counts: Whole, sizes: list[int], claims: Claims, dice: np.random.Generator) -> Reals:
    """Parts x classes: how likely each class is for a person of each part, given that some part fails.

    >>> dice = Chance(seed=1).generator()
    >>> claims = [{"model": "tree-simple-l-diversity", "parameters": {"l": 2}}]
    >>> part_beliefs(np.array([2, 2]), [1, 3], claims, dice).round(1).tolist()  # a leaf of one record always fails
    [[0.5, 0.5], [0.5, 0.5]]
    """
    labels = np.repeat(np.arange(len(counts)), counts)
    worlds = max(min(WORLDS, MOST_CELLS // max(len(labels), 1)), 1)
    dealt = dice.permuted(np.tile(labels, (worlds, 1)), axis=1)
    ends = np.cumsum(sizes)
    held = np.stack(
        [
            np.stack([(dealt[:, end - size : end] == kind).sum(axis=1) for kind in range(len(counts))], axis=1)
            for size, end in zip(sizes, ends, strict=True)
        ],
        axis=1,
    )
    failing = ~passes(held, claims).all(axis=1)
    if not failing.any():
        return np.repeat((counts / counts.sum())[None, :], len(sizes), axis=0)
    return np.asarray(held[failing].mean(axis=0) / np.array(sizes)[:, None])


def passes(counts: NDArray[np.int64], claims: Claims) -> NDArray[np.bool_]:
    """Which leaves meet all claims, from the counts of their classes in the last axis."""
    ordered = np.sort(counts, axis=-1)[..., ::-1]
    top, size = ordered[..., 0], ordered.sum(axis=-1)
    met = np.ones(size.shape, np.bool_)
    for claim in claims:
        given = claim["parameters"]
        if claim["model"] == "tree-k-anonymity":
            met &= size >= given["k"]
        elif claim["model"] == "tree-simple-l-diversity":
            met &= top * given["l"] <= size * (1 + 1e-12)
        elif claim["model"] == "tree-recursive-l-diversity":
            met &= top < given["c"] * ordered[..., given["l"] - 1 :].sum(axis=-1)
    return met


def _merged(tree: ToldTree) -> Iterator[tuple[Whole, list[Whole]]]:
    """The counts of each leaf whose edge has several values, and the people of each value."""
    if tree.counts is None or tree.parts is None:
        return
    for leaf in np.unique(tree.inside[tree.parts >= 0]).tolist():
        here = np.flatnonzero((tree.inside == leaf) & (tree.parts >= 0))
        values = np.unique(tree.parts[here])
        if len(values) > 1 and len(here) == tree.counts[leaf].sum():
            yield tree.counts[leaf], [here[tree.parts[here] == value] for value in values]


def _allowed(claims: Claims) -> float:
    """The largest share of a class that the claims allow in a leaf; 1 where none bounds it."""
    bounds = [1.0]
    for claim in claims:
        given = claim["parameters"]
        if claim["model"] == "tree-simple-l-diversity":
            bounds.append(1 / given["l"])
        elif claim["model"] == "tree-recursive-l-diversity" and given["l"] > 1:
            bounds.append(given["c"] / (given["c"] + 1))
    return min(bounds)


def _promised(subject: TreeSubject) -> Limit | None:
    """Simple l-diversity says that nobody is given a class more surely; the other claims bound counts alone."""
    simple = [claim for claim in subject.claims if claim["model"] == "tree-simple-l-diversity"]
    if not simple:
        return None
    l = max(float(claim["parameters"]["l"]) for claim in simple)
    return Limit(value=1 / l, why=f"claim tree-simple-l-diversity (l = {l:g})")
