"""Sizes from which tables are read or counted in another way change no release: all of them lowered to a few rows."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipeline.linked.plan import LinkedPlan
from sfumato.pipeline.linked.release import release_linked
from sfumato.pipeline.streams import run_stream
from sfumato.tables import large_csv
from sfumato.tables.files import read
from tests.golden.releases import adapter
from tests.golden.releases.comparing import BUNDLES, HERE, differences, manifest, tables, texts
from tests.golden.releases.plans import PLANS, PRIVATE
from tests.golden.releases.test_golden_releases import OPEN, same_rows
from tests.pipeline.linked_tables import laid_out
from tests.streaming.streams import HEADER, lines
from tests.streaming.streams import plan as stream_plan

THRESHOLDS = {
    "sfumato.tables.large_csv": {"LARGE": 1, "BLOCK": 512, "_HEAD": 512},
    "sfumato.tables.csv_files": {"_PART": 200},
    "sfumato.counts.tally": {"_BLOCK": 16},
    "sfumato.counts.itemsets": {"_CHUNK": 8},
    "sfumato.counts.local_cuts": {"_SEEN": 4},
    "sfumato.attacks.predicates": {"BLOCK": 4},
    "sfumato.attacks.membership": {"_BLOCK": 4},
    "sfumato.attacks.foreground": {"_BLOCK": 16},
    "sfumato.algorithms.items.suppression": {"_BLOCK": 2},
    "sfumato.pipeline.methods.condensed.stages": {"_PART": 16},
}
"""Where a size decides how something is read, counted or put into blocks."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """All thresholds are low; the files that were read as categories are told."""
    for module, names in THRESHOLDS.items():
        for name, value in names.items():
            assert isinstance(getattr(importlib.import_module(module), name), int)
            monkeypatch.setattr(f"{module}.{name}", value)
    read, packed = list[Path](), large_csv.packed_csv

    def told(path: Path, **options: Any) -> pl.DataFrame | None:
        frame = packed(path, **options)
        read.extend([path] if frame is not None else [])
        return frame

    formats = importlib.import_module("sfumato.tables.files")
    monkeypatch.setattr(formats, "packed_csv", told)
    return read


@pytest.mark.parametrize("name", OPEN)
def test_the_same_rows_and_figures(name: str, small: list[Path], tmp_path: Path):
    plan = adapter.plan_of(PLANS[name], HERE)
    made = adapter.made(plan)
    same_rows(tables(made), name)
    assert adapter.checked(made, tmp_path)
    assert differences(manifest(tmp_path), manifest(BUNDLES / name)) == []
    path = str(PLANS[name]["input"]["path"])
    assert small or not path.endswith(".csv") or '"' in (HERE / path).read_text(encoding="utf-8")
    if made.kind.name == "condensed":
        made.write(tmp_path / "again")
        assert sf.verify_again(tmp_path / "again", plan=plan, original=read(HERE / path).frame).holds


@pytest.mark.parametrize("name", PRIVATE)
def test_the_same_private_rows(name: str, small: list[Path]):
    same_rows({"": texts(adapter.private_rows(adapter.plan_of(PLANS[name], HERE)))}, name)


BASKETS = "basket\n" + "".join(f"{' '.join('abcdefg'[(n * p) % 7] for p in (1, 2, 4))}\n" for n in range(40))
ANSWERS = "age,job\n" + "".join(f"{20 + n % 40},{'cook' if n % 3 else 'nurse'}\n" for n in range(200))


def _sets(folder: Path) -> Any:
    (folder / "t.csv").write_text(BASKETS)
    column = {"role": "quasi", "type": "set", "separator": " "}
    return sf.Plan.parse(
        {
            "input": {"path": "t.csv"},
            "columns": {"basket": column},
            "privacy": {"km": {"k": 4, "m": 2}},
            "algorithm": {"name": "sets", "seed": 1},
            "attack": {"trials": 20},
        },
        folder=folder,
    )


def test_sets_of_a_plain_file(tmp_path: Path, request: pytest.FixtureRequest):
    usual = sf.release(_sets(tmp_path)).frame.rows()
    assert request.getfixturevalue("small") == []
    made = sf.release(_sets(tmp_path))
    assert made.frame.rows() == usual
    assert made.write(tmp_path / "out").holds


def test_rows_over_observed_domains(tmp_path: Path, small: list[Path]):
    (tmp_path / "t.csv").write_text(ANSWERS)
    tree = {
        "input": {"path": "t.csv"},
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100}},
            "job": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        },
        "privacy": {"epsilon": 1.0, "domains": "observed"},
        "attack": {"trials": 20},
    }
    assert sf.release(sf.Plan.parse(tree, folder=tmp_path)).write(tmp_path / "out").holds
    assert small


def test_linked_tables(tmp_path: Path, request: pytest.FixtureRequest):
    plan = LinkedPlan.load(laid_out(tmp_path))
    usual = {name: one.levels for name, one in release_linked(plan).tables.items()}
    assert request.getfixturevalue("small") == []
    made = release_linked(plan)
    assert {name: one.levels for name, one in made.tables.items()} == usual
    assert made.write(tmp_path / "out").holds


def test_a_stream(tmp_path: Path, small: list[Path]):
    (tmp_path / "in.csv").write_text(HEADER + "".join(lines(250)))
    run_stream(stream_plan(), tmp_path / "in.csv", tmp_path / "out", finish=True)
    assert sf.verify(tmp_path / "out").holds
    assert small
