"""The house is as docs/architecture.md draws it: rooms, kinds, the way of a release, names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import sfumato

SOURCE = Path(sfumato.__file__).parent
ROOT = Path(__file__).parents[2]
DRAWN = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
KINDS = {
    "table": ("A table", "optimal-k"),
    "items": ("Paths and sets", "trajectory-lkc"),
    "private": ("A private release", "marginals"),
    "swapped": ("Swapped rows", "optimal-k"),
    "condensed": ("Condensed records", "optimal-k"),
    "tree": ("Trees instead of rows", "tree"),
}
INSTEAD = {
    "swapped": {"algorithm": {"name": "swapping", "rate": 0.5}, "privacy": {}},
    "condensed": {"algorithm": {"name": "condense"}, "privacy": {"indistinguishable_groups": 5}},
}
"""Instead of the algorithm and the requirement of a plan."""
RELEASE = """
import sys, pathlib, tempfile
import sfumato as sf
from tests.golden.releases import comparing
from tests.golden.releases.plans import PLANS
tree = {**PLANS[sys.argv[1]], **eval(sys.argv[2])}
made = sf.release(sf.Plan.parse(tree, folder=comparing.HERE))
made.write(pathlib.Path(tempfile.mkdtemp()) / "bundle")
print(*(name for name in sys.modules if name.startswith("sfumato.workflow.")))
"""


COLLECTED = """
import pathlib, sys, tempfile
import sfumato as sf
from sfumato.collect.kept_categories import KeptCategory
from sfumato.collect.specification import Specification
folder = pathlib.Path(tempfile.mkdtemp())
coin = KeptCategory.warner("smokes", ("yes", "no"), truth="3/4")
(folder / "survey.json").write_text(Specification(questions=(coin,)).write())
(folder / "shown.csv").write_text("smokes\\n" + "yes\\nno\\n" * 30)
tree = {"input": {"path": "shown.csv"}, "collection": {"spec": "survey.json"}}
sf.release(sf.Plan.parse(tree, folder=folder)).write(folder / "bundle")
print(*(name for name in sys.modules if name.startswith("sfumato.workflow.")))
"""


GRADED = """
import pathlib, sys, tempfile
import sfumato as sf
from sfumato.bundle.graded_secret import GradedSecret
from sfumato.describe.graded_terms import read_terms
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "data.csv").write_text("ward\\n" + "a\\nb\\n" * 30)
GradedSecret.new(read_terms({"ward": ["a", "b"]})).write(folder / "sites.secret")
tree = {"columns": {"ward": {"role": "sensitive"}}, "algorithm": {"name": "graded", "secret": "sites.secret"}}
sf.release(sf.Plan.parse({**tree, "input": {"path": "data.csv"}}, folder=folder)).write(folder / "bundle")
print(*(name for name in sys.modules if name.startswith("sfumato.workflow.")))
"""


SANITIZED = """
import pathlib, sys, tempfile
import sfumato as sf
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "data.csv").write_text("basket\\n" + "a|b\\na\\n" * 30)
(folder / "secret.toml").write_text(f"key = {64 * 'a'!r}\\nsets = [['a', 'b']]")
hidden = {"file": "secret.toml", "min_support": 0.4, "min_confidence": 0.5}
tree = {"columns": {"basket": {"role": "quasi", "type": "set"}}, "privacy": {"hidden_rules": hidden}}
sf.release(sf.Plan.parse({**tree, "input": {"path": "data.csv"}}, folder=folder)).write(folder / "bundle")
print(*(name for name in sys.modules if name.startswith("sfumato.workflow.")))
"""


def listed(title: str) -> set[str]:
    """The modules of a block of the page."""
    block = re.search(rf"^{title}:\n\n```text\n(.*?)```", DRAWN, re.M | re.S)
    assert block is not None, title
    return set(block[1].split())


def packages() -> set[str]:
    found = {path.parent.relative_to(SOURCE).as_posix().replace("/", ".") for path in SOURCE.rglob("__init__.py")}
    return {name.removeprefix("workflow.") for name in found if name.startswith("workflow.")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_loads_the_modules_of_workflow_that_are_drawn(kind: str):
    title, plan = KINDS[kind]
    instead = repr(INSTEAD.get(kind, {}))
    done = subprocess.run(
        [sys.executable, "-c", RELEASE, plan, instead], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.removeprefix("sfumato.workflow.") for name in done.stdout.split()} - packages()
    assert loaded == listed("Every release") | listed(title)


@pytest.mark.parametrize(
    ("program", "title"),
    [(COLLECTED, "Collected answers"), (GRADED, "Codes and aliases"), (SANITIZED, "Sets that hide rules")],
)
def test_releases_of_other_input_load_the_modules_that_are_drawn(program: str, title: str):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.removeprefix("sfumato.workflow.") for name in done.stdout.split()} - packages()
    assert loaded == listed("Every release") | listed(title)


def test_the_way_to_the_search_is_at_most_eight_files_and_each_leads_to_the_next():
    way = re.search(r"Eight files.*?\n\n(.*?)\n\n", DRAWN, re.S)
    assert way is not None
    files = re.findall(r"^\| `([\w/]+\.py)`", way[1], re.M)
    assert 0 < len(files) <= 8
    assert all((SOURCE / name).is_file() for name in files)
    texts = {name: (SOURCE / name).read_text() for name in files}
    leads = {
        "cli/release.py": "sfumato.workflow.walk",
        "workflow/walk.py": "sfumato.workflow.kinds",
        "workflow/kinds/__init__.py": "_kind",
        "workflow/kinds/table/table_kind.py": "sfumato.workflow.kinds.table.preparing",
        "workflow/kinds/table/table_search.py": "sfumato.workflow.kinds.table.table_plan",
    }
    for name, to in leads.items():
        assert to in texts[name], name


def rooms() -> set[str]:
    return {path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_tables_of_rooms_are_complete(page: str):
    text = (
        (ROOT / page)
        .read_text(encoding="utf-8")
        .split("# The rooms" if "arch" in page else "## Rooms")[1]
        .split("\n## ")[0]
    )
    told = {name for line in re.findall(r"^\| .*", text, re.M) for name in re.findall(r"`(\w+)`", line.split("|")[-3])}
    assert told >= rooms() - {"testing"}, rooms() - told
    assert told <= rooms() | {"sklearn"}, told - rooms()


def test_every_room_is_under_the_import_contract():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    named = {name.strip().removeprefix("sfumato.") for layer in layers for name in layer.split("|")}
    assert named == rooms() | {"sklearn"}


def test_a_module_name_occurs_once():
    names = Counter(path.stem for path in SOURCE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
    assert [name for name, times in names.items() if times > 1] == []


def test_no_room_has_the_name_of_a_verb():
    verbs = {name for name in sfumato.__all__ if name.islower()} - {"datasets", "models", "__version__"}
    assert not verbs & rooms()
    for name in verbs:
        assert callable(getattr(sfumato, name))


def test_nobody_outside_kinds_asks_which_kind_a_release_is():
    """No isinstance on releases, no look at what a kind is recognized by."""
    for path in SOURCE.rglob("*.py"):
        if "kinds" in path.relative_to(SOURCE).parts:
            continue
        text = path.read_text()
        assert not re.search(r'"epsilon" (not )?in|manifest\.get\("kind"\)|\.kind\.name|kind\.stated ==', text), path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                assert not re.search(r"(Table|Item|Private)Release|\bKind\b", ast.unparse(node.args[1])), path
