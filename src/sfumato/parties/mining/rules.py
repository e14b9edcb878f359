"""Association rules from the transactions of all parties, and their session protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.arguments import at_least, between
from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.counts.frequent_itemsets import (
    FrequentItemsets,
    SetBits,
    Sets,
    counted_itemsets,
    frequent_itemsets,
    least_rows,
)
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import Rules, association_rules, transactions_of
from sfumato.parties import secure_sum, secure_union
from sfumato.parties.conversation import Conversation, Leakage, Told
from sfumato.parties.protocols import JointProtocol, JointResult, refuse_strange
from sfumato.parties.summed_counts import SummedNumbers, refuse_outside
from sfumato.tables.table import Table

# Association rules of all parties' transactions: a set that is frequent overall is frequent at one party at least.
#
# Level by level, the parties make the union of the sets that are frequent at some of them, and sum their supports.
# Nobody learns at whom a set is frequent.


LEAKAGE = Leakage(
    protocol="association rules",
    result=(Told(to="everybody", what="the frequent sets with their supports, and the rules that follow"),),
    beyond=(
        Told(to="everybody", what="the number of records of all parties together"),
        Told(to="everybody", what="which sets are frequent at some party though not overall, with their supports"),
        *secure_union.LEAKAGE.beyond,
    ),
    withstands=f"for unions, {secure_union.LEAKAGE.withstands}; for supports, {secure_sum.LEAKAGE.withstands}",
    limits="supports of few people: a joint result is not private by itself",
)


def joint_rules(
    sums: SummedNumbers, own: Transactions, *, min_support: float, min_confidence: float, longest: int
) -> Rules:
    """The rules of all parties' transactions together.

    Claim: the frequent sets, supports and rules of the union of all transactions, the same at every party.
    Source: Kantarcioglu and Clifton 2004, after Cheung et al. 1996 (FDM).
    """
    return association_rules(joint_itemsets(sums, own, min_support=min_support, longest=longest), min_confidence)


def joint_itemsets(sums: SummedNumbers, own: Transactions, *, min_support: float, longest: int) -> FrequentItemsets:
    """The frequent sets of all parties' transactions together."""
    rows = int(sums(np.array([own.rows]))[0])
    if not rows:
        raise DataError("no party has a transaction; rules need some")
    least = least_rows(min_support, rows)
    local = frequent_itemsets(own, least_rows(min_support, own.rows), longest=longest) if own.rows else None
    labels = _frequent_items(sums, own, local, least, rows)
    bits, place = SetBits(own, labels), {label: code for code, label in enumerate(labels)}
    sets: Sets = [(code,) for code in range(len(labels))]
    levels = [(sets, sums(bits.supports(sets)))]
    refuse_outside(levels[0][1], least, rows)
    while sets and len(levels) < longest:
        offered = _local_sets(local, len(levels), place, set(sets))
        candidates = _union(sums, offered, len(labels))
        counts = sums(bits.supports(candidates))
        refuse_outside(counts, 0, rows)
        kept = np.flatnonzero(counts >= least)
        sets = [candidates[n] for n in kept]
        levels.append((sets, counts[kept]))
    return counted_itemsets(rows=rows, support=least, labels=labels, levels=levels)


def _frequent_items(
    sums: SummedNumbers, own: Transactions, local: FrequentItemsets | None, least: int, rows: int
) -> tuple[str, ...]:
    """The frequent items of all parties, in the order of their labels."""
    singles = local.levels[0].sets[:, 0].tolist() if local is not None and local.levels else []
    offered = [own.labels[code].encode() for code in singles]
    conversation = sums.conversation
    every = [item.decode() for item in conversation.run(secure_union.secure_union(conversation.seat, offered))]
    counts = sums(SetBits(own, every).supports([(code,) for code in range(len(every))]))
    refuse_outside(counts, 0, rows)
    return tuple(label for label, count in zip(every, counts.tolist(), strict=True) if count >= least)


def _local_sets(
    local: FrequentItemsets | None, size: int, place: dict[str, int], frequent: set[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """This party's frequent sets of one item more than ``size`` whose every part is frequent overall."""
    if local is None or len(local.levels) <= size:
        return []
    moved = np.array([place.get(label, -1) for label in local.labels], np.int64)
    codes = np.sort(moved[local.levels[size].sets], axis=1)
    itemsets = [tuple(itemset) for itemset in codes[(codes >= 0).all(axis=1)].tolist()]
    return [
        itemset
        for itemset in itemsets
        if all((*itemset[:n], *itemset[n + 1 :]) in frequent for n in range(len(itemset)))
    ]


def _union(sums: SummedNumbers, offered: Sequence[tuple[int, ...]], labels: int) -> list[tuple[int, ...]]:
    """The sets that some party offers, by the numbers of their items."""
    conversation = sums.conversation
    contents = [np.array(itemset, ">u4").tobytes() for itemset in offered]
    every = conversation.run(secure_union.secure_union(conversation.seat, contents))
    itemsets = [tuple(np.frombuffer(content, ">u4").tolist()) for content in every if len(content) % 4 == 0]
    if len(itemsets) < len(every) or any(max(itemset, default=0) >= labels for itemset in itemsets):
        raise SessionError("some party offered a set of items that are not frequent overall")
    return itemsets


# Sessions that find association rules of all parties' transactions.


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesAsked:
    """Which rules are looked for."""

    sets: tuple[str, ...]
    """Columns whose cells are sets."""
    columns: tuple[str, ...]
    """Ordinary columns, whose cells become items."""
    separator: str
    """What stands between the items of a cell."""
    min_support: float
    """The least share of all records."""
    min_confidence: float
    """The least confidence."""
    longest: int
    """The most items of a set."""


def read_rules(tree: Mapping[str, Any], names: Sequence[str]) -> RulesAsked:
    """What the session file asks for."""
    refuse_strange(tree, ("sets", "columns", "separator", "min_support", "min_confidence", "longest"))
    listed = {}
    for key in ("sets", "columns"):
        column_names = tree.get(key, [])
        if not isinstance(column_names, list) or not all(isinstance(name, str) for name in column_names):
            raise ParameterError(f"parameters.{key} must be a list of names of columns, not {column_names!r}")
        listed[key] = tuple(column_names)
    if not any(listed.values()):
        raise ParameterError('parameters must name columns: sets = ["basket"], or columns = ["ward", "outcome"]')
    separator = tree.get("separator", "|")
    if not isinstance(separator, str) or not separator:
        raise ParameterError(f"parameters.separator must be a text, not {separator!r}")
    support, confidence, longest = (
        tree.get("min_support", 0.01),
        tree.get("min_confidence", 0.5),
        tree.get("longest", 8),
    )
    between("parameters.min_support", support, 0, 1, open_low=True)
    between("parameters.min_confidence", confidence, 0, 1)
    at_least("parameters.longest", longest, 1)
    return RulesAsked(**listed, separator=separator, min_support=support, min_confidence=confidence, longest=longest)


def own_items(request: RulesAsked, table: Table) -> Transactions:
    """A party's own rows as sets of items."""
    return transactions_of(table, sets=request.sets, columns=request.columns, separator=request.separator)


def rules_document(rules: Rules) -> JointResult:
    """Frequent sets and rules as JSON and as a table."""
    sets = [{"items": list(rules.itemsets.named(items)), "rows": rows} for items, rows in rules.itemsets.each()]
    frame = rules.frame()
    document = {
        "rows": rules.itemsets.rows,
        "least rows": rules.itemsets.support,
        "min_confidence": rules.min_confidence,
        "sets": sets,
        "rules": frame.to_dicts(),
    }
    rows = [[" ".join(a), " ".join(b), *rest] for a, b, *rest in frame.rows()]
    return JointResult(document=document, columns=tuple(frame.columns), rows=rows)


def run_rules(conversation: Conversation, request: RulesAsked, own: Transactions) -> JointResult:
    """The rules of all parties' transactions."""
    return rules_document(
        joint_rules(
            SummedNumbers(conversation),
            own,
            min_support=request.min_support,
            min_confidence=request.min_confidence,
            longest=request.longest,
        )
    )


RULES = JointProtocol(
    name="rules",
    about="The frequent sets and association rules of all parties' transactions.",
    least=3,
    read=read_rules,
    leakage=lambda request, names: LEAKAGE,
    prepare=own_items,
    given=lambda request, own: f"frequent sets of {own.rows:,} rows, and counts of those that anybody finds frequent",
    run=run_rules,
)
