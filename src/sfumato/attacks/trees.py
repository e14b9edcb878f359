"""Attacks on published trees: inference, membership, combination of several trees, minimality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finding import SURE, Finding, Limit, Rate
from sfumato.core.arguments import at_least
from sfumato.core.randomness import Chance
from sfumato.core.short_repr import Brief
from sfumato.counts.keys import distinct

# Published trees as an attacker finds them: what every leaf tells, and where people follow its paths to.


Whole = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ToldTree(Brief):
    """One tree: public shares, and the leaf that each person reaches, which whoever knows their attributes can tell."""

    shares: Reals
    """Leaves x classes: the share of each class; misses whose class is not told are spread evenly."""
    sizes: Whole
    """Records of each leaf."""
    inside: Whole
    """The leaf of every person who is in the data."""
    outside: Whole | None = None
    """The leaf of every person who is not."""
    counts: Whole | None = None
    """Leaves x classes: the records of each class, where the tree shows them."""
    parts: Whole | None = None
    """Where the edge to a person's leaf has several values: which of them the person has; else -1."""

    @property
    def overall(self) -> Reals:
        """The share of each class in the whole tree."""
        total = max(int(self.sizes.sum()), 1)
        return np.asarray((self.shares * self.sizes[:, None]).sum(axis=0) / total)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeSubject(Brief):
    """Trees about the same people, and the people."""

    trees: tuple[ToldTree, ...]
    """The trees of the bundle."""
    truth: Whole
    """The class of every person who is in the data."""
    earlier: tuple[ToldTree, ...] = ()
    """Trees about the same people that are public already."""
    outside_truth: Whole | None = None
    """The class of every person who is not in the data."""
    promised: Limit | None = None
    """How surely a leaf may tell a class, by the claims."""
    together: Limit | None = None
    """The same for all trees together, where that is claimed."""
    algorithm: str = ""
    """How the trees were made."""
    claims: tuple[Mapping[str, Any], ...] = ()
    """What is claimed of every leaf: model and parameters."""

    @cached_property
    def every(self) -> tuple[ToldTree, ...]:
        """All trees that are public."""
        return (*self.trees, *self.earlier)

    def without_release(self) -> TreeSubject:
        """The same people behind trees of one leaf, which tell how frequent classes are and nothing else."""
        return replace(self, trees=tuple(map(_one_leaf, self.trees)), earlier=tuple(map(_one_leaf, self.earlier)))


def _one_leaf(tree: ToldTree) -> ToldTree:
    return ToldTree(
        shares=tree.overall[None, :],
        sizes=np.array([tree.sizes.sum()], np.int64),
        inside=np.zeros_like(tree.inside),
        outside=None if tree.outside is None else np.zeros_like(tree.outside),
    )


# Following a person to a leaf: what it says about their class.


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
        surest = [tree.shares.max(axis=1)[tree.inside[people[which == n]]] for n, tree in enumerate(subject.trees)]
        control = None
        if subject.outside_truth is not None:
            others = dice.permutation(len(subject.outside_truth))[: self.trials]
            seats = dice.integers(0, len(subject.trees), len(others))
            control = _rate(subject, others, seats, subject.outside_truth, outside=True)
        records = sum(int(tree.sizes.sum()) for tree in subject.trees)
        hits = sum(float((tree.shares.max(axis=1, initial=0) * tree.sizes).sum()) for tree in subject.trees)
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
            worst=max((float(shares.max()) for shares in surest if len(shares)), default=None),
            figures={TOLD: hits / max(records, 1)},
        )


def _rate(subject: TreeSubject, people: Whole, which: Whole, truth: Whole, *, outside: bool = False) -> Rate:
    right = 0
    for n, tree in enumerate(subject.trees):
        mine = people[which == n]
        place = tree.outside if outside and tree.outside is not None else tree.inside
        guesses = tree.shares.argmax(axis=1)[place[mine]]
        right += int((guesses == truth[mine]).sum())
    return Rate(hits=right, trials=len(people), confidence=0.95 if outside else SURE)


def log_shares(tree_shares: np.ndarray, overall: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """How much more frequent each class is in each leaf than in the whole tree, as a logarithm; none at all: -inf."""
    known = np.where(overall > 0, overall, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(overall > 0, tree_shares / known, 1.0)))


# Whether somebody's record is among those that a tree was learnt from.


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
        is_detected = _scores(subject, inside, subject.truth, outside=False) > 0
        denied = _scores(subject, outside, others, outside=True) <= 0
        figures = {"people in the data who are told so": float(is_detected.mean())}
        figures["people not in it who are told so"] = float(1 - denied.mean())
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's attributes and class, and the tree",
            does="tell whether the tree was learnt from their record",
            rate=Rate(hits=int(is_detected.sum() + denied.sum()), trials=2 * many),
            naive=Rate(hits=many, trials=2 * many, exact=True),
            limit=limit,
            figures=figures,
        )


def _scores(subject: TreeSubject, people: Whole, truth: Whole, *, outside: bool) -> Reals:
    """How much more frequent their classes are in their leaves than everywhere."""
    scores = np.zeros(len(people))
    for tree in subject.every:
        place = tree.outside if outside else tree.inside
        if place is not None:
            scores += log_shares(tree.shares, tree.overall)[place[people], truth[people]]
    return scores


# Several trees over the same people: what all leaves of a person tell together.


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
            guesses = combined(subject, others, outside=True)
            control = Rate(hits=int((guesses == subject.outside_truth[others]).sum()), trials=len(others))
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
        scores = np.repeat(np.log(overall)[None, :], len(people), axis=0)
    for tree in subject.every:
        place = tree.outside if outside else tree.inside
        if place is not None:
            scores = scores + log_shares(tree.shares, tree.overall)[place[people]]
    return np.asarray(np.nan_to_num(scores, nan=-np.inf, neginf=-1e300).argmax(axis=1))


def _meetings(subject: TreeSubject) -> Whole:
    """For every person, how many reach the same leaves in all trees."""
    leaves = [tree.inside.astype(np.int32) for tree in subject.every]
    ids, count = distinct(leaves, [len(tree.sizes) for tree in subject.every], len(subject.truth))
    return np.asarray(np.bincount(ids, minlength=count)[ids])


# Reasoning from the way ATP merges: leaves were merged because one of them failed.


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
