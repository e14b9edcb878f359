"""Record alignment: the people that two or more parties share, in one common order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.core.strict_parsing import read_json
from sfumato.parties import set_intersection
from sfumato.parties.conversation import Conversation, Exchange, Leakage, Talk, Told, WrongNumbers
from sfumato.parties.set_intersection import intersect_receiving, intersect_sending
from sfumato.tables.table import Table, as_text

# Two parties with different columns about the same people: whom both have, in one order.


LEAKAGE = set_intersection.LEAKAGE
MOST_TOLD = 2**24
"""Longer messages are refused: what is read from 16 MB of JSON takes up to 1 GB."""


def identifiers_of(table: Table, name: str) -> list[str]:
    """The identifiers of a table: none missing, each once."""
    identifiers = as_text(table.require(name, where=table.source))
    if identifiers.null_count() or table.is_missing(name).any():
        raise DataError(f"{table.source}, column {name!r}: some rows have no identifier; leave them out")
    twice = identifiers.filter(identifiers.is_duplicated())
    if len(twice):
        raise DataError(f"{table.source}, column {name!r}: {twice[0]!r} stands there twice; each person once is needed")
    return identifiers.to_list()


def common_rows(conversation: Conversation, identifiers: Sequence[str]) -> NDArray[np.int64]:
    """This party's rows of the people that both have, in the order of their identifiers: the same at both."""
    seat = conversation.seat
    if seat.count != 2:
        raise ParameterError(f"two parties look for the people they have in common, not {seat.count}")
    side = intersect_sending if seat.me == 0 else intersect_receiving
    rows = conversation.run(side(seat, 1 - seat.me, identifiers, both=True))
    if rows is None or not len(rows):
        raise SessionError("the parties have nobody in common: no identifier is in both tables")
    return np.array(sorted(rows.tolist(), key=lambda row: identifiers[row]), np.int64)


def exchange_json(peer: int, content: Any) -> Talk[Any]:
    """Both parties tell each other something, as JSON; returns what the other told."""
    message = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    lengths = yield Exchange(label="told/length", send={peer: len(message).to_bytes(8, "big")}, expect={peer: 8})
    length = int.from_bytes(lengths[peer], "big")
    if length > MOST_TOLD:
        raise SessionError(f"party {peer} announces a message of {length:,} bytes; at most {MOST_TOLD:,} are read")
    came = yield Exchange(label="told/content", send={peer: message}, expect={peer: length})
    try:
        return read_json(came[peer].decode())
    except (ValueError, RecursionError) as error:
        raise SessionError(f"party {peer} told something that is no JSON: {error}") from error


def whole_numbers(content: Any, shape: tuple[int, ...], least: int, most: int) -> NDArray[np.int64]:
    """Numbers that the other party told, as nested lists of this shape; others are refused.

    >>> whole_numbers([[1, 2]], (1, 2), 0, 9).tolist()
    [[1, 2]]
    """
    if not shape:
        if isinstance(content, bool) or not isinstance(content, int) or not least <= content <= most:
            raise WrongNumbers(f"a message must have numbers from {least:,} to {most:,}, not {str(content)[:40]}")
        return np.array(content, np.int64)
    if not isinstance(content, list) or len(content) != shape[0]:
        raise WrongNumbers(f"a message must have {shape[0]:,} numbers, or lists of them")
    parts = [whole_numbers(part, shape[1:], least, most) for part in content]
    return np.array(parts, np.int64).reshape(shape)


# Any number of parties with different columns about the same people: whom all of them have, in one order.


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
        common = conversation.run(intersect_sending(seat, 0, identifiers, both=True))
        return _ordered(identifiers, common)
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
