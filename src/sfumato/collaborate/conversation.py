"""How a program takes part: it runs talks one after the other, wherever the other parties are.

What another party sends is not trusted. Where it has the right length and still cannot be used, the session ends with a
`SessionError` that names the sender, or all parties of which one must be it: never with a traceback.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from sfumato.collaborate.exchange import Exchange, Result, Seat, Talk
from sfumato.collaborate.transcript import Meter
from sfumato.ground.errors import SessionError, SfumatoError

UNUSABLE = (ArithmeticError, AssertionError, AttributeError, BufferError, LookupError, MemoryError, RecursionError,
            TypeError, ValueError, struct.error)  # fmt: skip
"""What a computation raises where its input is not what it must be."""
MAX_RECORDS = 10_000_000
"""So many records one party may put in, where a session says nothing else. A larger sum shows a party that counts what
it does not have, and would make others reserve memory for it."""


class WrongNumbers(SessionError):
    """Numbers of all parties that cannot be right; a sum does not show whose are wrong."""


class Conversation(Protocol):
    """A party's connection to all others.

    ``run`` waits until the talk is over. A talk that fails ends the session for everybody: a conversation that raised
    `SessionError` runs nothing more.
    """

    @property
    def seat(self) -> Seat:
        """The party's place."""

    @property
    def meter(self) -> Meter:
        """What has been sent and received so far."""

    @property
    def max_records(self) -> int:
        """How many records one party may put in, as the session declares."""

    def run(self, talk: Talk[Result]) -> Result:
        """Take this party's side of a protocol to its end."""


def driven(talk: Talk[Result], exchange: Callable[[Exchange], Mapping[int, bytes]]) -> Result:
    """Take one side of a protocol to its end; ``exchange`` carries its messages."""
    answer: Mapping[int, bytes] | None = None
    last: Exchange | None = None
    while True:
        try:
            step = talk.send(answer)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as over:
            result: Result = over.value
            return result
        except SfumatoError:
            raise
        except UNUSABLE as error:
            if last is None:  # no message has come yet: the error is our own
                raise
            raise SessionError(
                f"{one_of(last.expect)} sent a message {last.label!r} that cannot be used ({type(error).__name__})"
            ) from error
        answer = exchange(step)
        last = step if step.expect else last


def one_of(parties: Iterable[int]) -> str:
    """Parties by number, of which one did something.

    >>> one_of([2]), one_of([0, 2])
    ('party 2', 'one of party 0, party 2')
    """
    names = [f"party {number}" for number in sorted(parties)]
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"
