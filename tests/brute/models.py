"""Each privacy model as its definition says it: plain rows, loops, exact fractions.

Every function answers (holds, worst value reached, keys of the failing classes). Parameters that are shares are
fractions, so that nothing depends on rounding. A missing value is a value like any other here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations
from math import exp, inf, log, prod
from typing import Any

from scipy.optimize import linprog

Row = Mapping[str, str]
Rows = Sequence[Row]
Key = tuple[str, ...]
Grouping = Callable[[Rows, Sequence[str]], dict[Key, list[Row]]]
Judged = tuple[bool, float, set[Key]]
Share = Fraction | int
Exact = Fraction | float


def classes(rows: Rows, quasi: Sequence[str]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[q] for q in quasi), []).append(row)
    return found


def judged(values: Mapping[Key, Any], passes: Callable[[Any], bool], worst: Callable[..., Any]) -> Judged:
    failing = {key for key, value in values.items() if not passes(value)}
    return not failing, float(worst(values.values())), failing


def frequencies(group: Iterable[Row], column: str) -> list[int]:
    return sorted(Counter(row[column] for row in group).values(), reverse=True)


def share(group: Sequence[Row], column: str, value: str) -> Fraction:
    return Fraction(sum(row[column] == value for row in group), len(group))


def k_anonymity(rows: Rows, quasi: Sequence[str], *, k: int, grouping: Grouping = classes) -> Judged:
    sizes = {key: len(group) for key, group in grouping(rows, quasi).items()}
    return judged(sizes, lambda size: size >= k, min)


def distinct_l(rows: Rows, quasi: Sequence[str], *, l: int, column: str, grouping: Grouping = classes) -> Judged:
    values = {key: len({row[column] for row in group}) for key, group in grouping(rows, quasi).items()}
    return judged(values, lambda value: value >= l, min)


def entropy_l(rows: Rows, quasi: Sequence[str], *, l: Share, column: str, grouping: Grouping = classes) -> Judged:
    """-sum p log p >= log l; compared without rounding as n^n / prod(c^c) >= l^n, which is its exponential."""
    groups = grouping(rows, quasi)
    counts = {key: frequencies(group, column) for key, group in groups.items()}
    failing = {key for key, c in counts.items() if Fraction(sum(c) ** sum(c), prod(x**x for x in c)) < l ** sum(c)}
    reached = min(exp(-sum(x / sum(c) * log(x / sum(c)) for x in c)) for c in counts.values())
    return not failing, reached, failing


def recursive_l(
    rows: Rows, quasi: Sequence[str], *, c: Share, l: int, column: str, grouping: Grouping = classes
) -> Judged:
    """r1 < c (r_l + ... + r_m); with fewer than l values the right side is 0."""
    values: dict[Key, Exact] = {}
    for key, group in grouping(rows, quasi).items():
        r = frequencies(group, column)
        tail = sum(r[l - 1 :])
        values[key] = Fraction(r[0], tail) if tail else inf
    return judged(values, lambda value: value < c, max)


def simple_l(rows: Rows, quasi: Sequence[str], *, l: Share, column: str, grouping: Grouping = classes) -> Judged:
    groups = grouping(rows, quasi)
    values = {key: Fraction(frequencies(group, column)[0], len(group)) for key, group in groups.items()}
    return judged(values, lambda value: value * l <= 1, max)


def alpha_k(
    rows: Rows,
    quasi: Sequence[str],
    *,
    alpha: Share,
    k: int,
    column: str,
    values: Sequence[str] = (),
    grouping: Grouping = classes,
) -> Judged:
    groups = grouping(rows, quasi)
    return _small_or_sure(list(groups.items()), alpha, k, column, values or {row[column] for row in rows})


def _small_or_sure(
    groups: Sequence[tuple[Any, Sequence[Row]]], limit: Share, k: int, column: str, values: Iterable[str]
) -> tuple[bool, float, set[Any]]:
    """At least k rows, and no value surer than the limit; the worst share is told unless only the size fails."""
    small = {key for key, group in groups if len(group) < k}
    worst = {key: max(share(group, column, value) for value in values) for key, group in groups}
    sure = {key for key, value in worst.items() if value > limit}
    only_small = small and not sure
    reached = min(len(group) for _, group in groups) if only_small else max(worst.values())
    return not small | sure, float(reached), small | sure


def confidence_bounding(
    rows: Rows, quasi: Sequence[str], *, templates: Sequence[tuple[Sequence[str], str, str, Share]]
) -> tuple[bool, list[tuple[float, float]], set[Key]]:
    """Templates are (quasi columns or none for all, column, value, limit).

    In place of one value it answers the worst share of each template with its limit.
    """
    failing: set[Key] = set()
    worst = []
    for known, column, value, limit in templates:
        groups = classes(rows, known or quasi)
        shares = {key: share(group, column, value) for key, group in groups.items()}
        for key, found in shares.items():
            if found > limit:
                failing |= set(classes(groups[key], quasi))
        worst.append((float(max(shares.values())), float(limit)))
    return not failing, worst, failing


def lkc(
    rows: Rows,
    quasi: Sequence[str],
    *,
    l: int,
    k: int,
    c: Share,
    column: str,
    values: Sequence[str] = (),
    sizes: Iterable[int] | None = None,
) -> Judged:
    """Every qid of the given lengths (1 to l, as defined, when none are given) has K rows and no confidence above C."""
    lengths = range(1, min(l, len(quasi)) + 1) if sizes is None else sizes
    groups = [
        ((known, key), group)
        for length in lengths
        for known in combinations(quasi, length)
        for key, group in classes(rows, known).items()
    ]
    named = values or {row[column] for row in rows}
    holds, reached, failing = _small_or_sure(groups, c, k, column, named)
    found = {key for name, group in groups if name in failing for key in classes(group, quasi)}
    return holds, reached, found


def e_m(
    rows: Rows, quasi: Sequence[str], *, e: Share, m: Share, column: str, relative: bool, missing: str = "?"
) -> Judged:
    """The share of rows about as large as some row; a missing value is near to missing ones only."""

    def near(x: str, y: str) -> bool:
        if missing in (x, y):
            return x == y
        reach = e * abs(Fraction(x)) if relative else e
        return Fraction(x) - reach <= Fraction(y) <= Fraction(x) + reach

    values = {
        key: max(Fraction(sum(near(x[column], y[column]) for y in group), len(group)) for x in group)
        for key, group in classes(rows, quasi).items()
    }
    return judged(values, lambda value: value * m <= 1, max)


def delta_presence(rows: Rows, quasi: Sequence[str], *, low: Share, high: Share, population: Rows) -> Judged:
    """Of each group of the population, the share that is in the table; a group that is not in the table has 0.

    A verdict holds if and only if no class fails: a failing group that is no class of the table fails them all.
    """
    here = classes(rows, quasi)
    groups = classes(population, quasi)
    presence = {key: Fraction(len(here.get(key, ())), len(group)) for key, group in groups.items()}
    over = {key for key, value in presence.items() if value > high}
    under = {key for key, value in presence.items() if value < low}
    reached = min(presence.values()) if under and not over else max(presence.values())
    failing = set(here) if under - set(here) else (over | under)
    return not failing, float(reached), failing


def k_map(rows: Rows, quasi: Sequence[str], *, k: int, population: Rows) -> Judged:
    groups = classes(population, quasi)
    return judged({key: len(groups[key]) for key in classes(rows, quasi)}, lambda size: size >= k, min)


def personalized(
    rows: Rows,
    quasi: Sequence[str],
    *,
    p: Share,
    column: str,
    paths: Mapping[str, Sequence[str]],
    guards: Mapping[str, str] | None = None,
    guard_column: str | None = None,
    none: Sequence[str] = ("", "*", "?"),
) -> Judged:
    values = {}
    for key, group in classes(rows, quasi).items():
        wishes = {row[guard_column] if guard_column else (guards or {}).get(row[column], "") for row in group}
        breaches = [
            Fraction(sum(wish in (row[column], *paths[row[column]]) for row in group), len(group))
            for wish in wishes
            if wish not in none
        ]
        values[key] = max(breaches, default=Fraction(0))
    return judged(values, lambda value: value <= p, max)


def divergence_bounding(
    rows: Rows, quasi: Sequence[str], *, confidence: Share, column: str, paths: Mapping[str, Sequence[str]]
) -> Judged:
    """002, section 2.1: person by person, every value of another branch, as sure as the rows of the class say it."""

    def branch(value: str) -> str:
        above = paths.get(value) or (value,)
        return above[-1]

    values = {}
    for key, group in classes(rows, quasi).items():
        links = [
            share(group, column, other[column])
            for person in group
            for other in group
            if branch(other[column]) != branch(person[column])
        ]
        values[key] = max(links, default=Fraction(0))
    return judged(values, lambda value: value < confidence, max)


def all_of(parts: Sequence[Judged]) -> Judged:
    """The first part that fails speaks, else the last one; what fails any of them fails."""
    first = next((part for part in parts if not part[0]), parts[-1])
    return first[0], first[1], set().union(*(part[2] for part in parts))


def t_closeness(
    rows: Rows,
    quasi: Sequence[str],
    *,
    t: Share,
    column: str,
    distance: str,
    reference: Rows | None = None,
    order: Sequence[str] = (),
    paths: Mapping[str, Sequence[str]] | None = None,
    costs: Sequence[Sequence[Share]] = (),
    grouping: Grouping = classes,
) -> Judged:
    """The reference is the rows themselves unless others are given; numbers without an order stand by size."""
    whole = rows if reference is None else reference
    domain = list(order or paths or sorted({row[column] for row in whole}, key=by_size))

    def shares(group: Sequence[Row]) -> tuple[Fraction, ...]:
        return tuple(share(group, column, value) for value in domain)

    far: dict[str, Callable[[Sequence[Fraction], Sequence[Fraction]], Exact]] = {
        "variational": lambda p, q: sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2,
        "kl": divergence,
        "emd-equal": lambda p, q: transport(p, q, costs_equal(len(domain))),
        "emd-ordered": lambda p, q: transport(p, q, costs_ordered(len(domain))),
        "emd-hierarchical": lambda p, q: transport(p, q, costs_tree(paths or {})),
        "emd-matrix": lambda p, q: transport(p, q, tuple(tuple(row) for row in costs)),
    }
    values = {key: far[distance](shares(group), shares(whole)) for key, group in grouping(rows, quasi).items()}
    slack = Fraction(1, 10**12) if distance == "kl" else 0
    return judged(values, lambda value: value <= t + slack, max)


def by_size(text: str) -> tuple[int, float, str]:
    """Numbers by size, then everything else (a missing value last)."""
    try:
        return 0, float(text), text
    except ValueError:
        return (2 if text == "?" else 1), 0.0, text


def divergence(p: Sequence[Fraction], q: Sequence[Fraction]) -> float:
    return sum((float(a) * log(a / b) if b else inf) for a, b in zip(p, q, strict=True) if a)


Costs = tuple[tuple[Share, ...], ...]


def costs_equal(m: int) -> Costs:
    return tuple(tuple(int(i != j) for j in range(m)) for i in range(m))


def costs_ordered(m: int) -> Costs:
    return tuple(tuple(Fraction(abs(i - j), max(m - 1, 1)) for j in range(m)) for i in range(m))


def costs_tree(paths: Mapping[str, Sequence[str]]) -> Costs:
    """Level of the lowest common ancestor / height; leaves have level 0, the root has the height."""
    deepest = max(len(path) for path in paths.values())
    lines = []
    for leaf, path in paths.items():
        labels = [leaf, *path]
        lines.append([*labels, *labels[-1:] * (deepest - len(path)), "the root"])
    height = deepest + 1

    def level(one: Sequence[str], other: Sequence[str]) -> int:
        return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a == b)

    return tuple(tuple(Fraction(level(one, other), height) for other in lines) for one in lines)


@cache
def transport(p: tuple[Fraction, ...], q: tuple[Fraction, ...], costs: Costs) -> Fraction:
    """The least work that turns p into q: the linear program itself, over every flow from i to j.

    The optimum is a fraction with a small denominator, which the solver's float is near to.
    """
    m = len(p)
    leaving = [[float(i == a) for i in range(m) for _ in range(m)] for a in range(m)]
    arriving = [[float(j == b) for _ in range(m) for j in range(m)] for b in range(m)]
    cost = [float(costs[i][j]) for i in range(m) for j in range(m)]
    amounts = [float(x) for x in (*p, *q)]
    solved = linprog(cost, A_eq=leaving + arriving, b_eq=amounts, bounds=(0, None), method="highs")
    assert solved.status == 0, solved.message
    return Fraction(solved.fun).limit_denominator(10_000)


def ordered_by_sums(p: Sequence[Fraction], q: Sequence[Fraction]) -> Fraction:
    """Li et al.'s closed form of the ordered distance, to check the program above."""
    differences = [a - b for a, b in zip(p, q, strict=True)]
    return sum((abs(x) for x in accumulate(differences)), Fraction(0)) / max(len(p) - 1, 1)
