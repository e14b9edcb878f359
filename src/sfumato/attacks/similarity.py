"""Attribute disclosure short of the exact value: skewness, similarity, proximity, divergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.guarantees import Promise
from sfumato.attacks.homogeneity import check_options, chosen, mean, most_frequent, runs, unfit
from sfumato.attacks.posterior import SLACK, Counted, Posterior, Reals, alone, counted
from sfumato.attacks.subject import Ints, Subject
from sfumato.core.arguments import above, at_least, between
from sfumato.core.randomness import Chance

# Learning about a sensitive value without learning it: how its share moved, what the values have in common.


@dataclass(frozen=True, slots=True, kw_only=True)
class Skewness:
    """Somebody knows a person's quasi-identifiers, and how frequent each sensitive value is among all people.

    One in a hundred has HIV; among the rows that fit them it is every second. That is no certainty, and much to learn
    all the same. The attacker keeps the rows that fit, looks for values whose share there is at least twice their share
    in the whole release, and names the most frequent one of these; where there is none, nothing is said, and the trial
    did not work. It takes one pass over the release. The guesser says the same value of anybody, and is right as often
    as the value is frequent.

    Figures: ratio_worst and ratio_mean, by how much the share of a value rises at most, over all people and on average
        over people; moved, the share of people of whom the attacker says something; distance, the average of half the
        sum of the differences between shares (the variational distance of t-closeness).
    Source: Li, Li and Venkatasubramanian 2007, t-closeness; Aggarwal 2015, section 20.3.3.
    """

    name: ClassVar[str] = "skewness"
    threat: ClassVar[str] = "attribute disclosure"

    factor: float = 2.0
    """From this ratio of shares on the attacker speaks."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        above("factor", self.factor, 1)
        check_options(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unfit(subject, chosen(subject, self.column))

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column) or ""
        outcome = runs(subject, column, self.trials, chance, self._named, self._guessed)
        posterior = outcome.posterior
        ratio = posterior.per_person(posterior.highest(_ratio(posterior))[0])
        speaks = posterior.per_person(posterior.highest(self._score(posterior))[0])
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers and the overall shares of {column}",
            does=f"name their {column} where its share among the fitting rows is {self.factor:g} times the overall one",
            rate=outcome.rate,
            naive=outcome.naive,
            control=outcome.control,
            limit=limit,
            worst=float(speaks.max(initial=0)),
            figures={
                "ratio_worst": float(ratio.max(initial=0)),
                "ratio_mean": mean(ratio[posterior.view >= 0]),
                "moved": mean(speaks > 0),
                "distance": mean(posterior.per_person(_distance(posterior))[posterior.view >= 0]),
            },
        )

    def _score(self, posterior: Posterior) -> Reals:
        return np.where(_ratio(posterior) >= self.factor * SLACK, posterior.share, 0.0)

    def _named(self, posterior: Posterior, truth: Ints) -> Reals:
        score = self._score(posterior)
        return posterior.hits(posterior.highest(score)[1] & (score > 0), truth)

    def _guessed(self, posterior: Posterior, truth: Ints) -> Reals:
        """How frequent the named values are among all people; their average where several are named."""
        score = self._score(posterior)
        named = posterior.highest(score)[1] & (score > 0)
        views = len(posterior.starts) - 1
        known = np.bincount(posterior.of_entry, weights=np.where(named, _overall(posterior), 0.0), minlength=views)
        return posterior.per_person(
            known / np.maximum(np.bincount(posterior.of_entry, weights=named, minlength=views), 1)
        )


def _overall(posterior: Posterior) -> Reals:
    """The overall share of each entry's value."""
    return np.asarray(posterior.overall[posterior.code] / max(float(posterior.overall.sum()), 1e-300))


def _ratio(posterior: Posterior) -> Reals:
    return np.asarray(posterior.share / np.maximum(_overall(posterior), 1e-300))


def _distance(posterior: Posterior) -> Reals:
    """Half the sum of the differences; what a view does not have counts with its overall share."""
    views, overall = len(posterior.starts) - 1, _overall(posterior)
    there = np.bincount(posterior.of_entry, weights=np.abs(posterior.share - overall), minlength=views)
    return np.asarray((there + 1 - np.bincount(posterior.of_entry, weights=overall, minlength=views)) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Similarity:
    """Somebody knows a person's quasi-identifiers, and which sensitive values mean much the same.

    Three fitting rows say gastritis, gastric ulcer and stomach cancer: three values, and yet the attacker knows that
    they have a disease of the stomach. The attacker reads the public tree over the values, replaces each value by the
    node above it, and names the node that most of the fitting rows lie under. It takes one pass over the
    release. The guesser names the most frequent node of the whole release.

    Figures: surely_known, the share of people whose fitting rows all lie under one node; diverse_and_known, of whom
        this holds although the rows have two values or more; confidence, the average share of the named node.
    Source: Li, Li and Venkatasubramanian 2007, t-closeness; Aggarwal 2015, section 20.3.3.
    """

    name: ClassVar[str] = "similarity"
    threat: ClassVar[str] = "attribute disclosure"

    level: int = 1
    """How many levels up; values without so many nodes above them stand for themselves at their highest."""
    column: str | None = None
    """The sensitive column; the first one with a tree where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("level", self.level, 1)
        check_options(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column, subject.trees.__contains__)
        why = unfit(subject, column)
        return why or ("" if column in subject.trees else f"column {column!r} has no tree over its values")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column, subject.trees.__contains__) or ""
        outcome = runs(_lifted(subject, column, self.level), column, self.trials, chance, most_frequent)
        sure = outcome.posterior.per_person(outcome.posterior.highest(outcome.posterior.share)[0])
        plain = counted(subject, column).posterior(outcome.people)
        several = plain.per_person(np.diff(plain.starts).astype(np.float64)) > 1
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a person's quasi-identifiers and the tree over {column}",
            does=f"name the group of values that their {column} is in",
            rate=outcome.rate,
            naive=outcome.naive,
            control=outcome.control,
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures={
                "surely_known": mean(sure >= SLACK),
                "diverse_and_known": mean((sure >= SLACK) & several),
                "confidence": mean(sure),
            },
        )


def _lifted(subject: Subject, column: str, level: int) -> Subject:
    """The same release and people with nodes in place of sensitive values."""
    nodes = {value: (value, *above)[min(level, len(above))] for value, above in subject.trees[column].items()}

    def lift(frame: pl.DataFrame) -> pl.DataFrame:
        if column not in frame.columns:
            return frame
        return frame.with_columns(pl.col(column).cast(pl.String).fill_null("").replace(nodes))

    return replace(
        subject,
        release=lift(subject.release),
        people=lift(subject.people),
        control=None if subject.control is None else lift(subject.control),
        groups=None if subject.groups is None else lift(subject.groups),
    )


# Breaches without the exact value: a short interval of numbers, or a value that is somebody else's.
#
# A class with many different incomes may have them all within fifty dollars; and whoever shares a class with a cancer
# patient is linked with cancer. Both are named in the same source: proximity and divergence breach.


@dataclass(frozen=True, slots=True, kw_only=True)
class Proximity:
    """Somebody knows a person's quasi-identifiers and wants to know their income, about.

    The attacker keeps the rows that fit, lays an interval of a fixed short width over their values so that it holds as
    many of them as it can, and says that their value is in it. It takes one pass over the release. The
    guesser lays the interval over the values of the whole release. Values that are no numbers are in no interval.

    Figures: surely_known, the share of people all of whose fitting rows lie in one interval; diverse_and_known, of whom
        this holds although the rows have two values or more; confidence, the average share of rows in the interval;
        width, that of the interval.
    Source: the proximity breach, 002 section 2.1; Li, Tao and Xiao 2008, Preservation of proximity privacy.
    """

    name: ClassVar[str] = "proximity"
    threat: ClassVar[str] = "attribute disclosure"

    width: float = 0.05
    """The width of the interval as a share of the range of the released values."""
    column: str | None = None
    """The sensitive column; the first numeric one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        between("width", self.width, 0, 1)
        check_options(self.trials, self.column)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        column = chosen(subject, self.column, subject.numeric.__contains__)
        why = unfit(subject, column)
        return why or ("" if column in subject.numeric else f"column {column!r} has no numbers")

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        column = chosen(subject, self.column, subject.numeric.__contains__) or ""
        count = counted(subject, column)
        line = _Line.of(count.values, self.width)
        people = subject.some(self.trials, chance)
        posterior = count.posterior(people)
        low, held = line.densest(posterior)
        inside, naive = line.inside(posterior, low, people[column]), posterior.blind()
        guessed = line.inside(naive, line.densest(naive)[0], people[column])
        sure, several = (
            posterior.per_person(held),
            posterior.per_person(np.diff(posterior.starts).astype(np.float64)) > 1,
        )
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="a person's quasi-identifiers and that they are in the release",
            does=f"name an interval of width {line.width:g} that holds their {column}",
            rate=Rate(hits=float(inside.sum()), trials=len(inside), failed=int((posterior.view < 0).sum())),
            naive=Rate(hits=float(guessed.sum()), trials=len(guessed)),
            control=self._outsiders(count, chance, line),
            limit=limit,
            worst=float(sure.max(initial=0)),
            figures={
                "surely_known": mean(sure >= SLACK),
                "diverse_and_known": mean((sure >= SLACK) & several),
                "confidence": mean(sure),
                "width": line.width,
            },
        )

    def _outsiders(self, count: Counted, chance: Chance, line: _Line) -> Rate | None:
        subject, column = count.subject, count.column
        if subject.control is None or column is None or column not in subject.control.columns:
            return None
        others = subject.some(self.trials, chance, control=True)
        posterior = count.posterior(others)
        inside = line.inside(posterior, line.densest(posterior)[0], others[column])
        return Rate(hits=float(inside.sum()), trials=len(inside), failed=int((posterior.view < 0).sum()))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Line:
    """The released values as numbers, and an interval to lay over them."""

    number: Reals
    """Each value; not a number where it is none."""
    width: float
    """The width of the interval."""

    @classmethod
    def of(cls, values: tuple[str, ...], share: float) -> _Line:
        number = _numbers(pl.Series(values, dtype=pl.String))
        there = number[np.isfinite(number)]
        return cls(number=number, width=share * float(np.ptp(there)) if len(there) else 0.0)

    def densest(self, posterior: Posterior) -> tuple[Reals, Reals]:
        """Where the fullest interval of each view begins, and the share of rows that it holds; the lowest of several.

        Entries are sorted by number within their view; the last one that an interval reaches is found by bisection.
        """
        views, number = len(posterior.starts) - 1, self.number[posterior.code]
        kept = np.flatnonzero(np.isfinite(number))
        order = kept[np.lexsort((number[kept], posterior.of_entry[kept]))]
        view, number, weight = posterior.of_entry[order], number[order], posterior.weight[order]
        levels = np.unique(number)
        reach = np.searchsorted(levels, number + self.width * (2 - SLACK), side="right")
        keys = view * (len(levels) + 1) + np.searchsorted(levels, number)
        summed = np.concatenate([[0.0], np.cumsum(weight)])
        held = summed[np.searchsorted(keys, view * (len(levels) + 1) + reach)] - summed[:-1]
        low, most = np.full(views, np.nan), np.zeros(views)
        np.maximum.at(most, view, held)
        first = np.flatnonzero(held >= most[view] * SLACK)[::-1]
        low[view[first]] = number[first]
        return low, most / posterior.rows if views else most

    def inside(self, posterior: Posterior, low: Reals, own: pl.Series) -> Reals:
        """1 for each person whose own value lies in the interval of their view."""
        begin = np.where(posterior.view >= 0, low[posterior.view] if len(low) else np.nan, np.nan)
        number = _numbers(own)
        return ((number >= begin) & (number <= begin + self.width * (2 - SLACK))).astype(np.float64)


def _numbers(texts: pl.Series) -> Reals:
    return texts.cast(pl.String).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Somebody knows a person's quasi-identifiers, and believes what half of the fitting rows say.

    A person with gastritis shares a class with a patient who has stomach cancer: the attacker links them with cancer,
    with a confidence of one half. The guess is wrong, and the harm is theirs. A trial works if some value that is far
    from their own has a confidence of the threshold or more. Far means another branch right below the top of the public
    tree, or any other value where there is no tree. It takes one pass over the release. The guesser
    believes the same of the shares in the whole release. A table published as it is has few such breaches: they come
    from grouping people. There is no control run: a wrong belief about somebody who is not there is a fault of the
    release all the same.

    Where the release claims divergence bounding the attacker believes from the claim's confidence on, far is what the
    claim says is far, and the limit is 0. That claim is about classes: people whom rows of several classes fit are
    trials that could not be carried out. Where people have several rows, the claim counts people and this attack counts
    rows: then it says nothing about the claim.

    Figures: confidence_far, the average confidence in the surest far value; right, the share of people who are linked
        with their own value as surely.
    Source: the divergence breach, 002 section 2.1.
    """

    name: ClassVar[str] = "divergence"
    threat: ClassVar[str] = "attribute disclosure"

    threshold: float = 0.5
    """From this confidence on somebody believes it."""
    column: str | None = None
    """The sensitive column; the first one where none is named."""
    trials: int = 2000
    """At most so many people are attacked."""
    claimed: Promise | None = None
    """The claim that the attacker is made for; its confidence is the threshold."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        between("threshold", self.threshold, 0, 1, open_low=True)
        check_options(self.trials, self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, Divergence]]:
        """One for each claim about far values."""
        column = chosen(subject, self.column)
        variants: dict[str, Divergence] = {}
        for promise in subject.promises if subject.unit is None else ():
            if promise.far is not None and promise.column in (None, column):
                how = " by branches" if promise.branches else ""
                variants[f"{how} from {promise.far:g}"] = replace(self, threshold=promise.far, claimed=promise)
        return list(variants.items()) or [("", self)]

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return unfit(subject, chosen(subject, self.column))

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """None at all, where a claim says that nobody is linked with a far value so surely."""
        return None if self.claimed is None else Limit(value=0.0, why=self.claimed.why)

    def _believes(self, share: Reals) -> NDArray[np.bool_]:
        """Whether a share is believed; a claim is held to its own number exactly."""
        return np.asarray(share >= self.threshold * (SLACK if self.claimed is None else 1.0))

    def _branch(self, subject: Subject, column: str) -> Mapping[str, str]:
        if self.claimed is not None:
            return self.claimed.branches
        return {value: above[-1] for value, above in subject.trees.get(column, {}).items() if above}

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Look at some people."""
        column = chosen(subject, self.column) or ""
        branch = self._branch(subject, column)
        count = counted(subject, column)
        people = subject.some(self.trials, chance)
        posterior, own = count.posterior(people), _branches(people[column], branch)
        there = posterior.view >= 0
        if self.claimed is not None:
            there &= alone(subject, people)
        far = np.where(there, _surest_far(posterior, branch, own), 0.0)
        at = posterior.entry(count.truth(people))
        right = (at >= 0) & (self._believes(posterior.share[at]) if len(posterior.code) else False)
        guessed = _surest_far(posterior.blind(), branch, own)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="a person's quasi-identifiers and that they are in the release",
            does=f"link them with a {column} that is far from their own, with confidence {self.threshold:g} or more",
            rate=Rate(hits=float(self._believes(far).sum()), trials=len(far), failed=int((~there).sum())),
            naive=Rate(hits=float(self._believes(guessed).sum()), trials=len(far)),
            limit=limit,
            worst=float(far.max(initial=0)),
            figures={"confidence_far": mean(far), "right": mean(right)},
            note="a trial that works is a wrong belief about a person, and a harm to them",
        )


def _branches(texts: pl.Series, branch: Mapping[str, str]) -> NDArray[np.object_]:
    """The branch of each value, or the value itself."""
    return texts.cast(pl.String).fill_null("").replace(dict(branch)).to_numpy().astype(object)


def _surest_far(posterior: Posterior, branch: Mapping[str, str], own: NDArray[np.object_]) -> Reals:
    """The largest share of a value in another branch than the person's own.

    The surest value of a view is far from everybody but those of its own branch; for these it is the surest value of
    the other branches.
    """
    if not len(posterior.code):
        return np.zeros(len(own))
    names = _branches(pl.Series(posterior.values, dtype=pl.String), branch)
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    of_code = np.array([places[name] for name in names], np.int64)
    of_own = np.array([places.get(name, -1) for name in own], np.int64)
    view, share, mine = posterior.of_entry, posterior.share, of_code[posterior.code]
    best = np.maximum.reduceat(share, posterior.starts[:-1])
    first = np.flatnonzero(share >= best[view])
    leads = np.zeros(len(best), np.int64)
    leads[view[first]] = mine[first]
    second = np.maximum.reduceat(np.where(mine == leads[view], 0.0, share), posterior.starts[:-1])
    far = np.where(leads[posterior.view] == of_own, second[posterior.view], best[posterior.view])
    return np.where(posterior.view >= 0, far, 0.0)
