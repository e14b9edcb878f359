"""How a party takes part in a protocol: exchanges, transcripts, conversations, declared leakage."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from sfumato.core.errors import ParameterError, SessionError, SfumatoError

# What a protocol tells a party beyond the result: declared as data, shown before anybody agrees, kept in the manifest.
#
# A declaration is tested: from a party's input, its result and its declared leakage, a simulator makes transcripts,
# and a statistical test must not tell them from real ones.


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that somebody learns."""

    to: str
    """Who learns it: ``everybody``, a role in the protocol, or a party's name."""
    what: str
    """What they learn, as the end of a sentence: "the sum of all parties' counts"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage:
    """What a protocol tells, and where its protection ends."""

    protocol: str
    """Its name."""
    result: tuple[Told, ...]
    """The purpose of the protocol: what each role is meant to learn."""
    beyond: tuple[Told, ...] = ()
    """What they learn besides, such as sizes."""
    withstands: str
    """Which parties may work together without learning more: "any n - 2 of n parties"."""
    limits: str
    """What it does not protect against."""

    def lines(self) -> list[str]:
        """As sentences, one a line."""
        sentences = [f"{item.to} learns {item.what}" for item in self.result]
        sentences += [f"besides, {item.to} learns {item.what}" for item in self.beyond]
        return [*sentences, f"withstands: {self.withstands}", f"does not protect against: {self.limits}"]


# What a talk yields: messages to other parties, and the exact lengths of the messages that it awaits from them.


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
        return tuple(party for party in range(self.count) if party != self.me)


def to_all(seat: Seat, label: str, message: bytes, *, length: int | None = None) -> Exchange:
    """Everybody sends everybody else a message, each of the same length as one's own unless another is named."""
    each = len(message) if length is None else length
    return Exchange(label=label, send=dict.fromkeys(seat.others, message), expect=dict.fromkeys(seat.others, each))


# What a party saw: every message that it sent and received, in order.


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of one party's transcript."""

    sent: bool
    """Whether this party sent it; otherwise it received it."""
    peer: int
    """The other party."""
    label: str
    """What it is."""
    content: bytes
    """The bytes."""


@dataclass(slots=True)
class Transcript:
    """All messages of one party."""

    messages: list[Message] = field(default_factory=list)
    """In the order in which the party saw them."""

    def note(self, *, sent: bool, peer: int, label: str, content: bytes) -> None:
        """Add a message."""
        self.messages.append(Message(sent=sent, peer=peer, label=label, content=content))

    def received(self, label: str | None = None) -> list[Message]:
        """What the party received, of one label or of all."""
        return [message for message in self.messages if not message.sent and label in (None, message.label)]


@dataclass(slots=True)
class Meter:
    """How much a party sent and received; it keeps no content."""

    sent: int = 0
    """Bytes sent."""
    received: int = 0
    """Bytes received."""
    rounds: int = 0
    """How often the party waited for somebody."""

    def count(self, sent: Iterable[bytes], received: Iterable[bytes]) -> None:
        """Count one step."""
        self.sent += sum(map(len, sent))
        came = [len(content) for content in received]
        self.received += sum(came)
        self.rounds += bool(came)


# How a program takes part: it runs talks one after the other, wherever the other parties are.
#
# What another party sends is not trusted. Where it has the right length and still cannot be used, the session ends
# with a `SessionError` that names the sender, or all parties of which one must be it: never with a traceback.


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
