"""Connections of one party to all others: framed links, delivery, and a common end."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sfumato.core.errors import SessionError, visible
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Exchange, Seat
from sfumato.parties.network.certificates import Address, dialling, listening, shown_certificate
from sfumato.parties.network.frames import HEAD, MOST_REASON, NOBODY, TAG, Head, Kind, check_data, decode, encode
from sfumato.parties.network.session import DONE, Limits, Session, greeting, session_name

# A connection to one other party: frames out, frames in, each checked; what is not awaited is not read.


_PIECE = 1 << 18
_FULL = 1 << 16
"""While so many bytes wait to be sent, no sign of life is added to them."""
_GRACE = 1.0
"""Seconds that the last bytes have to leave."""


class PeerEnded(SessionError):
    """Another party ended the session."""

    def __init__(self, origin: str, reason: str, teller: str) -> None:
        """Who ended it, why, and who told us."""
        suffix = "" if origin == teller else f" (told by {teller})"
        super().__init__(f"{origin} ended the session: {reason}{suffix}")
        self.origin = origin
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """A message that a talk awaits."""

    label: str
    length: int
    content: asyncio.Future[bytes]


class Link:
    """One side of a connection to a peer, in the thread of the event loop."""

    def __init__(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits) -> None:
        """A connection that TLS has set up, to the party of this name."""
        self.name = name
        self.tag = NOBODY
        self.greeted = False
        self._theirs = NOBODY
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._sent = self._heard = 0
        self._wanted: asyncio.Queue[_Wanted] = asyncio.Queue()

    def send(self, kind: Kind, label: str = "", content: bytes = b"") -> None:
        """Hand a frame to the system; it leaves as fast as the connection takes it."""
        if self._writer.is_closing():
            return
        self._writer.write(encode(kind, tag=self.tag, number=self._sent, label=label, content=content))
        self._sent += 1
        if content:
            self._writer.write(content)

    def beat(self) -> None:
        """Give a sign of life, unless enough is under way already."""
        if self._writer.transport.get_write_buffer_size() < _FULL:
            self.send(Kind.HEARTBEAT)

    def end(self, origin: str, reason: str) -> None:
        """Tell the peer that the session has ended, and why."""
        self.send(Kind.END, origin, reason.encode()[:MOST_REASON])

    async def receive(self, label: str, length: int) -> bytes:
        """The next message, which must have this label and exactly this length."""
        content: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._wanted.put_nowait(_Wanted(label=label, length=length, content=content))
        return await content

    async def listen(self) -> None:
        """Read frames until the session is done; whatever is wrong is raised as a ``SessionError``."""
        last = ""
        while last != DONE:
            raw = await self._read(HEAD)
            with self._rules():
                head = decode(raw, number=self._heard)
                self._same_session(head.tag)
            self._heard += 1
            if head.kind == Kind.END:
                raise await self._ended(head)
            if head.kind == Kind.DATA:
                last = await self._deliver(head)
        with suppress(OSError):
            while await self._reader.read(_PIECE):  # signs of life until the peer is done too
                pass

    async def close(self) -> None:
        """Close the connection; what was sent may still leave for a moment."""
        self._writer.close()
        try:
            async with asyncio.timeout(_GRACE):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self._writer.transport.abort()

    async def _deliver(self, head: Head) -> str:
        label = await self._read(head.label)
        wanted = await self._wanted.get()
        with self._rules():
            check_data(head, label, tag=self.tag, wanted=wanted.label, length=wanted.length)
        content = await self._read(head.length)
        if not wanted.content.done():
            wanted.content.set_result(content)
        return wanted.label

    async def _ended(self, head: Head) -> PeerEnded:
        origin = (await self._read(head.label)).decode(errors="replace") or self.name
        reason = (await self._read(head.length)).decode(errors="replace")
        return PeerEnded(visible(origin), visible(reason), self.name)

    def _same_session(self, tag: bytes) -> None:
        """A peer names its session once, and that is ours; from then on it names no other."""
        if tag != self._theirs and (self._theirs != NOBODY or self.tag not in (NOBODY, tag)):
            raise SessionError("a message of another session came")
        self._theirs = tag

    async def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                async with asyncio.timeout(self._limits.silence):
                    piece = await self._reader.read(min(count - len(data), _PIECE))
            except TimeoutError:
                raise SessionError(f"{self.name} was silent for {self._limits.silence:g} seconds") from None
            except OSError as error:
                raise SessionError(self._lost(error)) from None
            if not piece:
                raise SessionError(self._lost(None, len(data)))
            data += piece
        return bytes(data)

    def _lost(self, error: OSError | None, read: int = 0) -> str:
        if not self.greeted:
            refused = isinstance(error, ssl.SSLError)
            why = "does not accept our certificate" if refused else "left before it had greeted us"
            return f"{self.name} {why}; it may hold another card of ours, or another session"
        middle = f", {read} bytes into a frame" if read else ""
        return f"{self.name} dropped out: the connection broke off{middle}"

    def _rules(self) -> _Named:
        return _Named(self.name)


class _Named:
    """A block whose refusals name the party that they are about."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SessionError):
            raise SessionError(f"{self._name} broke the rules: {error}") from None


# All connections of one party in one session: everybody comes, messages go round, and one fault ends it for all.


_AGAIN = 0.2
"""Seconds after which a party that is not there yet is called again."""
_BUFFER = 1 << 20
_LINGER = 1.0
"""Seconds in which a party that gives up before all have come still tells whoever comes."""
_HEARSAY = 2.0
"""Seconds in which a party that waits for several others may still hear which of them is the one that stalls."""
Value = TypeVar("Value")


class Meeting:
    """One party's place in a run of a session, in the thread of the event loop.

    Of two parties the one with the lower number listens and the other dials. Nobody connects twice.
    """

    def __init__(self, session: Session, me: int, key: Path, *, listen: Address | None = None) -> None:
        """``key`` is this party's own; ``listen`` says where to listen if not where others reach it."""
        self.error: SessionError | None = None
        self._session = session
        self._me = me
        self._key = key
        self._listen = listen
        self._links: dict[int, Link] = {}
        self._nonces = {me: fresh_key()}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._over = asyncio.Event()
        self._here = asyncio.Event()
        self._knocks = 0
        self._why_not: dict[int, str] = {}
        """Why each party could not be reached the last time that it was called."""
        self._last = ("", "")
        self._listener: asyncio.Server | None = None

    @property
    def _name(self) -> str:
        return self._session.names[self._me]

    async def join(self) -> Seat:
        """Connect to everybody and agree on the session; the party's seat."""
        names, me = self._session.names, self._me
        self._listener = await self._server() if me < len(names) - 1 else None
        for peer in range(me):
            self._start(self._dial(peer))
        self._start(self._beats())
        await self._until(self._here.wait(), self._session.limits.join, self._who_is_missing)
        if self._listener is not None:
            self._listener.close()
        run = session_name(self._session.terms, [self._nonces[party] for party in range(len(names))])
        for link in self._links.values():
            link.tag = run[:TAG]
        return Seat(me=me, count=len(names), session=run)

    async def exchange(self, step: Exchange) -> dict[int, bytes]:
        """Send what a step sends and give back what it expects."""
        for peer, content in step.send.items():
            self._links[peer].send(Kind.DATA, step.label, content)
        waits = {
            peer: asyncio.ensure_future(self._links[peer].receive(step.label, n)) for peer, n in step.expect.items()
        }

        def missing() -> list[str]:
            return [self._session.names[peer] for peer, wait in waits.items() if not wait.done()]

        def late() -> str:
            return f"{', '.join(missing())} sent no {step.label!r} for {self._session.limits.step:g} seconds"

        try:
            came = await self._until(
                asyncio.gather(*waits.values()), self._session.limits.step, late, ask=lambda: len(missing()) > 1
            )
        finally:
            for wait in waits.values():
                wait.cancel()
        return dict(zip(waits, came, strict=True))

    def fail(self, error: SessionError, reason: str | None = None) -> None:
        """End the session for everybody; only the first fault counts. ``reason`` is what the others are told."""
        if self._over.is_set():
            return
        self.error = error
        origin, message = self._name, reason or str(error)
        if isinstance(error, PeerEnded):
            origin, message = error.origin, error.reason
        self._last = (origin, message)
        for link in self._links.values():
            link.end(*self._last)
        self._over.set()

    async def over(self) -> None:
        """Wait until the session is over for this party."""
        await self._over.wait()

    def leave(self) -> None:
        """All is done: nothing more is sent or awaited."""
        self._over.set()

    async def close(self) -> None:
        """Close every connection; whoever comes just now is told why."""
        if self.error is not None and len(self._links) < len(self._session.places) - 1:
            await asyncio.sleep(_LINGER)
        if self._listener is not None:
            self._listener.close()
        await asyncio.gather(*(link.close() for link in self._links.values()))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._noted)

    def _noted(self, task: asyncio.Task[Any]) -> None:
        """A fault in any connection ends the session."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        odd = f"{self._name} cannot go on ({type(error).__name__})"
        self.fail(error if isinstance(error, SessionError) else SessionError(odd))

    async def _until(
        self,
        work: Awaitable[Value],
        seconds: float,
        late: Callable[[], str],
        ask: Callable[[], bool] = lambda: False,
    ) -> Value:
        """What comes in time; the fault that ended the session, or that it did not come, is raised.

        Where ``ask`` says that several parties are late, most of them only wait for another one. Each of them knows for
        whom, and ends the session with that name at about this time: so their word is awaited a little longer.
        """
        task, over = asyncio.ensure_future(work), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({task, over}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not self._over.is_set() and ask():
                await asyncio.wait({task, over}, timeout=_HEARSAY, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not self._over.is_set():
                self.fail(SessionError(late()))
            if self._over.is_set():
                raise self.error or SessionError("the session is over")
            return task.result()
        finally:
            for future in (task, over):
                future.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(task, over, return_exceptions=True)

    async def _server(self) -> asyncio.Server:
        place = self._session.places[self._me].address
        at = self._listen or place
        host = at.host if self._listen or place.loopback else None
        peers = [other_place.card.certificate for other_place in self._session.places[self._me + 1 :]]
        try:
            return await asyncio.start_server(
                self._came,
                host,
                at.port,
                ssl=listening(self._key, peers, self._knocked),
                limit=_BUFFER,
                ssl_handshake_timeout=self._session.limits.silence,
                ssl_shutdown_timeout=1.0,
            )
        except OSError as error:
            why = error.strerror or error
            raise SessionError(f"{self._name} cannot listen at {at}: {why}; --listen names another address") from None

    def _knocked(self) -> None:
        self._knocks += 1

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody connected with a certificate of the session; once each."""
        certificate = shown_certificate(writer.get_extra_info("ssl_object"))
        numbers = {place.card.certificate: number for number, place in enumerate(self._session.places)}
        peer = numbers.get(certificate, -1)
        if peer <= self._me or peer in self._links:
            writer.close()
            return
        self._start(self._greet(peer, reader, writer))

    async def _dial(self, peer: int) -> None:
        """Call a peer until it is there."""
        place = self._session.places[peer]
        context = dialling(self._key, place.card.certificate)
        while True:
            try:
                reader, writer = await asyncio.open_connection(
                    place.address.host,
                    place.address.port,
                    ssl=context,
                    server_hostname="",
                    limit=_BUFFER,
                    ssl_handshake_timeout=self._session.limits.silence,
                    ssl_shutdown_timeout=1.0,
                )
                break
            except ssl.SSLCertVerificationError:
                raise SessionError(
                    f"{place.address} answers with another certificate than that on the card of {place.card.name}"
                ) from None
            except ssl.SSLError as error:
                raise SessionError(f"{place.card.name} at {place.address}: no TLS 1.3 ({error.reason})") from None
            except OSError as error:
                self._why_not[peer] = f" ({place.address}: {error.strerror or error})"
            await asyncio.sleep(_AGAIN)
        if shown_certificate(writer.get_extra_info("ssl_object")) != place.card.certificate:
            writer.close()
            raise SessionError(f"{place.address} shows another certificate than that on the card of {place.card.name}")
        self._why_not.pop(peer, None)
        await self._greet(peer, reader, writer)

    async def _greet(self, peer: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the first exchange with a peer that has connected."""
        names = self._session.names
        link = self._links[peer] = Link(names[peer], reader, writer, self._session.limits)
        if self._over.is_set():
            link.end(*self._last)
            return
        self._start(link.listen())
        talk = greeting(self._session.terms, self._nonces[self._me], peer=peer, names=names, me=self._me)
        answer: Mapping[int, bytes] | None = None
        while True:
            try:
                step = talk.send(answer)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as agreed:
                self._nonces[peer] = agreed.value
                break
            answer = await self.exchange(step)
        link.greeted = True
        if len(self._nonces) == len(names):
            self._here.set()

    async def _beats(self) -> None:
        while True:
            await asyncio.sleep(self._session.limits.beat)
            for link in self._links.values():
                link.beat()

    def _who_is_missing(self) -> str:
        missing = [number for number in range(len(self._session.names)) if number not in self._nonces]
        reasons = "".join(self._why_not.get(number, "") for number in missing)
        refused = self._knocks - sum(peer > self._me for peer in self._links)
        strangers = f"; {refused} came with a certificate that is on no card" if refused > 0 else ""
        names = ", ".join(self._session.names[number] for number in missing)
        return f"{names} did not come within {self._session.limits.join:g} seconds{reasons}{strangers}"
