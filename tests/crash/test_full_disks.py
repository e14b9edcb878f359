"""A full disk, a read-only ledger, a killed run: one message, exit code 2, and the next run goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.bundles import signatures
from sfumato.bundles.signatures import Card, Signer
from sfumato.core.errors import BundleError, LedgerError, SessionError
from sfumato.core.scratch import clear_temporary
from sfumato.dp.events import Pure
from sfumato.dp.ledger import Ledger
from sfumato.parties.network import certificates
from sfumato.parties.network.certificates import Address, PartyKey
from tests.fuzz.commands import run


def full(*_: object, **__: object) -> None:
    raise BundleError("the disk is full")


def test_a_key_without_its_card_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "write_whole", full)
    with pytest.raises(BundleError, match="full"):
        Signer.new("Registry").write(tmp_path / "registry.key")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    card = Signer.new("Registry").write(tmp_path / "registry.key")
    assert Card.load(card).name == "Registry"


def test_a_key_that_a_killed_run_left_gets_its_card(tmp_path: Path) -> None:
    first = Signer.new("Registry")
    first.write(tmp_path / "registry.key").unlink()
    card = Signer.new("Registry").write(tmp_path / "registry.key")
    assert Card.load(card).key == first.card.key == Signer.load(tmp_path / "registry.key").card.key
    with pytest.raises(BundleError, match="exists already"):
        Signer.new("Registry").write(tmp_path / "registry.key")


def test_half_a_key_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(BundleError, match="No space left"):
        Signer.new("Registry").write(tmp_path / "registry.key")
    assert list(tmp_path.iterdir()) == []


def test_so_are_keys_of_parties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "write_whole", full)
    with pytest.raises(SessionError, match="full"):
        PartyKey.new("a", Address(host="127.0.0.1", port=5000)).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def small(path: Path) -> Ledger:
    """A ledger on a disk that has no room for another page."""
    ledger = Ledger.create(path, total=1_000)
    ledger.grant("ann", 500)
    return ledger


def test_a_full_ledger_says_that_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.dp import ledger_file

    ledger, opened = small(tmp_path / "ledger"), ledger_file.opened

    def limited(path: Path) -> sqlite3.Connection:
        link = opened(path)
        link.execute(f"PRAGMA max_page_count = {link.execute('PRAGMA page_count').fetchone()[0]}")
        return link

    monkeypatch.setattr(ledger_file, "opened", limited)

    def ask_on() -> None:
        for number in range(500):
            ledger.reserve("ann", Pure(epsilon="1/1000"), what=f"question {number} {'x' * 500}")

    with pytest.raises(LedgerError, match="full"):
        ask_on()
    monkeypatch.undo()
    assert Ledger(tmp_path / "ledger").accounts(), "it can be read and used again"
    with closing(sqlite3.connect(tmp_path / "ledger")) as link:
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_read_only_ledger_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite opens a file that nobody may write to for reading: no mode stops the tests, which may run as root."""
    from sfumato.dp import ledger as ledger_book
    from sfumato.dp import ledger_file

    small(tmp_path / "ledger")

    def read_only(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)

    for module in (ledger_file, ledger_book):
        monkeypatch.setattr(module, "opened", read_only)
    code, _, message = run("budget", "grant", str(tmp_path / "ledger"), "7", "--analyst", "ann")
    assert code == 2
    assert "readonly" in message


def test_a_broken_ledger_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(b"no ledger")
    assert run("budget", "show", str(tmp_path / "ledger"))[0] == 2
    assert run("budget", "show", str(tmp_path / "absent"))[0] == 2


SPILLING = """
import os, sys, time
from sfumato.tables.engines.duckdb import DuckEngine
from sfumato.core.scratch import open_temporary
engine, parts = DuckEngine.opened(), open_temporary("parts")
open(os.path.join(engine.folder, "spilled"), "w").write("rows of people")
open(parts.new / "rows", "w").write("rows of people")
print(engine.folder, parts.new, sep="\\n", flush=True)
time.sleep(600)
"""


def _killed(temp: Path) -> list[Path]:
    """The folders of a process that was killed while DuckDB had spilled rows."""
    environment = {**os.environ, "TMPDIR": str(temp)}
    with subprocess.Popen([sys.executable, "-c", SPILLING], stdout=subprocess.PIPE, text=True, env=environment) as job:
        assert job.stdout is not None
        folders = [Path(job.stdout.readline().strip()) for _ in range(2)]
        job.send_signal(signal.SIGKILL)
    return folders


CLEARING: dict[str, Callable[[Path], object]] = {
    "a command": lambda temp: subprocess.run(
        [sys.executable, "-m", "sfumato", "models"],
        env={**os.environ, "TMPDIR": str(temp)},
        capture_output=True,
        check=True,
    ),
    "a function": lambda temp: clear_temporary(),
}


@pytest.mark.parametrize("way", CLEARING)
def test_the_next_run_removes_what_duckdb_had_spilled(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb")
    folders = _killed(tmp_path)
    assert all(folder.exists() for folder in folders)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    CLEARING[way](tmp_path)
    assert list(tmp_path.iterdir()) == []
