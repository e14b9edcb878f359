"""What a party saw: every message that it sent and received, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


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
        return [one for one in self.messages if not one.sent and label in (None, one.label)]


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
        came = [len(one) for one in received]
        self.received += sum(came)
        self.rounds += bool(came)
