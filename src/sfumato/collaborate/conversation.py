"""How a program takes part: it runs talks one after the other, wherever the other parties are."""

from __future__ import annotations

from typing import Protocol

from sfumato.collaborate.exchange import Result, Seat, Talk
from sfumato.collaborate.transcript import Meter


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

    def run(self, talk: Talk[Result]) -> Result:
        """Take this party's side of a protocol to its end."""
