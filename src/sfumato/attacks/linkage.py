"""Linkage attacks: matching rows of people and households (prosecutor and journalist risk), named registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.subject import ABOUT, Codes, Ints, Mask, Subject
from sfumato.core.arguments import at_least, between, one_of
from sfumato.core.errors import listed, unknown_column
from sfumato.core.randomness import Chance

# How many released rows fit what is known about people, and how many people fit what rows show.


_WHOLE = 2.0**53
"""From here on not every whole number is a floating-point number."""


def fitting_rows(subject: Subject, people: pl.DataFrame) -> Ints:
    """For each person, how many released rows fit all their quasi-identifiers."""
    labels, sizes, _ = subject.classes
    return _weights(subject.coded(people), labels, sizes, [table.T for table in _readable(subject)])


def fitting_people(subject: Subject, labels: Codes, people: pl.DataFrame) -> Ints:
    """For each combination of labels, a column of codes, how many people it covers."""
    tuples, counts = np.unique(subject.coded(people), axis=1, return_counts=True)
    return _weights(labels, tuples.astype(np.int32), counts.astype(np.int64), _readable(subject))


def fitting_whole_rows(subject: Subject, people: pl.DataFrame) -> Ints:
    """For each person, how many released rows fit their quasi-identifiers and show their values in all other columns.

    A number is the same however it is spelled: 5, 05 and 5.0. Cost: one join on the other columns, then a search among
    the classes of the rows that show the same values.
    """
    if not subject.beside:
        return fitting_rows(subject, people)
    labels, _, of_row = subject.classes
    keys = [str(place) for place in range(len(subject.beside))]
    release_rows = _spelled(subject, subject.release).with_columns(place=pl.Series(of_row))
    units = release_rows.group_by(*keys, "place").len("rows").sort(*keys, "place")
    tuples = units.select(keys).unique(maintain_order=True).with_row_index("tuple")
    of_unit = _places(units, tuples, keys)
    starts = np.searchsorted(of_unit, np.arange(tuples.height + 1))
    of_person = _places(_spelled(subject, people), tuples, keys)
    place, rows = units["place"].to_numpy(), units["rows"].to_numpy().astype(np.int64)
    codes, tables = subject.coded(people), [table.T for table in _readable(subject)]
    n_rows = np.zeros(people.height, np.int64)
    order = np.argsort(of_person, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(of_person[order])) + 1):
        if len(mine) and (unit := int(of_person[mine[0]])) >= 0:
            there = slice(starts[unit], starts[unit + 1])
            n_rows[mine] = _weights(codes[:, mine], labels[:, place[there]], rows[there], tables)
    return n_rows


def _places(frame: pl.DataFrame, tuples: pl.DataFrame, keys: list[str]) -> Ints:
    """Where the values of each row stand among all that are shown; -1 for nowhere."""
    places = frame.join(tuples, on=keys, how="left", maintain_order="left")["tuple"]
    return places.cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64)


def _spelled(subject: Subject, frame: pl.DataFrame) -> pl.DataFrame:
    """The cells beside the quasi-identifiers in one spelling; columns are named by their places."""
    return frame.select(spelled(subject, name).alias(str(place)) for place, name in enumerate(subject.beside))


def spelled(subject: Subject, name: str) -> pl.Expr:
    """The cells of a column in one spelling: numbers as numbers, all else as it is."""
    text = pl.col(name).cast(pl.String).fill_null("")
    if name not in subject.numeric:
        return text
    real = text.cast(pl.Float64, strict=False)
    whole = (real == real.floor()) & (real.abs() < _WHOLE)
    return pl.coalesce(
        text.cast(pl.Int64, strict=False).cast(pl.String),
        pl.when(whole).then(real).cast(pl.Int64, strict=False).cast(pl.String),
        real.cast(pl.String),
        text,
    )


def _readable(subject: Subject) -> list[Mask]:
    """Labels by values for each column; the last value is a strange one: only a label for everything covers it."""
    tables = [subject.coverage[name].covers for name in subject.quasi]
    return [np.concatenate([table, table.all(axis=1, keepdims=True)], axis=1) for table in tables]


def _weights(queries: Codes, others: Codes, weights: Ints, tables: Sequence[Mask]) -> Ints:
    """For each of ``queries``, the weight of those columns of ``others`` that agree with it in all rows.

    Columns are put in the order of their selectivity and asked for in lexicographic order, so that what begins alike is
    filtered once.
    """
    if not tables:
        return np.full(queries.shape[1], weights.sum(), np.int64)
    share = [float(table[queries[c]].mean()) if queries.shape[1] else 1.0 for c, table in enumerate(tables)]
    order = np.argsort(share, kind="stable")
    distinct_queries, of_asked = np.unique(queries[order], axis=1, return_inverse=True)
    total = np.zeros(distinct_queries.shape[1], np.int64)
    kept: list[NDArray[np.int64]] = []
    before: list[int] = []
    for number, codes in enumerate(distinct_queries.T.tolist()):
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


# Linking a table to a register that carries names.
#
# The adversary holds a public register (a voter roll) with names and some of the columns that the table has too, and
# joins the two on these columns. A row that exactly one person fits, who fits no other, is theirs, with all that it
# says. On a generalized table the register is first rewritten: a label such as ``0213*`` or ``[20-30)`` tells
# everybody which values it covers.


Reading = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """What the join found."""

    candidates: NDArray[np.int64]
    """For each person of the register, how many rows fit."""
    rivals: NDArray[np.int64]
    """For each person, how many people of the register fit the same rows."""

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Who fits exactly one row that nobody else fits."""
        return np.asarray((self.candidates == 1) & (self.rivals == 1))

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The chance that a row picked for a person is theirs, if all who fit are equally likely; 0 where none fits."""
        largest = np.maximum(np.maximum(self.candidates, self.rivals), 1)
        return np.where(self.candidates > 0, 1.0 / largest, 0.0)


def link(
    table: pl.DataFrame, register: pl.DataFrame, columns: Sequence[str], *, reading: Reading | None = None
) -> Links:
    """Join a register to a table on the columns that both have.

    ``reading`` rewrites the register's values to the table's labels; a value that it does not know stays as it is.
    Cost: two groupings and two joins, linear in rows and people.
    """
    for frame, where in ((table, "table"), (register, "register")):
        for name in columns:
            if name not in frame.columns:
                raise unknown_column(name, frame.columns, where=where)
    known = register.select(_rewritten(register[name], (reading or {}).get(name, {})) for name in columns)
    keys = list(columns)
    rows = table.select(pl.col(keys).cast(pl.String)).group_by(keys).len("rows")
    people = known.group_by(keys).len("people")
    joined = known.join(rows, on=keys, how="left", maintain_order="left", nulls_equal=True)
    joined = joined.join(people, on=keys, how="left", maintain_order="left", nulls_equal=True)
    return Links(
        candidates=joined["rows"].fill_null(0).to_numpy().astype(np.int64),
        rivals=joined["people"].to_numpy().astype(np.int64),
    )


def _rewritten(cells: pl.Series, labels: Mapping[str, str]) -> pl.Series:
    texts = cells.cast(pl.String)
    return texts.replace(dict(labels)) if labels else texts


# Picking the row of a person whose quasi-identifiers are known, and how surely that works.


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """Somebody knows all quasi-identifiers of a person, and that they are in the release.

    The attacker wants this person's row, reads the labels, keeps the rows that fit, and picks one of them at random,
    which is right with probability 1 / rows that fit. It takes one pass over the release. This is the prosecutor;
    without the release the attacker picks any row, and is right once in as many times as there are rows. Where no row
    fits, the attack could not be carried out. A person of the control file has no row: whatever is picked for them is
    wrong.

    ``about = "all"`` gives the attacker everything that is published about them: their quasi-identifiers and their own
    values in every other column. No model of quasi-identifiers promises anything against that. The figure shows how
    much the columns that are published unchanged single out.

    With a control file two more adversaries are counted among the figures. The journalist does not know who is in the
    release, starts from a row and picks one of the people of the whole population that fit it. The marketer does this
    for all rows, and counts how many are right.

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
    about: str = "quasi"
    """What the attacker knows: the quasi-identifiers, or ``all`` published columns."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("threshold", self.threshold, 0, 1)
        one_of("about", self.about, ABOUT)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        return subject.nothing_about(self.about)

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some people."""
        rows = self._fitting(subject, subject.some(self.trials, chance))
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
            knows=f"{self._known(subject)} and that they are in the release",
            does="pick their row",
            rate=Rate(hits=float(chances.sum()), trials=trials, failed=int((rows == 0).sum())),
            naive=Rate(hits=trials / released if released else 0.0, trials=trials, exact=True),
            control=self._outsiders(subject, chance),
            limit=limit,
            worst=float(chances.max()) if trials else None,
            figures=figures | self._journalist(subject, chance),
            note=subject.not_looked_at() if self.whole(subject) else "",
            beyond=self.whole(subject) and limit is None,
        )

    def whole(self, subject: Subject) -> bool:
        """Whether the attacker knows more than the quasi-identifiers."""
        return self.about == "all" and bool(subject.beside)

    def _known(self, subject: Subject) -> str:
        if not self.whole(subject):
            return "a person's quasi-identifiers"
        return (
            f"everything that is published about a person (their quasi-identifiers, {listed(subject.beside, most=6)})"
        )

    def _fitting(self, subject: Subject, people: pl.DataFrame) -> Ints:
        return fitting_whole_rows(subject, people) if self.whole(subject) else fitting_rows(subject, people)

    def _journalist(self, subject: Subject, chance: Chance) -> dict[str, float]:
        if self.whole(subject):
            return {}
        return journalist(subject, chance, most=self.trials, threshold=self.threshold)

    def _outsiders(self, subject: Subject, chance: Chance) -> Rate | None:
        if subject.control is None or (self.whole(subject) and not subject.controlled):
            return None
        rows = self._fitting(subject, subject.some(self.trials, chance, control=True))
        return Rate(hits=0.0, trials=len(rows), failed=int((rows == 0).sum()))


def journalist(subject: Subject, chance: Chance, *, most: int, threshold: float) -> dict[str, float]:
    """The figures of somebody who knows the population, people and control together; none without a control file.

    The attacker picks a row, and one of the N people of the population that fit it: 1/N. Figures: the largest, the
    share of rows above the threshold, and the average, which is the marketer's share of right matches.
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


# Looking for a household: whoever knows all of its people finds one of them more easily than a single person.


@dataclass(frozen=True, slots=True, kw_only=True)
class Households:
    """Somebody knows the quasi-identifiers of everybody in a household, and that they are in the release.

    They want the row of any one of them: who has found one knows where the others must be. For each person they keep
    the rows that fit and pick one; they fail only if they pick wrong for everybody. With f_i rows that fit the i-th
    person the chance is 1 - prod(1 - 1/f_i). The guesser picks any row for each.

    Figures: largest, people in the largest household that was attacked; mean_size.
    Needs: ``[attack] group``, the column that tells who belongs together; any group of people that others know as one
        will do (a school class, a practice).
    Does not show: what the rows of a household have in common. Models that count people one by one promise nothing
        about groups.
    Source: Templ, Meindl and Kowarik 2013, Introduction to statistical disclosure control: hierarchical (household)
        risk, as in sdcMicro.
    """

    name: ClassVar[str] = "households"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many households are attacked."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if subject.together is None:
            return "no column tells who belongs together; name one as [attack] group"
        if subject.together not in subject.people.columns:
            return f"the original does not have {subject.together!r}"
        return subject.nothing_about("quasi") or ("" if subject.release.height else "the release has no rows")

    def limit(self, subject: Subject, column: str | None) -> Limit | None:
        """None: models count people one by one, and promise nothing about groups."""
        return None

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Attack some households."""
        of_person = subject.people[str(subject.together)].cast(pl.String).fill_null("")
        every = of_person.unique().sort()
        chosen = every[chance.generator().permutation(len(every))[: self.trials]]
        people = subject.people.filter(of_person.is_in(chosen.implode()))
        place = {name: at for at, name in enumerate(chosen.to_list())}
        home = np.array([place[name] for name in people[str(subject.together)].cast(pl.String).fill_null("")])
        rows = fitting_rows(subject, people)
        missed = np.where(rows > 0, 1.0 - 1.0 / np.maximum(rows, 1), 1.0)
        left = np.ones(len(chosen))
        np.multiply.at(left, home, missed)
        sizes = np.bincount(home, minlength=len(chosen))
        is_fitting = np.zeros(len(chosen), np.bool_)
        is_fitting[home[rows > 0]] = True
        guesses = 1.0 - (1.0 - 1.0 / max(subject.release.height, 1)) ** sizes
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"the quasi-identifiers of all people with one {subject.together}",
            does="pick the row of one of them",
            rate=Rate(hits=float((1.0 - left).sum()), trials=len(chosen), failed=int((~is_fitting).sum())),
            naive=Rate(hits=float(guesses.sum()), trials=len(chosen), exact=True),
            limit=limit,
            worst=float((1.0 - left).max()) if len(chosen) else None,
            figures={
                "largest": float(sizes.max(initial=0)),
                "mean_size": float(sizes.mean()) if len(chosen) else 0.0,
            },
            note="models count people one by one and promise nothing about groups",
        )
