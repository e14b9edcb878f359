"""``sfumato rules``: a table, JSON, CSV and a picture; one clear message for everything else."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

LINES = "bread milk\nbread milk\nbread\n\nmilk beer\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("baskets.dat").write_text(LINES)
    pl.DataFrame({"basket": ["bread|milk", "bread|milk", "bread", "milk|beer"]}).write_csv("baskets.csv")
    return tmp_path


def test_a_table_json_csv_and_a_picture(run, place: Path):
    asked = ("--min-support", 0.5, "--min-confidence", 0.6)
    shown = run("rules", "baskets.dat", "--lines", *asked, "-o", "rules.csv", "--picture", "rules.svg")
    assert shown.code == 0, shown.err
    assert "4 records, 3 sets that at least 2 of them have" in shown.out
    assert "2 rules with a confidence of at least 60.0%" in shown.out
    assert Path("rules.csv").read_text().splitlines() == [
        "antecedent,consequent,rows,support,confidence,lift",
        "bread,milk,2,0.5,0.6666666666666666,0.8888888888888888",
        "milk,bread,2,0.5,0.6666666666666666,0.8888888888888888",
    ]
    assert Path("rules.svg").read_text().count("<circle") == 2
    told = run("rules", "baskets.csv", "--sets", "basket", *asked, "--top", 1, "--json")
    assert told.json["rules"] == 2
    assert told.json["strongest"] == [
        {"antecedent": ["bread"], "consequent": ["milk"], "rows": 2, "support": 0.5, "confidence": pytest.approx(2 / 3),
         "lift": pytest.approx(8 / 9)}
    ]  # fmt: skip
    run("rules", "baskets.dat", "--lines", *asked, "-o", "rules.parquet")
    assert pl.read_parquet("rules.parquet")["antecedent"].to_list() == [["bread"], ["milk"]]


def test_nothing_found_is_told(run, place: Path):
    shown = run("rules", "baskets.dat", "--lines", "--min-confidence", 1, "--min-support", 0.9, "--picture", "none.svg")
    assert shown.code == 0, shown.err
    assert "0 rules with a confidence of at least 100.0%" in shown.out
    assert "No rule was found." in Path("none.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--min-support", 0), "min_support must lie in (0, 1], not 0"),
        (("--min-support", 1.5), "min_support must lie in (0, 1], not 1.5"),
        (("--min-confidence", -0.1), "min_confidence must lie in [0, 1], not -0.1"),
        (("--min-confidence", 1.1), "min_confidence must lie in [0, 1], not 1.1"),
        (("--longest", 0), "longest must be at least 1, not 0"),
        (("--top", -1), "--top must be at least 0, not -1"),
        (("--separator", "::"), "separator must be one character such as ' ', not '::'"),
        (("-o", "rules.txt"), "-o rules.txt: must end in .csv or .parquet"),
        (("--picture", "rules.png"), "--picture rules.png: must end in .svg"),
        (("-o", "baskets.csv", "--force"), ""),
        (("-o", "baskets.csv"), "baskets.csv exists already"),
        (("--sets", "basket"), "the table has no column 'basket'"),
    ],
)
def test_bad_input(run, place: Path, arguments, message):
    found = run("rules", "baskets.dat", "--lines", *arguments)
    assert found.code == (2 if message else 0)
    assert message in found.err
    assert found.err.count("\n") == (1 if message else 0)


def test_files_that_hold_no_sets(run, place: Path):
    Path("blank.dat").write_text("\n\n")
    assert "has only blank lines" in run("rules", "blank.dat", "--lines").err
    Path("bad.dat").write_bytes(b"\xff\xfe\xfa")
    assert "is not UTF-8" in run("rules", "bad.dat", "--lines").err
    assert "there is no such file" in run("rules", "none.dat", "--lines").err
    assert "is read by this command" in run("rules", "baskets.csv", "-o", "baskets.csv", "--force").err
