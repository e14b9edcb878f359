"""Breaches without the exact value: a short interval of numbers, or a value that is somebody else's.

A class with many different incomes may have them all within fifty dollars; and whoever shares a class with a cancer
patient is linked with cancer. Both are named in the same source: proximity and divergence breach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.disclosure.homogeneity import asked, chosen, mean, unfit
from sfumato.attacks.frame.posterior import SLACK, Counted, Posterior, Reals, alone, counted
from sfumato.attacks.frame.promises import Promise
from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import between
from sfumato.ground.chance import Chance


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
        asked(self.trials, self.column)

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
        asked(self.trials, self.column)

    def variants(self, subject: Subject) -> Sequence[tuple[str, Divergence]]:
        """One for each claim about far values."""
        column = chosen(subject, self.column)
        found: dict[str, Divergence] = {}
        for one in subject.promises if subject.unit is None else ():
            if one.far is not None and one.column in (None, column):
                how = " by branches" if one.branches else ""
                found[f"{how} from {one.far:g}"] = replace(self, threshold=one.far, claimed=one)
        return list(found.items()) or [("", self)]

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
