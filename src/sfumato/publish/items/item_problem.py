"""What an algorithm for baskets and paths is given, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.brief import Brief
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets
from sfumato.group.transactions import Codes, Secret, Transactions
from sfumato.models.item_model import ItemModel
from sfumato.publish.items.cover import Cover, Shown
from sfumato.publish.items.item_space import ItemSpace
from sfumato.utility.item_utility import ItemView

Action = Literal["suppress", "generalize", "strip", "specialize"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemProblem(Brief):
    """Records as sets of items, what must hold, and how items may be shown."""

    transactions: Transactions
    """The records; codes of one column follow those of the column before."""
    spaces: tuple[ItemSpace, ...]
    """The columns."""
    models: tuple[ItemModel, ...]
    """What must hold."""
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    """The sensitive columns that models look at."""

    def looked_at(self, model: ItemModel, transactions: Transactions) -> Transactions:
        """The records with the sensitive column of a model."""
        return replace(transactions, secret=self.secrets[model.columns[0]] if model.columns else None)

    def violating(
        self, transactions: Transactions, work: Work, *, most: int | None = None, listed: bool = False
    ) -> list[Itemsets]:
        """For each model, the minimal sets that it refuses."""
        return [
            model.violating(self.looked_at(model, transactions), most=most, listed=listed, work=work)
            for model in self.models
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemStep:
    """One decision of a search; not public where it names what is left out."""

    action: Action
    """Left out everywhere, shown as something coarser, left out of some records, or shown as what lies below it."""
    label: str
    """The item."""
    to: str = ""
    """What it is shown as."""
    gain: int = 0
    """How many violating sets that removes."""
    loss: float = 0.0
    """How many maximal frequent sets that loses; one that is shown coarser counts in part. For local recoding and
    specialization, the shares of their column by which entries are blurred more; below 0 where they are less."""
    left: int = 0
    """How many violating sets are left then."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ItemOutcome(Brief):
    """How every item is shown, and how that was found."""

    shown: Shown
    """The recoding."""
    transactions: Transactions
    """The records as they are shown."""
    stripped: NDArray[np.int64]
    """Places in the problem's ``codes`` that are left out of single records."""
    steps: tuple[ItemStep, ...]
    """The decisions, in order."""
    effort: Mapping[str, Any]
    """What it took."""
    placed: Codes | None = None
    """With local recoding, what each place in the problem's ``codes`` is shown as; -1 where it is not shown."""

    def entries(self, records: Transactions) -> Codes:
        """What each entry of the original records is shown as; -1 where it is not shown."""
        if self.placed is not None:
            return self.placed
        found: Codes = self.shown.to[records.codes]
        found[self.stripped] = -1
        return found

    def view(self, records: Transactions) -> ItemView:
        """The original records and these, for whoever measures what was lost."""
        return ItemView(
            original=records,
            released=self.transactions,
            to=self.shown.to,
            spread=self.shown.spread,
            penalty=self.shown.penalty,
            entries=self.entries(records),
            over=self.shown.over,
        )


def shown_records(problem: ItemProblem, cover: Cover, stripped: NDArray[np.int64]) -> tuple[Shown, Transactions]:
    """The records as a cover shows them."""
    shown, records = cover.shown(), problem.transactions
    if len(stripped):
        kept = np.ones(len(records.codes), np.bool_)
        kept[stripped] = False
        records = records.only(kept)
    return shown, records.recoded(shown.to, shown.labels)
