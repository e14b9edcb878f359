"""The guide for parties that work together: its commands run, in the order of the page, and come to a result."""

from __future__ import annotations

import os
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from sfumato.bundles.checks.joint import written
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.joint.session import asked_by, same_result
from tests.docs.test_docs import DOCS, blocks
from tests.fuzz.commands import run
from tests.parties.parties import BOUND, at_once, free_ports

PAGE = DOCS / "guide" / "together.md"
_COMMAND = re.compile(r"^(\w+)\$ sfumato (.+)$", re.MULTILINE)
PATIENTS = "ward,outcome\nsurgery,home\nsurgery,died\nmedicine,home\n"


def commands() -> list[tuple[str, list[str]]]:
    return [(who, words.split()) for code in blocks(PAGE, "console") for who, words in _COMMAND.findall(code)]


def side(folder: Path, name: str) -> None:
    """The side of a party that runs in a thread; it writes nothing."""
    asked = asked_by(folder / name / "session.toml")
    own = asked.protocol.prepare(asked.parameters, read_file(folder / name / "patients.csv"))
    me = asked.session.number(name)
    with NetworkConversation(asked.session, me, asked.session.places[me].key) as conversation:
        result = asked.protocol.run(conversation, asked.parameters, own)
        conversation.run(same_result(conversation.seat, written(result.document)))
        conversation.finish()


def prepared(folder: Path) -> None:
    """What people do by mail and with an editor."""
    for card in folder.glob("*/*.card"):
        for party in folder.iterdir():
            if party != card.parent:
                shutil.copy(card, party)
    session = next(code for code in blocks(PAGE, "toml") if code.startswith("# session.toml"))
    for party in folder.iterdir():
        (party / "session.toml").write_text(session, encoding="utf-8")
        (party / "patients.csv").write_text(PATIENTS, encoding="utf-8")


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("north", "south", "west")
    ports = dict(zip(names, free_ports(3), strict=True))
    for name in names:
        (tmp_path / name).mkdir()
    done = []
    for who, words in commands():
        monkeypatch.chdir(tmp_path / who)
        local = [re.sub(r"(\w+)\.example:7400", lambda found: f"127.0.0.1:{ports[found[1]]}", one) for one in words]
        if words[:2] == ["party", "card"] and not Path("session.toml").exists():
            prepared(tmp_path)
        if words[:2] != ["party", "run"]:
            code, out, err = run(*local)
            assert code == 0, (words, out, err)
        elif who == names[0]:
            others: list[Any] = [lambda name=name: side(tmp_path, name) for name in names[1:]]
            thread = threading.Thread(target=at_once, args=(others,), daemon=True)
            thread.start()
            code, out, err = run(*local, "--yes")
            thread.join(BOUND)
            assert code == 0, (out, err)
            assert re.search(r"home +surgery +3", out)
        done.append((who, *words[:2]))
    assert {(name, "party", verb) for name in names for verb in ("init", "run")} <= set(done)
    assert sorted(os.listdir(tmp_path / "north" / "counts")) == ["data.json", "manifest.json", "report.html"]


def test_the_page_shows_what_the_command_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.pipeline.catalog.catalog import catalog

    text = PAGE.read_text(encoding="utf-8")
    for name in catalog().protocols:
        assert f"| `{name}` |" in text, name
    counts = catalog().protocol("counts")
    asked = counts.read({"columns": {"outcome": ["x"], "ward": ["y"]}}, ("a", "b", "c"))
    told = counts.leakage(asked, ("a", "b", "c"))
    for line in (counts.about, told.result[0].what, told.withstands, told.limits):
        assert line in text
    space: dict[str, Any] = {}
    for code in blocks(PAGE, "python"):
        exec(compile(code, "together.md", "exec"), space)
    assert callable(space["counts_of_all"])
