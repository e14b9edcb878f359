"""All connections of one party in one session: everybody comes, messages go round, and one fault ends it for all."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sfumato.collaborate.exchange import Exchange, Seat
from sfumato.collaborate.wire.framing import TAG, Kind
from sfumato.collaborate.wire.greeting import greeting, session_name
from sfumato.collaborate.wire.link import Link, PeerEnded
from sfumato.collaborate.wire.party_cards import Address
from sfumato.collaborate.wire.pinned_tls import dialling, listening, shown_certificate
from sfumato.collaborate.wire.session_file import Session
from sfumato.ground.errors import SessionError
from sfumato.ground.secret_key import fresh_key

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
        run = session_name(self._session.terms, [self._nonces[one] for one in range(len(names))])
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
        origin, told = self._name, reason or str(error)
        if isinstance(error, PeerEnded):
            origin, told = error.origin, error.reason
        self._last = (origin, told)
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
            for one in (task, over):
                one.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(task, over, return_exceptions=True)

    async def _server(self) -> asyncio.Server:
        place = self._session.places[self._me].address
        at = self._listen or place
        host = at.host if self._listen or place.loopback else None
        peers = [one.card.certificate for one in self._session.places[self._me + 1 :]]
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
        shown = shown_certificate(writer.get_extra_info("ssl_object"))
        numbers = {one.card.certificate: number for number, one in enumerate(self._session.places)}
        peer = numbers.get(shown, -1)
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
