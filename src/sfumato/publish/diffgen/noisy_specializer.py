"""DiffGen and its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.budget.events import exactly
from sfumato.budget.purse import Purse, budgeted, purse_of, share
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.needs import Need, refuse_lacking
from sfumato.publish.diffgen.by_counts import ByCounts
from sfumato.publish.diffgen.by_leaves import ByLeaves
from sfumato.publish.diffgen.by_value import ByValue
from sfumato.publish.diffgen.emptiness import Sieve, pure_cost, refuse_untestable, sifted
from sfumato.publish.diffgen.group_prices import PART, Prices, noise_of, supported
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.noisy_partitions import released
from sfumato.publish.diffgen.specialization import Search, column_of
from sfumato.publish.diffgen.specialization_scores import ScoreName, score
from sfumato.publish.looking import Mechanisms
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

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
    asked: DiffGen,
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
    purse = purse_of(asked.epsilon, asked.rho)
    parts = Partitions(len(table.attributes), table.counts.root(table.figures))
    prices = _prices(asked, parts, purse, mechanisms)
    made = searching or _searching(asked, table)
    search = made(
        columns=tuple(column_of(one, place, parts.walk) for place, one in enumerate(table.attributes)),
        parts=parts,
        score=score(asked.score, len(table.classes)),
        purse=purse,
        share=share(purse.left, asked.kept, _choices(asked, table, prices.steps)),
        prices=prices,
        mechanisms=mechanisms,
        sieve=sieve,
    )
    if any(one.kind == "set" for one in table.attributes):
        refuse_untestable(pure_cost(purse.unit, search.share, "").epsilon)
    search.run(work)
    return released(search, table, whole=asked.consistent, inner=asked.inner)


def _searching(asked: DiffGen, table: PrivateTable) -> type[Search]:
    """The search that was asked for."""
    if asked.choosing == "scores":
        return ByLeaves if asked.score == "gini" else ByValue
    sets = [one.name for one in table.attributes if one.kind == "set"]
    if sets:
        raise PlanError(
            f'columns.{sets[0]}: sets are tested part by part, which choosing = "counts" cannot do; leave the column '
            'out, or use choosing = "scores"'
        )
    return ByCounts


def _prices(asked: DiffGen, parts: Partitions, purse: Purse, mechanisms: Mechanisms) -> Prices:
    """By the number of specializations that was asked for, or by a noisy number of records."""
    if asked.specializations != "auto":
        return Prices(steps=asked.specializations)
    cost = purse.cost(purse.whole * PART, "the number of records")
    records = int(mechanisms.count(np.array([parts.counts.sum()]), cost).values[0])
    purse.pay(cost)
    classes = parts.counts.shape[1]
    noise = noise_of(purse.cost(purse.left * asked.kept, ""))
    unit = 1 / max(records, 1) if asked.score == "gain" else 1.0
    return supported(records, noise, classes, stops=asked.score == "gini" and classes > 1, unit=unit)


def _choices(asked: DiffGen, table: PrivateTable, steps: int) -> int:
    """The most choices, tests and counts of attributes that can come, one record being in all of them."""
    kinds = [one.kind for one in table.attributes]
    if asked.choosing == "counts":
        return len(kinds)
    if asked.score == "gini":
        return (2 if "set" in kinds else 1) * steps
    return kinds.count("number") + 2 * steps
