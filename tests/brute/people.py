"""Privacy models for people with several rows, as their definitions say it: one person at a time, exact fractions.

Every function answers (holds, worst value reached, keys of the failing classes), like ``tests.brute.models``. A row
names its person in the column ``who``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import exp, inf, log

from tests.brute.models import (
    Costs,
    Exact,
    Judged,
    Key,
    Rows,
    Share,
    by_size,
    costs_equal,
    costs_ordered,
    costs_tree,
    judged,
    transport,
)

UNIT = "who"
Holding = dict[str, set[str]]
"""The values of each person."""


def holdings(rows: Rows, quasi: Sequence[str], column: str) -> dict[Key, Holding]:
    """The people of each class, and what each of them has there."""
    groups: dict[Key, Holding] = {}
    for row in rows:
        groups.setdefault(tuple(row[q] for q in quasi), {}).setdefault(row[UNIT], set()).add(row[column])
    return groups


def holders(group: Holding) -> Counter[str]:
    """How many people have each value."""
    return Counter(value for values in group.values() for value in values)


def held(group: Holding, values: Iterable[str]) -> Fraction:
    """The share of people who have one of the values."""
    wanted = set(values)
    return Fraction(sum(bool(own & wanted) for own in group.values()), len(group))


def most_uneven(group: Holding) -> list[int]:
    """The most frequent values first, each by as many people as have it, until all people are used up."""
    histogram, people = [], len(group)
    for _, count in holders(group).most_common():
        if people:
            histogram.append(min(count, people))
            people -= histogram[-1]
    return histogram


def readings(group: Holding) -> Iterator[list[int]]:
    """The histograms of every way to pick one value of each person, most frequent first."""
    for picked in product(*(sorted(values) for values in group.values())):
        yield sorted(Counter(picked).values(), reverse=True)


def entropy(histogram: Sequence[int]) -> float:
    n = sum(histogram)
    return exp(-sum(c / n * log(c / n) for c in histogram))


def ratio(histogram: Sequence[int], l: int) -> Exact:
    tail = sum(histogram[l - 1 :])
    return Fraction(histogram[0], tail) if tail else inf


def distinct_l(rows: Rows, quasi: Sequence[str], *, l: int, column: str) -> Judged:
    """No l - 1 values have as many holders, added up, as the class has people."""
    values = {}
    for key, group in holdings(rows, quasi, column).items():
        counts = sorted(holders(group).values(), reverse=True)
        values[key] = next(j for j in range(1, len(counts) + 1) if sum(counts[:j]) >= len(group))
    return judged(values, lambda value: value >= l, min)


def entropy_l(rows: Rows, quasi: Sequence[str], *, l: Share, column: str) -> Judged:
    values = {key: entropy(most_uneven(group)) for key, group in holdings(rows, quasi, column).items()}
    return judged(values, lambda value: value >= float(l) - 1e-11, min)


def recursive_l(rows: Rows, quasi: Sequence[str], *, c: Share, l: int, column: str) -> Judged:
    values = {key: ratio(most_uneven(group), l) for key, group in holdings(rows, quasi, column).items()}
    return judged(values, lambda value: value < c, max)


def simple_l(rows: Rows, quasi: Sequence[str], *, l: Share, column: str) -> Judged:
    values = {
        key: max(held(group, [value]) for value in holders(group))
        for key, group in holdings(rows, quasi, column).items()
    }
    return judged(values, lambda value: value * l <= 1, max)


def alpha_k(
    rows: Rows, quasi: Sequence[str], *, alpha: Share, k: int, column: str, values: Sequence[str] = ()
) -> Judged:
    return _small_or_sure(list(holdings(rows, quasi, column).items()), alpha, k, values)


def _small_or_sure(
    groups: Sequence[tuple[Key, Holding]], limit: Share, k: int, values: Sequence[str]
) -> tuple[bool, float, set[Key]]:
    small = {key for key, group in groups if len(group) < k}
    worst = [(key, max(held(group, [value]) for value in values or holders(group))) for key, group in groups]
    sure = {key for key, value in worst if value > limit}
    only_small = small and not sure
    reached = min(len(group) for _, group in groups) if only_small else max(value for _, value in worst)
    return not small | sure, float(reached), small | sure


def lkc(rows: Rows, quasi: Sequence[str], *, l: int, k: int, c: Share, column: str, values: Sequence[str] = ()) -> bool:
    return all(
        _small_or_sure(list(holdings(rows, known, column).items()), c, k, values)[0]
        for length in range(1, min(l, len(quasi)) + 1)
        for known in combinations(quasi, length)
    )


def template(rows: Rows, known: Sequence[str], *, column: str, value: str) -> Fraction:
    """The largest share of people with a value, of those who agree in what is known."""
    return max(held(group, [value]) for group in holdings(rows, known, column).values())


def e_m(rows: Rows, quasi: Sequence[str], *, e: Share, m: Share, column: str) -> Judged:
    """The largest share of people who have a value near one value of the class."""
    values = {
        key: max(
            held(group, [y for y in holders(group) if abs(Fraction(x) - Fraction(y)) <= e]) for x in holders(group)
        )
        for key, group in holdings(rows, quasi, column).items()
    }
    return judged(values, lambda value: value * m <= 1, max)


def personalized(
    rows: Rows,
    quasi: Sequence[str],
    *,
    p: Share,
    column: str,
    paths: Mapping[str, Sequence[str]],
    guards: Mapping[str, str],
) -> Judged:
    """The largest share of people who have a value below a node that someone in the class guards."""
    values = {}
    for key, group in holdings(rows, quasi, column).items():
        wishes = {guards[value] for value in holders(group) if value in guards}
        below = [held(group, [v for v in holders(group) if node in (v, *paths[v])]) for node in wishes]
        values[key] = max(below, default=Fraction(0))
    return judged(values, lambda value: value <= p, max)


def divergence_bounding(
    rows: Rows, quasi: Sequence[str], *, confidence: Share, column: str, paths: Mapping[str, Sequence[str]]
) -> Judged:
    """The share of the most frequent value, where the people of a class have values of several branches."""
    values = {}
    for key, group in holdings(rows, quasi, column).items():
        branches = {(paths.get(value) or (value,))[-1] for value in holders(group)}
        shares = [held(group, [value]) for value in holders(group)]
        values[key] = max(shares) if len(branches) > 1 else Fraction(0)
    return judged(values, lambda value: value < confidence, max)


def t_closeness(
    rows: Rows,
    quasi: Sequence[str],
    *,
    t: Share,
    column: str,
    distance: str,
    order: Sequence[str] = (),
    paths: Mapping[str, Sequence[str]] | None = None,
    costs: Sequence[Sequence[Share]] = (),
) -> Judged:
    """How far the pairs of person and value are from those of all classes, and the share of people of every value.

    The reference adds the classes up: nobody can tell that a person is in two of them.
    """
    groups = holdings(rows, quasi, column)
    domain = list(order or paths or sorted({row[column] for row in rows}, key=by_size))
    counts = {key: holders(group) for key, group in groups.items()}
    whole: Counter[str] = sum(counts.values(), Counter())
    people = sum(map(len, groups.values()))
    price = _costs(distance, domain, paths or {}, costs)

    def pairs(of: Counter[str]) -> tuple[Fraction, ...]:
        return tuple(Fraction(of[value], sum(of.values())) for value in domain)

    values: dict[Key, Exact] = {}
    for key, group in groups.items():
        far: list[Exact] = []
        if distance == "kl":
            far.append(_divergence(pairs(counts[key]), pairs(whole)))
        else:
            far.append(transport(pairs(counts[key]), pairs(whole), price))
        for place, value in enumerate(domain):
            mine, all_of_it = held(group, [value]), Fraction(whole[value], people)
            others = [i for i in range(len(domain)) if i != place]
            if distance == "kl":
                far.append(_divergence((mine, 1 - mine), (all_of_it, 1 - all_of_it)))
            elif others:
                leaving, coming = min(price[place][i] for i in others), min(price[i][place] for i in others)
                far.append((mine - all_of_it) * leaving if mine > all_of_it else (all_of_it - mine) * coming)
        values[key] = max(far)
    return judged(values, lambda value: value <= float(t) + 1e-9, max)


def _costs(
    distance: str, domain: Sequence[str], paths: Mapping[str, Sequence[str]], costs: Sequence[Sequence[Share]]
) -> Costs:
    if distance == "emd-ordered":
        return costs_ordered(len(domain))
    if distance == "emd-hierarchical":
        return costs_tree(paths)
    if distance == "emd-matrix":
        return tuple(tuple(row) for row in costs)
    return costs_equal(len(domain))


def _divergence(p: Sequence[Fraction], q: Sequence[Fraction]) -> float:
    return sum((float(a) * log(a / b) if b else inf) for a, b in zip(p, q, strict=True) if a)
