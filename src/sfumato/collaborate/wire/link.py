"""A connection to one other party: frames out, frames in, each checked; what is not awaited is not read."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass

from sfumato.collaborate.wire.framing import HEAD, MOST_REASON, NOBODY, Head, Kind, check_data, decode, encode
from sfumato.collaborate.wire.greeting import DONE
from sfumato.collaborate.wire.session_file import Limits
from sfumato.ground.errors import SessionError, visible

_PIECE = 1 << 18
_FULL = 1 << 16
"""While so many bytes wait to be sent, no sign of life is added to them."""
_GRACE = 1.0
"""Seconds that the last bytes have to leave."""


class PeerEnded(SessionError):
    """Another party ended the session."""

    def __init__(self, origin: str, reason: str, teller: str) -> None:
        """Who ended it, why, and who told us."""
        told = "" if origin == teller else f" (told by {teller})"
        super().__init__(f"{origin} ended the session: {reason}{told}")
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
