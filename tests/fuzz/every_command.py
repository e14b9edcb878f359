"""Every command that reads a file, with a folder of valid files in which one file is changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from sfumato.bundles.manifest.document import seal
from sfumato.core.errors import SfumatoError
from sfumato.parties.network.certificates import Address, PartyKey
from tests.fuzz import commands, seeds
from tests.fuzz.mutators import changed_bytes, changed_lines, changed_tree
from tests.fuzz.toml_text import toml_text
from tests.pipeline.linked_tables import laid_out

Files = dict[str, bytes]
QUESTIONS = b"""
[questions.smokes]
kind = "warner"
values = ["yes", "no"]
keep = "3/4"
[questions.income]
kind = "laplace"
low = 0
high = 1000
step = 100
epsilon = 2
"""
TERMS = b'[columns]\nill = ["flu", "hiv", "cold"]\nage = { ranges = [[0, 50], [50, 100]], decimals = 0 }\n'
SESSION = b"""
schema = 1
protocol = "counts"
[parties.south]
card = "south.card"
[parties.north]
card = "north.card"
[parties.east]
card = "east.card"
[parameters]
columns = { ill = ["flu", "hiv"] }
"""
AUDIT = b"""
[input]
path = "t.csv"
[columns.zip]
role = "quasi"
[columns.pay]
role = "keep"
[audit]
k = 2
values = ["pay"]
"""
STREAM = b"""
[input]
path = "s.csv"
[columns.age]
role = "quasi"
type = "real"
[privacy]
indistinguishable_groups = 3
[algorithm]
name = "condense"
seed = 1
[stream]
batch = 12
block = 6
checkpoint = 6
state = "state"
"""
TREE = b"""
[input]
path = "t.csv"
[columns.zip]
role = "quasi"
values = ["101", "102", "103"]
[columns.ill]
role = "target"
[privacy]
k_anonymity = 2
[tree]
[attack]
trials = 20
"""

COMMANDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "profile": (("profile", "t.csv"), ("t.csv",)),
    "profile sqlite": (("profile", "t.sqlite", "--table", "t"), ("t.sqlite",)),
    "release": (("release", "plan.toml", "-o", "made", "--force"), ("plan.toml", "t.csv", "zip.csv")),
    "release sqlite": (("release", "sqlite.toml", "-o", "made", "--force"), ("sqlite.toml", "t.sqlite")),
    "release linked": (
        ("release", "clinic/tables.toml", "-o", "made", "--force"),
        ("clinic/tables.toml", "clinic/visits.toml", "clinic/visits.csv", "clinic/patients.csv", "secret.key"),
    ),
    "verify": (("verify", "bundle"), ("bundle/manifest.json", "bundle/data.csv", "bundle/report.html")),
    "verify signed": (("verify", "bundle", "--signer", "a.card"), ("a.card", "bundle/signature.json")),
    "verify linked": (("verify", "linked"), ("linked/manifest.json", "linked/visits/manifest.json")),
    "verify stream": (("verify", "batches"), ("batches/batch-000001/manifest.json",)),
    "report": (("report", "bundle"), ("bundle/manifest.json",)),
    "attack": (
        ("attack", "bundle", "--original", "t.csv", "--plan", "plan.toml", "--trials", "20"),
        ("t.csv", "plan.toml", "bundle/manifest.json"),
    ),
    "apply": (("apply", "bundle", "t.csv", "-o", "out.csv", "--force"), ("t.csv", "bundle/manifest.json")),
    "dimensions": (("dimensions", "plan.toml"), ("plan.toml", "t.csv")),
    "frontier": (
        ("frontier", "plan.toml", "-o", "points", "--algorithms", "optimal", "--jobs", "1", "--seconds", "3"),
        ("plan.toml",),
    ),
    "key card": (("key", "card", "a.card"), ("a.card",)),
    "sign": (("release", "plan.toml", "-o", "made", "--force", "--sign", "a.key"), ("a.key",)),
    "tree publish": (("tree", "publish", "tree.toml", "-o", "made", "--force"), ("tree.toml", "t.csv")),
    "tree learn": (
        ("tree", "learn", "tree-bundle", "-o", "model"),
        ("tree-bundle/data.json", "tree-bundle/manifest.json"),
    ),
    "channels": (("channels", "tree-bundle", "--k", "2"), ("tree-bundle/data.json", "tree-bundle/manifest.json")),
    "rules": (("rules", "i.csv", "--sets", "basket"), ("i.csv",)),
    "stream": (
        ("stream", "stream.toml", "-o", "out", "--finish", "--set", "stream.state=other"),
        ("stream.toml", "s.csv"),
    ),
    "stream again": (("stream", "stream.toml", "-o", "batches", "--status"), ("state/checkpoint", "stream.toml")),
    "query": (
        ("query", "private.toml", "SELECT COUNT(*)", "--epsilon", "0.01", "--ledger", "ledger", "--analyst", "ann"),
        ("private.toml", "ledger", "t.csv"),
    ),
    "budget show": (("budget", "show", "ledger"), ("ledger",)),
    "budget check": (("budget", "check", "ledger"), ("ledger",)),
    "budget history": (("budget", "history", "ledger"), ("ledger",)),
    "audit": (("audit", "asked.sql", "audit.toml"), ("asked.sql", "audit.toml", "t.csv")),
    "collect design": (("collect", "design", "questions.toml", "-o", "s.json", "--force"), ("questions.toml",)),
    "collect privacy": (("collect", "privacy", "survey.json"), ("survey.json",)),
    "collect respond": (
        ("collect", "respond", "survey.json", "--input", "answers.csv", "--person", "who", "--memory", "memory.json",
         "-o", "shown.csv", "--force"),
        ("survey.json", "answers.csv", "memory.json"),
    ),
    "collect reconstruct": (
        ("collect", "reconstruct", "survey.json", "--input", "told.csv"),
        ("survey.json", "told.csv"),
    ),
    "graded show": (("graded", "show", "graded.secret"), ("graded.secret",)),
    "graded new": (("graded", "new", "terms.toml", "-o", "new.secret"), ("terms.toml",)),
    "party card": (("party", "card", "north.card"), ("north.card",)),
    "party show": (("party", "show", "session.toml"), ("session.toml", "north.card")),
}  # fmt: skip
"""The words of each command, and the files of which one is changed."""


@cache
def scene() -> Path:
    """A folder with a valid file of every sort, made once by the commands themselves."""
    folder = Path(mkdtemp(prefix="sfumato-fuzz-"))
    seeds.laid_out(folder)
    laid_out(folder)
    for name in ("north", "south", "east"):
        PartyKey.new(name, Address(host="127.0.0.1", port=7400)).write(folder)
    texts = {
        "plan.toml": toml_text(seeds.TREES["table"]).encode(),
        "private.toml": toml_text(seeds.TREES["private"]).encode(),
        "sqlite.toml": toml_text({**seeds.TREES["table"], "input": {"path": "t.sqlite", "table": "t"}}).encode(),
        "t.sqlite": seeds.sqlite_file(),
        "questions.toml": QUESTIONS,
        "terms.toml": TERMS,
        "session.toml": SESSION,
        "audit.toml": AUDIT,
        "stream.toml": STREAM,
        "tree.toml": TREE,
        "asked.sql": b"SELECT SUM(pay) WHERE zip = '101'\nSELECT COUNT(*)\n",
        "s.csv": b"age\n" + b"".join(b"%d\n" % (20 + n % 40) for n in range(24)),
        "answers.csv": b"who,smokes,income\n1,yes,100\n2,no,200\n3,no,0\n",
    }
    for name, data in texts.items():
        (folder / name).write_bytes(data)
    seeds.ledger(folder / "ledger")
    made = [
        ("key", "new", "A", "-o", "a.key"),
        ("release", "plan.toml", "-o", "bundle", "--sign", "a.key"),
        ("release", "clinic/tables.toml", "-o", "linked"),
        ("stream", "stream.toml", "-o", "batches", "--finish"),
        ("tree", "publish", "tree.toml", "-o", "tree-bundle"),
        ("collect", "design", "questions.toml", "-o", "survey.json"),
        ("collect", "respond", "survey.json", "--input", "answers.csv", "--person", "who", "--memory", "memory.json",
         "-o", "told.csv"),
        ("graded", "new", "terms.toml", "-o", "graded.secret"),
    ]  # fmt: skip
    for words in made:
        code, _, message = within(folder, words)
        if code != 0:
            raise RuntimeError(f"{words}: {message}")
    return folder


def within(folder: Path, words: tuple[str, ...]) -> tuple[int, str, str]:
    """A command, in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return commands.run(*words)
    finally:
        os.chdir(before)


def make(draw: Random) -> Files:
    """The title of a command, and one of its files changed."""
    title = draw.choice(list(COMMANDS))
    name = draw.choice(COMMANDS[title][1])
    return {
        "command": title.encode(),
        "name": name.encode(),
        "file": changed(name, (scene() / name).read_bytes(), draw),
    }


def changed(name: str, data: bytes, draw: Random) -> bytes:
    """The bytes of a file, changed as its format suggests."""
    if name.endswith("manifest.json") and draw.random() < 0.8:
        content = changed_tree(json.loads(data), draw)
        with suppress(TypeError, ValueError, AttributeError, RecursionError):
            content = seal(content)
        return json.dumps(content, ensure_ascii=True).encode()
    if name.endswith((".csv", ".sql")):
        return changed_lines(data, draw)
    return changed_bytes(data, draw)


def run(folder: Path) -> None:
    """The command of an input, in a copy of the scene."""
    place = folder / "scene"
    shutil.copytree(scene(), place, symlinks=True)
    title = (folder / "command").read_text()
    (place / (folder / "name").read_text()).write_bytes((folder / "file").read_bytes())
    code, _, message = within(place, COMMANDS[title][0])
    if code not in (0, 1):
        raise SfumatoError(message)
