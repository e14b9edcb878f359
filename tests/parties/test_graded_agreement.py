"""Sites agree on a secret: all have the same, nobody chooses it, and a file of theirs alone holds it."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.bundles.checks.joint import written
from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.parties.conversation import Transcript
from sfumato.parties.mining.graded import agreed_key
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.parties.simulation import in_threads, seats, together
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.session import asked_by, run_party, same_result, take
from sfumato.tables.frames import from_frame
from sfumato.tables.graded_secret import GradedSecret
from tests.fuzz.commands import run
from tests.parties.parties import BOUND, at_once, free_ports

ASKED = {"columns": {"age": {"low": 0, "high": 100, "categories": 5}, "ward": ["A", "B", "C"]}, "missing": ["?"]}
ROWS = pl.DataFrame({"age": ["30", "70", "?"], "ward": ["A", "B", "C"]})


@pytest.mark.parametrize("count", [2, 3, 6])
def test_everybody_has_the_same_secret_and_no_run_the_secret_of_another(count: int):
    protocol = catalog().protocol("graded")
    names = tuple("abcdef"[:count])
    asked = protocol.read(ASKED, names)
    assert protocol.leakage(asked, names).lines()
    own = protocol.prepare(asked, from_frame(ROWS))
    assert "nothing of your 3 rows" in protocol.given(asked, own)
    runs = [in_threads([lambda talk: protocol.run(talk, asked, own)] * count) for _ in range(2)]
    for made in runs:
        assert len({one.secret for one in made}) == 1
        assert len({json.dumps(one.document) for one in made}) == 1
        assert made[0].secret is not None
        assert made[0].document["agreement"] == json.loads(made[0].secret)["agreement"]
        assert json.loads(made[0].secret)["key"] not in json.dumps(made[0].document)
    assert runs[0][0].secret != runs[1][0].secret


def test_the_key_needs_every_share():
    """With one bit of one share changed, every byte of the key may change; and the session names it too."""

    def key(shares: list[bytes], session: bytes) -> bytes:
        some = seats(len(shares), session)
        talks = [agreed_key(seat, draw=lambda n, own=own: own) for seat, own in zip(some, shares, strict=True)]
        (found,) = set(together(talks))
        return found

    shares = [bytes([n]) * 32 for n in range(3)]
    known = key(shares, b"one")
    assert key(shares, b"one") == known
    assert key(shares, b"two") != known
    for n in range(3):
        other = [*shares]
        other[n] = bytes(31) + b"\xff"
        assert key(other, b"one") != known


def test_who_shows_other_bytes_than_bound_to_is_refused():
    some = seats(2, b"x")
    honest = agreed_key(some[0], draw=bytes)

    def liar() -> Any:
        talk = agreed_key(some[1], draw=lambda n: b"\1" * n)
        step = talk.send(None)
        came = yield step
        step = talk.send(came)
        from dataclasses import replace

        yield replace(step, send=dict.fromkeys(step.send, b"\2" * 32))

    with pytest.raises(SessionError, match="party 1 showed other random bytes"):
        together([honest, liar()])


def test_what_a_site_sees_is_random_bytes():
    """A site's messages are digests and shares of the others, as many whatever its rows are."""
    notes = [Transcript() for _ in range(3)]
    together([agreed_key(seat) for seat in seats(3)], notes)
    for one in notes:
        assert [(message.label, len(message.content)) for message in one.messages] == [
            *[("graded/bound", 32)] * 4,
            *[("graded/share", 32)] * 4,
        ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"columns": {}}, "parameters.columns must name columns"),
        ({"columns": {"age": {"ranges": [[0, 20], [15, 50]]}}}, "parameters.columns.age.ranges: .* overlaps"),
        ({"missing": "?"}, "parameters.missing must list texts"),
        ({"seed": 1}, "parameters.seed is not known"),
    ],
)
def test_bad_terms_are_refused(change: dict[str, Any], said: str):
    with pytest.raises(ParameterError, match=said):
        catalog().protocol("graded").read({**ASKED, **change}, ("a", "b"))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"age": ["101"], "ward": ["A"]}, "between 0 and 100, not 101"),
        ({"age": ["5"], "ward": ["D"]}, "'D' is not declared"),
        ({"age": ["5"]}, "no column 'ward'"),
        ({"age": [], "ward": []}, "no rows"),
    ],
)
def test_own_rows_that_do_not_fit_are_refused_before_anybody_is_called(rows: dict[str, list[str]], said: str):
    protocol = catalog().protocol("graded")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows, pl.String))
    with pytest.raises(DataError, match=said):
        protocol.prepare(protocol.read(ASKED, ("a", "b")), from_frame(frame))


SESSION = """
schema = 1
protocol = "graded"
[parties]
north = { card = "north.card" }
south = { card = "south.card" }
[parameters.columns]
age = { low = 0, high = 100, categories = 5 }
ward = ["A", "B", "C"]
[limits]
join = 20
"""


def test_two_sites_over_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, port in zip(("north", "south"), free_ports(2), strict=True):
        assert run("party", "init", name, "--address", f"127.0.0.1:{port}")[0] == 0
        ROWS[:2].write_csv(f"{name}.csv")
    Path("session.toml").write_text(SESSION)
    asked = asked_by(Path("session.toml"))

    kept: list[str] = []

    def south() -> None:
        own = asked.protocol.prepare(asked.parameters, from_frame(ROWS[:2]))
        with NetworkConversation(asked.session, 1, asked.session.places[1].key) as conversation:
            result = asked.protocol.run(conversation, asked.parameters, own)
            conversation.run(same_result(conversation.seat, written(result.document)))
            conversation.finish()
        kept.append(str(result.secret))

    other = threading.Thread(target=at_once, args=([south],), daemon=True)
    other.start()
    run_party(take(asked, "north", Path("north.csv"), Path("agreed-north")))
    other.join(BOUND)
    secret = GradedSecret.load(Path("agreed-north.secret"))
    assert kept == [secret.text()], "both sites have the same"
    assert stat.S_IMODE(Path("agreed-north.secret").stat().st_mode) == 0o600
    assert secret.key.hex() not in Path("agreed-north/data.json").read_text()
    code, out, err = run("verify", "agreed-north")
    assert code == 0, (out, err)
    code, _, err = run("party", "run", "session.toml", "--as", "north", "--input", "north.csv", "-o", "agreed-north",
                       "--force", "--yes")  # fmt: skip
    assert code == 2
    assert "agreed-north.secret exists already" in err
