"""DiffGen and its options, and the consistent noisy counts that it publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.cut import ColumnCut
from sfumato.algorithms.diffgen.choices import ByCounts, ByLeaves, ByValue
from sfumato.algorithms.diffgen.columns import SetColumn
from sfumato.algorithms.diffgen.partitions import AnyColumn, Partitions, Sieve, pure_cost, refuse_untestable, sifted
from sfumato.algorithms.diffgen.specialization import (
    PART,
    Prices,
    ScoreName,
    Search,
    column_of,
    noise_of,
    score,
    supported,
)
from sfumato.algorithms.private_table import Errors, Mechanisms, NoisyTable, PrivateTable
from sfumato.core.arguments import at_least, one_of
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.sources import Need, refuse_lacking
from sfumato.dp.accounting import Purse, budgeted, purse_of, share
from sfumato.dp.events import Pure, exactly
from sfumato.dp.noise import Noisy
from sfumato.tables.table import Codes

# Noisy counts made whole and consistent: none negative, and no bias from cutting off at 0.
#
# This reads the noisy counts only, so it costs nothing.


Reals = NDArray[np.float64]
NOTHING = 1e-9
"""The weight of a partition all of whose parts were found to be empty."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inner:
    """Noisy counts of the partitions that there were after some specializations."""

    counts: Reals
    """Partitions x classes."""
    noise: float
    """The variance of their noise, in times that of a leaf's."""


def consistent(
    noisy: NDArray[np.int64], parents: Sequence[Codes], inner: Mapping[int, Inner] = MappingProxyType({})
) -> NDArray[np.int64]:
    """Partitions x classes: counts near the noisy ones, from the top of the tree of specializations downwards.

    A partition's noisy count is the sum of those of its leaves, which is unbiased; where it was counted itself
    (``inner``, by the number of specializations before), the mean of both, weighed by their noise. From the root down,
    the counts of the parts of a partition are the nearest to their noisy ones (by least squares, each weighed by its
    noise) that are not negative and add up to the partition's. So what was specialized first keeps its counts best.
    """
    if not len(noisy):
        return noisy
    levels, weights = [noisy.astype(np.float64)], [np.ones(len(noisy))]
    sizes = [1, *map(len, parents)]
    for step, above in reversed(list(enumerate(parents))):
        level, weight = _summed(levels[-1], weights[-1], above, sizes[step])
        if step in inner:
            own = inner[step]
            level = (level * own.noise + own.counts * weight[:, None]) / (weight[:, None] + own.noise)
            weight = weight * own.noise / (weight + own.noise)
        levels.append(level)
        weights.append(np.maximum(weight, NOTHING))
    kinds = noisy.shape[1]
    total = np.array([[max(float(levels[-1].sum()), 0.0)]])
    estimate = _shared(levels[-1].T, np.zeros(kinds, np.int32), total, np.ones(kinds)).T
    for level, weight, above in zip(levels[-2::-1], weights[-2::-1], parents, strict=True):
        estimate = _shared(level, above, estimate, weight)
    return _whole(estimate)


def _summed(level: Reals, weight: Reals, above: Codes, size: int) -> tuple[Reals, Reals]:
    """The sums of counts by the partition that they were part of, and those of their noise."""
    counts = np.stack([np.bincount(above, weights=class_counts, minlength=size) for class_counts in level.T], axis=1)
    return counts.astype(np.float64), np.bincount(above, weights=weight, minlength=size).astype(np.float64)


def inner_counts(counts: NDArray[np.int64], parents: Sequence[Codes], step: int) -> NDArray[np.int64]:
    """Partitions x classes: the records of the partitions that there were after so many specializations."""
    for number in range(len(parents) - 1, step - 1, -1):
        size = len(parents[number - 1]) if number else 1
        above = np.zeros((size, counts.shape[1]), np.int64)
        np.add.at(above, parents[number], counts)
        counts = above
    return counts


def _shared(values: Reals, above: Codes, totals: Reals, weights: Reals) -> Reals:
    """Parts x classes: for each parent and class, the nearest counts that add up to its total, none negative.

    They are ``max(value - weight * t, 0)`` with one ``t`` per parent and class: of the parts ordered by value over
    weight, the highest are kept, as many as stay above 0.
    """
    counts = np.empty_like(values)
    first = np.flatnonzero(np.diff(above, prepend=-1))
    place = np.searchsorted(first, np.arange(len(above)), side="right") - 1
    rank = np.arange(len(above))
    for c in range(values.shape[1]):
        ratio = values[:, c] / weights
        order = np.lexsort((-ratio, place))
        value, weight = values[order, c].cumsum(), weights[order].cumsum()
        before = first[place]
        value = value - np.where(before > 0, value[before - 1], 0.0)
        weight = weight - np.where(before > 0, weight[before - 1], 0.0)
        t = (value - totals[above, c]) / weight
        fits = ratio[order] > t
        last = np.maximum.reduceat(np.where(fits, rank, -1), first)
        last = np.where(last < 0, first, last)
        counts[:, c] = np.maximum(values[:, c] - weights * t[last][place], 0.0)
    return counts


def _whole(counts: Reals) -> NDArray[np.int64]:
    """Whole counts; the sum of any row of neighbours changes by less than 1."""
    ends = np.rint(counts.cumsum(axis=0))
    return np.diff(ends, axis=0, prepend=0.0).astype(np.int64)


# What is published: every leaf partition with its labels and noisy counts (algorithm 6.1, line 12).


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
    given = {
        step: Inner(counts=noisy.values, noise=max(noisy.variance, NOTHING) / noise) for step, noisy in above.items()
    }
    labelled_columns = [_shown(column, keys) for column, keys in zip(search.columns, parts.keys, strict=True)]
    return NoisyTable(
        columns=tuple(attribute.name for attribute in table.attributes),
        labels=tuple(labels for labels, _, _ in labelled_columns),
        keys=np.stack([keys for _, keys, _ in labelled_columns]) if labelled_columns else parts.keys,
        counts=consistent(noisy.values, parts.parents, given) if whole else np.maximum(noisy.values, 0),
        event=purse.closed("DiffGen"),
        cut=tuple(cut for _, _, cut in labelled_columns),
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
            Errors(
                column=attribute.name, labels=labels, deviation=_deviation(keys, len(labels), noisy, len(table.classes))
            )
            for attribute, (labels, keys, _) in zip(table.attributes, labelled_columns, strict=True)
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
    noisy = search.mechanisms.count(inner_counts(counts, parts.parents, step), cost)
    search.purse.pay(cost)
    return {step: noisy}


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


# DiffGen and its options.


_KEPT = {"gini": Fraction(1, 4), "max": Fraction(1, 2), "gain": Fraction(1, 2)}
Choosing = Literal["scores", "counts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffGen:
    """Specialize from the top, choosing at random by private scores, and publish noisy counts of all partitions.

    Claim: the release is epsilon-differentially private, or rho-zero-concentrated where ``rho`` is given, neighbours
        being tables with one record more or less. Every part of the budget is accounted for, and together the parts
        are the budget exactly.
    How: choices by report noisy max (permute and flip; with rho by Gumbel noise); child partitions of sets by a noisy
        test of emptiness; counts of all leaf partitions, also those without a record, with discrete Laplace noise
        (Gaussian with rho) from all the budget left.
        ``max`` and ``gain`` are algorithm 6.1; ``gini`` scores the whole partition and chooses value and split point
        at once. With ``choosing = "counts"`` every attribute is counted by the class first, with noise, and all choices
        are made by these counts, without further cost: so three and more parties choose together, who can add up
        noisy counts but no scores.
    Needs: declared domains, trees, ranges, grids and classes; nothing of them may be read off the table.
    Cost: a histogram per attribute, and a count of the distinct records for each specialization (with ``gini`` one per
        attribute); noise for each group.
    Source: Mohammed, Chen, Fung, Yu 2011: Differentially private data release for data mining. Document 003,
        chapter 6. McKenna, Sheldon 2020: Permute-and-flip. Friedman, Schuster 2010 (Gini index).
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole counts: that one record moves a score no further than its sensitivity is proven for those."""

    epsilon: Any = None
    """The whole budget; kept as an exact fraction."""
    rho: Any = None
    """The whole budget in place of epsilon, in the rho of zCDP."""
    specializations: int | Literal["auto"] = "auto"
    """How many values are specialized at most; auto: as long as new groups are worth their noise."""
    score: ScoreName = "gini"
    """By which values and split points are chosen."""
    consistent: bool = True
    """Whether counts are made to add up down the tree of specializations, else they are only cut off at 0."""
    kept: Any = None
    """The part of the budget that is set aside for the counts of groups; where nothing is said it is a half, and a
    quarter for gini and where choices follow counts."""
    inner: Any = 0
    """The part of the counts' budget for counts of inner partitions, which make sums of groups less noisy."""
    choosing: Choosing = "scores"
    """Whether choices are private ones among scores, or follow noisy counts of every attribute."""

    def __post_init__(self) -> None:
        epsilon, rho = budgeted(self.epsilon, self.rho)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "rho", rho)
        if self.specializations != "auto":
            at_least("specializations", self.specializations, 1)
        one_of("score", self.score, get_args(ScoreName))
        one_of("choosing", self.choosing, get_args(Choosing))
        if self.choosing == "counts" and self.score != "max":
            raise ParameterError(f'score must be max where choosing = "counts", not {self.score}')
        if not isinstance(self.consistent, bool):
            raise ParameterError(f"consistent must be true or false, not {self.consistent!r}")
        usual = _KEPT[self.score] if self.choosing == "scores" else Fraction(1, 4)
        object.__setattr__(self, "kept", usual if self.kept is None else exactly("kept", self.kept))
        if self.kept >= 1:
            raise ParameterError(f"kept must be below 1, not {self.kept}")
        object.__setattr__(self, "inner", exactly("inner", self.inner) if self.inner else Fraction(0))
        if self.inner >= 1:
            raise ParameterError(f"inner must be below 1, not {self.inner}")
        if self.inner and not self.consistent:
            raise ParameterError("inner must be 0 where consistent is false: inner counts are for nothing else")

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        """The release. A time limit is not heeded: how far one comes would tell something about the records."""
        return published(self, table, work, Mechanisms())


def published(
    settings: DiffGen,
    table: PrivateTable,
    work: Work,
    mechanisms: Mechanisms,
    sieve: Sieve = sifted,
    searching: Callable[..., Search] | None = None,
) -> NoisyTable:
    """The release, with choices and noise from where they are said to come from.

    ``searching`` makes the search in place of the one that the score has: several parties choose in their own way.
    """
    refuse_lacking(table.counts, DiffGen.needs, "algorithm.name: diffgen")
    purse = purse_of(settings.epsilon, settings.rho)
    parts = Partitions(len(table.attributes), table.counts.root(table.figures))
    prices = _prices(settings, parts, purse, mechanisms)
    search_type = searching or _searching(settings, table)
    search = search_type(
        columns=tuple(column_of(attribute, place, parts.walk) for place, attribute in enumerate(table.attributes)),
        parts=parts,
        score=score(settings.score, len(table.classes)),
        purse=purse,
        share=share(purse.left, settings.kept, _choices(settings, table, prices.steps)),
        prices=prices,
        mechanisms=mechanisms,
        sieve=sieve,
    )
    if any(attribute.kind == "set" for attribute in table.attributes):
        refuse_untestable(pure_cost(purse.unit, search.share, "").epsilon)
    search.run(work)
    return released(search, table, whole=settings.consistent, inner=settings.inner)


def _searching(settings: DiffGen, table: PrivateTable) -> type[Search]:
    """The search that was asked for."""
    if settings.choosing == "scores":
        return ByLeaves if settings.score == "gini" else ByValue
    sets = [attribute.name for attribute in table.attributes if attribute.kind == "set"]
    if sets:
        raise PlanError(
            f'columns.{sets[0]}: sets are tested part by part, which choosing = "counts" cannot do; leave the column '
            'out, or use choosing = "scores"'
        )
    return ByCounts


def _prices(settings: DiffGen, parts: Partitions, purse: Purse, mechanisms: Mechanisms) -> Prices:
    """By the number of specializations that was asked for, or by a noisy number of records."""
    if settings.specializations != "auto":
        return Prices(steps=settings.specializations)
    cost = purse.cost(purse.whole * PART, "the number of records")
    records = int(mechanisms.count(np.array([parts.counts.sum()]), cost).values[0])
    purse.pay(cost)
    classes = parts.counts.shape[1]
    noise = noise_of(purse.cost(purse.left * settings.kept, ""))
    unit = 1 / max(records, 1) if settings.score == "gain" else 1.0
    return supported(records, noise, classes, stops=settings.score == "gini" and classes > 1, unit=unit)


def _choices(settings: DiffGen, table: PrivateTable, steps: int) -> int:
    """The most choices, tests and counts of attributes that can come, one record being in all of them."""
    kinds = [attribute.kind for attribute in table.attributes]
    if settings.choosing == "counts":
        return len(kinds)
    if settings.score == "gini":
        return (2 if "set" in kinds else 1) * steps
    return kinds.count("number") + 2 * steps
