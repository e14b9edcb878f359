"""How many released rows fit what is known about people, and how many people fit what rows show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.subject import Codes, Ints, Mask, Subject

_WHOLE = 2.0**53
"""From here on not every whole number is a floating-point number."""


def fitting_rows(subject: Subject, people: pl.DataFrame) -> Ints:
    """For each person, how many released rows fit all their quasi-identifiers."""
    labels, sizes, _ = subject.classes
    return _weights(subject.coded(people), labels, sizes, [table.T for table in _readable(subject)])


def fitting_people(subject: Subject, labels: Codes, people: pl.DataFrame) -> Ints:
    """For each combination of labels, a column of codes, how many people it covers."""
    found, counts = np.unique(subject.coded(people), axis=1, return_counts=True)
    return _weights(labels, found.astype(np.int32), counts.astype(np.int64), _readable(subject))


def fitting_whole_rows(subject: Subject, people: pl.DataFrame) -> Ints:
    """For each person, how many released rows fit their quasi-identifiers and show their values in all other columns.

    A number is the same however it is spelled: 5, 05 and 5.0. Cost: one join on the other columns, then a search among
    the classes of the rows that show the same values.
    """
    if not subject.beside:
        return fitting_rows(subject, people)
    labels, _, of_row = subject.classes
    keys = [str(place) for place in range(len(subject.beside))]
    shown = _spelled(subject, subject.release).with_columns(place=pl.Series(of_row))
    units = shown.group_by(*keys, "place").len("rows").sort(*keys, "place")
    tuples = units.select(keys).unique(maintain_order=True).with_row_index("tuple")
    of_unit = _places(units, tuples, keys)
    starts = np.searchsorted(of_unit, np.arange(tuples.height + 1))
    of_person = _places(_spelled(subject, people), tuples, keys)
    place, rows = units["place"].to_numpy(), units["rows"].to_numpy().astype(np.int64)
    codes, tables = subject.coded(people), [table.T for table in _readable(subject)]
    found = np.zeros(people.height, np.int64)
    order = np.argsort(of_person, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(of_person[order])) + 1):
        if len(mine) and (one := int(of_person[mine[0]])) >= 0:
            there = slice(starts[one], starts[one + 1])
            found[mine] = _weights(codes[:, mine], labels[:, place[there]], rows[there], tables)
    return found


def _places(frame: pl.DataFrame, tuples: pl.DataFrame, keys: list[str]) -> Ints:
    """Where the values of each row stand among all that are shown; -1 for nowhere."""
    found = frame.join(tuples, on=keys, how="left", maintain_order="left")["tuple"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy().astype(np.int64)


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


def _weights(asked: Codes, others: Codes, weights: Ints, tables: Sequence[Mask]) -> Ints:
    """For each column of ``asked``, the weight of the columns of ``others`` that agree with it in all rows.

    Columns are put in the order of their selectivity and asked for in lexicographic order, so that what begins alike is
    filtered once.
    """
    if not tables:
        return np.full(asked.shape[1], weights.sum(), np.int64)
    share = [float(table[asked[c]].mean()) if asked.shape[1] else 1.0 for c, table in enumerate(tables)]
    order = np.argsort(share, kind="stable")
    found, of_asked = np.unique(asked[order], axis=1, return_inverse=True)
    total = np.zeros(found.shape[1], np.int64)
    kept: list[NDArray[np.int64]] = []
    before: list[int] = []
    for number, codes in enumerate(found.T.tolist()):
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
