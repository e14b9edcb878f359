"""Parties on loopback for tests: honest ones in threads, and one that does what it wants with the bytes."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.core.errors import SessionError
from sfumato.parties.network.certificates import Address, PartyKey, dialling, listening
from sfumato.parties.network.frames import HEAD, NOBODY, TAG, Kind, decode, encode
from sfumato.parties.network.session import Limits, Place, Session, digest_of, session_name, terms_bytes

PATIENT = Limits(join=20, silence=20, step=20)
"""Nobody is late."""
BOUND = 30.0
"""No test waits longer."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Everybody who may sit down."""

    session: Session
    keys: tuple[Path, ...]

    def changed(self, **more: Any) -> Session:
        return replace(self.session, **more)


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def made(folder: Path, count: int, limits: Limits = PATIENT, names: Sequence[str] = "abcdefg", **more: Any) -> Table:
    places, keys = [], []
    for name, port in zip(names[:count], free_ports(count), strict=True):
        party = PartyKey.new(name, Address(host="127.0.0.1", port=port))
        key, _ = party.write(folder)
        places.append(Place(card=party.card, address=party.card.address, key=key))
        keys.append(key)
    session = Session(protocol="counts", places=tuple(places), limits=limits, **more)
    return Table(session=session, keys=tuple(keys))


def at_once(programs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run programs in threads; what each returns, or the refusal that it ends with. Nobody hangs."""
    results: dict[int, Any] = {}

    def run(number: int) -> None:
        try:
            results[number] = programs[number]()
        except SessionError as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(programs))]
    for one in threads:
        one.start()
    for one in threads:
        one.join(BOUND)
    assert not any(one.is_alive() for one in threads), "somebody hangs"
    assert sorted(results) == list(range(len(programs))), "somebody ended with a traceback"
    return [results[number] for number in range(len(programs))]


class Villain:
    """The last party of a table: it dials, greets as it should, and then sends whatever it likes."""

    def __init__(self, table: Table, key: Path | None = None) -> None:
        self.session = table.session
        self.me = len(table.keys) - 1
        self.key = key or table.keys[-1]
        self.sockets: dict[int, ssl.SSLSocket] = {}
        self.nonces: dict[int, bytes] = {self.me: bytes([self.me]) * 32}
        self.sent: dict[int, int] = {}
        self.heard: dict[int, int] = {}
        self.tag = NOBODY

    def __enter__(self) -> Villain:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.sockets.values():
            one.close()

    def connect(self, peer: int) -> None:
        place = self.session.places[peer]
        raw = dial(place.address)
        self.sockets[peer] = dialling(self.key, place.card.certificate).wrap_socket(raw)
        self.sent[peer] = self.heard[peer] = 0

    def send(self, peer: int, kind: Kind, label: str = "", content: bytes = b"") -> bytes:
        frame = self.frame(peer, kind, label, content)
        self.raw(peer, frame)
        return frame

    def frame(self, peer: int, kind: Kind, label: str = "", content: bytes = b"") -> bytes:
        made = encode(kind, tag=self.tag, number=self.sent[peer], label=label, content=content)
        self.sent[peer] += 1
        return made + content

    def raw(self, peer: int, content: bytes) -> None:
        self.sockets[peer].sendall(content)

    def read(self, peer: int) -> tuple[str, bytes]:
        """The next message of an honest party; heartbeats are passed over."""
        while True:
            head = decode(self.exactly(peer, HEAD), number=self.heard[peer])
            self.heard[peer] += 1
            label, content = self.exactly(peer, head.label), self.exactly(peer, head.length)
            if head.kind != Kind.HEARTBEAT:
                return label.decode(), content

    def exactly(self, peer: int, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.sockets[peer].recv(count - len(data))
            if not piece:
                raise SessionError("closed")
            data += piece
        return data

    def hello(self, nonce: bytes | None = None) -> bytes:
        terms = self.session.terms
        return digest_of(terms) + (nonce or self.nonces[self.me]) + len(terms_bytes(terms)).to_bytes(4, "big")

    def greet(self, nonces: Sequence[bytes] | None = None) -> None:
        for peer in range(self.me):
            self.connect(peer)
            self.send(peer, Kind.DATA, "session/hello", self.hello(None if nonces is None else nonces[peer]))
        for peer in range(self.me):
            label, content = self.read(peer)
            assert label == "session/hello"
            self.nonces[peer] = content[32:64]
        run = session_name(self.session.terms, [self.nonces[one] for one in range(self.me + 1)])
        self.tag = run[:TAG]
        for peer in range(self.me):
            self.send(peer, Kind.DATA, "session/ready", run)

    def all(self) -> range:
        return range(self.me)


def dial(address: Address) -> socket.socket:
    """A connection as soon as somebody listens."""
    for _ in range(1000):
        try:
            found = socket.create_connection((address.host, address.port), timeout=BOUND)
        except ConnectionRefusedError:
            threading.Event().wait(0.02)
        else:
            return found
    raise SessionError("nobody listens")


def imposter(table: Table, number: int, key: Path) -> Callable[[], None]:
    """Somebody who listens at a party's address with another key, until nobody calls any more."""

    def listen() -> None:
        place = table.session.places[number]
        others = [one.card.certificate for one in table.session.places if one is not place]
        context = listening(key, others, lambda: None)
        with socket.create_server((place.address.host, place.address.port)) as server:
            server.settimeout(2)
            for _ in others:
                try:
                    taken, _ = server.accept()
                except TimeoutError:
                    return
                taken.settimeout(BOUND)
                try:
                    context.wrap_socket(taken, server_side=True).close()
                except OSError:
                    taken.close()

    return listen
