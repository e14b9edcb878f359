"""``sfumato party``: from nothing to a result, refusals, and processes that are stopped."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sfumato.bundles.checks.joint import written
from sfumato.core.errors import SessionError
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.parties.secure_sum import agree_keys, secure_sum
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.joint.session import asked_by, same_result
from tests.fuzz.commands import run
from tests.parties.parties import BOUND, at_once, free_ports

NAMES = ("north", "south", "west")
SESSION = """
schema = 1
protocol = "counts"
[parties]
north = { card = "north.card" }
south = { card = "south.card" }
west = { card = "west.card" }
[parameters.columns]
ward = ["surgery", "medicine"]
outcome = ["home", "died"]
[limits]
join = 20
"""
ROWS = {
    "north": "ward,outcome\nsurgery,home\nsurgery,home\nmedicine,died\n",
    "south": "ward,outcome\nmedicine,home\n",
    "west": "outcome,ward,name\nhome,surgery,Ann\ndied,medicine,Bob\n",
}
TOTAL = [["home", "surgery", 3], ["home", "medicine", 1], ["died", "surgery", 0], ["died", "medicine", 2]]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as three parties have it after `sfumato party init`."""
    folder = tmp_path_factory.mktemp("parties")
    for name, port in zip(NAMES, free_ports(3), strict=True):
        code, out, err = run("party", "init", name, "--address", f"127.0.0.1:{port}", "-o", str(folder))
        assert code == 0, err
        assert f"{name}.card is the card" in out
        (folder / f"{name}.csv").write_text(ROWS[name])
    (folder / "session.toml").write_text(SESSION)
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(begun, tmp_path / "parties")
    monkeypatch.chdir(tmp_path / "parties")
    return tmp_path / "parties"


def beside(*words: str) -> tuple[int, str, str]:
    """West's command, and the other two parties in threads."""
    asked = asked_by(Path("session.toml"))
    own = [asked.protocol.prepare(asked.parameters, read_file(f"{name}.csv")) for name in NAMES]

    def takes_part(me: int) -> None:
        with NetworkConversation(asked.session, me, asked.session.places[me].key) as conversation:
            result = asked.protocol.run(conversation, asked.parameters, own[me])
            assert result.rows == TOTAL
            conversation.run(same_result(conversation.seat, written(result.document)))
            conversation.finish()

    others = threading.Thread(target=at_once, args=([lambda: takes_part(0), lambda: takes_part(1)],), daemon=True)
    others.start()
    done = run("party", "run", "session.toml", "--as", "west", "--input", "west.csv", "-o", "out", "--yes", *words)
    others.join(BOUND)
    return done


def test_from_nothing_to_a_result(folder: Path):
    done = beside()
    assert done[0] == 0, done
    for words in (
        "how many rows all parties have together, by outcome and ward",
        "It withstands: any 1 of the 3 parties",
        "You are west. You put in 4 counts of 2 rows, by outcome and ward.",
        "out: the result.",
    ):
        assert words in done[1]
    result = json.loads(Path("out/data.json").read_text())
    assert result == {"columns": ["outcome", "ward", "count"], "rows": TOTAL}
    about = json.loads(Path("out/manifest.json").read_text())["session"]
    assert (about["me"], about["rounds"], sorted(about["parties"])) == ("west", 5, list(NAMES))
    assert about["sent"] == about["received"] == 2 * (32 + 32 + 4 * 8 + 32)
    assert run("verify", "out")[0] == 0
    assert run("party", "run", "session.toml", "--as", "west", "--input", "west.csv", "-o", "out", "--yes")[0] == 2
    again = beside("--force", "--json", "--record", "seen.jsonl")
    told = json.loads(again[1])
    assert told["result"]["rows"] == TOTAL
    assert told["run"] != about["run"]
    seen = [json.loads(line) for line in Path("seen.jsonl").read_text().splitlines()]
    assert {one["label"] for one in seen} == {
        "session/ready",
        "keys/public",
        "sum/masked",
        "result/digest",
        "session/done",
    }


def test_show_and_card(folder: Path):
    told = json.loads(run("party", "show", "session.toml", "--json")[1])
    assert told["leakage"]["result"][0]["to"] == "everybody"
    assert "that must" not in run("party", "show", "session.toml")[2]
    card = json.loads(run("party", "card", "north.card", "--json")[1])
    assert card["fingerprint"] == told["parties"]["north"]["fingerprint"]
    assert card["fingerprint"] in run("party", "card", "north.card")[1]


ASK = ("party", "run", "session.toml", "--as", "north", "--input", "north.csv")


def test_nobody_is_called_without_approval(folder: Path, monkeypatch: pytest.MonkeyPatch):
    code, _, err = run(*ASK)
    assert (code, "say --yes" in err) == (2, True)
    assert run(*ASK, "--json")[0] == 2
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer in ("", "n", "no", "maybe"):
        monkeypatch.setattr("builtins.input", lambda prompt, answer=answer: answer)
        code, out, err = run(*ASK)
        assert (code, "you did not agree" in err) == (2, True)
        assert "who learns" in out
    assert not Path("joint").exists()


@pytest.mark.parametrize(
    ("words", "change", "message"),
    [
        (("--as", "nort"), None, "--as nort: no such party; did you mean 'north'"),
        (("--key", "south.key"), None, "south.key is not the key to the card of north"),
        (("--input", "nowhere.csv"), None, "nowhere.csv"),
        (("--listen", "here"), None, "--listen must be HOST:PORT"),
        ((), ("north.csv", "surgery,home", "surgery,lost"), "column 'outcome', row 1: 'lost' is not declared"),
        ((), ("north.csv", "ward,", "station,"), "no column 'ward'"),
        ((), ("session.toml", 'west = { card = "west.card" }', ""), "counts needs at least 3 parties, not 2"),
        ((), ("session.toml", '"home", "died"', '"home", "home"'), "parameters.columns.outcome names a value twice"),
        ((), ("session.toml", '["home", "died"]', "[]"), "parameters.columns.outcome must be a list of texts"),
        ((), ("session.toml", "[parameters.columns]", "[parameters.colums]"), "parameters.colums is not known"),
    ],
)
def test_what_is_wrong_here_is_refused_before_anybody_is_called(
    folder: Path, words: tuple[str, ...], change: tuple[str, str, str] | None, message: str
):
    if change is not None:
        path = Path(change[0])
        assert change[1] in path.read_text()
        path.write_text(path.read_text().replace(change[1], change[2], 1))
    code, _, err = run(*ASK, *words, "--yes")
    assert code == 2
    assert message in err
    assert not Path("joint").exists()


@pytest.mark.parametrize(("number", "code", "words"), [
    (signal.SIGINT, 130, "north ended the session: it was stopped"),
    (signal.SIGKILL, -9, "north dropped out"),
])  # fmt: skip
def test_a_process_that_is_stopped_ends_it_for_all(folder: Path, number: int, code: int, words: str):
    asked = asked_by(Path("session.toml"))
    together, over = threading.Barrier(3), threading.Event()

    def waits(me: int) -> None:
        with NetworkConversation(asked.session, me, asked.session.places[me].key) as conversation:
            together.wait(BOUND)
            assert over.wait(BOUND)
            keys = conversation.run(agree_keys(conversation.seat))
            conversation.run(secure_sum(conversation.seat, keys, np.zeros(4, np.int64)))

    def strikes() -> int:
        command = [sys.executable, "-m", "sfumato", *ASK, "--yes", "--json"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                together.wait(BOUND)
                process.send_signal(number)
                return process.wait(BOUND)
            finally:
                process.kill()
                over.set()

    found = at_once([strikes, lambda: waits(1), lambda: waits(2)])
    assert found[0] == code
    for one in found[1:]:
        assert isinstance(one, SessionError)
        assert words in str(one)
    assert not Path("joint").exists()


@pytest.mark.slow
def test_the_demonstration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("party", "demo", "-o", "demo", "--json")
    assert code == 0, (out, err)
    found = json.loads(out)
    assert found["right"]
    assert [one["name"] for one in found["seen"]] == list(NAMES)
    for one in found["seen"]:
        for own, *masked, total in one["rows"]:
            assert int(own.replace(",", "")) <= int(total.replace(",", "")) < 6_000
            assert all(int(number.replace(",", "")) > 10**9 for number in masked)  # by chance once in 10^9 times
    code, _, err = run("party", "demo", "-o", "demo")
    assert (code, "exists already" in err) == (2, True)
