"""Sessions that find association rules of all parties' transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.mining.asked_columns import refuse_strange
from sfumato.collaborate.mining.joint_rules import LEAKAGE, joint_rules
from sfumato.collaborate.summed_cuts import SummedNumbers
from sfumato.data.table import Table
from sfumato.ground.arguments import at_least, between
from sfumato.ground.errors import ParameterError
from sfumato.group.transactions import Transactions
from sfumato.mine.association_rules import Rules
from sfumato.mine.table_items import transactions_of


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
        found = tree.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise ParameterError(f"parameters.{key} must be a list of names of columns, not {found!r}")
        listed[key] = tuple(found)
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


def own_items(asked: RulesAsked, table: Table) -> Transactions:
    """A party's own rows as sets of items."""
    return transactions_of(table, sets=asked.sets, columns=asked.columns, separator=asked.separator)


def rules_document(found: Rules) -> JointResult:
    """Frequent sets and rules as JSON and as a table."""
    sets = [{"items": list(found.itemsets.named(items)), "rows": rows} for items, rows in found.itemsets.each()]
    frame = found.frame()
    document = {
        "rows": found.itemsets.rows,
        "least rows": found.itemsets.support,
        "min_confidence": found.min_confidence,
        "sets": sets,
        "rules": frame.to_dicts(),
    }
    rows = [[" ".join(a), " ".join(b), *rest] for a, b, *rest in frame.rows()]
    return JointResult(document=document, columns=tuple(frame.columns), rows=rows)


def run_rules(conversation: Conversation, asked: RulesAsked, own: Transactions) -> JointResult:
    """The rules of all parties' transactions."""
    return rules_document(
        joint_rules(
            SummedNumbers(conversation),
            own,
            min_support=asked.min_support,
            min_confidence=asked.min_confidence,
            longest=asked.longest,
        )
    )


RULES = JointProtocol(
    name="rules",
    about="The frequent sets and association rules of all parties' transactions.",
    least=3,
    read=read_rules,
    leakage=lambda asked, names: LEAKAGE,
    prepare=own_items,
    given=lambda asked, own: f"frequent sets of {own.rows:,} rows, and counts of those that anybody finds frequent",
    run=run_rules,
)
