"""Naive Bayes of two parties with different columns about the same people: counts are scalar products.

The party with the class holds, for each class, a bit for every person. The other party packs the values of a column
into numbers, several counters to a number, so that one product gives several counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.conversation import Conversation, WrongNumbers
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.mining import common_people
from sfumato.collaborate.primitives.many_products import products_of_bits, products_of_numbers, put_together
from sfumato.collaborate.primitives.transfer_extension import ready_to_receive, ready_to_send
from sfumato.mine.counted_bayes import Whole, bayes_cells, bayes_counts
from sfumato.mine.edge_labels import Attribute
from sfumato.mine.records import Records

LEAKAGE = Leakage(
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
    conversation.run(common_people.told(peer, [one.tolist() for one in own]))
    classes = len(records.classes)
    slots = _slots(records.count)
    words = sum(-(-bayes_width(one) // slots) for one in theirs)
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
    content = conversation.run(common_people.told(peer, None))
    shapes = [(classes,), *((bayes_width(column), classes) for column in theirs)]
    if not isinstance(content, list) or len(content) != len(shapes):
        raise WrongNumbers(f"a message must have the counts of {len(theirs)} columns")
    disclosed = [common_people.whole_numbers(part, shape, 0, rows) for part, shape in zip(content, shapes, strict=True)]
    slots = _slots(rows)
    packed = [_packed(one, column, slots) for one, column in zip(own, columns, strict=True)]
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
    found = np.zeros((-(-width // slots), len(cells)), np.uint64)
    shift = (64 // slots) * (cells % slots)
    found[cells // slots, np.arange(len(cells))] = np.uint64(1) << shift.astype(np.uint64)
    return found


def _unpacked(sums: NDArray[np.uint64], attributes: Sequence[Attribute], classes: int, slots: int) -> list[Whole]:
    """For each column, values x classes."""
    wide = np.uint64(64 // slots)
    places = np.arange(slots, dtype=np.uint64) * wide
    every = (sums.reshape(classes, -1, 1) >> places) & np.uint64((1 << (64 // slots)) - 1 if slots > 1 else 2**64 - 1)
    found, first = [], 0
    for one in attributes:
        words = -(-bayes_width(one) // slots)
        table = every[:, first : first + words].reshape(classes, -1)[:, : bayes_width(one)]
        found.append(np.ascontiguousarray(table.T).astype(np.int64))
        first += words
    return found
