"""A release in many files: the same rows, figures and page as in one file, in random order, verified by counting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles import files as parts_module
from sfumato.bundles.files import write_parts
from sfumato.core.errors import BundleError, DataError, PlanError
from sfumato.core.randomness import Chance
from sfumato.counts import engine_source
from sfumato.pipeline.methods.table import subject as sampling

TREE: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 100}},
        "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "education": {"role": "quasi", "hierarchy": {"kind": "flat"}},
        "occupation": {"role": "sensitive"},
        "number": {"role": "keep"},
    },
    "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}},
    "algorithm": {"max_suppressed": 0.02, "suppressed": "star"},
    "attack": {"run": False},
}


def people(rows: int = 800) -> pl.DataFrame:
    frame = sf.datasets.census(rows, seed=3).with_columns(number=pl.int_range(rows))
    return frame.with_columns(education=pl.when(pl.col("age") < 25).then(None).otherwise(pl.col("education")))


def plan(folder: Path, form: str, *, engine: str | None = "duckdb", **more: Any) -> sf.Plan:
    folder.mkdir(exist_ok=True)
    if not (folder / "t.parquet").exists():
        people().write_parquet(folder / "t.parquet")
    said = {"path": "t.parquet", "missing": ["?"], **({} if engine is None else {"engine": engine})}
    return sf.Plan.parse({**TREE, "input": said, "output": {"format": form}, **more}, folder=folder)


def rows_of(frame: Any) -> Counter[Any]:
    return Counter(frame.lazy().select(pl.all().cast(pl.String)).collect().rows())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and batches of few rows."""
    monkeypatch.setattr(write_parts, "__kwdefaults__", {"each": 200})
    monkeypatch.setattr(engine_source.batches, "__defaults__", (90,))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("engine", ["duckdb", None])
@pytest.mark.parametrize("suppressed", ["star", "remove"])
def test_many_files_say_what_one_file_says(tmp_path: Path, engine: str | None, suppressed: str):
    said = {"max_suppressed": 0.05, "suppressed": suppressed}
    one = sf.release(plan(tmp_path, "parquet", engine=engine, algorithm=said))
    many = sf.release(plan(tmp_path, "parts", engine=engine, algorithm=said))
    assert one.write(tmp_path / "one").holds
    assert many.write(tmp_path / "many").holds
    assert rows_of(many.frame) == rows_of(one.rows)
    assert many.frame.collect_schema() == one.rows.schema
    assert (many.height, many.claims, many.utility) == (one.height, one.claims, one.utility)
    bodies = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("one", "many")]
    for body in bodies:
        del body["sha256"]
        for key in ("file", "sha256", "parts"):
            body["data"].pop(key, None)
    assert bodies[0] == bodies[1]
    assert (tmp_path / "one" / "report.html").read_bytes() == (tmp_path / "many" / "report.html").read_bytes()
    assert len(list((tmp_path / "many" / "data").iterdir())) == 4
    assert sf.verify(tmp_path / "many").holds


def test_every_order_of_rows_is_equally_likely(tmp_path: Path):
    """Of 180 shuffles of 3 rows into 2 parts each of 6 orders is near 30; a false alarm once in 10,000 runs."""
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(180):
        folder = tmp_path / str(seed)
        folder.mkdir()
        batches = [pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [3]})]
        write_parts(batches, folder, 3, Chance(seed=seed), each=2)
        seen[tuple(pl.concat(map(pl.read_parquet, sorted(folder.iterdir())))["a"].to_list())] += 1
    expected = 30
    assert len(seen) == 6
    assert sum((many - expected) ** 2 / expected for many in seen.values()) < 25.7  # chi-squared, 5 degrees of freedom


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("harm", ["bytes", "more", "fewer", "swapped", "row", "digest"])
def test_a_bundle_of_parts_that_was_touched_does_not_verify(tmp_path: Path, harm: str):
    sf.release(plan(tmp_path, "parts")).write(tmp_path / "out")
    data = tmp_path / "out" / "data"
    first, second = data / "part-00000.parquet", data / "part-00001.parquet"
    if harm == "bytes":
        first.write_bytes(first.read_bytes()[:-1] + b"x")
    elif harm == "more":
        (data / "part-00009.parquet").write_bytes(first.read_bytes())
    elif harm == "swapped":
        whole = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(whole)
    elif harm == "row":
        pl.read_parquet(first).with_columns(sex=pl.lit("Male")).write_parquet(first)
    elif harm == "fewer":
        second.unlink()
        with pytest.raises(BundleError, match=r"its part 'part-00001.parquet' is missing"):
            sf.verify(tmp_path / "out")
        return
    else:
        body = json.loads((tmp_path / "out" / "manifest.json").read_text())
        body["data"]["parts"].pop()
        (tmp_path / "out" / "manifest.json").write_text(json.dumps(body))
    assert not sf.verify(tmp_path / "out").holds


@pytest.mark.usefixtures("small")
def test_a_bundle_of_parts_is_replaced_and_made_again_and_attacked(tmp_path: Path):
    said = plan(tmp_path, "parts")
    made = sf.release(said)
    made.write(tmp_path / "out")
    made.write(tmp_path / "out", force=True)
    (tmp_path / "out" / "data" / "mine.txt").write_text("x")
    with pytest.raises(BundleError, match=r"'data/mine.txt' is no file of it"):
        made.write(tmp_path / "out", force=True)
    (tmp_path / "out" / "data" / "mine.txt").unlink()
    assert sf.verify_again(tmp_path / "out", plan=said).holds
    assert sf.attack(tmp_path / "out", people(), plan=plan(tmp_path, "parquet", engine=None), trials=50).findings


def test_attacks_are_made_on_whole_groups_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampling.sampled_groups, "__kwdefaults__", {"most": 300})
    made = sf.release(plan(tmp_path, "parts", attack={"run": True, "trials": 50}))
    linkage = next(one for one in made.audit.findings if one.attack == "linkage")
    assert "groups, drawn at random and whole" in linkage.note
    assert linkage.rate.low <= 1 / 5
    drawn = sampling.sampled_groups(made, Chance(seed=1))
    whole = Counter(made.frame.collect().select("age", "sex", "education").fill_null("?").rows())
    some = Counter(drawn.rows.select("age", "sex", "education").rows())
    assert 0 < len(some) < len(whole)
    assert all(whole[group] == many for group, many in some.items())
    assert made.write(tmp_path / "out").holds


def test_groups_that_are_all_large_are_not_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampling.sampled_groups, "__kwdefaults__", {"most": 2})
    made = sf.release(plan(tmp_path, "parts", attack={"run": True, "trials": 50}))
    assert not made.audit.findings
    assert all("every group has more than" in why for why in made.audit.skipped.values())
    assert made.write(tmp_path / "out").holds


def test_what_cannot_be_written_in_parts_is_refused(tmp_path: Path):
    diverse = {"l_diversity": {"kind": "distinct", "l": 2}}
    with pytest.raises(PlanError, match=r'output.format = "parts": groups that are published apart need all rows'):
        sf.release(plan(tmp_path, "parts", engine=None, algorithm={"name": "anatomy"}, privacy=diverse))
    people().with_columns(Sex=pl.col("sex")).write_parquet(tmp_path / "t.parquet")
    both = {**TREE["columns"], "Sex": {"role": "keep"}}
    with pytest.raises(DataError, match=r"'sex', 'Sex' differ by case only"):
        sf.release(plan(tmp_path, "parts", engine=None, columns=both))
    people().write_parquet(tmp_path / "t.parquet")
    sf.release(plan(tmp_path, "parquet")).write(tmp_path / "old")
    with pytest.raises(PlanError, match=r"attack.earlier: earlier bundles are laid over all rows"):
        sf.release(plan(tmp_path, "parts", attack={"run": True, "earlier": ["old"]}))


def test_nothing_is_left_of_parts_that_were_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    said = plan(tmp_path / "in", "parts")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parts_module, "_put", full)
    with pytest.raises(BundleError, match="No space left on device; nothing was written"):
        sf.release(said)
    assert not list((tmp_path / "tmp").iterdir())


def test_a_seed_repeats_the_parts(tmp_path: Path):
    frame = pl.DataFrame({"a": np.arange(50)})
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_parts([frame[:20], frame[20:]], tmp_path / name, 50, Chance(seed=4), each=10)
    assert [f.read_bytes() for f in sorted((tmp_path / "one").iterdir())] == [
        f.read_bytes() for f in sorted((tmp_path / "two").iterdir())
    ]


FULL = """
import resource, sys
import sfumato as sf
plan = sf.Plan.load("plan.toml")
made = None if sys.argv[1] == "early" else sf.release(plan)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    (made or sf.release(plan)).write("out")
except sf.SfumatoError as refusal:
    print(type(refusal).__name__, refusal)
"""


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_full_disk_ends_in_one_message_and_nothing_is_left(tmp_path: Path, when: str):
    """No file can have more than 4,000 bytes: neither those of the engine, nor the parts, nor the report."""
    people().write_parquet(tmp_path / "t.parquet")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "plan.toml").write_text(PLAN)
    found = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    asked = [sys.executable, "-c", FULL, when]
    done = subprocess.run(asked, cwd=tmp_path, env=found, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1, done.stderr
    assert done.stdout.startswith(("BundleError", "DataError"))
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "tmp").iterdir())


PLAN = """
[input]
path = "t.parquet"
engine = "duckdb"
missing = ["?"]
[columns]
age = { role = "quasi", hierarchy = { kind = "intervals", widths = [5, 10, 20], low = 0, high = 100 } }
sex = { role = "quasi", hierarchy = { kind = "flat" } }
occupation = { role = "sensitive" }
number = { role = "keep" }
[privacy]
k_anonymity = 5
[attack]
run = false
[output]
format = "parts"
"""
