"""How a file is to be read: headers, blanks and marks of missing values are found out, cautiously."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.pipeline.profile.suggestions import found_marks
from sfumato.tables.csv_files import read_head
from sfumato.tables.table import Table
from tests.shared_data import shared
from tests.weights import examples

HEADED = [
    "arx/cup_subset.csv", "arx/fars_subset.csv", "arx/adult.csv", "sdcmicro/testdata.csv", "sdcmicro/EIA.csv",
    "sdcmicro/CASCrefmicrodata.csv", "sdcmicro/Tarragona.csv", "mimic3_demo/PATIENTS.csv", "mimic3_demo/ADMISSIONS.csv",
    "mimic3_demo/DIAGNOSES_ICD.csv", "mimic3_demo/DRGCODES.csv", "mimic3_demo/flat.csv", "trajectories/biofam.csv",
    "icd9/vermont_dx.csv", "mimic3_demo/PRESCRIPTIONS.csv.gz", "mimic3_demo/D_ICD_PROCEDURES.csv",
]  # fmt: skip


def header(folder: Path, text: str, delimiter: str | None = None) -> bool:
    (folder / "t.csv").write_text(text)
    head = read_head(folder / "t.csv", delimiter=delimiter)
    return head is None or head.header


@pytest.mark.parametrize("where", HEADED)
def test_real_headers_are_headers(where: str) -> None:
    head = read_head(shared(*where.split("/")), delimiter=None)
    assert head is not None
    assert (head.header, head.trim) == (True, False)


@pytest.mark.parametrize(("where", "delimiter"), [("cmc", None), ("german", " "), ("nursery", None), ("car", None)])
def test_first_lines_of_data_are_data(where: str, delimiter: str | None) -> None:
    head = read_head(shared("uci", f"{where}.data"), delimiter=delimiter)
    assert head is not None
    assert not head.header


def test_adult_has_no_header_and_blanks_after_its_commas() -> None:
    head = read_head(shared("adult", "adult.data"), delimiter=None)
    assert head is not None
    assert (head.header, head.trim) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "name,city\nAnn,Rome\nBob,Oslo\n",
        "name,10,20,30\nann,5,15,25\nbob,12,22,90\neve,44,4,44\n",
        "country,1990,1991,1992\nDE,4,5,1990\nFR,2000,1,1993\n",
        "0,1,2\n5,1,2\n0,3,4\n",
        "name,2020\nAnn,5\nBob,7\n",
        "a\nb\nc\n",
        "age\n31\n47\n",
        "a,\n1,2\n3,4\n",
        "1\n",
        "",
    ],
)
def test_what_may_be_a_header_is_one(text: str, tmp_path: Path) -> None:
    assert header(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    ["24,2,3\n45,1,3\n12,3,3\n", "2020-01-05,x,5\n2020-01-01,x,4\n2020-02-01,x,6\n", "m,a\nm,b\nf,a\nm,a\nm,a\n"],
)
def test_what_looks_like_the_rows_below_is_a_row(text: str, tmp_path: Path) -> None:
    assert not header(tmp_path, text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    head = read_head(tmp_path / "t.csv.gz", delimiter=None)
    assert head is not None
    assert not head.header


WORDS = st.text("abcdefghij", min_size=2, max_size=8)


@given(
    names=st.lists(WORDS, min_size=1, max_size=5, unique=True),
    rows=st.lists(st.tuples(*[st.integers(0, 99) | WORDS] * 5), min_size=2, max_size=20),
)
@examples(100)
def test_names_that_are_no_values_are_never_taken_for_data(names: list[str], rows: list[tuple[object, ...]]) -> None:
    import tempfile

    values = {str(cell) for row in rows for cell in row}
    names = [f"{name}_x" for name in names]
    assert not values & set(names)
    lines = [",".join(names), *(",".join(map(str, row[: len(names)])) for row in rows)]
    with tempfile.TemporaryDirectory() as folder:
        assert header(Path(folder), "\n".join(lines) + "\n")


def test_a_draft_of_a_file_without_a_header_releases(tmp_path: Path) -> None:
    rows = "\n".join(f"{20 + n % 50},{'mf'[n % 2]},{n % 3}" for n in range(200))
    (tmp_path / "t.csv").write_text(rows + "\n")
    done = CliRunner().invoke(app, ["profile", str(tmp_path / "t.csv"), "-o", str(tmp_path / "plan.toml")])
    assert done.exit_code == 0, done.output
    assert "The first line looks like data" in done.output
    assert "header = false" in (tmp_path / "plan.toml").read_text()
    assert max(len(line) for line in done.output.splitlines() if str(tmp_path) not in line) <= 80
    made = sf.release(sf.Plan.load(tmp_path / "plan.toml", ["attack.run=false"]))
    assert made.frame.columns == ["column_1", "column_2", "column_3"]
    assert sf.profile(tmp_path / "t.csv").rows == 200
    said = CliRunner().invoke(app, ["profile", str(tmp_path / "t.csv"), "--header", "--json"])
    assert '"rows": 199' in said.output


def test_marks_of_missing_values_are_proposed_and_the_draft_uses_them(tmp_path: Path) -> None:
    rows = "\n".join(f"{n % 40 if n % 9 else 'NA'},{'mf'[n % 2] if n % 7 else '?'},{n % 3 or ''}" for n in range(200))
    (tmp_path / "t.csv").write_text(f"age,sex,children\n{rows}\n")
    found = sf.profile(tmp_path / "t.csv")
    assert found.missing == ("", "?", "NA")
    assert [(one.kind, one.missing > 0) for one in found.columns] == [
        ("integer", True),
        ("text", True),
        ("category", True),
    ]
    done = CliRunner().invoke(app, ["profile", str(tmp_path / "t.csv"), "-o", str(tmp_path / "plan.toml")])
    assert "Taken for missing values: '', '?', 'NA'" in done.output
    assert sf.release(sf.Plan.load(tmp_path / "plan.toml", ["attack.run=false"])).write(tmp_path / "out").holds
    assert sf.profile(tmp_path / "t.csv", missing=("?",)).missing == ()


def test_the_code_of_namibia_is_no_missing_value() -> None:
    codes = pl.DataFrame({"country": ["DE", "FR", "NA", "ES", "IT", "PL"], "x": ["1", "2", "NA", "3", "4", "5"]})
    table = Table(frame=codes)
    assert found_marks([table.column("x")]) == ("NA",)
    assert found_marks([table.column("x"), table.column("country")]) == ()
