"""The commands with a package from outside on the path, each in a process of its own; and broken packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipeline.catalog.catalog import catalog

INSTALLED = Path(__file__).parent / "installed"
SOURCE = Path(sf.__file__).parent.parent
PLAN = """
[input]
path = "people.psv"
[columns.age]
role = "quasi"
hierarchy = { kind = "intervals", widths = [10, 50], low = 0, high = 100 }
[columns.sex]
role = "quasi"
hierarchy = { kind = "flat" }
[columns.occupation]
role = "sensitive"
[privacy]
p_sensitive = { p = 2, k = 5 }
[utility]
metric = "worst-column"
[algorithm]
name = "stairs"
first = 1
[attack]
attacks = ["one-column", "linkage"]
trials = 50
"""
HEAD = "from sfumato.pipeline.catalog.parts import *\n"


def run(place: Path, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command with a folder of packages on the path."""
    path = os.pathsep.join([str(SOURCE), str(place)])
    return subprocess.run(
        [sys.executable, "-m", "sfumato", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "400"},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_released_verified_and_attacked_from_a_file(tmp_path: Path):
    frame = sf.datasets.census(200, seed=4).select(pl.all().cast(pl.String))
    frame.write_csv(tmp_path / "people.psv", separator="|")
    (tmp_path / "plan.toml").write_text(PLAN)
    done = run(INSTALLED, "release", "plan.toml", "-o", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["verified"]
    assert told["claims"][0]["model"] == "p-sensitive"
    assert min(told["levels"].values()) == 1
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Every group has at least 5 rows and shows at least 2 values of occupation." in report
    checked = run(INSTALLED, "verify", "out", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    attacked = run(
        INSTALLED, "attack", "out", "--original", "people.psv", "--attacks", "one-column", "--json", cwd=tmp_path
    )
    assert attacked.returncode == 0, attacked.stderr
    assert "one-column" in attacked.stdout
    without = run(tmp_path / "nothing", "verify", "out", cwd=tmp_path)
    assert without.returncode == 1
    assert "'p-sensitive' is not known" in without.stdout + without.stderr


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("models", ("p-sensitive", "crowd", "item-support")),
        ("algorithms", ("stairs", "staircase", "drop-rare", "first-column")),
        ("metrics", ("worst-column", "weather")),
        ("attacks", ("one-column", "one-item")),
    ],
)
def test_listed(verb: str, names: tuple[str, ...]):
    done = run(INSTALLED, verb, "--json")
    assert done.returncode == 0, done.stderr
    listed = [next(iter(row.values())) for row in json.loads(done.stdout)]
    assert set(names) <= set(listed)
    assert set(getattr(catalog(), verb)) <= set(listed)


def broken(place: Path, module: str) -> Path:
    """A package that offers something else."""
    (place / "sfumato_broken.py").write_text(module)
    meta = place / "sfumato_broken-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: sfumato-broken\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[sfumato.parts]\nbroken = sfumato_broken:PARTS\n")
    return place


MODEL = HEAD + (
    "from dataclasses import replace\n"
    "from sfumato.pipeline.catalog.models import MODELS\n"
    "from sfumato.tables.files import FORMATS\n"
    "from sfumato.models import KAnonymity\n"
    "class Mine(KAnonymity):\n"
    "    name = 'mine'\n"
    "def build(spec, path, context):\n"
    "    return []\n"
    "mine = replace(MODELS[0], make=Mine, key='mine', build=build)\n"
)
BROKEN = {
    "cannot be imported": ("import no_such_module\n", "'broken' cannot be loaded: ModuleNotFoundError"),
    "has no parts": ("OTHER = 1\n", "'broken' cannot be loaded: AttributeError"),
    "offers something else": ("PARTS = {}\n", "'broken' must offer a Parts record, not a dict"),
    "a name of ours": (MODEL + "PARTS = Parts(models=(MODELS[0],))\n", "brings 'k-anonymity', which 'sfumato' has"),
    "a name twice": (MODEL + "PARTS = Parts(models=(mine, mine))\n", "brings 'mine', which 'broken' has already"),
    "a key of ours": (
        MODEL + "PARTS = Parts(models=(replace(mine, key='lkc'),))\n",
        "brings the key privacy.lkc, which 'sfumato' has already",
    ),
    "a key that asks for no model": (
        MODEL + "PARTS = Parts(models=(replace(mine, key='epsilon'),))\n",
        "brings the key privacy.epsilon, which 'sfumato' has already",
    ),
    "a word of plans": (
        MODEL + "PARTS = Parts(algorithms=(AlgorithmPart(name='auto', run=build),))\n",
        "brings 'auto', which means something else in a plan",
    ),
    "an extension of ours": (
        MODEL + "PARTS = Parts(formats=(replace(FORMATS[0], name='mine'),))\n",
        "brings '.csv', which 'sfumato' has already",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_package_is_one_message(tmp_path: Path, fault: str):
    module, told = BROKEN[fault]
    done = run(broken(tmp_path, module), "models")
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.startswith("sfumato: the plugin 'broken' ")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_the_smallest_plugin_of_the_contributing_page_works(tmp_path: Path):
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    module = page.split("```python\n")[1].split("```")[0]
    done = run(broken(tmp_path, module), "models", "--json")
    assert done.returncode == 0, done.stderr
    assert "pairs = true" in done.stdout
    pl.DataFrame({"age": [1, 1, 2]}).write_csv(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(
        '[input]\npath = "people.csv"\n[columns.age]\nrole = "quasi"\nhierarchy = { kind = "flat" }\n'
        "[privacy]\npairs = true\n"
    )
    done = run(tmp_path, "release", tmp_path / "plan.toml", "-o", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["claims"][0]["parameters"] == {"k": 2}
    assert run(tmp_path, "verify", tmp_path / "out").returncode == 0


def test_a_broken_package_does_not_refute_a_bundle(tmp_path: Path):
    """It cannot be verified then, and nothing is said about its claims."""
    plan = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"kind": "flat"}}},
        "privacy": {"k_anonymity": 2},
        "attack": {"run": False},
    }
    sf.release(sf.Plan.parse(plan), pl.DataFrame({"age": [1, 1, 2, 2]})).write(tmp_path / "out")
    place = tmp_path / "packages"
    place.mkdir()
    done = run(broken(place, "PARTS = {}\n"), "verify", tmp_path / "out")
    assert done.returncode == 2
    assert "must offer a Parts record" in done.stderr
