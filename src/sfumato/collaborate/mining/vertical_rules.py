"""Association rules of two parties with different columns about the same people.

A set with items of both parties is had by as many people as the scalar product of two rows of bits says: who has the
one part, and who has the other. Whether that reaches the least support, a garbled circuit tells from the shares; only
then do the parties put the shares together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.mining import common_people
from sfumato.collaborate.primitives.garbled_talk import ready_to_compute
from sfumato.collaborate.primitives.many_products import products_of_bits, products_of_numbers, put_together, reaching
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.summed_cuts import refuse_outside
from sfumato.ground.errors import SessionError
from sfumato.group.counted_itemsets import SetBits, Sets, counted_itemsets, next_sets
from sfumato.group.frequent_itemsets import Counts, FrequentItemsets, least_rows
from sfumato.group.transactions import Transactions
from sfumato.mine.association_rules import Rules, association_rules

LEAKAGE = Leakage(
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
    found = _Mining(conversation, own, least_rows(min_support, own.rows)).itemsets(longest)
    return association_rules(found, min_confidence)


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
        owners = [set(self.owner[list(one)].tolist()) for one in candidates]
        found = np.full(len(candidates), -1, np.int64)
        mine = [n for n, one in enumerate(owners) if one == {self.me}]
        theirs = [n for n, one in enumerate(owners) if one == {self.peer}]
        mixed = [n for n, one in enumerate(owners) if len(one) > 1]
        counts = self.bits.supports([candidates[n] for n in mine])
        found[mine] = np.where(counts >= self.least, counts, -1)
        told = self._told(found[mine].tolist())
        found[theirs] = common_people.whole_numbers(told, (len(theirs),), -1, self.own.rows)
        found[mixed] = self._mixed([candidates[n] for n in mixed])
        return found

    def _mixed(self, candidates: Sets) -> Counts:
        """Supports of sets with items of both parties, by scalar products; only of those that are frequent."""
        rows = self.own.rows
        bits = np.zeros((len(candidates), rows), np.uint8)
        for n, one in enumerate(candidates):
            bits[n] = np.unpackbits(self.bits.row_bits([code for code in one if self.owner[code] == self.me]))[:rows]
        run = self.conversation.run
        if isinstance(self.ready, Sending):
            shares = run(products_of_numbers(self.ready, bits.astype(np.uint64)))
        else:
            shares = run(products_of_bits(self.ready, bits))
        frequent = run(reaching(self.ready, shares, self.least))
        found = np.full(len(candidates), -1, np.int64)
        found[frequent] = run(put_together(self.peer, shares[frequent])).astype(np.int64)
        refuse_outside(found[frequent], self.least, rows)
        return found

    def _told(self, content: Any) -> Any:
        return self.conversation.run(common_people.told(self.peer, content))
