"""The deFinetti attack: learn across groups which sensitive values go with which quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.assignment import Reals, Shown, by_label, codes_of, homes, likely, pooled, right, shown
from sfumato.attacks.frame.promises import allowed
from sfumato.attacks.frame.subject import Ints, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.method.naive_bayes import Entries, Learned, assign, learn
from sfumato.ground.arguments import above, at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

BINS = 20
"""Numbers with more than twice as many different values are read in so many bins of about equal size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeFinetti:
    """He has a release whose groups hide which value is whose, and a register; he wants a person's sensitive value.

    l-diversity counts each group by itself: with three values in a group he should be right once in three. But the same
    values occur in other groups beside other people. He learns naive Bayes from all groups at once: begin with the
    shares of the groups, then learn how columns go with values and assign values to rows within each group, in turn.
    It costs him a few passes over the table, and no knowledge beside the release. On a generalized table the groups are
    the classes and the rows are the people of his register.

    The naive guesser here reads the release, but does not learn from it: he takes the better of a fitting row's group,
    of all rows that fit together, and of the most frequent value. So the excess is what the method gives away.
    Control people are guessed by what was learned, without a group: what works on them is statistics, not a leak.

    Source: Kifer 2009.
    """

    name: ClassVar[str] = "definetti"
    threat: ClassVar[str] = "method"

    column: str | None = None
    """The sensitive column; the first one where nothing is said."""
    trials: int = 2000
    """At most so many people are guessed."""
    rounds: int = 30
    """How often he learns and assigns."""
    smoothing: float = 1.0
    """How many rows his belief that columns do not depend on each other is worth."""
    rows: int = 100_000
    """He learns from groups that have about so many rows, and guesses in all."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)
        at_least("rounds", self.rounds, 0)
        at_least("rows", self.rows, 1)
        above("smoothing", self.smoothing, 0)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.sensitive:
            return "there is no sensitive column"
        if not subject.release.height:
            return "the release has no rows"
        return "" if subject.quasi else "there is no quasi-identifier to learn from"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Learn, guess, and count."""
        if reason := self.fits(subject):
            raise ParameterError(f"subject cannot be attacked: {reason}")
        column = self.column or subject.sensitive[0]
        found = shown(subject, column)
        draw = chance.generator()
        chosen = np.sort(draw.permutation(subject.people.height)[: self.trials])
        people = subject.people[chosen]
        truth = codes_of(people, column, found.values)
        reader = _Reader.of(subject)
        if subject.groups is None:
            register, unit = subject.people, homes(subject, subject.people)
        else:
            register, unit = subject.release, found.unit
        features = reader.read(register)
        learned = self._learned(found, features, unit, reader.widths, draw)
        if subject.groups is None:
            scores = _of_register(learned, found, features, unit, chosen)
        else:
            scores = _of_rows(learned, found, features, subject, people)
        plain = right(np.broadcast_to(found.overall, scores.shape), truth)
        group = _by_group(subject, found, people, unit[chosen] if subject.groups is None else None)
        naive = group[np.arange(len(truth)), np.maximum(truth, 0)] * (truth >= 0)
        rows = right(likely(subject, found, people), truth)
        guesses = max(naive.sum(), plain.sum(), rows.sum())
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="the quasi-identifiers of everybody in the release",
            does=f"name somebody's {column}, by learning from all groups at once",
            rate=Rate(
                hits=float(right(scores, truth).sum()), trials=len(truth), failed=int((scores.sum(1) == 0).sum())
            ),
            naive=Rate(hits=float(guesses), trials=len(truth)),
            control=self._control(subject, learned, found, reader, column, chance),
            limit=limit,
            worst=float(scores.max()) if scores.size else None,
            figures=allowed(subject.promises, column, len(found.values))
            | {
                "by_group": float(naive.mean()) if len(truth) else 0.0,
                "by_all_rows_that_fit": float(rows.mean()) if len(truth) else 0.0,
                "by_most_frequent_value": float(plain.mean()) if len(truth) else 0.0,
            },
            note="the naive guesser reads the groups and does not learn from them",
        )

    def _learned(
        self, found: Shown, features: Ints, unit: Ints, widths: tuple[int, ...], draw: np.random.Generator
    ) -> Learned:
        order = draw.permutation(len(found.counts))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.cumsum(np.bincount(unit[unit >= 0], minlength=len(order))[order])
        kept = (unit >= 0) & (rank[unit] <= max(self.rows, int(rank.min(initial=self.rows))))
        return learn(found, features[:, kept], unit[kept], widths, rounds=self.rounds, smoothing=self.smoothing)

    def _control(
        self, subject: Subject, learned: Learned, found: Shown, reader: _Reader, column: str, chance: Chance
    ) -> Rate | None:
        if subject.control is None or not subject.control.height:
            return None
        others = subject.some(self.trials, chance, control=True)
        scores = np.tile(np.log(np.maximum(found.overall, 1e-300)), (others.height, 1))
        row, value = np.divmod(np.arange(scores.size), len(found.values))
        scores += learned.score(reader.read(others), row, value).reshape(scores.shape)
        likely_values = np.exp(scores - scores.max(axis=1, keepdims=True))
        hits = right(likely_values, codes_of(others, column, found.values)).sum()
        return Rate(hits=float(hits), trials=others.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """How cells of the register or of unchanged rows are read as codes."""

    names: tuple[str, ...]
    places: tuple[dict[str, int], ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, subject: Subject) -> _Reader:
        places = []
        for name in subject.quasi:
            cells = subject.release[name] if subject.groups is not None else subject.people[name]
            texts = cells.cast(pl.String).fill_null("").unique().sort().to_list()
            places.append(_binned(texts) if name in subject.numeric else {text: at for at, text in enumerate(texts)})
        widths = tuple(max(place.values(), default=0) + 1 for place in places)
        return cls(names=subject.quasi, places=tuple(places), widths=widths)

    def read(self, rows: pl.DataFrame) -> Ints:
        read = [
            codes_of(rows, name, tuple(place))
            if len(set(place.values())) == len(place)
            else _looked_up(rows, name, place)
            for name, place in zip(self.names, self.places, strict=True)
        ]
        return np.stack(read)


def _looked_up(rows: pl.DataFrame, name: str, place: dict[str, int]) -> Ints:
    code = codes_of(rows, name, tuple(place))
    return np.where(code >= 0, np.array(list(place.values()))[code], -1)


def _binned(texts: list[str]) -> dict[str, int]:
    numbers = pl.Series(texts).cast(pl.Float64, strict=False).to_numpy()
    if len(texts) <= 2 * BINS or np.isnan(numbers).any():
        return {text: at for at, text in enumerate(texts)}
    rank = np.argsort(np.argsort(numbers))
    return dict(zip(texts, (rank * BINS // len(texts)).tolist(), strict=True))


def _by_group(subject: Subject, found: Shown, people: pl.DataFrame, home: Ints | None) -> Reals:
    """How often each value is named by who takes one row that fits, and its group's most frequent value."""
    shares = found.shares
    best = (shares >= shares.max(axis=1, keepdims=True) * (1 - 1e-9)).astype(np.float64)
    named = best / best.sum(axis=1, keepdims=True)
    if home is None:
        return pooled(subject, by_label(subject, found.unit, named), people)
    return np.where(home[:, None] >= 0, named[np.maximum(home, 0)], 0.0)


def _of_register(learned: Learned, found: Shown, features: Ints, unit: Ints, chosen: Ints) -> Reals:
    """Scores of chosen people of the register; their whole classes are assigned."""
    touched = np.zeros(len(found.counts), np.bool_)
    touched[unit[chosen][unit[chosen] >= 0]] = True
    kept = np.flatnonzero((unit >= 0) & touched[unit])
    pairs = Entries.of(found, unit[kept])
    weight = assign(learned, pairs, features[:, kept])
    place = np.full(len(unit), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    target = place[kept][pairs.row]
    scores = np.zeros((len(chosen), len(found.values)))
    scores[target[target >= 0], pairs.value[target >= 0]] = weight[target >= 0]
    return scores


def _of_rows(learned: Learned, found: Shown, features: Ints, subject: Subject, people: pl.DataFrame) -> Reals:
    """Scores of people by the released rows that fit them."""
    pairs = Entries.of(found, found.unit)
    weight = assign(learned, pairs, features)
    _, sizes, of_row = subject.classes
    slot = of_row[pairs.row] * len(found.values) + pairs.value
    by_class = np.asarray(np.bincount(slot, weight, len(sizes) * len(found.values)), np.float64)
    return pooled(subject, by_class.reshape(len(sizes), len(found.values)), people)
