"""Short texts as points of ristretto255, reversibly: every party can encrypt a text, and all can read it at the end.

About one in eight 32-byte strings is the encoding of a point. A text is cut into pieces; each piece is written with a
tag of the whole text and a counter that is raised until the string is such an encoding. Equal texts become equal
points.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from sfumato.collaborate.primitives.ristretto_points import is_point
from sfumato.ground.errors import DataError

_PIECE = 16
"""Bytes of a text in one point."""
_MOST = 255 * _PIECE


def embedded(text: bytes) -> list[bytes]:
    """The points of a text of up to 4,080 bytes.

    A string is: 0, the piece's counter (2), tag of the text (8), number of the piece, pieces in all, bytes in it (1
    each), the bytes (16), and zeros: even and below the field's order, as encodings must be.
    """
    if len(text) > _MOST:
        raise DataError(f"an item of {len(text)} bytes is too long to be told together; at most {_MOST} bytes")
    pieces = [text[start : start + _PIECE] for start in range(0, max(len(text), 1), _PIECE)]
    tag = hashlib.sha256(b"sfumato item 1" + text).digest()[:8]
    rest = [
        b"".join([tag, bytes([place, len(pieces), len(piece)]), piece.ljust(_PIECE, b"\0"), bytes(2)])
        for place, piece in enumerate(pieces)
    ]
    return [_point(one) for one in rest]


def _point(content: bytes) -> bytes:
    """The first string with this content that encodes a point; none exists with a chance below 2^-6000."""
    for counter in range(2**16):
        found = b"\0" + counter.to_bytes(2, "big") + content
        if is_point(found):
            return found
    raise DataError("an item cannot be written as points of the group")


def read_texts(points: Iterable[bytes]) -> list[bytes]:
    """The texts whose pieces are all there, in order; points that are no piece of a text are passed over."""
    pieces: dict[bytes, dict[int, tuple[int, bytes]]] = defaultdict(dict)
    for point in points:
        tag, place, count, length = point[3:11], point[11], point[12], point[13]
        if point[0] == 0 and point[30:] == b"\0\0" and place < count and length <= _PIECE:
            pieces[tag][place] = (count, point[14 : 14 + length])
    found = []
    for tag, held in pieces.items():
        text = b"".join(held[place][1] for place in sorted(held))
        whole = {count for count, _piece in held.values()} == {len(held)}
        if whole and hashlib.sha256(b"sfumato item 1" + text).digest()[:8] == tag:
            found.append(text)
    return sorted(found)
