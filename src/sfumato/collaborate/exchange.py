"""What a talk yields: messages to other parties, and the exact lengths of the messages that it awaits from them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sfumato.ground.errors import ParameterError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One step of a talk: first everything is sent, then everything awaited is received.

    Lengths are exact. Where a length is not public beforehand, an earlier step tells it.
    """

    label: str
    """What the messages are, such as ``sum/masked``; the sender and the receiver must say the same."""
    send: Mapping[int, bytes] = field(default_factory=dict)
    """What goes to each party, by its number."""
    expect: Mapping[int, int] = field(default_factory=dict)
    """How many bytes come from each party, by its number."""


Talk = Generator[Exchange, Mapping[int, bytes], Result]
"""One party's side of a protocol. A step is answered with the messages that it expected, by party."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A party's place at the table."""

    me: int
    """The party's number, from 0."""
    count: int
    """How many parties there are."""
    session: bytes
    """32 bytes that name this run of the session: made of fresh random bytes of every party, never used twice."""

    def __post_init__(self) -> None:
        if not 0 <= self.me < self.count:
            raise ParameterError(f"party {self.me} is not one of {self.count}; number parties from 0")
        if len(self.session) != 32:
            raise ParameterError(f"a session is named by 32 bytes, not {len(self.session)}")

    @property
    def others(self) -> tuple[int, ...]:
        """Everybody else, by number."""
        return tuple(one for one in range(self.count) if one != self.me)


def to_all(seat: Seat, label: str, message: bytes, *, length: int | None = None) -> Exchange:
    """Everybody sends everybody else a message, each of the same length as one's own unless another is named."""
    each = len(message) if length is None else length
    return Exchange(label=label, send=dict.fromkeys(seat.others, message), expect=dict.fromkeys(seat.others, each))
