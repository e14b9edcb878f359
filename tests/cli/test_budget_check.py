"""``sfumato budget check``, and usage errors as JSON."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crash.stage_jobs import fill
from tests.dp.test_chain import made


@pytest.fixture
def place(run, tmp_path: Path) -> Path:
    assert run("budget", "grant", tmp_path / "l.db", "10").code == 0
    assert run("budget", "grant", tmp_path / "l.db", "10", "--analyst", "ann").code == 0
    return tmp_path


def test_a_whole_ledger_and_its_bundles(run, place: Path):
    said = run("budget", "check", place / "l.db")
    assert (said.code, "2 events" in said.out, "No bundle was found" in said.out) == (0, True, True)
    bundle = made(place, "one")
    told = run("budget", "check", place / "l.db", "--bundle", bundle, "--json").json
    assert told["bundles"] == [{"bundle": str(bundle), "event": 3}]
    assert (told["event"], len(told["head"]), set(told)) == (6, 64, {"ledger", "event", "head", "bundles"})
    assert str(bundle) in "".join(run("budget", "check", place / "l.db").out.split())


def test_an_old_copy_and_bundles_of_others(run, place: Path, tmp_path: Path):
    shutil.copy(place / "l.db", place / "backup.db")
    bundle = made(place, "one")
    refused = run("budget", "check", place / "backup.db", "--bundle", bundle)
    assert refused.code == 2
    assert (
        f"the ledger was rolled back: {bundle} cites event 3, which {place / 'backup.db'} does not hold" in refused.err
    )
    run("budget", "grant", place / "other.db", "1")
    assert "cites another ledger" in run("budget", "check", place / "other.db", "--bundle", bundle).err
    (place / "plain").mkdir()
    fill(place / "plain", "x")
    assert "cites no ledger" in run("budget", "check", place / "l.db", "--bundle", place / "plain").err
    nothing = run("budget", "check", place / "l.db", "--bundle", place / "none")
    assert (nothing.code, "is no bundle of sfumato" in nothing.err) == (2, True)


@pytest.mark.parametrize("command", [("show",), ("history",), ("grant", "12")])
def test_every_command_refuses_an_old_copy(run, place: Path, command: tuple[str, ...]):
    made(place, "one")
    shutil.copy(place / "l.db", place / "backup.db")
    made(place, "one", force=True)
    shutil.copy(place / "backup.db", place / "l.db")
    refused = run("budget", command[0], place / "l.db", *command[1:])
    assert (refused.code, "rolled back" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("release", "--bogus", "--json"), "No such option: --bogus"),
        (("release", "--json"), "Missing argument 'PLAN'"),
        (("query", "plan.toml", "--json"), "Missing argument 'SQL'"),
        (("frontier", "p.toml", "--jobs", "many", "--json"), "'many' is not a valid integer"),
        (("relaese", "x", "--json"), "No such command 'relaese'"),
        (("budget", "--json"), "No such option: --json"),
        (("--json",), "No such option: --json"),
    ],
)
def test_usage_errors_are_one_json_object(run, arguments, words):
    done = run(*arguments)
    assert (done.code, done.err, set(done.json)) == (2, "", {"error", "exit_code"})
    assert (done.json["exit_code"], words in done.json["error"]) == (2, True), done.json
    plain = run(*(one for one in arguments if one != "--json"))
    assert (plain.code, plain.out) == (2, "")
