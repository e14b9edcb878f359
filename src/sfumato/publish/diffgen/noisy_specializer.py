"""DiffGen and its options."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.budget.events import exactly
from sfumato.budget.purse import Purse, share
from sfumato.ground.arguments import at_least, one_of
from sfumato.ground.errors import ParameterError
from sfumato.ground.work import Work
from sfumato.group.needs import Need, refuse_lacking
from sfumato.publish.diffgen.by_leaves import ByLeaves
from sfumato.publish.diffgen.by_value import ByValue
from sfumato.publish.diffgen.diffgen_noise import Mechanisms
from sfumato.publish.diffgen.emptiness import refuse_untestable
from sfumato.publish.diffgen.leaf_partitions import Partitions
from sfumato.publish.diffgen.noisy_partitions import released
from sfumato.publish.diffgen.size import PART, specializations
from sfumato.publish.diffgen.specialization import Search, column_of
from sfumato.publish.diffgen.specialization_scores import ScoreName, score
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

MOST_GROUPS = 2**20
"""No specialization is a candidate that would make more leaf partitions than this."""
LEAST = Fraction(1, 10**9)
"""No smaller epsilon: noise in the counts would not fit their numbers."""
_KEPT = {"gini": Fraction(1, 4), "max": Fraction(1, 2), "gain": Fraction(1, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffGen:
    """Specialize from the top, choosing at random by private scores, and publish noisy counts of all partitions.

    Claim: the release is epsilon-differentially private, neighbours being tables with one record more or less. Every
        part of epsilon is accounted for, and together the parts are epsilon exactly.
    How: choices by report noisy max (permute and flip); child partitions of sets by a noisy test of emptiness; counts
        of all leaf partitions, also those without a record, with discrete Laplace noise from all the budget left.
        ``max`` and ``gain`` are algorithm 6.1; ``gini`` scores the whole partition and chooses value and split point
        at once.
    Needs: declared domains, trees, ranges, grids and classes; nothing of them may be read off the table.
    Cost: a histogram per attribute, and a count of the distinct records for each specialization (with ``gini`` one per
        attribute); noise for each group.
    Source: Mohammed, Chen, Fung, Yu 2011: Differentially private data release for data mining. Document 003,
        chapter 6. McKenna, Sheldon 2020: Permute-and-flip. Friedman, Schuster 2010 (Gini index).
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"integers"})
    """Whole counts: that one record moves a score no further than its sensitivity is proven for those."""

    epsilon: Any
    """The whole budget; kept as an exact fraction."""
    specializations: int | Literal["auto"] = "auto"
    """How many values are specialized at most; auto: by a rule on a noisy number of records."""
    score: ScoreName = "gini"
    """By which values and split points are chosen."""
    consistent: bool = True
    """Whether counts are made to add up down the tree of specializations, else they are only cut off at 0."""
    kept: Any = None
    """The part of the budget that is set aside for the counts; a half, for gini a quarter, where nothing is said."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))
        if self.epsilon < LEAST:
            raise ParameterError(f"epsilon must be at least {float(LEAST):g}, not {float(self.epsilon):g}")
        if self.specializations != "auto":
            at_least("specializations", self.specializations, 1)
        one_of("score", self.score, get_args(ScoreName))
        if not isinstance(self.consistent, bool):
            raise ParameterError(f"consistent must be true or false, not {self.consistent!r}")
        object.__setattr__(self, "kept", _KEPT[self.score] if self.kept is None else exactly("kept", self.kept))
        if self.kept >= 1:
            raise ParameterError(f"kept must be below 1, not {self.kept}")

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        """The release. A time limit is not heeded: how far one comes would tell something about the records."""
        return published(self, table, work, Mechanisms())


def published(asked: DiffGen, table: PrivateTable, work: Work, mechanisms: Mechanisms) -> NoisyTable:
    """The release, with choices and noise from where they are said to come from."""
    refuse_lacking(table.counts, DiffGen.needs, "algorithm.name: diffgen")
    purse = Purse(whole=asked.epsilon)
    parts = Partitions(len(table.attributes), table.counts.root(table.figures))
    steps = _steps(asked, parts, purse, mechanisms)
    made = ByLeaves if asked.score == "gini" else ByValue
    search: Search = made(
        columns=tuple(column_of(one, place, parts.walk) for place, one in enumerate(table.attributes)),
        parts=parts,
        classes=len(table.classes),
        score=score(asked.score, len(table.classes)),
        purse=purse,
        share=share(purse.left, asked.kept, _choices(asked.score, table, steps)),
        most=MOST_GROUPS,
        mechanisms=mechanisms,
    )
    if any(one.kind == "set" for one in table.attributes):
        refuse_untestable(search.share)
    search.run(steps, work)
    return released(search, table, whole=asked.consistent)


def _steps(asked: DiffGen, parts: Partitions, purse: Purse, mechanisms: Mechanisms) -> int:
    if asked.specializations != "auto":
        return asked.specializations
    noisy = mechanisms.count(np.array([parts.counts.sum()]), asked.epsilon * PART, "the number of records")
    purse.pay(noisy.event)
    return specializations(asked.epsilon, int(noisy.values[0]))


def _choices(name: ScoreName, table: PrivateTable, steps: int) -> int:
    """The most choices and tests that can come, one record being in all of them."""
    kinds = [one.kind for one in table.attributes]
    if name == "gini":
        return (2 if "set" in kinds else 1) * steps
    return kinds.count("number") + 2 * steps
