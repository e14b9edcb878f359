"""Session files: read strictly, and equal terms have equal digests."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from sfumato.core.errors import PlanError, SessionError, SfumatoError
from sfumato.parties.network.certificates import Address, PartyKey
from sfumato.parties.network.session import Session, difference, digest_of, read_terms, terms_bytes, terms_of
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import asked_by
from tests.fuzz.commands import run
from tests.fuzz.mutators import changed_bytes, changed_tree
from tests.fuzz.toml_text import toml_text
from tests.parties.test_simulated_views import PARAMETERS
from tests.weights import thorough

GOOD = """
schema = 1
protocol = "counts"
[parties.south]
card = "south.card"
[parties.north]
card = "north.card"
address = "10.0.0.7:7500"
[parameters]
columns = { ward = ["A", "B"] }
[limits]
silence = 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("north", "south"):
        PartyKey.new(name, Address(host="127.0.0.1", port=7400)).write(tmp_path)
    return tmp_path


def load(folder: Path, text: str) -> Session:
    (folder / "session.toml").write_text(text)
    return Session.load(folder / "session.toml", versions={"counts": 1, "rules": 4})


def test_a_session(folder: Path):
    found = load(folder, GOOD)
    assert found.names == ("north", "south")
    assert str(found.places[0].address) == "10.0.0.7:7500"
    assert str(found.places[1].address) == "127.0.0.1:7400"
    assert found.places[1].key == folder / "south.key"
    assert (found.limits.silence, found.limits.step, found.limits.beat) == (5, 900, 1)
    assert found.number("south") == 1
    assert sorted(found.terms) == [
        "frames", "limits.join", "limits.records", "limits.silence", "limits.step", "parameters.columns.ward",
        "parties.north", "parties.south", "protocol", "protocol version", "sfumato",
    ]  # fmt: skip


def test_addresses_and_order_are_no_terms_and_everything_else_is(folder: Path):
    mine = load(folder, GOOD)
    moved = load(folder, GOOD.replace("10.0.0.7:7500", "10.0.0.8:1").replace("silence = 5", "silence = 5.0"))
    assert moved.digest == mine.digest
    for old, new in (('"B"', '"C"'), ("silence = 5", "silence = 6"), ('"counts"', '"rules"')):
        assert load(folder, GOOD.replace(old, new)).digest != mine.digest


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema = 1", "schema = 2", "schema must be 1, not 2"),
        ("schema = 1", "", "schema must be 1, not None"),
        ('"counts"', '"count"', "protocol must be one of 'counts', 'rules', not 'count'; did you mean 'counts'?"),
        ('"counts"', "7", "protocol must be one of"),
        ("schema = 1", "schema = 1\nfoo = 1", "'foo' is not known"),
        ('card = "south.card"', "cards = 1", r"parties.south.card is missing"),
        ('card = "south.card"', 'card = "south.card"\nport = 1', r"parties.south: 'port' is not known"),
        ('card = "south.card"', 'card = "north.card"', "is the card of north, not of south"),
        ('card = "south.card"', 'card = "nobody.card"', "nobody.card cannot be read"),
        ("10.0.0.7:7500", "10.0.0.7", r"parties.north.address must be HOST:PORT"),
        ('address = "10.0.0.7:7500"', "address = 7", r"parties.north.address must be a text"),
        ("silence = 5", "silent = 5", r"limits: 'silent' is not known.*did you mean 'silence'"),
        ("silence = 5", "silence = 0", r"limits.silence must be above 0"),
        ("silence = 5", "silence = true", r"limits.silence must be a finite number"),
        ("silence = 5", "silence = inf", r"limits may hold"),
        ("[parameters]", "parameters = 1\n[other]", "is not known|must be a table"),
        ('["A", "B"]', "2020-01-01", "parameters may hold texts"),
        ("[parties.south]", "[parties.7]", "a party's name has"),
        ('[parties.south]\ncard = "south.card"', "", "parties must be 2 to 64 tables"),
        ("schema = 1", "schema = ", "is not valid TOML"),
    ],
)
def test_refusals_name_the_key(folder: Path, old: str, new: str, words: str):
    assert old in GOOD
    with pytest.raises((PlanError, SessionError), match=words):
        load(folder, GOOD.replace(old, new, 1))


def test_no_such_file(tmp_path: Path):
    with pytest.raises(PlanError, match="there is no such file"):
        Session.load(tmp_path / "session.toml", versions={"counts": 1})
    with pytest.raises(PlanError, match="cannot be read"):
        Session.load(tmp_path, versions={"counts": 1})


def test_no_such_party(folder: Path):
    with pytest.raises(PlanError, match="--as nort: no such party; did you mean 'north'"):
        load(folder, GOOD).number("nort")


def test_one_certificate_under_two_names(folder: Path):
    text = (folder / "north.card").read_text()
    (folder / "south.card").write_text(text.replace('"north"', '"south"'))
    with pytest.raises(PlanError, match="north and south have the same certificate"):
        load(folder, GOOD)


def test_differences_are_named_on_both_sides():
    mine = terms_of({"a": 1, "b": {"c": [1, 2], "d": "x"}})
    theirs = terms_of({"a": 1, "b": {"c": [2, 1]}, "e": {}})
    assert difference(mine, theirs, me="north", peer="south") == (
        "the sessions of north and south are not the same: they differ at 'b.c'; only that of north has 'b.d'; only "
        "that of south has 'e'"
    )
    assert read_terms(terms_bytes(mine)) == mine
    assert digest_of(mine) != digest_of(theirs)
    assert terms_of({"a": 1}) != terms_of({"a": 1.5}) != terms_of({"a": "1"})


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"a": 1}', b'{"a": "x", "a": "y"}'])
def test_terms_of_others_are_read_strictly(content: bytes):
    with pytest.raises(SessionError, match="sent terms that are"):
        read_terms(content)


def test_changed_files_are_read_or_refused(folder: Path):
    """Session files and cards that chance has changed: a session, or one refusal."""
    PartyKey.new("west", Address(host="127.0.0.1", port=7401)).write(folder)
    tree = {
        "schema": 1,
        "protocol": "counts",
        "parties": {name: {"card": f"{name}.card"} for name in ("north", "south", "west")},
        "parameters": {"columns": {"ward": ["A", "B"], "sex": ["f", "m"]}},
        "limits": {"silence": 5},
    }
    good, card = toml_text(tree), (folder / "west.card").read_text()
    read = refused = 0
    for number in range(400):
        draw = Random(number)
        text, shown = good.encode(), card.encode()
        if number % 4 == 0:
            text = toml_text(changed_tree(tree, draw)).encode("utf-8", "replace")
        elif number % 4 == 1:
            text = changed_bytes(text, draw)
        elif number % 4 == 2:
            shown = json.dumps(changed_tree(json.loads(card), draw)).encode()
        else:
            shown = changed_bytes(shown, draw)
        (folder / "session.toml").write_bytes(text)
        (folder / "west.card").write_bytes(shown)
        try:
            asked = asked_by(folder / "session.toml")
        except SfumatoError:
            refused += 1
        else:
            assert len(asked.session.digest) == 19
            assert asked.to_json()["leakage"]
            read += 1
    assert refused > 200 > read > 0


@pytest.mark.parametrize("protocol", catalog().protocols)
def test_changed_parameters_of_every_protocol_are_read_or_refused(tmp_path: Path, protocol: str):
    """Whatever a session file says, the command line shows the session, or ends with 2 and one message."""
    names = "ab" if protocol.startswith("vertical") else "abc"
    for name in names:
        PartyKey.new(name, Address(host="127.0.0.1", port=7400)).write(tmp_path)
    parties = {name: {"card": f"{name}.card"} for name in names}
    tree = {"schema": 1, "protocol": protocol, "parties": parties, "parameters": PARAMETERS[protocol]}
    path, good = tmp_path / "session.toml", toml_text(tree)
    path.write_text(good)
    assert run("party", "show", str(path))[0] == 0
    for number in range(240 if thorough() else 36):
        draw = Random(number)
        if number % 3:
            text = toml_text({**tree, "parameters": changed_tree(PARAMETERS[protocol], draw)})
            path.write_bytes(text.encode("utf-8", "replace"))
        else:
            path.write_bytes(changed_bytes(good.encode(), draw))
        code, _, _ = run("party", "show", str(path))
        assert code in (0, 2)


@pytest.mark.parametrize("records", ["0", "-1", "1.5", "true", '"many"', str(2**31 + 1), str(10**30)])
def test_a_limit_of_records_is_a_whole_number(folder: Path, records: str):
    with pytest.raises(PlanError, match=r"limits\.records must be|limits may hold"):
        load(folder, GOOD + f"records = {records}\n")
