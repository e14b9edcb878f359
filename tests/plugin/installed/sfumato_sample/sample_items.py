"""A model of sets of items, and an algorithm that meets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.items.problem import Cover, ItemOutcome, ItemProblem, ItemStep, shown_records
from sfumato.core.arguments import at_least
from sfumato.core.run_context import Work
from sfumato.counts.itemsets import Itemsets, known_sets, violating
from sfumato.counts.transactions import Transactions
from sfumato.models.item_models import extremes, numbered
from sfumato.models.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSupport:
    """Every item that a record has, at least ``k`` records have.

    Claim: who knows one item of a person finds at least ``k`` records that may be hers.
    Source: our own, for a test.
    Does not protect against: an adversary who knows two items.
    """

    name: ClassVar[str] = "item-support"

    k: int

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    @property
    def generalizes(self) -> bool:
        return True

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        return violating(transactions, l=1, k=self.k, c=1.0, listed=listed, work=work)

    def allows(self, rows: int, top: int) -> bool:
        return rows >= self.k

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        fewest, _, bad = extremes(known_sets(transactions, l=1, k=self.k, c=1.0, work=work), transactions.rows)
        return Verdict(
            holds=not bad, reached=float(fewest), limit=float(self.k), sense="at least", failing=numbered(bad)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRare:
    """Leave out every item of a set that must not stand, until there is none."""

    rounds: int = 20

    def __post_init__(self) -> None:
        at_least("rounds", self.rounds, 1)

    def __call__(self, problem: ItemProblem, work: Work) -> ItemOutcome:
        cover, records, steps = Cover(problem.spaces), problem.transactions, []
        nothing = np.zeros(0, np.int64)
        for _ in range(self.rounds):
            bad = [one for one in problem.violating(records, work) if one.count]
            if not bad:
                break
            shown = cover.shown()
            for code in np.unique(np.concatenate([one.codes for one in bad])).tolist():
                cover.leave_out(int(shown.first[code]))
                steps.append(ItemStep(action="suppress", label=shown.labels[code]))
            records = shown_records(problem, cover, nothing)[1]
        shown, records = shown_records(problem, cover, nothing)
        return ItemOutcome(
            shown=shown, transactions=records, stripped=nothing, steps=tuple(steps), effort={"left out": len(steps)}
        )
