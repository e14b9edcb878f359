"""Association rules of a table's rows, and the side effects that hiding rules has on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.arguments import between
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.fractions import exact
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.counts.frequent_itemsets import Counts, FrequentItemsets, FrequentLevel, frequent_itemsets
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Holders, ItemCodes, ItemPart, Transactions, assembled
from sfumato.tables.item_sets import set_column
from sfumato.tables.table import Table

# The rows of a table as sets of items.


def transactions_of(table: Table, *, sets: Sequence[str], columns: Sequence[str], separator: str = "|") -> Transactions:
    """The rows as sets of items; where several columns bring some, an item begins with its column's name."""
    both = [name for name in sets if name in columns]
    if both:
        raise ParameterError(f"column {both[0]!r} is named among the sets and among the ordinary columns; name it once")
    if not sets and not columns:
        sets = [name for name in table.names if table.frame[name].dtype.is_nested()]
        columns = [name for name in table.names if name not in sets]
    if not table.rows:
        raise DataError(f"{table.source} has no rows; rules need some")
    plain = len(sets) == 1 and not columns
    parts = [_set_part(table, name, separator, plain=plain) for name in sets]
    return assembled([*parts, *(_cell_part(table, name) for name in columns)])


def _set_part(table: Table, name: str, separator: str, *, plain: bool) -> ItemPart:
    items = set_column(table, name, separator=separator)
    labels = items.labels if plain else tuple(f"{name}={label}" for label in items.labels)
    return ItemPart(starts=items.starts, codes=items.codes, labels=labels)


def _cell_part(table: Table, name: str) -> ItemPart:
    """An ordinary column: one item a row, none where the cell is missing."""
    column = table.column(name)
    labels = tuple(f"{name}={value}" for value in column.values)
    whole = ItemPart.of_cells(column.codes, labels)
    if column.missing is None:
        return whole
    some = Transactions(starts=whole.starts, codes=whole.codes, labels=labels).only(column.codes != column.missing)
    return ItemPart(starts=some.starts, codes=some.codes, labels=labels)


# Association rules: what records that have some items also have.


MOST_RULES = 20_000_000
"""More rules than this are not looked at."""
SEPARATOR = "|"
"""What stands between the items of a side, where rules are written as text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RulesOfShape:
    """Rules with as many items on the left, and as many on the right."""

    antecedent: ItemCodes
    """A row of ascending items for each rule: the left side."""
    consequent: ItemCodes
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
        return sum(len(shape.rows) for shape in self.shapes)

    def each(self) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Every rule as its two sides, by the numbers of their items."""
        return {
            (tuple(x), tuple(y))
            for shape in self.shapes
            for x, y in zip(shape.antecedent.tolist(), shape.consequent.tolist(), strict=True)
        }

    def frame(self) -> pl.DataFrame:
        """One row per rule, the surest first: both sides as lists, records, support, confidence, lift."""
        parts = [self._part(shape) for shape in self.shapes]
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

    def _part(self, shape: RulesOfShape) -> pl.DataFrame:
        names, whole = np.array(self.itemsets.labels, dtype=object), self.itemsets.rows
        confidence = shape.rows / shape.left
        sides = {
            side: pl.Series(side, names[codes].tolist(), pl.List(pl.String))
            for side, codes in (("antecedent", shape.antecedent), ("consequent", shape.consequent))
        }
        return pl.DataFrame(
            {
                **sides,
                "rows": shape.rows,
                "support": shape.rows / whole,
                "confidence": confidence,
                "lift": confidence * whole / shape.right,
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
    kept = tuple(shape for shape in shapes if len(shape.rows))
    return Rules(itemsets=itemsets, min_confidence=min_confidence, shapes=kept)


def _parted(itemsets: FrequentItemsets, level: FrequentLevel, size: int, least: float) -> RulesOfShape:
    """The rules of sets of one size whose left side has ``size`` items."""
    share = exact(float(least))
    whole = level.sets.shape[1]
    rules: list[tuple[ItemCodes, ItemCodes, Counts, Counts, Counts]] = []
    for chosen in combinations(range(whole), size):
        rest = [place for place in range(whole) if place not in chosen]
        x, y = level.sets[:, chosen], level.sets[:, rest]
        left, right = itemsets.supports(x), itemsets.supports(y)
        sure = (level.rows > 0) & (left > 0) & (right > 0)  # of a publication some may not be told
        sure[sure] = _at_least(level.rows[sure], left[sure], share.numerator, share.denominator)
        if sure.any():
            rules.append((x[sure], y[sure], level.rows[sure], left[sure], right[sure]))
    if not rules:
        none, sides = np.empty(0, np.int64), np.empty((0, size), np.int32)
        return RulesOfShape(antecedent=sides, consequent=sides, rows=none, left=none, right=none)
    x, y, rows, left, right = (np.concatenate(parts) for parts in zip(*rules, strict=True))
    return RulesOfShape(antecedent=x, consequent=y, rows=rows, left=left, right=right)


def _at_least(rows: Counts, left: Counts, up: int, down: int) -> NDArray[np.bool_]:
    """Whether ``rows / left >= up / down``, exactly: where rounding could tell otherwise, in whole numbers."""
    near = rows / left - up / down
    sure = near >= 0
    for place in np.flatnonzero(np.abs(near) < 1e-9).tolist():
        sure[place] = int(rows[place]) * down >= up * int(left[place])
    return sure


# What hiding rules does to all others: those that are lost, those that were not there before, and how far it went.


Rule = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideEffects:
    """The original against a release, both mined at the same thresholds.

    Source: Oliveira, Zaiane 2002: hiding failure, misses cost (lost), artifactual patterns (ghosts), dissimilarity.
    """

    hiding_failure: float
    """The share of the sensitive patterns found in the original that are found in the release."""
    sets: int
    """The frequent sets of the original in which no sensitive set lies."""
    lost_sets: int
    """How many of them the release does not yield."""
    rules: int
    """The rules of the original that are not sensitive and have no sensitive set within."""
    lost_rules: int
    """How many of them the release does not yield."""
    ghost_rules: int
    """Rules of the release that the original does not yield."""
    dissimilarity: float
    """How many item entries came or went, item by item, as a share of those that there were."""

    def to_json(self) -> dict[str, float]:
        """The figures by name."""
        return asdict(self)


def side_effects(
    before: Transactions,
    after: Transactions,
    patterns: Sequence[Pattern],
    thresholds: Thresholds,
    *,
    longest: int | None = None,
    work: Work | None = None,
) -> SideEffects:
    """Mine both, and compare; items are compared by their names."""
    sets, rules = zip(*(_mined(records, thresholds, longest, work) for records in (before, after)), strict=True)
    secret = [frozenset(pattern.right) for pattern in patterns if not pattern.left]
    sensitive = {(frozenset(pattern.left), frozenset(pattern.right)) for pattern in patterns if pattern.left}
    kept_sets = {itemset for itemset in sets[0] if not any(hidden <= itemset for hidden in secret)}
    kept_rules = {
        rule for rule in rules[0] if rule not in sensitive and not any(hidden <= rule[0] | rule[1] for hidden in secret)
    }
    here, there = (found_patterns(records, patterns, thresholds) for records in (before, after))
    return SideEffects(
        hiding_failure=sum(a and b for a, b in zip(here, there, strict=True)) / max(sum(here), 1),
        sets=len(kept_sets),
        lost_sets=len(kept_sets - sets[1]),
        rules=len(kept_rules),
        lost_rules=len(kept_rules - rules[1]),
        ghost_rules=len(rules[1] - rules[0]),
        dissimilarity=_dissimilarity(before, after),
    )


def found_patterns(records: Transactions, patterns: Sequence[Pattern], thresholds: Thresholds) -> list[bool]:
    """Which patterns somebody finds in some records at the thresholds."""
    holders, place = Holders(records), {label: code for code, label in enumerate(records.labels)}

    def rows(items: tuple[str, ...]) -> int:
        if any(item not in place for item in items):
            return 0
        return len(holders.of_all([place[item] for item in items]))

    return [
        thresholds.found(rows(pattern.whole), rows(pattern.left) if pattern.left else None, records.rows)
        for pattern in patterns
    ]


def _mined(
    records: Transactions, thresholds: Thresholds, longest: int | None, work: Work | None
) -> tuple[set[frozenset[str]], set[Rule]]:
    itemsets = frequent_itemsets(records, thresholds.least(records.rows), longest=longest, work=work)
    rules = association_rules(itemsets, thresholds.min_confidence, work=work)
    sets = {frozenset(itemsets.named(items)) for items, _ in itemsets.each()}
    return sets, {(frozenset(itemsets.named(x)), frozenset(itemsets.named(y))) for x, y in rules.each()}


def _dissimilarity(before: Transactions, after: Transactions) -> float:
    place = {label: code for code, label in enumerate(dict.fromkeys((*before.labels, *after.labels)))}
    counts = []
    for records in (before, after):
        mine = np.zeros(len(place), np.int64)
        mine[[place[label] for label in records.labels]] = records.supports()
        counts.append(mine)
    return float(np.abs(counts[0] - counts[1]).sum() / max(int(counts[0].sum()), 1))
