"""A conversation over TCP: the program waits in its own thread, the connections live in another."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from sfumato.core.errors import SessionError
from sfumato.parties.conversation import Exchange, Meter, Result, Seat, Talk, Transcript, WrongNumbers, driven
from sfumato.parties.network.certificates import Address
from sfumato.parties.network.connections import Meeting
from sfumato.parties.network.session import Session, done, ready

Came = TypeVar("Came")
_NUMBER = re.compile(r"\bparty ([0-9]{1,4})\b")
_CLOSING = 5.0
"""Seconds after which a thread that does not end is left alone."""
_LOOK = 0.2
"""Seconds after which a wait is looked at again."""


class NetworkConversation:
    """A party's connection to all others, over mutual TLS 1.3 with pinned certificates.

    A context: it begins when everybody has come and means the same session. Leaving it without `finish` ends the
    session for everybody. What went wrong inside a party is never told to others, only that it left.
    """

    def __init__(
        self,
        session: Session,
        me: int,
        key: Path,
        *,
        listen: Address | None = None,
        transcript: Transcript | None = None,
    ) -> None:
        """``key`` is the file of this party's own key; a transcript notes all that it sends and receives."""
        self._session = session
        self._me = me
        self._key = key
        self._listen = listen
        self._transcript = transcript
        self._meter = Meter()
        self._begun: Future[tuple[asyncio.AbstractEventLoop, Meeting]] = Future()
        self._joined: Future[Seat] = Future()
        self._thread = threading.Thread(target=self._live, name="sfumato session", daemon=True)
        self._finished = False

    def __enter__(self) -> NetworkConversation:
        self._thread.start()
        try:
            _awaited(self._joined)
            self.run(ready(self.seat, self._session.names))
        except BaseException as error:
            self._end(error)
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(error)

    @property
    def seat(self) -> Seat:
        """The party's place."""
        return self._joined.result()

    @property
    def meter(self) -> Meter:
        """What has been sent and received so far."""
        return self._meter

    @property
    def max_records(self) -> int:
        """How many records one party may put in."""
        return self._session.limits.records

    def run(self, talk: Talk[Result]) -> Result:
        """Take this party's side of a protocol to its end."""
        try:
            return driven(talk, self._exchanged)
        except SessionError as error:
            talk.close()
            named = SessionError(with_names(str(error), self._session.names))
            self._fail(named)
            if isinstance(error, WrongNumbers):
                raise
            raise named from None

    def finish(self) -> None:
        """Wait until everybody has a result; only then is one written."""
        self.run(done(self.seat))
        self._finished = True

    def _exchanged(self, step: Exchange) -> dict[int, bytes]:
        loop, meeting = self._begun.result()
        if meeting.error is not None or not self._thread.is_alive():
            raise meeting.error or SessionError("the session is over")
        send = {peer: bytes(content) for peer, content in step.send.items()}
        work = meeting.exchange(Exchange(label=step.label, send=send, expect=dict(step.expect)))
        try:
            came = _awaited(asyncio.run_coroutine_threadsafe(work, loop))
        except (CancelledError, RuntimeError):
            work.close()
            raise meeting.error or SessionError("the session is over") from None
        self._meter.count(send.values(), came.values())
        if self._transcript is not None:
            for sent, messages in ((True, send), (False, came)):
                for peer, content in messages.items():
                    self._transcript.note(sent=sent, peer=peer, label=step.label, content=content)
        return came

    def _live(self) -> None:
        asyncio.run(self._connections())

    async def _connections(self) -> None:
        meeting = Meeting(self._session, self._me, self._key, listen=self._listen)
        self._begun.set_result((asyncio.get_running_loop(), meeting))
        try:
            seat = await meeting.join()
        except Exception as fault:
            odd = f"the session cannot begin: {fault}"
            error = fault if isinstance(fault, SessionError) else SessionError(odd)
            meeting.fail(error)
            await meeting.close()
            self._joined.set_exception(error)
            return
        self._joined.set_result(seat)
        await meeting.over()
        await meeting.close()

    def _fail(self, error: SessionError, reason: str = "it does not accept what came") -> None:
        """A fault that a talk found; others are told that there was one, not what."""
        self._tell(lambda meeting: meeting.fail(error, reason))

    def _end(self, error: BaseException | None) -> None:
        """End the session, for everybody unless all is done."""
        if error is None and self._finished:
            self._tell(Meeting.leave)
        elif isinstance(error, KeyboardInterrupt):
            self._fail(SessionError("the session was stopped"), "it was stopped")
        else:
            self._fail(SessionError("the session is over"), "its program left")
        self._thread.join(_CLOSING)

    def _tell(self, act: Callable[[Meeting], None]) -> None:
        loop, meeting = self._begun.result()
        try:
            loop.call_soon_threadsafe(act, meeting)
        except RuntimeError:  # the thread has ended already
            return


def with_names(text: str, names: Sequence[str]) -> str:
    """A text with a party's name where a talk, which knows none, says its number.

    >>> with_names("one of party 0, party 7", ["ann", "bob"])
    'one of ann, party 7'
    """
    return _NUMBER.sub(lambda hit: names[int(hit[1])] if int(hit[1]) < len(names) else hit[0], text)


def _awaited(work: Future[Came]) -> Came:
    """What another thread comes to. A request to stop that is made again wakes no wait, so the wait is a short one."""
    while True:
        try:
            return work.result(_LOOK)
        except TimeoutError:
            if work.done():
                return work.result()
