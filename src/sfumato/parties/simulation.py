"""All parties in one process, for tests and simulations: talks in turn, or whole programs, each in its own thread."""

from __future__ import annotations

import hashlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from sfumato.core.errors import SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import MAX_RECORDS, Exchange, Meter, Result, Seat, Talk, Transcript, driven

Post = deque[tuple[str, bytes]]


def seats(count: int, session: bytes | None = None) -> tuple[Seat, ...]:
    """The places of all parties of one run; a session of its own unless one is named."""
    name = fresh_key() if session is None else hashlib.sha256(session).digest()
    return tuple(Seat(me=me, count=count, session=name) for me in range(count))


def checked(seat: int, peer: int, step: Exchange, label: str, content: bytes) -> bytes:
    """A message as this step expects it, or a refusal that says what differs."""
    if label != step.label:
        raise SessionError(f"party {seat} awaits {step.label!r} from party {peer}, which sent {label!r}")
    if len(content) != step.expect[peer]:
        length, wanted = len(content), step.expect[peer]
        raise SessionError(f"party {seat} awaits {wanted} bytes of {label!r} from party {peer}, which sent {length}")
    return content


def together(talks: Sequence[Talk[Any]], transcripts: Sequence[Transcript] | None = None) -> list[Any]:
    """Run the sides of one protocol in turn, in this thread; what each returns, in order.

    A transcript for each party, where given, notes all that it sends and receives.
    """
    posts: dict[tuple[int, int], Post] = {}
    waiting: dict[int, Exchange] = {}
    results: dict[int, Any] = {}

    def advance(me: int, answer: dict[int, bytes] | None) -> None:
        try:
            step = talks[me].send(answer)  # type: ignore[arg-type]  # None starts a generator
        except StopIteration as over:
            waiting.pop(me, None)
            results[me] = over.value
            return
        for peer, content in step.send.items():
            posts.setdefault((me, peer), deque()).append((step.label, bytes(content)))
            if transcripts is not None:
                transcripts[me].note(sent=True, peer=peer, label=step.label, content=bytes(content))
        waiting[me] = step

    for me in range(len(talks)):
        advance(me, None)
    while waiting:
        ready = [me for me, step in waiting.items() if all(posts.get((peer, me)) for peer in step.expect)]
        if not ready:
            raise SessionError("every party waits for another: " + ", ".join(_waits(waiting)))
        for me in ready:
            step = waiting[me]
            came = {peer: checked(me, peer, step, *posts[peer, me].popleft()) for peer in step.expect}
            if transcripts is not None:
                for peer, content in came.items():
                    transcripts[me].note(sent=False, peer=peer, label=step.label, content=content)
            advance(me, came)
    if any(posts.values()):
        left = next(key for key, post in posts.items() if post)
        raise SessionError(f"party {left[0]} sent party {left[1]} a message that nobody awaits")
    return [results[me] for me in range(len(talks))]


def _waits(waiting: dict[int, Exchange]) -> list[str]:
    return [f"party {me} for {sorted(step.expect)} ({step.label})" for me, step in waiting.items()]


class _Ended:
    """What a party that failed leaves in every queue."""


class ThreadConversation:
    """A party among threads of one process."""

    def __init__(self, seat: Seat, posts: dict[tuple[int, int], queue.SimpleQueue[Any]], seconds: float) -> None:
        """The queues are shared by all parties; nobody waits longer than ``seconds`` for one message."""
        self._seat = seat
        self._posts = posts
        self._seconds = seconds
        self._meter = Meter()
        self.max_records = MAX_RECORDS
        self.transcript: Transcript | None = None

    @property
    def seat(self) -> Seat:
        """The party's place."""
        return self._seat

    @property
    def meter(self) -> Meter:
        """What has been sent and received so far."""
        return self._meter

    def run(self, talk: Talk[Result]) -> Result:
        """Take this party's side of a protocol to its end."""
        return driven(talk, self._exchanged)

    def _exchanged(self, step: Exchange) -> dict[int, bytes]:
        me = self._seat.me
        for peer, content in step.send.items():
            self._posts[me, peer].put((step.label, bytes(content)))
        came = {peer: checked(me, peer, step, *self._received(peer)) for peer in step.expect}
        self._meter.count(step.send.values(), came.values())
        if self.transcript is not None:
            for sent, messages in ((True, step.send), (False, came)):
                for peer, content in messages.items():
                    self.transcript.note(sent=sent, peer=peer, label=step.label, content=bytes(content))
        return came

    def _received(self, peer: int) -> tuple[str, bytes]:
        try:
            message = self._posts[peer, self._seat.me].get(timeout=self._seconds)
        except queue.Empty:
            raise SessionError(f"party {peer} has sent nothing for {self._seconds:g} seconds") from None
        if isinstance(message, _Ended):
            raise SessionError(f"party {peer} ended the session")
        label, content = message
        return label, content


def in_threads(
    programs: Sequence[Callable[[ThreadConversation], Result]], *, seconds: float = 60.0, session: bytes | None = None
) -> list[Result]:
    """Run one program for each party at once; what each returns, in order. The first failure is raised."""
    places = seats(len(programs), session)
    posts = {
        (party, other): queue.SimpleQueue[Any]() for party in range(len(programs)) for other in places[party].others
    }
    results: dict[int, Result] = {}
    failures: list[tuple[int, BaseException]] = []

    def takes_part(me: int) -> None:
        try:
            results[me] = programs[me](ThreadConversation(places[me], posts, seconds))
        except BaseException as error:
            failures.append((me, error))
            for other in places[me].others:
                posts[me, other].put(_Ended())

    threads = [threading.Thread(target=takes_part, args=(me,), daemon=True) for me in range(len(programs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0][1]
    return [results[me] for me in range(len(programs))]
