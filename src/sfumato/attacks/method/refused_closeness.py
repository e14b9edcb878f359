"""Who has which value, given that a finer table was too far from the whole one.

A class is published that need not have been: its parts are large enough. So one of them was farther from the whole
table than t-closeness allows. All ways in which the class's values can lie in its parts are equally likely beforehand;
the attacker keeps those in which some part is too far. Here every value counts at once, for the distance is about all
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.assignment import Reals
from sfumato.attacks.frame.promises import Closeness
from sfumato.attacks.frame.subject import Ints
from sfumato.attacks.method.refused_tables import Allowed
from sfumato.ground.special import log_gamma

Distance = Callable[[Reals], Reals]
"""From shares, values last, to how far they are from the whole table."""
Close = Callable[[Reals, int], NDArray[np.bool_]]
"""From the counts of a part in many tables, and which part it is, to whether it is close enough in each."""
EQUAL = ("variational", "emd-equal")
"""Distances by which no value's share is more than t above that of the whole table."""
READ = (*EQUAL, "kl", "emd-ordered")
"""The distances that are read; trees and matrices of costs are not."""
MOST_TABLES = 2000
"""Where there may be more ways than this to fill the parts some are drawn."""
DRAWS = 400
FEWEST = 20
"""So few refused draws tell nothing."""
_SLACK = 1e-9


def distance_to(reference: Reals, values: Sequence[str], promised: Closeness) -> Distance | None:
    """How far shares are from the whole table, as the claim measures it; None where this is not read."""
    if promised.distance in EQUAL:
        return lambda shares: np.asarray(np.abs(shares - reference).sum(axis=-1) / 2)
    if promised.distance == "kl":
        return lambda shares: np.asarray(
            (shares * np.log(np.maximum(shares, 1e-300) / np.maximum(reference, 1e-300))).sum(axis=-1)
        )
    order = _in_order(values, promised.order) if promised.distance == "emd-ordered" else None
    if order is None:
        return None
    steps = max(len(promised.order or values) - 1, 1)
    width = np.diff([*order[1], len(promised.order or values)])[:-1]
    return lambda shares: np.asarray(
        (np.abs(np.cumsum((shares - reference)[..., order[0]], axis=-1))[..., :-1] * width).sum(axis=-1) / steps
    )


def _in_order(values: Sequence[str], listed: Sequence[str]) -> tuple[Ints, list[int]] | None:
    """The values by their place in the order, and these places; numbers are ordered by themselves."""
    try:
        rank = [listed.index(value) if listed else float(value) for value in values]
    except ValueError:
        return None
    order = np.argsort(rank, kind="stable").astype(np.int64)
    return order, [int(rank[at]) for at in order] if listed else list(range(len(values)))


def kept_close(
    counts: Ints, sizes: Ints, distance: Distance, t: float, draw: np.random.Generator
) -> tuple[Allowed, ...] | None:
    """What holds where every part is close enough, for each value; None where no part can be too far, or seldom.

    Cost: all ways to fill the parts where they are few, and else some draws.

    >>> from sfumato.ground.chance import Chance
    >>> far = distance_to(np.array([0.5, 0.5]), ("a", "b"), Closeness(t=0.2, distance="variational"))
    >>> found = kept_close(np.array([2, 2]), np.array([2, 2]), far, 0.2, Chance(seed=1).generator())
    >>> round(found[0].chance, 4)  # of six ways, four give each part one of each
    0.6667
    """

    def close(tables: Reals, part: int) -> NDArray[np.bool_]:
        return np.asarray(distance(tables / sizes[part]) <= t + _SLACK)

    most = np.log(np.minimum(counts[:, None], sizes[:-1]) + 1.0)
    if most.sum() - most.max(axis=0).sum() > np.log(MOST_TABLES):
        chance, expected = _drawn(counts, sizes, close, draw)
        if (1 - chance) * DRAWS < FEWEST:
            return None
    else:
        chance, expected = _counted(counts, sizes, close)
        if chance == 1:
            return None
    return tuple(Allowed(chance=chance, expected=expected[:, value]) for value in range(len(counts)))


def _counted(counts: Ints, sizes: Ints, close: Close) -> tuple[float, Reals]:
    """How likely all parts are close, and the rows of every part and value then (times that): by all ways there are."""
    tables = np.array(list(_filled(tuple(counts.tolist()), tuple(sizes.tolist()))), np.float64)
    logs = -log_gamma(tables + 1).sum(axis=(1, 2))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    fine = np.array([close(tables[:, part], part) for part in range(len(sizes))]).all(axis=0)
    if fine.all():
        return 1.0, np.zeros((len(sizes), len(counts)))
    return float(weights[fine].sum()), np.einsum("w,wpv->pv", weights[fine], tables[fine])


def _filled(counts: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """All tables with these sums of columns (values) and rows (parts)."""
    if len(sizes) == 1:
        yield [counts]
        return
    for first in _chosen(counts, sizes[0]):
        left = tuple(have - took for have, took in zip(counts, first, strict=True))
        for rest in _filled(left, sizes[1:]):
            yield [first, *rest]


def _chosen(counts: tuple[int, ...], size: int) -> Iterator[tuple[int, ...]]:
    """All ways to take so many of these counts."""
    if len(counts) == 1:
        if size <= counts[0]:
            yield (size,)
        return
    for took in range(max(0, size - sum(counts[1:])), min(counts[0], size) + 1):
        for rest in _chosen(counts[1:], size - took):
            yield (took, *rest)


def _drawn(counts: Ints, sizes: Ints, close: Close, draw: np.random.Generator) -> tuple[float, Reals]:
    """The same by draws, part by part and value by value; a draw ends at the first part that is too far."""
    left, alive = np.tile(counts, (DRAWS, 1)), np.arange(DRAWS)
    seen: list[tuple[Ints, Reals]] = []
    for part, size in enumerate(sizes.tolist()):
        need, others = np.full(len(alive), size), left.sum(axis=1)
        found = np.zeros((len(alive), len(counts)))
        for value in np.flatnonzero(counts).tolist():
            others = others - left[:, value]
            found[:, value] = draw.hypergeometric(left[:, value], others, need)
            need = need - found[:, value].astype(np.int64)
        near = close(found, part)
        alive, left, found = alive[near], left[near] - found[near].astype(np.int64), found[near]
        seen.append((alive, found))
        if not len(alive):
            return 0.0, np.zeros((len(sizes), len(counts)))
    lasting = [found[np.isin(ids, alive)].sum(axis=0) / DRAWS for ids, found in seen]
    return len(alive) / DRAWS, np.array(lasting)
