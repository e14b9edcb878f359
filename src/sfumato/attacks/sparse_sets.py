"""Finding a person among sets: baskets, ratings, visited places; a few items are known, some of them wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.subject import Ints
from sfumato.core.arguments import at_least, number
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance

Reals = NDArray[np.float64]
STANDS_OUT = 1.5
"""The eccentricity from which Narayanan and Shmatikov believe that the best record is the right one."""
ALIKE = 1e-9
"""Scores that differ by less are equal."""
INFERRED = "inferred"
"""What figures about sensitive items begin with."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSubject:
    """A release of sets, and who is behind it. A path is the set of its timed places."""

    released: pl.Series
    """A list of shown items for each record."""
    people: pl.Series
    """A list of original items for each person."""
    covers: Mapping[str, str | tuple[str, ...] | None]
    """The item that is shown for an original one, or the items, where records differ in that; None where it is left
    out; one that is not named stays as it is."""
    record: Ints | None = None
    """The record of each person, -1 where they have none; None if both are in the same order."""
    secret: tuple[pl.Series, pl.Series] | None = None
    """A sensitive value for each record, and the true one of each person."""
    sensitive: tuple[str, ...] = ()
    """Items that nobody is to infer from others; they are shown as they are, or not at all."""

    def __post_init__(self) -> None:
        """Refuse people without an order."""
        if self.record is None and len(self.people) > len(self.released):
            raise ParameterError("record must tell whose record is where, if there are fewer records than people")

    @cached_property
    def index(self) -> tuple[dict[str, int], Ints, Ints]:
        """The shown items, where the list of each begins, and the records that have it."""
        rows = pl.DataFrame({"items": self.released.cast(pl.List(pl.String))}).with_row_index("record").explode("items")
        rows = rows.drop_nulls("items").unique().sort("items", "record")
        sizes = rows.group_by("items", maintain_order=True).len()
        starts = np.concatenate([[0], np.cumsum(sizes["len"].to_numpy())]).astype(np.int64)
        place = {item: code for code, item in enumerate(sizes["items"])}
        return place, starts, rows["record"].to_numpy().astype(np.int64)

    def without_release(self) -> ItemSubject:
        """The same people behind a release that shows nothing: every record reads the same."""
        items = self.people.cast(pl.List(pl.String)).explode().drop_nulls().unique()
        blank = pl.Series([["*"]], dtype=pl.List(pl.String)).new_from_index(0, len(self.released))
        secret = None if self.secret is None else (self.secret[0].sort(), self.secret[1])
        return replace(self, released=blank, covers=dict.fromkeys(items, "*"), secret=secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSets:
    """Somebody knows m items of a person, from a chat or a public page, and perhaps some more that are wrong.

    To find this person's record, the attacker reads each item as the release shows it, as any of several where records
    differ, and gives every record a score: the sum over the known items that it has of 1/ln(1 + records that have it),
    so that a rare film tells more than a hit. The record with the best score is taken; of several, one at random. A
    cautious attacker demands that the best score stands out, by some standard deviations of all scores above the second
    best (its eccentricity), and says nothing otherwise. It takes a look into an inverted list for each item. The
    guesser picks any record. Somebody without items, or whose known items are shown in no record, cannot be looked for:
    the trial failed.

    Figures: one, the share of people for whom exactly one record is best; ties, how many are best on average; speaks,
        how often the best stands out by 1.5, and right, how often it is theirs then; with a secret, told and
        told_worst, the average and the largest share of the most frequent secret among the best records, and
        told_right; with sensitive items, inferred and inferred_worst, the average and the largest share of the best
        records that show the most frequent of those that the attacker does not know yet.
    Needs: items that carry their time, where the release has paths; the order of places without times is not used.
    Cost: the records of m items for each person, and an addition over all records.
    Source: Narayanan and Shmatikov 2008, Robust de-anonymization of large sparse datasets (Scoreboard-RH; there the
        weight is 1/ln of the support, which an item of one record does not have); Aggarwal 2015, section 20.3.4.
    """

    name: ClassVar[str] = "sparse"
    threat: ClassVar[str] = "re-identification"

    m: int = 4
    """How many items the attacker knows; all where they have fewer."""
    wrong: int = 0
    """How many more the attacker believes to know, drawn from all items of all people but theirs."""
    eccentricity: float = 0.0
    """By how many standard deviations the best score must stand out; 0 takes the best in any case."""
    trials: int = 1000
    """At most so many people are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("m", self.m, 1)
        at_least("wrong", self.wrong, 0)
        at_least("trials", self.trials, 1)
        if number("eccentricity", self.eccentricity) < 0:
            raise ParameterError(f"eccentricity must not be negative, not {self.eccentricity}")

    def fits(self, subject: ItemSubject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return "" if len(subject.released) and len(subject.people) else "there are no records"

    def run(self, subject: ItemSubject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        rng = chance.generator()
        people = np.sort(rng.permutation(len(subject.people))[: self.trials])
        sets = subject.people.cast(pl.List(pl.String))[people].to_list()
        domain = subject.people.cast(pl.List(pl.String)).explode().drop_nulls().unique().sort().to_list()
        known = [self._known(own or [], domain, rng) for own in sets]
        tries = [_Try.of(subject, items) for items in known]
        own = people if subject.record is None else subject.record[people]
        hits = np.array([attempt.hit(int(record)) for attempt, record in zip(tries, own, strict=True)])
        stands = np.array([attempt.stands for attempt in tries])
        n_best = np.array([len(attempt.best) for attempt in tries])
        answered = (n_best > 0) & (stands >= self.eccentricity)
        speaks = (n_best > 0) & (stands >= STANDS_OUT)
        figures = {
            "one": float((n_best == 1).mean()),
            "ties": float(n_best[n_best > 0].mean()) if n_best.any() else 0.0,
            "speaks": float(speaks.mean()),
            "right": float(hits[speaks].mean()) if speaks.any() else 0.0,
        }
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"{self.m} {'item' if self.m == 1 else 'items'} of a person"
            + (f", and {self.wrong} wrong ones" if self.wrong else ""),
            does="pick their record",
            rate=Rate(hits=float(hits[answered].sum()), trials=len(hits), failed=int((n_best == 0).sum())),
            naive=Rate(hits=len(hits) / len(subject.released), trials=len(hits), exact=True),
            limit=limit,
            worst=max((1 / count for count in n_best[answered].tolist()), default=0.0),
            figures=figures | _secrets(subject, tries, people) | _inferred(subject, tries, known),
        )

    def _known(self, own: list[str], domain: list[str], rng: np.random.Generator) -> list[str]:
        """Some of a person's items, and some that are not theirs."""
        theirs = list(dict.fromkeys(own))
        known = [theirs[at] for at in rng.permutation(len(theirs))[: self.m]]
        if self.wrong and known:
            mine = set(theirs)
            drawn = rng.permutation(len(domain))[: self.wrong + len(mine)]
            known += [domain[at] for at in drawn if domain[at] not in mine][: self.wrong]
        return known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Try:
    """The records with the best score, and by how much they stand out."""

    best: Ints
    stands: float

    @classmethod
    def of(cls, subject: ItemSubject, known: list[str]) -> _Try:
        """Score all records."""
        place, starts, records = subject.index
        labels = dict.fromkeys(subject.covers.get(item, item) for item in known)
        ways = [(label,) if isinstance(label, str) else label for label in labels if label is not None]
        label_codes = [[place[way] for way in alternatives if way in place] for alternatives in ways]
        lists = [_any(starts, records, codes) for codes in label_codes if codes]
        if not lists:
            return cls(best=np.zeros(0, np.int64), stands=0.0)
        sizes = np.array([len(holders) for holders in lists])
        weights = np.repeat(1 / np.log1p(sizes), sizes)
        scores = np.bincount(np.concatenate(lists), weights=weights, minlength=len(subject.released))
        top = scores.max()
        best = np.flatnonzero(scores >= top - ALIKE)
        spread = float(scores.std())
        if len(best) > 1 or spread <= ALIKE:
            return cls(best=best, stands=0.0)
        scores[best] = -np.inf
        return cls(best=best, stands=float(top - scores.max()) / spread)

    def hit(self, record: int) -> float:
        """How likely a record is picked."""
        return 1 / len(self.best) if record >= 0 and bool((self.best == record).any()) else 0.0


def _inferred(subject: ItemSubject, tries: list[_Try], known: list[list[str]]) -> dict[str, float]:
    """How surely the best records tell a sensitive item that was not known before."""
    place, starts, records = subject.index
    sensitive_items = [item for item in subject.sensitive if item in place]
    if not sensitive_items:
        return {}
    has = np.zeros((len(sensitive_items), len(subject.released)), np.bool_)
    for row, item in enumerate(sensitive_items):
        has[row, records[starts[place[item]] : starts[place[item] + 1]]] = True
    sure = np.zeros(len(tries))
    for at, (attempt, own) in enumerate(zip(tries, known, strict=True)):
        open_items = [row for row, item in enumerate(sensitive_items) if item not in own]
        if len(attempt.best) and open_items:
            sure[at] = has[open_items][:, attempt.best].mean(axis=1).max()
    whole = float(has.mean(axis=1).max())
    return {INFERRED: float(sure.mean()), f"{INFERRED}_worst": float(sure.max(initial=0)), f"{INFERRED}_naive": whole}


def _any(starts: Ints, records: Ints, codes: list[int]) -> Ints:
    """The records that have one of the items, each once."""
    lists = [records[starts[code] : starts[code + 1]] for code in codes]
    return lists[0] if len(lists) == 1 else np.unique(np.concatenate(lists))


def _secrets(subject: ItemSubject, tries: list[_Try], people: Ints) -> dict[str, float]:
    """What the best records tell about a sensitive value."""
    if subject.secret is None:
        return {}
    values = subject.secret[0].cast(pl.String).fill_null("").to_numpy().astype(str)
    names, codes = np.unique(values, return_inverse=True)
    truth = subject.secret[1].cast(pl.String).fill_null("")[people].to_list()
    sure, right = np.zeros(len(tries)), np.zeros(len(tries))
    for at, (attempt, own) in enumerate(zip(tries, truth, strict=True)):
        if len(attempt.best):
            counts = np.bincount(codes[attempt.best], minlength=len(names))
            named = np.flatnonzero(counts == counts.max())
            sure[at] = counts.max() / len(attempt.best)
            right[at] = float((names[named] == own).any()) / len(named)
    return {"told": float(sure.mean()), "told_worst": float(sure.max(initial=0)), "told_right": float(right.mean())}
