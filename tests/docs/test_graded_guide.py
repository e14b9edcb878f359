"""The guide for sites and a miner: its commands run, in the order of the page, and the results are translated."""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from sfumato.bundles.checks.joint import written
from sfumato.core.staging import write_secret
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.joint.session import asked_by, same_result
from sfumato.tables.graded_secret import GradedSecret
from tests.docs.test_docs import DOCS, blocks
from tests.fuzz.commands import run
from tests.parties.parties import BOUND, at_once, free_ports

PAGE = DOCS / "guide" / "graded.md"
_COMMAND = re.compile(r"^(\w+)\$ sfumato (.+)$", re.MULTILINE)
SITES = ("north", "south")


def patients(site: str) -> str:
    ill = ("asthma", "flu", "gastritis", "flu", "stomach cancer")
    rows = [f"P{n},{20 + n},{n % 9}.5,{ill[n % 5]},{'home' if n % 3 else 'died'}" for n in range(40)]
    return "\n".join(["name,age,stay,diagnosis,outcome", *rows[: 40 if site == "north" else 25], ""])


def prepared(folder: Path) -> None:
    """What people do by mail and with an editor."""
    session = next(code for code in blocks(PAGE, "toml") if code.startswith("# session.toml"))
    for site in SITES:
        for other in SITES:
            if other != site:
                shutil.copy(folder / other / f"{other}.card", folder / site)
        (folder / site / "session.toml").write_text(session, encoding="utf-8")


def south(folder: Path, kept: list[str]) -> None:
    """The side of the site that runs in a thread; what it would write is kept."""
    asked = asked_by(folder / "session.toml")
    own = asked.protocol.prepare(asked.parameters, read_file(folder / "patients.csv"))
    me = asked.session.number("south")
    with NetworkConversation(asked.session, me, asked.session.places[me].key) as conversation:
        result = asked.protocol.run(conversation, asked.parameters, own)
        conversation.run(same_result(conversation.seat, written(result.document)))
        conversation.finish()
    kept.append(str(result.secret))


def agreed(folder: Path, words: list[str]) -> None:
    """North's command of the page, and south's side in a thread."""
    kept: list[str] = []
    sides: list[Any] = [lambda: south(folder / "south", kept)]
    thread = threading.Thread(target=at_once, args=(sides,), daemon=True)
    thread.start()
    code, out, err = run(*words, "--yes")
    thread.join(BOUND)
    assert code == 0, (out, err)
    assert "agreement.secret: the secret, readable by you only" in out
    write_secret(folder / "south" / "agreement.secret", kept[0])


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = dict(zip(SITES, free_ports(2), strict=True))
    for name in (*SITES, "miner"):
        (tmp_path / name).mkdir()
        if name != "miner":
            (tmp_path / name / "patients.csv").write_text(patients(name), encoding="utf-8")
    for who, line in [found for code in blocks(PAGE, "console") for found in _COMMAND.findall(code)]:
        words = re.sub(r"(\w+)\.example:7400", lambda found: f"127.0.0.1:{ports[found[1]]}", line).split()
        monkeypatch.chdir(tmp_path / who)
        if words[:2] == ["party", "show"]:
            prepared(tmp_path)
        if words[:2] == ["graded", "join"]:
            for site in SITES:
                shutil.copytree(tmp_path / site / "part", f"from-{site}")
        if words[1:3] == ["interpret", "rules.csv"]:
            shutil.copy(tmp_path / "miner" / "rules.csv", ".")
            first = GradedSecret.load(Path("agreement.secret")).columns["age"].shown("45")
            (tmp_path / "south" / "centres.csv").write_text(f"age,size\n{first},30\n")
        if words[:2] != ["party", "run"]:
            code, out, err = run(*words)
            assert code == 0, (words, out, err)
        elif who == "north":
            agreed(tmp_path, words)
    assert "diagnosis=flu" in (tmp_path / "north" / "rules-interpreted.csv").read_text()
    assert "diagnosis=flu" not in (tmp_path / "miner" / "rules.csv").read_text()
    assert "P1" not in (tmp_path / "miner" / "joined.csv").read_text()
    assert (tmp_path / "south" / "centres-interpreted.csv").read_text() == "age,size\n45,30\n"


def test_the_plan_of_the_page_is_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session, plan = blocks(PAGE, "toml")
    terms = session.split("[parameters.columns]")[1]
    Path("terms.toml").write_text(f"[columns]{terms}")
    assert run("graded", "new", "terms.toml", "-o", "agreement.secret")[0] == 0
    Path("patients.csv").write_text(patients("north"))
    Path("plan.toml").write_text(plan)
    code, out, err = run("release", "plan.toml", "-o", "part")
    assert code == 0, (out, err)
    assert "Pseudonymized, nothing is claimed" in out
