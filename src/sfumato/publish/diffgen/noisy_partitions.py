"""What is published: every leaf partition with its labels and noisy counts (algorithm 6.1, line 12)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Pure
from sfumato.noise import Noisy
from sfumato.publish.cut import ColumnCut
from sfumato.publish.diffgen.consistent import NOTHING, Inner, consistent, inner_counts
from sfumato.publish.diffgen.set_column import SetColumn
from sfumato.publish.diffgen.specialization import Search
from sfumato.publish.diffgen.steps import AnyColumn
from sfumato.publish.noisy_table import Errors, NoisyTable, PrivateTable


def released(search: Search, table: PrivateTable, *, whole: bool, inner: Fraction = Fraction(0)) -> NoisyTable:
    """All groups, for all that is left of the budget; ``whole``: with counts that add up down the tree.

    A part of it, ``inner``, goes to counts of inner partitions first.
    """
    parts, purse = search.parts, search.purse
    counts = search.leaf_counts()
    above = _inner(search, counts, purse.left * inner)
    cost = purse.cost(purse.left, "counts of the groups")
    noisy = search.mechanisms.count(counts, cost)
    purse.pay(cost)
    noise = max(noisy.variance, NOTHING)
    given = {step: Inner(counts=one.values, noise=max(one.variance, NOTHING) / noise) for step, one in above.items()}
    shown = [_shown(column, keys) for column, keys in zip(search.columns, parts.keys, strict=True)]
    return NoisyTable(
        columns=tuple(one.name for one in table.attributes),
        labels=tuple(labels for labels, _, _ in shown),
        keys=np.stack([keys for _, keys, _ in shown]) if shown else parts.keys,
        counts=consistent(noisy.values, parts.parents, given) if whole else np.maximum(noisy.values, 0),
        event=purse.closed("DiffGen"),
        cut=tuple(cut for _, _, cut in shown),
        steps=tuple(search.said),
        effort={
            "specializations": len(search.said),
            "groups": parts.count,
            f"{purse.unit} of one choice": str(search.share),
            f"{purse.unit} of the counts": str(cost.epsilon if isinstance(cost, Pure) else cost.rho),
            "scale of the noise of a count": noisy.scale,
            **({"noises in a count": noisy.draws} if noisy.draws > 1 else {}),
        },
        errors=tuple(
            Errors(column=one.name, labels=labels, deviation=_deviation(keys, len(labels), noisy, len(table.classes)))
            for one, (labels, keys, _) in zip(table.attributes, shown, strict=True)
        )
        + _class_errors(table, noisy, parts.count),
    )


def inner_level(sizes: Sequence[int]) -> int | None:
    """After how many specializations partitions are counted too: where there are about as many as each has leaves.

    Public: it is decided by the numbers of partitions alone.

    >>> inner_level([1, 2, 6, 18, 36]), inner_level([1, 2]), inner_level([1])
    (2, None, None)
    """
    inner = [step for step, size in enumerate(sizes) if 1 < size < sizes[-1]]
    return min(inner, key=lambda step: abs(log(sizes[step] ** 2 / sizes[-1])), default=None)


def _inner(search: Search, counts: NDArray[np.int64], amount: Fraction) -> dict[int, Noisy]:
    """Noisy counts of the partitions at one inner level, and what they cost is paid."""
    parts = search.parts
    step = inner_level([1, *map(len, parts.parents)]) if amount and parts.count else None
    if step is None:
        return {}
    cost = search.purse.cost(amount, "counts of inner partitions")
    found = search.mechanisms.count(inner_counts(counts, parts.parents, step), cost)
    search.purse.pay(cost)
    return {step: found}


def _class_errors(table: PrivateTable, noisy: Noisy, groups: int) -> tuple[Errors, ...]:
    """The same for the rows of every class: those of all groups together."""
    if table.target_name is None:
        return ()
    deviation = np.full(len(table.classes), np.sqrt(groups * noisy.variance))
    return (Errors(column=table.target_name, labels=table.classes, deviation=deviation),)


def _deviation(keys: NDArray[np.int32], labels: int, noisy: Noisy, classes: int) -> NDArray[np.float64]:
    """The standard deviation of the noise in the count of each label: that of all its groups and classes together.

    Least squares with inner counts only lowers it, so it is an upper bound there. What mending negative counts adds or
    takes, and records that tests of sets have lost, are not noise and not in it.
    """
    return np.asarray(np.sqrt(np.bincount(keys, minlength=labels) * classes * noisy.variance))


def _shown(column: AnyColumn, mine: NDArray[np.int32]) -> tuple[tuple[str, ...], NDArray[np.int32], ColumnCut | None]:
    """The labels of a column, which of them each group has, and the cut."""
    if isinstance(column, SetColumn):
        used, place = np.unique(mine, return_inverse=True)
        return tuple(column.name(value) for value in used.tolist()), place.reshape(-1).astype(np.int32), None
    cut, label_of = column.cut()
    table = np.zeros(max(label_of) + 1, np.int32)
    table[list(label_of)] = list(label_of.values())
    return cut.labels, table[mine], cut
