"""One of three parties does what it should not: every other ends in time, says who and why, and writes nothing."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from sfumato.core.errors import SessionError
from sfumato.parties import secure_sum
from sfumato.parties.conversation import Seat
from sfumato.parties.network.connections import Link
from sfumato.parties.network.frames import HEAD, NOBODY, Kind, encode
from sfumato.parties.network.session import Limits, session_name
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import Asked, Taking, Took, run_party
from tests.parties.parties import PATIENT, Table, Villain, at_once, made

COLUMNS = {"columns": {"ward": ["A", "B"]}}
KEY = ("keys/public", bytes(31) + b"\x09")
Act = Callable[[Villain], None]


def taking(table: Table, me: int, folder: Path) -> Taking:
    protocol = catalog().protocol("counts")
    parameters = protocol.read(COLUMNS, table.session.names)
    asked = Asked(session=table.session, protocol=protocol, parameters=parameters)
    own = np.array([me + 1, 10])
    return Taking(asked=asked, me=me, own=own, key=table.keys[me], output=folder / f"out{me}", record=folder / f"r{me}")


AGAIN = "; nothing was written, and the session can be run again"
MAYBE = "; nothing was written here, but other parties may have written the result: ask them before you run it again"


def against(tmp_path: Path, act: Act, limits: Limits = PATIENT, ending: str = AGAIN) -> list[str]:
    """What the two honest parties say after the third has done its worst."""
    table = made(tmp_path, 3, limits, parameters=COLUMNS)

    def villain() -> None:
        with Villain(table) as one:
            with suppress(SessionError, OSError):  # they may have left already
                act(one)
            for peer in one.sockets:  # stay until they leave
                with suppress(SessionError, OSError):
                    while True:
                        one.read(peer)

    found = at_once([lambda me=me: run_party(taking(table, me, tmp_path)) for me in (0, 1)] + [villain])
    assert found[2] is None
    assert all(isinstance(one, SessionError) for one in found[:2])
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"{name}.{end}" for name in "abc" for end in ("key", "card")}, "something was written"
    said = [str(one) for one in found[:2]]
    assert all(one.endswith(ending) for one in said), said
    return said


def both(said: list[str], *words: str) -> None:
    for one in said:
        assert any(word in one for word in words), said


def to_both(change: Callable[[Villain, int, bytes], bytes]) -> Act:
    """After an honest beginning, the villain's first message goes to both, changed."""

    def act(one: Villain) -> None:
        one.greet()
        for peer in one.all():
            one.raw(peer, change(one, peer, one.frame(peer, Kind.DATA, *KEY)))

    return act


def patched(at: int, content: bytes) -> Callable[[Villain, int, bytes], bytes]:
    return lambda one, peer, frame: frame[:at] + content + frame[at + len(content) :]


def framed(kind: Kind, label: str, content: bytes) -> Callable[[Villain, int, bytes], bytes]:
    def change(one: Villain, peer: int, frame: bytes) -> bytes:
        one.sent[peer] -= 1
        return one.frame(peer, kind, label, content)

    return change


FAULTS: dict[str, tuple[Callable[[Villain, int, bytes], bytes], str]] = {
    "version": (patched(4, b"\x09"), "c broke the rules: frames of version 9 came"),
    "kind": (patched(5, b"\x07"), "c broke the rules: a frame of an unknown kind came"),
    "zero": (patched(7, b"\x01"), "c broke the rules: a frame of an unknown kind came"),
    "session": (patched(8, bytes(range(16))), "c broke the rules: a message of another session came"),
    "no session": (patched(8, bytes(16)), "c broke the rules: a message of another session came"),
    "number": (patched(24, (9).to_bytes(8, "big")), "c broke the rules: frame 9 came where frame 2 was due"),
    "too long": (patched(32, (1 << 61).to_bytes(8, "big")), "'keys/public' must have 32 bytes"),
    "impossibly long": (patched(32, b"\xff" * 8), "c broke the rules: a frame of kind DATA says 11 bytes of label"),
    "too short": (framed(Kind.DATA, "keys/public", bytes(31)), "must have 32 bytes, and 31 were announced"),
    "empty": (framed(Kind.DATA, "keys/public", b""), "must have 32 bytes, and 0 were announced"),
    "label": (framed(Kind.DATA, "sum/masked", bytes(16)), "'keys/public' is awaited, and 'sum/masked' came"),
    "early end": (framed(Kind.DATA, "session/done", b""), "'keys/public' is awaited, and 'session/done' came"),
    "no label": (framed(Kind.DATA, "", bytes(32)), "c broke the rules: a frame of kind DATA says 0 bytes of label"),
    "odd label": (patched(HEAD, b"\xff\xfe\x1b[2J"), "is awaited, and"),
    "heart with content": (framed(Kind.HEARTBEAT, "", b"x"), "a frame of kind HEARTBEAT says"),
    "long reason": (framed(Kind.END, "c", bytes(2_001)), "a frame of kind END says"),
    "replay": (lambda one, peer, frame: frame + frame, "frame 2 came where frame 3 was due: it was sent twice"),
    "garbage": (lambda one, peer, frame: bytes(range(7, 7 + HEAD)), "c broke the rules: what came is no frame"),
    "no point of the curve": (
        framed(Kind.DATA, "keys/public", bytes(32)),
        "c sent a public key that is no point of the curve",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_frame_that_must_not_be(tmp_path: Path, name: str):
    change, words = FAULTS[name]
    said = against(tmp_path, to_both(change))
    both(said, words, "ended the session: ")
    assert any(words in one for one in said), said


def closes(one: Villain, send: Callable[[Villain, int], None] = lambda one, peer: None) -> None:
    one.greet()
    for peer in one.all():
        send(one, peer)
        one.sockets[peer].close()
    one.sockets.clear()


def test_truncation(tmp_path: Path):
    def half(one: Villain, peer: int) -> None:
        one.raw(peer, one.frame(peer, Kind.DATA, *KEY)[:25])

    both(against(tmp_path, lambda one: closes(one, half)), "c dropped out: the connection broke off")


def test_a_message_without_its_end(tmp_path: Path):
    def half(one: Villain, peer: int) -> None:
        one.raw(peer, one.frame(peer, Kind.DATA, *KEY)[:-5])

    both(against(tmp_path, lambda one: closes(one, half)), "c dropped out: the connection broke off")


def test_dropping_out(tmp_path: Path):
    both(against(tmp_path, closes), "c dropped out: the connection broke off")


def sums(one: Villain, own: list[int]) -> None:
    """Greet the others and take part in a secure sum with these numbers."""
    secret = X25519PrivateKey.generate()
    shown = secret.public_key().public_bytes_raw()
    one.greet()
    for peer in one.all():
        one.send(peer, Kind.DATA, "keys/public", shown)
    seat = Seat(me=2, count=3, session=session_name(one.session.terms, [one.nonces[n] for n in range(3)]))
    keys = {}
    for peer in one.all():
        label, content = "", b""
        while label != "keys/public":
            label, content = one.read(peer)
        shared = secret.exchange(X25519PublicKey.from_public_bytes(content))
        keys[peer] = secure_sum._derived(shared, seat, peer, sorted((shown, content)))
    masked = secure_sum.PairwiseKeys(seat, keys).mask(2) + np.array([n % 2**64 for n in own], np.uint64)
    for peer in one.all():
        one.send(peer, Kind.DATA, "sum/masked", secure_sum.words_written(masked))


def test_dropping_out_before_the_last_word(tmp_path: Path):
    """A party that has its result and leaves without saying so: others write none, and hear that it may have one."""

    def act(one: Villain) -> None:
        sums(one, [0, 0])
        digests = {}
        for peer in one.all():
            while peer not in digests:
                label, content = one.read(peer)
                digests |= {peer: content} if label == "result/digest" else {}
            one.send(peer, Kind.DATA, "result/digest", digests[peer])
        for peer in one.all():
            while one.read(peer)[0] != "session/done":
                pass
        for peer in one.all():
            one.sockets[peer].close()
        one.sockets.clear()

    both(against(tmp_path, act, ending=MAYBE), "c dropped out: the connection broke off")


@pytest.mark.parametrize("shift", [3 * 10**8, 10**15, -(10**6), -(2**62)])
def test_counts_that_nobody_can_have(tmp_path: Path, shift: int):
    """A party that follows the protocol with other counts: which of the others it is, a secure sum does not show."""

    said = against(tmp_path, lambda one: sums(one, [shift, shift]))
    assert all("a count or sum of the parties is" in one or "ended the session" in one for one in said), said
    assert any("one of b, c put in other numbers" in one or "one of a, c put in other numbers" in one for one in said)


def test_only_the_party_that_stalls_is_named(tmp_path: Path):
    """The last party sends its key to one of the others: the other waits for it, and the first waits for both."""

    def act(one: Villain) -> None:
        one.greet()
        one.send(0, Kind.DATA, *KEY)
        for _ in range(100):
            for peer in one.all():
                one.send(peer, Kind.HEARTBEAT)
            threading.Event().wait(0.05)

    for text in against(tmp_path, act, Limits(join=20, silence=20, step=1)):
        assert "c sent no 'keys/public' for 1 seconds" in text
        assert "a sent no" not in text
        assert "b, c" not in text


def test_a_party_that_was_late_is_not_blamed_for_another(tmp_path: Path):
    """The second party calls the first before it is there; then only the third is missing."""
    table = made(tmp_path, 3, Limits(join=2, silence=20, step=20), parameters=COLUMNS)

    def late() -> Any:
        threading.Event().wait(0.6)
        return run_party(taking(table, 0, tmp_path))

    said = at_once([late, lambda: run_party(taking(table, 1, tmp_path))])
    assert "c did not come within 2 seconds; " in str(said[1]), said


def test_hanging(tmp_path: Path):
    said = against(tmp_path, Villain.greet, Limits(join=20, silence=1, step=20))
    both(said, "c was silent for 1 seconds")


def test_hanging_in_the_middle_of_a_message(tmp_path: Path):
    act = to_both(lambda one, peer, frame: frame[:-1])
    both(against(tmp_path, act, Limits(join=20, silence=1, step=20)), "c was silent for 1 seconds")


def test_alive_and_nothing_else(tmp_path: Path):
    """Signs of life without the message: the limit of a step ends it."""

    def act(one: Villain) -> None:
        one.greet()
        for _ in range(100):
            for peer in one.all():
                one.send(peer, Kind.HEARTBEAT)
            threading.Event().wait(0.05)

    said = against(tmp_path, act, Limits(join=20, silence=20, step=1))
    both(said, "c sent no 'keys/public' for 1 seconds")


def test_hanging_before_the_greeting(tmp_path: Path):
    def act(one: Villain) -> None:
        for peer in one.all():
            one.connect(peer)

    both(against(tmp_path, act, Limits(join=20, silence=1, step=20)), "c was silent for 1 seconds")


def test_an_end_says_why_to_all(tmp_path: Path):
    act = to_both(framed(Kind.END, "c", b"no more \x1b[2J"))
    both(against(tmp_path, act), "c ended the session: no more \\x1b[2J")


def test_different_random_bytes_for_different_parties(tmp_path: Path):
    both(
        against(tmp_path, lambda one: one.greet([b"1" * 32, b"2" * 32])),
        "a message of another session came",
        "gives this run another name",
    )


def test_random_bytes_sent_back(tmp_path: Path):
    def act(one: Villain) -> None:
        for peer in one.all():
            one.connect(peer)
            came = one.read(peer)[1]
            one.send(peer, Kind.DATA, "session/hello", one.hello(came[32:64]))

    both(against(tmp_path, act), "c sent back our own random bytes")


@pytest.mark.parametrize("length", [10, 1 << 31])
def test_terms_that_are_none(tmp_path: Path, length: int):
    def act(one: Villain) -> None:
        for peer in one.all():
            one.connect(peer)
            one.send(peer, Kind.DATA, "session/hello", bytes(64) + length.to_bytes(4, "big"))
            if length == 10:
                one.send(peer, Kind.DATA, "session/terms", b"[[[[[]]]]]")

    both(against(tmp_path, act), "sent terms that are no digests by key", "announces terms of 2147483648 bytes")


def test_the_same_session_runs_after_a_failure(tmp_path: Path):
    table = made(tmp_path, 3, parameters=COLUMNS)

    def villain() -> None:
        with Villain(table) as one:
            closes(one)

    failed = at_once([lambda me=me: run_party(taking(table, me, tmp_path)) for me in (0, 1)] + [villain])
    assert all(isinstance(one, SessionError) for one in failed[:2])
    took = at_once([lambda me=me: run_party(taking(table, me, tmp_path)) for me in range(3)])
    assert all(isinstance(one, Took) for one in took), took
    assert [one.result.rows for one in took] == [[["A", 6], ["B", 30]]] * 3
    assert {path.name for path in (tmp_path / "out0").iterdir()} == {"manifest.json", "data.json", "report.html"}


def heard(content: bytes, wanted: list[tuple[str, int]]) -> list[bytes] | str:
    """What a link makes of bytes that come over a socket: its messages, or the one thing that it says."""

    async def listen() -> list[bytes] | str:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        link = Link("c", reader, writer, PATIENT)
        listening = asyncio.ensure_future(link.listen())
        theirs.setblocking(False)
        await asyncio.get_running_loop().sock_sendall(theirs, content)
        theirs.close()
        link.greeted = True
        waits = [asyncio.ensure_future(link.receive(*one)) for one in wanted]
        try:
            await asyncio.wait({listening, *waits}, return_when=asyncio.FIRST_EXCEPTION, timeout=20)
            if listening.done() and (fault := listening.exception()) is not None:
                assert isinstance(fault, SessionError), fault
                return str(fault)
            return [wait.result() for wait in waits]
        finally:
            for one in (listening, *waits):
                one.cancel()
            await asyncio.gather(listening, *waits, return_exceptions=True)
            await link.close()

    return asyncio.run(listen())


def stream(messages: list[tuple[Kind, str, bytes]]) -> bytes:
    return b"".join(
        encode(kind, tag=NOBODY, number=number, label=label, content=content) + content
        for number, (kind, label, content) in enumerate(messages)
    )


SPOKEN: list[tuple[Kind, str, bytes]] = [
    (Kind.DATA, "one", b"abc"),
    (Kind.HEARTBEAT, "", b""),
    (Kind.DATA, "two", bytes(70)),
    (Kind.DATA, "session/done", b""),
]
WANTED = [("one", 3), ("two", 70), ("session/done", 0)]


def test_streams_of_fuzzed_frames_over_a_socket():
    """Whatever comes, a link says one thing and ends, or gives messages of exactly the awaited lengths."""
    good = stream(SPOKEN)
    assert heard(good, WANTED) == [b"abc", bytes(70), b""]
    draw, refused = random.Random(5), 0
    for _ in range(300):
        found = heard(mutated(draw, good), WANTED)
        if isinstance(found, str):
            refused += found.startswith(("c broke the rules: ", "c dropped out: ", "c ended the session: "))
        else:
            assert [len(one) for one in found] == [3, 70, 0]
            refused += 1
    assert refused == 300


def mutated(draw: random.Random, good: bytes) -> bytes:
    data = bytearray(good)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data))
        act = draw.randrange(5)
        if act == 0:
            data[at] = draw.randrange(256)
        elif act == 1:
            data[at] ^= 1 << draw.randrange(8)
        elif act == 2:
            del data[at : at + draw.randint(1, 60)]
        elif act == 3:
            data[at:at] = draw.randbytes(draw.randint(1, 60))
        else:
            data[at:at] = data[at : at + 40]
    return bytes(data) or b"\0"


@pytest.mark.parametrize(("count", "into"), [(0, ""), (25, ", 25 bytes into a frame"), (44, ", 1 bytes into a frame")])
def test_a_stream_that_breaks_off(count: int, into: str):
    assert heard(stream(SPOKEN)[:count], WANTED) == f"c dropped out: the connection broke off{into}"


def test_known_bad_a_link_that_counts_nothing_takes_a_replay(monkeypatch: pytest.MonkeyPatch):
    """The suite would see it: without the check of numbers the replay is taken."""
    twice = stream(SPOKEN[:1]) + stream([(Kind.DATA, "one", b"abc"), *SPOKEN[2:]])
    assert "was due" in heard(twice, [("one", 3), *WANTED])

    def careless(raw: bytes, *, number: int) -> Any:
        from sfumato.parties.network.frames import decode

        return decode(raw, number=int.from_bytes(raw[24:32], "big"))

    monkeypatch.setattr("sfumato.parties.network.connections.decode", careless)
    assert heard(twice, [("one", 3), *WANTED]) == [b"abc", b"abc", bytes(70), b""]
