"""Talks over real sockets on loopback: mutual TLS 1.3, 2, 3 and 7 parties, and honest parties that differ."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.core.errors import SessionError
from sfumato.parties.conversation import Exchange, Seat, Talk, Transcript, to_all
from sfumato.parties.network.certificates import Address, PartyKey
from sfumato.parties.network.session import Limits, Session
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.parties.secure_sum import agree_keys, ring_sum, secure_sum
from tests.parties.parties import Table, at_once, dial, imposter, made


def chatter(seat: Seat, size: int) -> Talk[dict[int, bytes]]:
    """Everybody sends everybody a message of its own size."""
    own = bytes([seat.me]) * (size + seat.me)
    came = yield Exchange(
        label="chat",
        send=dict.fromkeys(seat.others, own),
        expect={other: size + other for other in seat.others},
    )
    return dict(came)


def takes_part(session: Session, me: int, key: Path, program: Any) -> Any:
    with NetworkConversation(session, me, key) as conversation:
        result = program(conversation)
        conversation.finish()
    return result


def everybody(table: Table, program: Any) -> list[Any]:
    return at_once(
        [lambda me=me: takes_part(table.session, me, table.keys[me], program) for me in range(len(table.keys))]
    )


@pytest.mark.parametrize("count", [2, 3, 7])
def test_everybody_hears_everybody(tmp_path: Path, count: int):
    def program(conversation: NetworkConversation) -> Any:
        seat = conversation.seat
        small, large = conversation.run(chatter(seat, 0)), conversation.run(chatter(seat, 300_000))
        assert conversation.meter.rounds == 3
        assert conversation.meter.sent == (count - 1) * (300_000 + 2 * seat.me + 32)
        return small, large, seat.session

    found = everybody(made(tmp_path, count), program)
    for me, (small, large, session) in enumerate(found):
        assert small == {other: bytes([other]) * other for other in range(count) if other != me}
        assert {other: (set(one), len(one)) for other, one in large.items()} == {
            other: ({other}, 300_000 + other) for other in range(count) if other != me
        }
        assert session == found[0][2]


def test_sums_over_sockets_and_fresh_names_for_every_run(tmp_path: Path):
    table = made(tmp_path, 3)
    values = np.array([[2**62, -5, 0], [1, 2, 3], [2**62, 4, -7]])

    def program(conversation: NetworkConversation) -> Any:
        seat = conversation.seat
        keys = conversation.run(agree_keys(seat))
        first = conversation.run(secure_sum(seat, keys, values[seat.me]))
        many = conversation.run(secure_sum(seat, keys, np.arange(5_000) + seat.me))
        return first.tolist(), many.sum(), conversation.run(ring_sum(seat, values[seat.me])).tolist(), seat.session

    runs = [everybody(table, program) for _ in range(2)]
    total = [-(2**63) + 1, 1, -4]
    for found in runs:
        for first, many, ring, _ in found:
            assert first == total == ring
            assert many == 3 * sum(range(5_000)) + 3 * 5_000
    assert runs[0][0][3] != runs[1][0][3]


def test_a_recorder_notes_what_goes_over_the_wire(tmp_path: Path):
    table = made(tmp_path, 2)
    notes = [Transcript(), Transcript()]

    def program(me: int) -> None:
        with NetworkConversation(table.session, me, table.keys[me], transcript=notes[me]) as conversation:
            conversation.run(chatter(conversation.seat, 5))
            conversation.finish()

    assert at_once([lambda: program(0), lambda: program(1)]) == [None, None]
    assert [one.content for one in notes[0].received("chat")] == [b"\x01" * 6]
    assert [one.label for one in notes[1].messages if one.sent] == ["session/ready", "chat", "session/done"]


def test_both_may_send_much_before_either_reads(tmp_path: Path):
    """Sending waits for nobody: two large messages that cross do not lock both parties."""
    size = 6_000_000

    def crossing(seat: Seat) -> Talk[int]:
        yield Exchange(label="out", send=dict.fromkeys(seat.others, bytes(size)))
        came = yield Exchange(label="out", expect=dict.fromkeys(seat.others, size))
        return sum(map(len, came.values()))

    assert everybody(made(tmp_path, 2), lambda one: one.run(crossing(one.seat))) == [size, size]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"parameters": {"columns": {"ward": ["A"]}}}, "'parameters.columns.ward'"),
        ({"parameters": {"columns": {"ward": ["A", "B"]}, "k": 3}}, "only that of c has 'parameters.k'"),
        ({"protocol": "others"}, "'protocol'"),
        ({"protocol_version": 2}, "'protocol version'"),
        ({"limits": Limits(join=20, silence=20, step=21)}, "'limits.step'"),
    ],
)
def test_a_difference_is_named_at_every_party(tmp_path: Path, change: dict[str, Any], key: str):
    table = made(tmp_path, 3, parameters={"columns": {"ward": ["A", "B"]}})
    sessions = [table.session, table.session, table.changed(**change)]
    found = at_once([lambda me=me: takes_part(sessions[me], me, table.keys[me], None) for me in range(3)])
    for error in found:
        assert isinstance(error, SessionError)
        assert key in str(error)
        assert "c" in str(error)


def test_another_version_of_sfumato_is_named(tmp_path: Path):
    table = made(tmp_path, 2)
    other = table.changed()
    other.terms["sfumato"] = "9" * 64
    found = at_once(
        [
            lambda: takes_part(table.session, 0, table.keys[0], None),
            lambda: takes_part(other, 1, table.keys[1], None),
        ]
    )
    assert all("differ at 'sfumato'" in str(one) for one in found)


def test_the_order_of_keys_in_a_file_means_nothing(tmp_path: Path):
    table = made(tmp_path, 2, parameters={"b": {"y": 1, "x": [{"q": 1, "p": 2}]}, "a": 2})
    same = table.changed(parameters={"a": 2, "b": {"x": [{"p": 2, "q": 1}], "y": 1}})
    assert same.terms == table.session.terms
    assert str(same.parameters) == str(table.session.parameters)


def test_one_knows_of_a_party_that_the_other_does_not(tmp_path: Path):
    table = made(tmp_path, 3)
    fewer = table.changed(places=table.session.places[:2])
    found = at_once(
        [
            lambda: takes_part(table.session, 0, table.keys[0], None),
            lambda: takes_part(fewer, 1, table.keys[1], None),
        ]
    )
    assert all("'parties.c'" in str(one) for one in found)


def test_a_refusal_of_one_ends_it_for_all_and_is_not_told(tmp_path: Path):
    table = made(tmp_path, 3)

    def program(conversation: NetworkConversation) -> None:
        if conversation.seat.me == 1:
            raise SessionError("row 7 has the diagnosis B20")
        conversation.run(chatter(conversation.seat, 1))
        conversation.run(chatter(conversation.seat, 1))

    found = everybody(table, program)
    assert str(found[1]) == "row 7 has the diagnosis B20"
    for one in (found[0], found[2]):
        assert str(one).startswith("b ended the session: its program left")


def test_a_talk_that_refuses_ends_it_for_all(tmp_path: Path):
    def careful(seat: Seat) -> Talk[None]:
        yield to_all(seat, "one", b"x")
        if seat.me == 0:
            raise SessionError("that cannot be")
        yield to_all(seat, "two", b"x")

    def program(conversation: NetworkConversation) -> None:
        with pytest.raises(SessionError, match=r"that cannot be|a ended the session"):
            conversation.run(careful(conversation.seat))
        conversation.run(careful(conversation.seat))  # nothing runs any more

    found = everybody(made(tmp_path, 3), program)
    assert str(found[0]) == "that cannot be"
    assert all(str(one).startswith("a ended the session: it does not accept what came") for one in found[1:])


def test_a_party_that_never_comes(tmp_path: Path):
    table = made(tmp_path, 3, Limits(join=1, silence=20, step=20))
    found = at_once([lambda me=me: takes_part(table.session, me, table.keys[me], None) for me in (0, 1)])
    assert all("c did not come within 1 seconds" in str(one) for one in found)
    found = at_once([lambda me=me: takes_part(table.session, me, table.keys[me], None) for me in (1, 2)])
    assert all("a did not come within 1 seconds (127.0.0.1:" in str(one) for one in found)


def test_wrong_certificate_of_one_who_dials(tmp_path: Path):
    """The listener waits for the right one until the stated limit; whoever was refused knows at once."""
    table = made(tmp_path, 2, Limits(join=1.5, silence=20, step=20))
    (tmp_path / "other").mkdir()
    key, _ = PartyKey.new("b", table.session.places[1].address).write(tmp_path / "other")
    found = at_once(
        [
            lambda: takes_part(table.session, 0, table.keys[0], None),
            lambda: takes_part(table.session, 1, key, None),
        ]
    )
    assert "b did not come within 1.5 seconds; 1 came with a certificate that is on no card" in str(found[0])
    assert "it may hold another card of ours" in str(found[1])


def test_wrong_certificate_of_one_who_listens(tmp_path: Path):
    table = made(tmp_path, 3, names=["a", "b", "c"])
    (tmp_path / "other").mkdir()
    key, _ = PartyKey.new("a", table.session.places[0].address).write(tmp_path / "other")
    found = at_once(
        [
            imposter(table, 0, key),
            lambda: takes_part(table.session, 1, table.keys[1], None),
            lambda: takes_part(table.session, 2, table.keys[2], None),
        ]
    )
    assert all("answers with another certificate than that on the card of a" in str(one) for one in found[1:])


def test_strangers_do_not_disturb(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Bytes that are no TLS, connections that say nothing, and a party's second connection change nothing."""
    table = made(tmp_path, 2)
    first = table.session.places[0].address
    strangers: list[socket.socket] = []

    def disturbing() -> Any:
        for content in (b"GET / HTTP/1.1\r\n\r\n", b"", b"\x16\x03\x01" + bytes(300)):
            one = dial(first)
            strangers.append(one)
            one.sendall(content)
        return takes_part(table.session, 1, table.keys[1], lambda one: one.run(chatter(one.seat, 3)))

    found = at_once(
        [lambda: takes_part(table.session, 0, table.keys[0], lambda one: one.run(chatter(one.seat, 3))), disturbing]
    )
    for one in strangers:
        one.close()
    assert found == [{1: b"\x01" * 4}, {0: bytes(3)}]
    assert not caplog.records


def test_a_party_that_thinks_for_long_is_not_taken_for_dead(tmp_path: Path):
    def program(conversation: NetworkConversation) -> int:
        if conversation.seat.me == 0:
            threading.Event().wait(3)
        return len(conversation.run(chatter(conversation.seat, 1)))

    assert everybody(made(tmp_path, 2, Limits(join=20, silence=2, step=20)), program) == [1, 1]


def test_an_address_that_is_taken(tmp_path: Path):
    table = made(tmp_path, 2)
    place = table.session.places[0].address
    listening = r"a cannot listen at 127.0.0.1:\d+: .*--listen"
    with socket.create_server((place.host, place.port)), pytest.raises(SessionError, match=listening):
        takes_part(table.session, 0, table.keys[0], None)


def test_listening_elsewhere_than_where_others_call(tmp_path: Path):
    """As behind a router: the card has one address, the party listens at another, and a session may correct both."""
    table = made(tmp_path, 2)
    inside = Address(host="127.0.0.1", port=table.session.places[1].address.port)
    moved = replace(table.session.places[0], address=inside)
    theirs = table.changed(places=(moved, table.session.places[1]))

    def listens() -> Any:
        with NetworkConversation(table.session, 0, table.keys[0], listen=inside) as conversation:
            conversation.finish()
        return "done"

    assert at_once([listens, lambda: takes_part(theirs, 1, table.keys[1], lambda one: "done")]) == ["done", "done"]
