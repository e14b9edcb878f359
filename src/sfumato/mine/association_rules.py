"""Association rules: what records that have some items also have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.ground.arguments import between
from sfumato.ground.brief import Brief
from sfumato.ground.errors import ParameterError
from sfumato.ground.shares import exact
from sfumato.ground.work import Work
from sfumato.group.frequent_itemsets import Counts, FrequentItemsets, FrequentLevel
from sfumato.group.transactions import Codes

MOST_RULES = 20_000_000
"""More rules than this are not looked at."""
SEPARATOR = "|"
"""What stands between the items of a side, where rules are written as text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RulesOfShape:
    """Rules with as many items on the left, and as many on the right."""

    antecedent: Codes
    """A row of ascending items for each rule: the left side."""
    consequent: Codes
    """The right side."""
    rows: Counts
    """The records that have both sides."""
    left: Counts
    """The records that have the left side."""
    right: Counts
    """The records that have the right side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Rules(Brief):
    """Every rule ``X -> Y`` of frequent sets with at least some confidence.

    Support is the share of records that have X and Y, confidence their share of those that have X, and lift the
    confidence as a multiple of the share of Y among all records.
    """

    itemsets: FrequentItemsets
    """The sets that the rules are made of."""
    min_confidence: float
    """The least confidence."""
    shapes: tuple[RulesOfShape, ...]
    """The rules by the sizes of their sides."""

    @property
    def count(self) -> int:
        """How many rules there are."""
        return sum(len(one.rows) for one in self.shapes)

    def each(self) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Every rule as its two sides, by the numbers of their items."""
        return {
            (tuple(x), tuple(y))
            for one in self.shapes
            for x, y in zip(one.antecedent.tolist(), one.consequent.tolist(), strict=True)
        }

    def frame(self) -> pl.DataFrame:
        """One row per rule, the surest first: both sides as lists, records, support, confidence, lift."""
        parts = [self._part(one) for one in self.shapes]
        empty = pl.DataFrame(
            schema={
                "antecedent": pl.List(pl.String),
                "consequent": pl.List(pl.String),
                "rows": pl.Int64,
                "support": pl.Float64,
                "confidence": pl.Float64,
                "lift": pl.Float64,
            }
        )
        whole = pl.concat([empty, *parts])
        order = [pl.col("confidence"), pl.col("rows"), pl.col("antecedent").list.join("\0"),
                 pl.col("consequent").list.join("\0")]  # fmt: skip
        return whole.sort(order, descending=[True, True, False, False])

    def _part(self, one: RulesOfShape) -> pl.DataFrame:
        names, whole = np.array(self.itemsets.labels, dtype=object), self.itemsets.rows
        confidence = one.rows / one.left
        sides = {
            side: pl.Series(side, names[codes].tolist(), pl.List(pl.String))
            for side, codes in (("antecedent", one.antecedent), ("consequent", one.consequent))
        }
        return pl.DataFrame(
            {
                **sides,
                "rows": one.rows,
                "support": one.rows / whole,
                "confidence": confidence,
                "lift": confidence * whole / one.right,
            }
        )


def association_rules(itemsets: FrequentItemsets, min_confidence: float, *, work: Work | None = None) -> Rules:
    """Every rule ``X -> Y`` of two disjoint, not empty sides whose items together are a frequent set.

    Of a publication, every rule of which both sides and the whole are told.

    Claim: complete, each once, and the comparison with ``min_confidence`` is exact.
    Cost: two look-ups for every way to part every frequent set in two.
    Source: Agrawal, Imielinski, Swami 1993; Agrawal, Srikant 1994.
    """
    between("min_confidence", min_confidence, 0, 1)
    work = work or Work()
    many = sum(len(level.rows) * (2.0 ** min(level.sets.shape[1], 1000) - 2) for level in itemsets.levels)
    if many > MOST_RULES:
        raise ParameterError(
            f"{itemsets.count:,} frequent sets make {many:.3g} rules, and at most {MOST_RULES:,} are looked at; a "
            "larger least support, or sets of fewer items (longest), would do"
        )
    shapes: list[RulesOfShape] = []
    for place, level in enumerate(itemsets.levels):
        work.advance("rules", place, len(itemsets.levels))
        shapes += [_parted(itemsets, level, size, min_confidence) for size in range(1, level.sets.shape[1])]
    work.advance("rules", 1, 1)
    kept = tuple(one for one in shapes if len(one.rows))
    return Rules(itemsets=itemsets, min_confidence=min_confidence, shapes=kept)


def _parted(itemsets: FrequentItemsets, level: FrequentLevel, size: int, least: float) -> RulesOfShape:
    """The rules of sets of one size whose left side has ``size`` items."""
    share = exact(float(least))
    whole = level.sets.shape[1]
    found: list[tuple[Codes, Codes, Counts, Counts, Counts]] = []
    for chosen in combinations(range(whole), size):
        rest = [place for place in range(whole) if place not in chosen]
        x, y = level.sets[:, chosen], level.sets[:, rest]
        left, right = itemsets.supports(x), itemsets.supports(y)
        sure = (level.rows > 0) & (left > 0) & (right > 0)  # of a publication some may not be told
        sure[sure] = _at_least(level.rows[sure], left[sure], share.numerator, share.denominator)
        if sure.any():
            found.append((x[sure], y[sure], level.rows[sure], left[sure], right[sure]))
    if not found:
        none, sides = np.empty(0, np.int64), np.empty((0, size), np.int32)
        return RulesOfShape(antecedent=sides, consequent=sides, rows=none, left=none, right=none)
    x, y, rows, left, right = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return RulesOfShape(antecedent=x, consequent=y, rows=rows, left=left, right=right)


def _at_least(rows: Counts, left: Counts, up: int, down: int) -> NDArray[np.bool_]:
    """Whether ``rows / left >= up / down``, exactly: where rounding could tell otherwise, in whole numbers."""
    near = rows / left - up / down
    sure = near >= 0
    for place in np.flatnonzero(np.abs(near) < 1e-9).tolist():
        sure[place] = int(rows[place]) * down >= up * int(left[place])
    return sure
