"""Keys and cards of parties: made once, read strictly."""

from __future__ import annotations

import hashlib
import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sfumato.core.errors import SessionError
from sfumato.parties.network.certificates import Address, PartyCard, PartyKey, party_name, refuse_key

HERE = Address(host="north.example", port=7400)


def test_a_new_party_has_a_key_of_its_own_and_a_card(tmp_path: Path):
    made = PartyKey.new("north", HERE)
    key, card = made.write(tmp_path / "new")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    found = PartyCard.load(card)
    assert found == made.card
    assert (found.name, str(found.address)) == ("north", "north.example:7400")
    assert found.fingerprint.replace(" ", "") == hashlib.sha256(found.certificate).hexdigest()
    assert "PRIVATE" not in card.read_text()
    assert repr(made) == "PartyKey('north')"
    assert found.ends > datetime.now(UTC) + timedelta(days=4 * 365)
    refuse_key(key, found)


def test_nothing_is_written_over(tmp_path: Path):
    PartyKey.new("north", HERE).write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(SessionError, match=r"north.key exists already"):
        PartyKey.new("north", HERE).write(tmp_path)
    (tmp_path / "north.key").unlink()
    with pytest.raises(SessionError, match=r"north.card exists already"):
        PartyKey.new("north", HERE).write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"north.card": before["north.card"]}


def test_another_key_is_refused(tmp_path: Path):
    key, _ = PartyKey.new("north", HERE).write(tmp_path)
    other = PartyKey.new("north", HERE)
    with pytest.raises(SessionError, match="is not the key to the card of north"):
        refuse_key(key, other.card)
    mixed = tmp_path / "mixed.key"
    mixed.write_bytes(
        key.read_bytes().split(b"-----BEGIN CERT")[0] + b"-----BEGIN CERT" + other.secret.split(b"-----BEGIN CERT")[1]
    )
    with pytest.raises(SessionError, match="is not the key to the card of north"):
        refuse_key(mixed, other.card)
    with pytest.raises(SessionError, match=r"cannot be read: .*--key"):
        refuse_key(tmp_path / "nowhere.key", other.card)
    (tmp_path / "odd.key").write_text("no key")
    with pytest.raises(SessionError, match="holds no key and certificate"):
        refuse_key(tmp_path / "odd.key", other.card)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 2}, "of a form that this version does not read"),
        ({"sfumato": "card"}, "is no party's card"),
        ({"more": 1}, "is no party's card"),
        ({"name": "../north"}, "a party's name has"),
        ({"name": 7}, "of a form"),
        ({"address": "north.example"}, "the address must be HOST:PORT"),
        ({"certificate": "AAAA"}, "the certificate cannot be read"),
        ({"certificate": "no base64!"}, "the certificate cannot be read"),
        ({"fingerprint": "0000"}, "the fingerprint on the card is not that of its certificate"),
    ],
)
def test_cards_are_read_strictly(tmp_path: Path, change: dict[str, object], words: str):
    content = json.loads(PartyKey.new("north", HERE).card.text())
    path = tmp_path / "north.card"
    path.write_text(json.dumps({**content, **change}))
    with pytest.raises(SessionError, match=words):
        PartyCard.load(path)


def test_a_card_of_another_certificate_shows(tmp_path: Path):
    """Whoever exchanges the certificate on a card must exchange the fingerprint too, which people compare."""
    mine, theirs = PartyKey.new("north", HERE).card, PartyKey.new("north", HERE).card
    content = {**json.loads(mine.text()), "certificate": json.loads(theirs.text())["certificate"]}
    with pytest.raises(SessionError, match="fingerprint"):
        PartyCard.parse(content, where="a card")


@pytest.mark.parametrize("text", ["", "[1", '{"a": 1, "a": 2}', "[]", "null"])
def test_files_that_are_no_cards(tmp_path: Path, text: str):
    (tmp_path / "x.card").write_text(text)
    with pytest.raises(SessionError, match=r"x\.card"):
        PartyCard.load(tmp_path / "x.card")
    with pytest.raises(SessionError, match="cannot be read"):
        PartyCard.load(tmp_path)


@pytest.mark.parametrize("text", ["a:1", "10.0.0.7:65535", "[::1]:80", "a-b.example:7400"])
def test_addresses(text: str):
    assert str(Address.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:0", "a:65536", "::1:80", "a b:1", "a:\uff11", "-a:1", "a/b:1", "a:1:2"]
)
def test_no_addresses(text: str):
    with pytest.raises(SessionError, match="must be HOST:PORT"):
        Address.parse(text)


def test_loopback():
    assert [Address.parse(one).loopback for one in ("127.0.0.1:1", "[::1]:1", "localhost:1", "10.0.0.1:1", "a:1")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("name", ["", "7", "a b", "a.b", "ü", "a" * 41, "a\n"])
def test_no_names(name: str):
    with pytest.raises(SessionError, match="a party's name"):
        party_name(name)


def test_a_certificate_that_has_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sfumato.parties.network.certificates.YEARS", -1 / 365)
    with pytest.raises(SessionError, match="the certificate of north ended on"):
        PartyKey.new("north", HERE).card.refuse_old()
