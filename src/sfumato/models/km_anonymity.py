"""k^m-anonymity: whoever knows up to m items of somebody finds at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.ground.arguments import at_least
from sfumato.ground.work import Work
from sfumato.group.itemsets import Itemsets, known_sets, violating
from sfumato.group.transactions import Transactions
from sfumato.models.item_model import extremes, numbered
from sfumato.models.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class KMAnonymity:
    """Every set of at most ``m`` items that a record has, at least ``k`` records have.

    Claim: whoever knows at most ``m`` items of a person finds at least ``k`` records that may be theirs. Where an item
        is shown differently in different records this holds for labels that cover what they know: the labels of one
        such record that cover it are at most ``m``, and ``k`` records have them.
    Cost: the number of sets of up to ``m`` items that records have.
    Source: Terrovitis, Mamoulis, Kalnis 2008.
    Does not protect against: an adversary who knows more items, or that an item is not there; what the ``k`` records
        have in common.

    Example:
        >>> table = Transactions.of([["beer", "bread"], ["beer", "bread"], ["bread"]])
        >>> KMAnonymity(k=2, m=2).check_items(table).holds
        True
    """

    name: ClassVar[str] = "km-anonymity"
    """As the catalog lists it."""

    k: int
    """How many records every known set must have."""
    m: int
    """The most items that an adversary knows."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        at_least("m", self.m, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    @property
    def generalizes(self) -> bool:
        """Coarser items have more records."""
        return True

    def violating(
        self, transactions: Transactions, *, most: int | None = None, listed: bool = False, work: Work | None = None
    ) -> Itemsets:
        """The minimal sets of at most ``m`` items that fewer than ``k`` records have."""
        return violating(transactions, l=min(self.m, most or self.m), k=self.k, c=1.0, listed=listed, work=work)

    def allows(self, rows: int, top: int) -> bool:
        """Whether a set with so many rows may stand."""
        return rows >= self.k

    def check_items(self, transactions: Transactions, *, work: Work | None = None) -> Verdict:
        """Judge every set of up to ``m`` items."""
        levels = known_sets(transactions, l=self.m, k=self.k, c=1.0, work=work)
        fewest, _, bad = extremes(levels, transactions.rows)
        return Verdict(
            holds=not bad, reached=float(fewest), limit=float(self.k), sense="at least", failing=numbered(bad)
        )
