"""The commands that are struck, each in a folder of its own, with and without something that it replaces."""

from __future__ import annotations

import json
import random
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sfumato as sf
from sfumato.bundles.signatures import Signer
from sfumato.core.scratch import clear
from sfumato.pipeline.payment import cited_by
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import GradedSecret
from tests.crash.warm import Warm
from tests.crash.wholeness import found, leftovers
from tests.pipeline.linked_tables import laid_out

PLAN = """
[input]
path = "data.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 20, 40], low = 0, high = 100 }
[columns.sex]
role = "quasi"
values = ["Female", "Male"]
hierarchy = { kind = "groups", groups = { Any = ["Female", "Male"] } }
[columns.occupation]
role = "sensitive"
"""
OPEN = PLAN.replace(
    'hierarchy = { kind = "groups", groups = { Any = ["Female", "Male"] } }\n', 'hierarchy = { kind = "flat" }\n'
)
OPEN = OPEN.replace('values = ["Female", "Male"]\n', "") + "[privacy]\nk_anonymity = 3\n[attack]\nrun = false\n"
PRIVATE = """
[input]
path = "data.csv"
[columns.age]
role = "quasi"
hierarchy = { kind = "grown", low = 0, high = 100, grid = 25 }
[columns.sex]
role = "quasi"
values = ["Female", "Male"]
[privacy]
epsilon = 1
ledger = "ledger.db"
analyst = "ann"
"""
FILES = {
    "terms.toml": '[columns]\nsex = ["Female", "Male"]\n',
    "questions.toml": '[questions.sex]\nkind = "warner"\nvalues = ["Female", "Male"]\nkeep = "3/4"\n',
    "tree.toml": OPEN.replace('role = "sensitive"', 'role = "target"') + "[tree]\n",
    "stream.toml": """
[input]
path = "data.csv"
[columns.age]
role = "quasi"
type = "real"
[privacy]
indistinguishable_groups = 3
[algorithm]
name = "condense"
[stream]
batch = 20
block = 10
checkpoint = 10
state = "state"
""",
}
POINTS = ("--algorithms", "optimal,mondrian", "--grid", "privacy.k_anonymity=3")
PAID = ("--epsilon", "1", "--ledger", "ledger.db", "--analyst", "ann", "--json")


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command and what it leaves."""

    arguments: tuple[str, ...]
    """What is typed."""
    makes: str
    """What it writes: a bundle, a file or a frontier; nothing for a question."""
    existing: bool = False
    """Whether that is there already."""
    pays: bool = False
    """Whether a ledger is charged."""
    open_only: bool = False
    """Whether no inside page comes with the bundle."""
    complete: Callable[[Path], object] | None = None
    """Reads what is there afterwards, and fails where it is not complete; for files that differ from run to run."""

    @property
    def inside(self) -> bool:
        """Whether an inside page comes with the bundle."""
        return not self.pays and not self.open_only


def _release(plan: str, **more: Any) -> Command:
    forced = ("--force",) if more.get("existing") else ()
    return Command(arguments=("release", plan, "-o", "out", *forced), makes="out", **more)


def _toml(path: Path) -> object:
    return tomllib.loads(path.read_text())


def _json(path: Path) -> object:
    return json.loads(path.read_text())


def _page(path: Path) -> None:
    assert path.read_text(), "written whole, so not empty; the job draws no pictures"


def _table(path: Path) -> None:
    assert path.read_text().endswith("\n")


def _bundle(path: Path) -> None:
    wrong = [check for check in sf.verify(path).checks if not check.holds]
    assert [check for check in wrong if "report" not in check.what + check.detail] == [], "pages have no pictures here"


def _batches(path: Path) -> None:
    """A stream whose first batch was not published yet has an empty folder."""
    if any(path.glob("batch-*")):
        _bundle(path)


COMMANDS = {
    "release": _release("open.toml"),
    "release --force": _release("open.toml", existing=True),
    "private release": _release("private.toml", pays=True),
    "private release --force": _release("private.toml", existing=True, pays=True),
    "apply": Command(arguments=("apply", "known", "data.csv", "-o", "out.csv"), makes="out.csv"),
    "apply --force": Command(
        arguments=("apply", "known", "data.csv", "-o", "out.csv", "--force"), makes="out.csv", existing=True
    ),
    "graded apply": Command(
        arguments=("graded", "apply", "data.csv", "--secret", "sites.secret", "-o", "out"), makes="out", open_only=True
    ),
    "query": Command(
        arguments=("query", "query.toml", "SELECT COUNT(*)", *PAID),
        makes="",
        pays=True,
    ),
    "profile": Command(arguments=("profile", "data.csv", "-o", "draft.toml"), makes="draft.toml", complete=_toml),
    "report": Command(arguments=("report", "known", "-o", "page.html"), makes="page.html", complete=_page),
    "rules": Command(
        arguments=("rules", "data.csv", "--column", "sex", "-o", "rules.csv"), makes="rules.csv", complete=_table
    ),
    "key": Command(arguments=("key", "new", "A", "-o", "a.key"), makes="a.key", complete=Signer.load),
    "graded new": Command(
        arguments=("graded", "new", "terms.toml", "-o", "new.secret"), makes="new.secret", complete=GradedSecret.load
    ),
    "collect design": Command(
        arguments=("collect", "design", "questions.toml", "-o", "made.json"), makes="made.json", complete=_json
    ),
    "collect respond": Command(
        arguments=(
            "collect",
            "respond",
            "survey.json",
            "--input",
            "data.csv",
            "--person",
            "who",
            "--memory",
            "seen.json",
            "-o",
            "told.csv",
        ),
        makes="seen.json",
        complete=_json,
    ),
    "tree": Command(arguments=("tree", "publish", "tree.toml", "-o", "tree"), makes="tree", complete=_bundle),
    "linked": Command(arguments=("release", "clinic/tables.toml", "-o", "both"), makes="both", complete=_bundle),
    "stream": Command(
        arguments=("stream", "stream.toml", "-o", "batches", "--finish"), makes="batches", complete=_batches
    ),
    "frontier": Command(
        arguments=("frontier", "open.toml", "-o", "front", "--jobs", "1", *POINTS),
        makes="front",
    ),
}


def prepared(root: Path, large: Warm) -> Path:
    """A folder with everything that commands read, and what they replace in ``made``."""
    root.mkdir()
    table = sf.datasets.census(60, seed=2).select("age", "sex", "occupation")
    table.with_row_index("who").select(*table.columns, "who").write_csv(root / "data.csv")
    for name, text in (("open", OPEN), ("private", PRIVATE), ("query", PRIVATE.split("[privacy]", maxsplit=1)[0])):
        (root / f"{name}.toml").write_text(text)
    terms = read_terms({"age": {"low": 0, "high": 100, "categories": 4}, "sex": ["Female", "Male"]})
    GradedSecret.new(terms).write(root / "sites.secret")
    ledger = sf.Ledger.create(root / "ledger.db", total=10_000)
    ledger.grant("ann", 10_000)
    laid_out(root, people=30)
    for name, text in FILES.items():
        (root / name).write_text(text)
    first = (
        ("release", "open.toml", "-o", "known"),
        ("apply", "known", "data.csv", "-o", "applied.csv"),
        ("collect", "design", "questions.toml", "-o", "survey.json"),
    )
    for arguments in first:
        ran = run(large, root, arguments)
        assert ran["code"] == 0, ran
    return root


def run(large: Warm, folder: Path, arguments: tuple[str, ...], **blow: Any) -> dict[str, Any]:
    """A command in a folder, with its temporary files there too."""
    (folder / "tmp").mkdir(exist_ok=True)
    return large.run("tests.crash.jobs:without_pictures", folder, *arguments, temporary=str(folder / "tmp"), **blow)


def begun(root: Path, place: Path, command: Command) -> Path:
    """A fresh folder for one blow."""
    shutil.copytree(root, place)
    if command.existing and command.makes == "out":
        shutil.copytree(place / "known", place / "out")
        shutil.copy(place / "known.inside.html", place / "out.inside.html")
    elif command.existing:
        (place / "out.csv").write_text("old\n")
    return place


def whole(place: Path, command: Command, ran: dict[str, Any], blow: str) -> None:
    """What is there is whole: old, new or nothing; what was said is so; the ledger counts everything."""
    made = place / command.makes
    if command.makes == "out":
        seal, before = found(made), found(place / "known")
        assert seal is not None or not command.existing, ran
        page = place / "out.inside.html"
        if command.inside and blow != "kill":
            assert page.exists() == (seal is not None), ran
        if ran["code"] == 0:
            assert seal not in (None, before), ran
    elif command.makes == "out.csv" and made.exists():
        old = "old\n" if command.existing else None
        assert made.read_text() in (old, (place / "applied.csv").read_text())
    elif command.complete is not None and made.exists():
        command.complete(made)
    elif command.makes == "front" and made.exists():
        for path in (made / "points").glob("*.json"):
            assert path.read_text().startswith(f'{{\n "name": "{path.stem}"'), path
    if command.pays:
        paid(place, ran, made if command.makes else None)


def paid(place: Path, ran: dict[str, Any], bundle: Path | None) -> None:
    """The ledger opens, holds what the bundle cites, and charged whatever was told."""
    ledger = sf.Ledger(place / "ledger.db")
    charges = ledger.history()
    everybody = ledger.accounts()[0]
    assert everybody.spent == sum(charge.cost for charge in charges) <= everybody.granted
    assert len(charges) <= 1
    if ran["code"] == 0:
        assert [charge.status for charge in charges] == ["settled"]
    if bundle is not None and bundle.exists() and (cited := cited_by(bundle)) is not None:
        assert ledger.holds(cited)
        assert len(charges) == 1


def cleared(place: Path, command: Command, large: Warm) -> None:
    """The next run leaves no scratch folder, here or among the temporary ones."""
    for folder in (place, place / "front", place / "front" / "points", place / "tmp"):
        clear(folder)
    assert leftovers(place) == []
    if command.makes == "out" and command.inside and (place / "out").exists():
        assert (place / "out.inside.html").exists()


def moments(seed: int, count: int) -> list[tuple[str, str, float]]:
    """So many random blows: on which command, which, and after which part of its time."""
    draw = random.Random(seed)
    often = [1 if name == "frontier" else 4 for name in COMMANDS]
    names = draw.choices(list(COMMANDS), often, k=count)
    return [(name, draw.choice(("kill", "int", "term")), draw.uniform(0, 1.05)) for name in names]
