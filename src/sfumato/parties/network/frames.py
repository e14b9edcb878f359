"""Frames: what goes over a connection, pure bytes; every field is checked before anything is read or made for it.

A frame is a head of 40 bytes, a label and a content:

| bytes | field |
| --- | --- |
| 4 | ``SFMT`` |
| 1 | the version of this form |
| 1 | the kind: data, heartbeat, end |
| 1 | how many bytes the label has |
| 1 | zero |
| 16 | the beginning of the session's name; zeros until the parties have agreed on one |
| 8 | the number of the frame on this connection in this direction, from 0, every number once |
| 8 | how many bytes the content has |
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from sfumato.core.errors import SessionError

WIRE_VERSION = 1
"""The version of frames and greetings."""
_MAGIC = b"SFMT"
_HEAD = struct.Struct("!4sBBBB16sQQ")
HEAD = _HEAD.size
"""How many bytes a head has."""
TAG = 16
"""How many bytes of a session's name stand in a frame."""
NOBODY = bytes(TAG)
"""The tag before the parties have agreed on a session."""
MOST_REASON = 2_000
"""How many bytes the reason in the last frame may have."""
MOST_LABEL = 200
"""How many bytes a label may have."""


class Kind(IntEnum):
    """What a frame is for."""

    DATA = 1
    """A message of a talk."""
    HEARTBEAT = 2
    """A sign of life, without content."""
    END = 3
    """The sender leaves, and says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of a frame: what comes, and how much of it."""

    kind: Kind
    """What the frame is for."""
    label: int
    """How many bytes the label has."""
    tag: bytes
    """The beginning of the session's name."""
    number: int
    """The place of the frame on this connection, from 0."""
    length: int
    """How many bytes the content has."""


def encode(kind: Kind, *, tag: bytes, number: int, label: str = "", content: bytes = b"") -> bytes:
    """The head and the label of a frame; the content follows as it is."""
    named = label.encode()
    if len(named) > MOST_LABEL:
        raise SessionError(f"the label {label!r} has more than {MOST_LABEL} bytes")
    return _HEAD.pack(_MAGIC, WIRE_VERSION, kind, len(named), 0, tag, number, len(content)) + named


def decode(raw: bytes, *, number: int) -> Head:
    """A head from its bytes, or a refusal that says what is wrong; ``number`` is the one that must come now.

    >>> decode(encode(Kind.HEARTBEAT, tag=NOBODY, number=3), number=3).kind is Kind.HEARTBEAT
    True
    >>> decode(encode(Kind.HEARTBEAT, tag=NOBODY, number=3), number=4)
    Traceback (most recent call last):
    sfumato.core.errors.SessionError: frame 3 came where frame 4 was due: it was sent twice, or frames are missing
    """
    if len(raw) != HEAD:
        raise SessionError(f"the head of a frame has {HEAD} bytes, not {len(raw)}")
    magic, version, kind, label, zero, tag, frame_number, length = _HEAD.unpack(raw)
    if magic != _MAGIC:
        raise SessionError("what came is no frame of sfumato")
    if version != WIRE_VERSION:
        raise SessionError(
            f"frames of version {version} came, and this is version {WIRE_VERSION}; use the same sfumato"
        )
    if kind not in _FORMS or zero:
        raise SessionError(f"a frame of an unknown kind came ({kind}, {zero})")
    if frame_number != number:
        raise SessionError(
            f"frame {frame_number} came where frame {number} was due: it was sent twice, or frames are missing"
        )
    label_most, least, most = _FORMS[kind]
    if label > label_most or not least <= length <= most or (kind == Kind.DATA and not label):
        raise SessionError(f"a frame of kind {Kind(kind).name} says {label} bytes of label and {length} of content")
    return Head(kind=Kind(kind), label=label, tag=tag, number=frame_number, length=length)


_FORMS = {
    Kind.DATA: (MOST_LABEL, 0, 1 << 62),
    Kind.HEARTBEAT: (0, 0, 0),
    Kind.END: (40, 0, MOST_REASON),
}
"""The longest label, and the shortest and longest content, of each kind. What data may hold, the talk says."""


def check_data(head: Head, label: bytes, *, tag: bytes, wanted: str, length: int) -> None:
    """Refuse a message that is not of this session, not the one that is awaited, or not exactly as long."""
    if head.tag != tag:
        raise SessionError("a message of another session came")
    if label != wanted.encode():
        raise SessionError(f"{wanted!r} is awaited, and {label.decode(errors='replace')!r} came")
    if head.length != length:
        raise SessionError(f"{wanted!r} must have {length} bytes, and {head.length} were announced")
