"""Naive Bayes and association rules of two parties with different columns about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arguments import at_least, between
from sfumato.core.errors import DataError, ParameterError, SessionError, listed
from sfumato.counts.frequent_itemsets import (
    Counts,
    FrequentItemsets,
    SetBits,
    Sets,
    counted_itemsets,
    least_rows,
    next_sets,
)
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import Rules, association_rules, transactions_of
from sfumato.mining.attributes import Attribute
from sfumato.mining.naive_bayes import Whole, bayes_cells, bayes_counts
from sfumato.mining.records import Records, read_columns, read_like
from sfumato.parties import common_people
from sfumato.parties.common_people import common_rows, identifiers_of
from sfumato.parties.conversation import Conversation, Leakage, Told, WrongNumbers
from sfumato.parties.garbled_circuits import ready_to_compute
from sfumato.parties.mining.classifiers import bayes_document, bayes_rows, refuse_unequal
from sfumato.parties.mining.rules import rules_document
from sfumato.parties.oblivious_transfer import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.parties.protocols import (
    JointProtocol,
    JointResult,
    attributes_of,
    categories,
    read_domains,
    refuse_strange,
)
from sfumato.parties.scalar_product import products_of_bits, products_of_numbers, put_together, reaching
from sfumato.parties.summed_counts import refuse_outside
from sfumato.tables.table import Table

# Naive Bayes of two parties with different columns about the same people: counts are scalar products.
#
# The party with the class holds, for each class, a bit for every person. The other party packs the values of a column
# into numbers, several counters to a number, so that one product gives several counts.


BAYES_LEAKAGE = Leakage(
    protocol="naive Bayes on different columns",
    result=(
        Told(to="both parties", what="the records of each class, and of each value of each column by class"),
        Told(to="both parties", what="which people they have in common, by their identifiers"),
    ),
    beyond=common_people.LEAKAGE.beyond,
    withstands="either party alone",
    limits="small counts, which may be about one person, and which a party links to its own rows of these people",
)


def counts_with_class(conversation: Conversation, records: Records, theirs: Sequence[Attribute]) -> list[Whole]:
    """The side of the party that has the class: all counts, its own columns first."""
    peer = 1 - conversation.seat.me
    own = bayes_counts(records)
    conversation.run(common_people.exchange_json(peer, [table.tolist() for table in own]))
    classes = len(records.classes)
    slots = _slots(records.count)
    words = sum(-(-bayes_width(attribute) // slots) for attribute in theirs)
    ready = conversation.run(ready_to_receive(conversation.seat, peer))
    bits = np.repeat((records.codes[None, :] == np.arange(classes)[:, None]).astype(np.uint8), words, axis=0)
    shares = conversation.run(products_of_bits(ready, bits))
    return [*own, *_unpacked(conversation.run(put_together(peer, shares)), theirs, classes, slots)]


def counts_without_class(
    conversation: Conversation,
    columns: Sequence[NDArray[np.float64]],
    own: Sequence[Attribute],
    theirs: Sequence[Attribute],
    classes: int,
    rows: int,
) -> tuple[list[Whole], list[Whole]]:
    """The other side: what the party with the class told of its own columns, and the counts of these."""
    peer = 1 - conversation.seat.me
    content = conversation.run(common_people.exchange_json(peer, None))
    shapes = [(classes,), *((bayes_width(column), classes) for column in theirs)]
    if not isinstance(content, list) or len(content) != len(shapes):
        raise WrongNumbers(f"a message must have the counts of {len(theirs)} columns")
    disclosed = [common_people.whole_numbers(part, shape, 0, rows) for part, shape in zip(content, shapes, strict=True)]
    slots = _slots(rows)
    packed = [_packed(attribute, column, slots) for attribute, column in zip(own, columns, strict=True)]
    numbers = np.concatenate([np.empty((0, rows), np.uint64), *packed])
    ready = conversation.run(ready_to_send(conversation.seat, peer))
    shares = conversation.run(products_of_numbers(ready, np.tile(numbers, (classes, 1))))
    return disclosed, _unpacked(conversation.run(put_together(peer, shares)), own, classes, slots)


def bayes_width(attribute: Attribute) -> int:
    """Into how many cells naive Bayes puts the values of a column."""
    return bayes_cells(attribute, np.empty(0))[1]


def _slots(rows: int) -> int:
    """How many counters up to so many rows fit into 64 bits."""
    return 64 // max(rows.bit_length(), 1)


def _packed(attribute: Attribute, column: NDArray[np.float64], slots: int) -> NDArray[np.uint64]:
    """Words x rows: in each row one counter of one word is 1."""
    cells, width = bayes_cells(attribute, column)
    words = np.zeros((-(-width // slots), len(cells)), np.uint64)
    shift = (64 // slots) * (cells % slots)
    words[cells // slots, np.arange(len(cells))] = np.uint64(1) << shift.astype(np.uint64)
    return words


def _unpacked(sums: NDArray[np.uint64], attributes: Sequence[Attribute], classes: int, slots: int) -> list[Whole]:
    """For each column, values x classes."""
    wide = np.uint64(64 // slots)
    places = np.arange(slots, dtype=np.uint64) * wide
    every = (sums.reshape(classes, -1, 1) >> places) & np.uint64((1 << (64 // slots)) - 1 if slots > 1 else 2**64 - 1)
    tables, first = [], 0
    for attribute in attributes:
        words = -(-bayes_width(attribute) // slots)
        table = every[:, first : first + words].reshape(classes, -1)[:, : bayes_width(attribute)]
        tables.append(np.ascontiguousarray(table.T).astype(np.int64))
        first += words
    return tables


# Association rules of two parties with different columns about the same people.
#
# A set with items of both parties is had by as many people as the scalar product of two rows of bits says: who has the
# one part, and who has the other. Whether that reaches the least support, a garbled circuit tells from the shares;
# only then do the parties put the shares together.


RULES_LEAKAGE = Leakage(
    protocol="association rules on different columns",
    result=(
        Told(to="both parties", what="the frequent sets with their supports, and the rules that follow"),
        Told(to="both parties", what="which people they have in common, by their identifiers"),
    ),
    beyond=common_people.LEAKAGE.beyond,
    withstands="either party alone",
    limits="supports of few people, which a party links to its own rows of these people",
)


def vertical_rules(
    conversation: Conversation, own: Transactions, *, min_support: float, min_confidence: float, longest: int
) -> Rules:
    """The rules of both parties' items; rows are the common people, in the same order at both.

    Claim: the frequent sets, supports and rules of the rows put side by side. Of a set that is not frequent, neither
        party learns the support, unless it has all its items.
    Source: Vaidya and Clifton 2002, with shares and a comparison in place of opened products.
    """
    itemsets = _Mining(conversation, own, least_rows(min_support, own.rows)).itemsets(longest)
    return association_rules(itemsets, min_confidence)


class _Mining:
    """One party's side: its items, and the frequent items of both with their owner."""

    def __init__(self, conversation: Conversation, own: Transactions, least: int) -> None:
        self.conversation, self.own, self.least = conversation, own, least
        self.me = conversation.seat.me
        self.peer = 1 - self.me
        self.ready: Sending | Receiving = conversation.run(ready_to_compute(conversation.seat, self.peer))
        self.labels, self.owner, self.first = self._items()
        self.bits = SetBits(own, self.labels)

    def itemsets(self, longest: int) -> FrequentItemsets:
        """Level by level."""
        sets: Sets = [(code,) for code in range(len(self.labels))]
        levels = [(sets, self.first)]
        while sets and len(levels) < longest:
            candidates = next_sets(sets)
            counts = self._supports(candidates)
            kept = np.flatnonzero(counts >= self.least)
            sets = [candidates[n] for n in kept]
            levels.append((sets, counts[kept]))
        return counted_itemsets(rows=self.own.rows, support=self.least, labels=self.labels, levels=levels)

    def _items(self) -> tuple[tuple[str, ...], NDArray[np.int64], Counts]:
        """The frequent items of both parties in the order of their labels, whose they are, and their supports."""
        counts = self.own.supports()
        mine = {self.own.labels[n]: int(counts[n]) for n in np.flatnonzero(counts >= self.least)}
        theirs = self._told(mine)
        if not isinstance(theirs, dict):
            raise SessionError(f"party {self.peer} told something else than its frequent items")
        common_people.whole_numbers(list(theirs.values()), (len(theirs),), self.least, self.own.rows)
        both = sorted(mine.keys() & theirs.keys())
        if both:
            raise SessionError(f"both parties have the item {both[0]!r}; columns of the same name must be named apart")
        labels = tuple(sorted({**mine, **theirs}))
        owner = np.array([self.me if label in mine else self.peer for label in labels], np.int64)
        return labels, owner, np.array([{**mine, **theirs}[label] for label in labels], np.int64).reshape(len(labels))

    def _supports(self, candidates: Sets) -> Counts:
        """The supports of frequent candidates; -1 of the others."""
        owners = [set(self.owner[list(candidate)].tolist()) for candidate in candidates]
        supports = np.full(len(candidates), -1, np.int64)
        mine = [n for n, holders in enumerate(owners) if holders == {self.me}]
        theirs = [n for n, holders in enumerate(owners) if holders == {self.peer}]
        mixed = [n for n, holders in enumerate(owners) if len(holders) > 1]
        counts = self.bits.supports([candidates[n] for n in mine])
        supports[mine] = np.where(counts >= self.least, counts, -1)
        disclosed = self._told(supports[mine].tolist())
        supports[theirs] = common_people.whole_numbers(disclosed, (len(theirs),), -1, self.own.rows)
        supports[mixed] = self._mixed([candidates[n] for n in mixed])
        return supports

    def _mixed(self, candidates: Sets) -> Counts:
        """Supports of sets with items of both parties, by scalar products; only of those that are frequent."""
        rows = self.own.rows
        bits = np.zeros((len(candidates), rows), np.uint8)
        for n, candidate in enumerate(candidates):
            bits[n] = np.unpackbits(self.bits.row_bits([code for code in candidate if self.owner[code] == self.me]))[
                :rows
            ]
        run = self.conversation.run
        if isinstance(self.ready, Sending):
            shares = run(products_of_numbers(self.ready, bits.astype(np.uint64)))
        else:
            shares = run(products_of_bits(self.ready, bits))
        frequent = run(reaching(self.ready, shares, self.least))
        supports = np.full(len(candidates), -1, np.int64)
        supports[frequent] = run(put_together(self.peer, shares[frequent])).astype(np.int64)
        refuse_outside(supports[frequent], self.least, rows)
        return supports

    def _told(self, content: Any) -> Any:
        return self.conversation.run(common_people.exchange_json(self.peer, content))


# Sessions of two parties with different columns about the same people.


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
        if not isinstance(columns, list) or not columns or not all(isinstance(column, str) for column in columns):
            raise ParameterError(f"parameters.holds.{name} must be a list of columns, not {columns!r}")
    every = [column for name in names for column in holds[name]]
    if len(set(every)) < len(every) or identifier in every:
        raise ParameterError("parameters.holds must name every column once, and not the identifier")
    first, second = (tuple(holds[name]) for name in names)
    return identifier, (first, second)


def read_vertical_bayes(tree: Mapping[str, Any], names: Sequence[str]) -> VerticalAsked:
    """What the session file asks for."""
    refuse_strange(tree, ("identifier", "holds", "columns", "target"))
    identifier, holds = _read_holders(tree, names)
    domains, target = read_domains(tree), tree.get("target")
    if set(domains) != {column for columns in holds for column in columns}:
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
    if not isinstance(sets, list) or not set(sets) <= {column for columns in holds for column in columns}:
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


def own_people(request: VerticalAsked, table: Table) -> VerticalOwn:
    """A party's table; it must have all columns of one party, and nobody twice."""
    held = [columns for columns in request.holds if all(name in table.names for name in columns)]
    if len(held) != 1:
        whose = "neither party's" if not held else "both parties'"
        raise DataError(f"{table.source} has {whose} columns of parameters.holds; it must have those of one party")
    own = VerticalOwn(table=table, identifiers=identifiers_of(table, request.identifier), holds=held[0])
    if request.target:
        _read_own(request, table, held[0])
    else:
        _items(request, own, table)
    return own


def _read_own(request: VerticalAsked, table: Table, holds: Sequence[str]) -> Any:
    mine = [attribute for attribute in request.attributes if attribute.name in holds]
    if request.target in holds:
        return read_like(table.frame, attributes=mine, target=request.target, classes=request.classes, strict=True)
    return read_columns(table.frame, mine)


def _items(request: VerticalAsked, own: VerticalOwn, table: Table) -> Any:
    sets = [name for name in own.holds if name in request.sets]
    plain = [name for name in own.holds if name not in request.sets]
    return transactions_of(table, sets=sets, columns=plain, separator=request.separator)


def _refuse_same(conversation: Conversation, request: VerticalAsked, own: VerticalOwn) -> None:
    if own.holds != request.holds[conversation.seat.me]:
        raise SessionError("this table has the columns that parameters.holds gives to the other party")


def run_vertical_bayes(conversation: Conversation, request: VerticalAsked, own: VerticalOwn) -> JointResult:
    """The counts of naive Bayes over the common people."""
    _refuse_same(conversation, request, own)
    table = own.common(conversation)
    mine = [attribute for attribute in request.attributes if attribute.name in own.holds]
    theirs = [attribute for attribute in request.attributes if attribute.name not in own.holds]
    read = _read_own(request, table, own.holds)
    if request.target in own.holds:
        counts = counts_with_class(conversation, read, theirs)
        order = [*mine, *theirs]
    else:
        disclosed, computed = counts_without_class(conversation, read, mine, theirs, len(request.classes), table.rows)
        counts = [*disclosed, *computed]
        order = [*theirs, *mine]
    refuse_unequal(counts)
    document = bayes_document(order, request.target, request.classes, counts)
    return JointResult(document=document, columns=("column", "value", *request.classes), rows=bayes_rows(document))


def run_vertical_rules(conversation: Conversation, request: VerticalAsked, own: VerticalOwn) -> JointResult:
    """The rules of the common people."""
    _refuse_same(conversation, request, own)
    items = _items(request, own, own.common(conversation))
    rules = vertical_rules(
        conversation,
        items,
        min_support=request.min_support,
        min_confidence=request.min_confidence,
        longest=request.longest,
    )
    return rules_document(rules)


def _given(request: VerticalAsked, own: VerticalOwn) -> str:
    return f"{len(own.identifiers):,} identifiers under encryption, and {', '.join(own.holds)} of those in common"


VERTICAL_BAYES = JointProtocol(
    name="vertical-naive-bayes",
    about="Naive Bayes of two parties with different columns about the same people.",
    most=2,
    read=read_vertical_bayes,
    leakage=lambda request, names: BAYES_LEAKAGE,
    prepare=own_people,
    given=_given,
    run=run_vertical_bayes,
)
VERTICAL_RULES = JointProtocol(
    name="vertical-rules",
    about="The association rules of two parties with different columns about the same people.",
    most=2,
    read=read_vertical_rules,
    leakage=lambda request, names: RULES_LEAKAGE,
    prepare=own_people,
    given=_given,
    run=run_vertical_rules,
)
