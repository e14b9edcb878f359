"""Two parties with different columns about the same people: whom both have, in one order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.conversation import Conversation, WrongNumbers
from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.primitives import set_intersection
from sfumato.collaborate.primitives.set_intersection import intersect_receiving, intersect_sending
from sfumato.data.table import Table, as_text
from sfumato.ground.errors import DataError, ParameterError, SessionError
from sfumato.ground.strict_json import read_json

LEAKAGE = set_intersection.LEAKAGE
MOST_TOLD = 2**24
"""Longer messages are refused: what is read from 16 MB of JSON takes up to 1 GB."""


def identifiers_of(table: Table, name: str) -> list[str]:
    """The identifiers of a table: none missing, each once."""
    found = as_text(table.require(name, where=table.source))
    if found.null_count() or table.is_missing(name).any():
        raise DataError(f"{table.source}, column {name!r}: some rows have no identifier; leave them out")
    twice = found.filter(found.is_duplicated())
    if len(twice):
        raise DataError(f"{table.source}, column {name!r}: {twice[0]!r} stands there twice; each person once is needed")
    return found.to_list()


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


def told(peer: int, content: Any) -> Talk[Any]:
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
