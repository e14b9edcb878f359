"""Sessions of two parties with different columns about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.joint_protocols import JointProtocol, JointResult
from sfumato.collaborate.mining import vertical_bayes, vertical_rules
from sfumato.collaborate.mining.asked_columns import attributes_of, categories, read_domains, refuse_strange
from sfumato.collaborate.mining.common_people import common_rows, identifiers_of
from sfumato.collaborate.mining.joint_bayes import bayes_document, bayes_rows, refuse_unequal
from sfumato.collaborate.mining.rule_protocol import rules_document
from sfumato.data.table import Table
from sfumato.ground.arguments import at_least, between
from sfumato.ground.errors import DataError, ParameterError, SessionError, listed
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.records import read_columns, read_like
from sfumato.mine.table_items import transactions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VerticalAsked:
    """Who holds which columns about the people of an identifier."""

    identifier: str
    """The column that names people, at both parties."""
    holds: tuple[tuple[str, ...], tuple[str, ...]]
    """The columns of each party, in the order of the parties' names."""
    attributes: tuple[Attribute, ...] = ()
    """Of naive Bayes: every column but the class, with its declared domain."""
    target: str = ""
    """Of naive Bayes: the class column."""
    classes: tuple[str, ...] = ()
    """Of naive Bayes: its declared values."""
    sets: tuple[str, ...] = ()
    """Of rules: the columns whose cells are sets."""
    separator: str = "|"
    """Of rules: what stands between items."""
    min_support: float = 0.01
    """Of rules: the least share of the common people."""
    min_confidence: float = 0.5
    """Of rules: the least confidence."""
    longest: int = 8
    """Of rules: the most items of a set."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VerticalOwn:
    """A party's table, looked at before anything is sent."""

    table: Table
    """The rows, one for each person."""
    identifiers: list[str]
    """Whom they are about."""
    holds: tuple[str, ...]
    """Which of the agreed columns this party has."""

    def common(self, conversation: Conversation) -> Table:
        """The rows of the people whom both parties have, in one order."""
        rows = common_rows(conversation, self.identifiers)
        return replace(self.table, frame=self.table.frame[rows.tolist()])


def _read_holders(tree: Mapping[str, Any], names: Sequence[str]) -> tuple[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    identifier, holds = tree.get("identifier"), tree.get("holds")
    if not isinstance(identifier, str) or not identifier:
        raise ParameterError(f"parameters.identifier must name the column of identifiers, not {identifier!r}")
    if not isinstance(holds, Mapping) or sorted(holds) != sorted(names):
        raise ParameterError(f"parameters.holds must list the columns of each party: {listed(names)}")
    for name, columns in holds.items():
        if not isinstance(columns, list) or not columns or not all(isinstance(one, str) for one in columns):
            raise ParameterError(f"parameters.holds.{name} must be a list of columns, not {columns!r}")
    every = [one for name in names for one in holds[name]]
    if len(set(every)) < len(every) or identifier in every:
        raise ParameterError("parameters.holds must name every column once, and not the identifier")
    first, second = (tuple(holds[name]) for name in names)
    return identifier, (first, second)


def read_vertical_bayes(tree: Mapping[str, Any], names: Sequence[str]) -> VerticalAsked:
    """What the session file asks for."""
    refuse_strange(tree, ("identifier", "holds", "columns", "target"))
    identifier, holds = _read_holders(tree, names)
    domains, target = read_domains(tree), tree.get("target")
    if set(domains) != {one for columns in holds for one in columns}:
        raise ParameterError("parameters.columns must declare the columns of parameters.holds, and no others")
    if not isinstance(target, str):
        raise ParameterError(f"parameters.target must name the class column, not {target!r}")
    classes = categories(domains, target, "parameters.target").values
    return VerticalAsked(
        identifier=identifier, holds=holds, attributes=attributes_of(domains, target), target=target, classes=classes
    )


def read_vertical_rules(tree: Mapping[str, Any], names: Sequence[str]) -> VerticalAsked:
    """What the session file asks for."""
    known = ("identifier", "holds", "sets", "separator", "min_support", "min_confidence", "longest")
    refuse_strange(tree, known)
    identifier, holds = _read_holders(tree, names)
    sets = tree.get("sets", [])
    if not isinstance(sets, list) or not set(sets) <= {one for columns in holds for one in columns}:
        raise ParameterError(f"parameters.sets must be a list of columns of parameters.holds, not {sets!r}")
    numbers = {
        "min_support": 0.01,
        "min_confidence": 0.5,
        "longest": 8,
        **{key: tree[key] for key in known[4:] if key in tree},
    }
    between("parameters.min_support", numbers["min_support"], 0, 1, open_low=True)
    between("parameters.min_confidence", numbers["min_confidence"], 0, 1)
    at_least("parameters.longest", numbers["longest"], 1)
    separator = tree.get("separator", "|")
    if not isinstance(separator, str) or not separator:
        raise ParameterError(f"parameters.separator must be a text, not {separator!r}")
    return VerticalAsked(identifier=identifier, holds=holds, sets=tuple(sets), separator=separator, **numbers)


def own_people(asked: VerticalAsked, table: Table) -> VerticalOwn:
    """A party's table; it must have all columns of one party, and nobody twice."""
    held = [one for one in asked.holds if all(name in table.names for name in one)]
    if len(held) != 1:
        found = "neither party's" if not held else "both parties'"
        raise DataError(f"{table.source} has {found} columns of parameters.holds; it must have those of one party")
    own = VerticalOwn(table=table, identifiers=identifiers_of(table, asked.identifier), holds=held[0])
    if asked.target:
        _read_own(asked, table, held[0])
    else:
        _items(asked, own, table)
    return own


def _read_own(asked: VerticalAsked, table: Table, holds: Sequence[str]) -> Any:
    mine = [one for one in asked.attributes if one.name in holds]
    if asked.target in holds:
        return read_like(table.frame, attributes=mine, target=asked.target, classes=asked.classes, strict=True)
    return read_columns(table.frame, mine)


def _items(asked: VerticalAsked, own: VerticalOwn, table: Table) -> Any:
    sets = [name for name in own.holds if name in asked.sets]
    plain = [name for name in own.holds if name not in asked.sets]
    return transactions_of(table, sets=sets, columns=plain, separator=asked.separator)


def _refuse_same(conversation: Conversation, asked: VerticalAsked, own: VerticalOwn) -> None:
    if own.holds != asked.holds[conversation.seat.me]:
        raise SessionError("this table has the columns that parameters.holds gives to the other party")


def run_vertical_bayes(conversation: Conversation, asked: VerticalAsked, own: VerticalOwn) -> JointResult:
    """The counts of naive Bayes over the common people."""
    _refuse_same(conversation, asked, own)
    table = own.common(conversation)
    mine = [one for one in asked.attributes if one.name in own.holds]
    theirs = [one for one in asked.attributes if one.name not in own.holds]
    read = _read_own(asked, table, own.holds)
    if asked.target in own.holds:
        counts = vertical_bayes.counts_with_class(conversation, read, theirs)
        order = [*mine, *theirs]
    else:
        disclosed, computed = vertical_bayes.counts_without_class(
            conversation, read, mine, theirs, len(asked.classes), table.rows
        )
        counts = [*disclosed, *computed]
        order = [*theirs, *mine]
    refuse_unequal(counts)
    document = bayes_document(order, asked.target, asked.classes, counts)
    return JointResult(document=document, columns=("column", "value", *asked.classes), rows=bayes_rows(document))


def run_vertical_rules(conversation: Conversation, asked: VerticalAsked, own: VerticalOwn) -> JointResult:
    """The rules of the common people."""
    _refuse_same(conversation, asked, own)
    items = _items(asked, own, own.common(conversation))
    found = vertical_rules.vertical_rules(
        conversation,
        items,
        min_support=asked.min_support,
        min_confidence=asked.min_confidence,
        longest=asked.longest,
    )
    return rules_document(found)


def _given(asked: VerticalAsked, own: VerticalOwn) -> str:
    return f"{len(own.identifiers):,} identifiers under encryption, and {', '.join(own.holds)} of those in common"


VERTICAL_BAYES = JointProtocol(
    name="vertical-naive-bayes",
    about="Naive Bayes of two parties with different columns about the same people.",
    most=2,
    read=read_vertical_bayes,
    leakage=lambda asked, names: vertical_bayes.LEAKAGE,
    prepare=own_people,
    given=_given,
    run=run_vertical_bayes,
)
VERTICAL_RULES = JointProtocol(
    name="vertical-rules",
    about="The association rules of two parties with different columns about the same people.",
    most=2,
    read=read_vertical_rules,
    leakage=lambda asked, names: vertical_rules.LEAKAGE,
    prepare=own_people,
    given=_given,
    run=run_vertical_rules,
)
