"""A quasi-identifier that is sensitive too, as its definition says it: plain rows, loops, exact fractions.

A row counts evenly for every declared value that its label covers. None is a missing label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import exp, inf, log

Row = Mapping[str, str | None]
Paths = Mapping[str, tuple[str, ...]]
Shares = dict[str, Fraction]


def covered(label: str, paths: Paths) -> list[str]:
    return [value for value, above in paths.items() if label in ("*", value, *above)]


def groups(rows: Iterable[Row], known: Sequence[str]) -> dict[tuple[str | None, ...], list[Row]]:
    found: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in known), []).append(row)
    return found


def shares(rows: Sequence[Row], column: str, paths: Paths, missing: str) -> Shares:
    """The share of every value, with the missing ones taken for ``missing``."""
    found: Shares = {}
    for row in rows:
        label = row[column]
        values = [missing] if label is None else covered(label, paths)
        for value in values:
            found[value] = found.get(value, Fraction(0)) + Fraction(1, len(values) * len(rows))
    return found


def simple(mine: Shares, whole: Shares) -> float:
    return float(max(mine.values()))


def distinct(mine: Shares, whole: Shares) -> float:
    return len(mine)


def entropy(mine: Shares, whole: Shares) -> float:
    return exp(-sum(float(p) * log(p) for p in mine.values()))


def recursive(mine: Shares, whole: Shares, *, l: int = 2) -> float:
    down = sorted(mine.values(), reverse=True)
    tail = sum(down[l - 1 :])
    return float(down[0] / tail) if tail else inf


def variational(mine: Shares, whole: Shares) -> float:
    return float(sum(abs(mine.get(v, 0) - whole.get(v, 0)) for v in {*mine, *whole}) / 2)


def share_of(value: str):
    return lambda mine, whole: float(mine.get(value, 0))


def worst(rows: Sequence[Row], known: Sequence[str], column: str, paths: Paths, score, pick) -> dict:
    """The worst figure of each group, over every reading of missing values; without a row nothing is missing."""
    lost = any(row[column] is None for row in rows)
    found: dict = {}
    for missing in ["", *paths] if lost else [""]:
        certain = [row for row in rows if missing == "" or row[column] is not None]
        whole = shares(certain, column, paths, missing)
        for key, group in groups(rows, known).items():
            figure = score(shares(group, column, paths, missing), whole)
            found[key] = pick(found[key], figure) if key in found else figure
    return found
