"""Attacks on bundles of many files, and bundles made again: by counts and whole groups, never by all rows."""

from __future__ import annotations

import gzip
import lzma
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.attacks.subject import Subject
from sfumato.bundles.files import write_parts
from sfumato.bundles.part_counts import uneven_rows
from sfumato.bundles.verify import untouched
from sfumato.cli.main import app
from sfumato.core.errors import PlanError, UnknownColumn
from sfumato.pipeline.methods.table import parts_attack
from sfumato.pipeline.methods.table import subject as sampled_groups
from sfumato.pipeline.methods.table.subject import bundle_subject
from sfumato.tables.table import Table
from tests.tables.engines.test_released_parts import PLAN, people, plan

pytest.importorskip("duckdb")
NAMES = ("age", "sex", "education", "occupation")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of few rows."""
    monkeypatch.setattr(write_parts, "__kwdefaults__", {"each": 200})


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    """What is attacked."""
    found: list[Subject] = []
    attacked = parts_attack.attacked

    def heard(subject: Subject, *given: Any, **more: Any) -> Any:
        found.append(subject)
        return attacked(subject, *given, **more)

    monkeypatch.setattr(parts_attack, "attacked", heard)
    return found


def counted(frame: pl.DataFrame) -> Counter[Any]:
    return Counter(frame.select(NAMES).rows())


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("suppressed", ["star", "remove"])
@pytest.mark.parametrize("algorithm", ["optimal", "top-down", "mondrian"])
def test_where_all_groups_are_drawn_everybody_is_behind_them(
    tmp_path: Path, seen: list[Subject], suppressed: str, algorithm: str
):
    said = {"name": algorithm, "max_suppressed": 0.05, "suppressed": suppressed}
    local = plan(tmp_path, "parquet", engine=None, algorithm=said)
    sf.release(plan(tmp_path, "parts", algorithm=said)).write(tmp_path / "many")
    sf.release(local).write(tmp_path / "one")
    found = sf.attack(tmp_path / "many", tmp_path / "t.parquet", plan=local, trials=50)
    assert all("groups, drawn at random and whole" in one.note for one in found.findings)
    overlap = {"labels overlap" in one.note for one in found.findings}
    assert overlap == {False} or algorithm == "mondrian"
    whole = bundle_subject(
        tmp_path / "one", untouched(tmp_path / "one"), Table(frame=people(), missing=("?",)), control=None, plan=local
    )
    assert counted(seen[0].release) == counted(whole.release)
    behind, everybody = counted(seen[0].people), counted(whole.people)
    assert behind <= everybody
    if suppressed == "star" and algorithm != "mondrian":
        assert behind == everybody
    assert seen[0].sensitive == whole.sensitive
    assert set(seen[0].beside) == set(whole.beside)


@pytest.mark.usefixtures("small")
def test_groups_are_whole_and_the_people_are_theirs(
    tmp_path: Path, seen: list[Subject], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sampled_groups.drawn_groups, "__kwdefaults__", {"most": 300})
    said = {"max_suppressed": 0.05, "suppressed": "remove"}
    made = sf.release(plan(tmp_path, "parts", algorithm=said))
    made.write(tmp_path / "many")
    sf.attack(tmp_path / "many", people().lazy(), plan=plan(tmp_path, "parts"), trials=50, seed=3)
    rows, quasi = seen[0].release, ["age", "sex", "education"]
    whole = Counter(made.frame.collect().select(quasi).fill_null("?").rows())
    some = Counter(rows.select(quasi).rows())
    assert 0 < rows.height <= 300
    assert all(whole[group] == many for group, many in some.items())
    assert seen[0].people.height >= rows.height
    assert seen[0].people.height < people().height
    linked = {tuple(row) for row in rows.select("number").rows()}
    assert linked <= {tuple(row) for row in seen[0].people.select("number").rows()}


@pytest.mark.usefixtures("small")
def test_the_plan_says_where_the_original_is(tmp_path: Path):
    said = plan(tmp_path, "parts")
    sf.release(said).write(tmp_path / "many")
    assert sf.attack(tmp_path / "many", plan=said, trials=50).findings
    with pytest.raises(PlanError, match="--original is missing"):
        sf.attack(tmp_path / "many", trials=50)
    with pytest.raises(PlanError, match=r'--known needs all rows at once; make the release with output.format = "par'):
        sf.attack(tmp_path / "many", people(), known=people(), trials=50)
    with pytest.raises(UnknownColumn, match="--original: the table has no column 'sex'"):
        sf.attack(tmp_path / "many", people().drop("sex"), plan=said, trials=50)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
def test_an_original_that_duckdb_cannot_unpack_is_read_into_memory(tmp_path: Path, packed: Callable[[bytes], bytes]):
    sf.release(plan(tmp_path, "parts")).write(tmp_path / "many")
    original = tmp_path / f"original.csv.{'gz' if packed is gzip.compress else 'xz'}"
    original.write_bytes(packed(people().write_csv(null_value="?").encode()))
    assert sf.attack(tmp_path / "many", original, trials=50).findings


@pytest.mark.usefixtures("small")
def test_groups_that_are_all_too_large_are_not_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    said = plan(tmp_path, "parts")
    sf.release(said).write(tmp_path / "many")
    monkeypatch.setattr(sampled_groups.drawn_groups, "__kwdefaults__", {"most": 1})
    found = sf.attack(tmp_path / "many", plan=said, trials=50)
    assert not found.findings
    assert "every group has more than" in next(iter(found.skipped.values()))


@pytest.mark.usefixtures("small")
def test_parts_that_are_made_again_are_counted_and_never_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = plan(tmp_path, "parts")
    sf.release(said).write(tmp_path / "many")
    monkeypatch.setattr("sfumato.pipeline.verification._frames", None)
    found = sf.verify_again(tmp_path / "many", plan=said)
    assert found.holds
    assert any(one.what == "rows of data" and "800 rows, as the original" in one.detail for one in found.checks)
    frame = people()
    frame = frame.with_columns(sex=pl.when(pl.col("number") == 5).then(pl.lit("Male")).otherwise(pl.col("sex")))
    frame = frame.with_columns(occupation=frame["occupation"].shuffle(seed=1))
    frame.write_parquet(tmp_path / "other.parquet")
    done = CliRunner().invoke(
        app,
        ["verify", str(tmp_path / "many"), "--plan", str(_saved(tmp_path)), "--original",
         str(tmp_path / "other.parquet")],
    )  # fmt: skip
    assert done.exit_code == 1, done.output
    assert "the original and the plan give other rows" in done.output


def _saved(folder: Path) -> Path:
    """The plan of ``plan`` as a file."""
    text = PLAN.replace("occupation =", 'education = { role = "quasi", hierarchy = { kind = "flat" } }\noccupation =')
    text = text.replace("k_anonymity = 5\n", 'k_anonymity = 5\nl_diversity = { kind = "distinct", l = 2 }\n')
    (folder / "plan.toml").write_text(text + '[algorithm]\nmax_suppressed = 0.02\nsuppressed = "star"\n')
    return folder / "plan.toml"


def test_rows_are_compared_with_how_often_they_are_there(tmp_path: Path):
    frame = pl.DataFrame({"a": ["x", "x", None, "y"], "it's": [1.5, 1.5, None, 2.0]})
    files = [tmp_path / f"{n}.parquet" for n in range(5)]
    for file, rows in zip(
        files, (frame, frame[::-1], frame[1:], frame.fill_null("?"), frame.rename({"a": "b"})), strict=True
    ):
        rows.write_parquet(file)
    data = {"missing": ["?"]}
    assert [uneven_rows(files[:1], [other], data) for other in files] == [0, 0, 1, 0, 4]
    assert uneven_rows([files[0], files[2]], [files[2], files[1]], data) == 0
