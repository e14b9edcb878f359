"""Any number of parties with different columns about the same people: whom all of them have, in one order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.mining.common_people import common_rows
from sfumato.collaborate.primitives import set_intersection
from sfumato.collaborate.primitives.set_intersection import intersect_receiving, intersect_sending
from sfumato.ground.errors import SessionError

Rows = NDArray[np.int64]


def common_order(conversation: Conversation, identifiers: Sequence[str]) -> Rows:
    """This party's rows of the people whom every party has, in the order of their identifiers: the same at all.

    Of more than two, the first party narrows its list by one party after the other, who learn nothing by that; then
    each of them learns which of its own are left.
    """
    seat = conversation.seat
    if seat.count == 2:
        return common_rows(conversation, identifiers)
    if seat.me:
        conversation.run(intersect_sending(seat, 0, identifiers))
        found = conversation.run(intersect_sending(seat, 0, identifiers, both=True))
        return _ordered(identifiers, found)
    left = np.arange(len(identifiers))
    for peer in seat.others:
        left = left[conversation.run(intersect_receiving(seat, peer, [identifiers[row] for row in left]))]
    for peer in seat.others:
        conversation.run(intersect_receiving(seat, peer, [identifiers[row] for row in left], both=True))
    return _ordered(identifiers, left)


def _ordered(identifiers: Sequence[str], rows: Rows | None) -> Rows:
    if rows is None or not len(rows):
        raise SessionError("the parties have nobody in common: no identifier is in all tables")
    return np.array(sorted(rows.tolist(), key=lambda row: identifiers[row]), np.int64)


def leakage_of(names: Sequence[str]) -> Leakage:
    """What looking for common people tells whom."""
    sizes = Told(to="everybody", what="how many identifiers the party has with which it compares its own")
    first = Told(
        to=names[0],
        what=f"which of its own identifiers {', '.join(names[1:])} have too, party by party, of those that are left",
    )
    return Leakage(
        protocol="common people",
        result=(Told(to="everybody", what="which of its own identifiers all parties have"),),
        beyond=(sizes,) if len(names) == 2 else (sizes, first),
        withstands=set_intersection.LEAKAGE.withstands,
        limits=set_intersection.LEAKAGE.limits,
    )
