"""SPSS, Stata and SAS: labels, declared missing values, dates; broken files are refused."""

from __future__ import annotations

from datetime import date, datetime
from itertools import islice
from pathlib import Path

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import sfumato as sf
from sfumato.core.errors import DataError, MissingExtra
from sfumato.tables.files import FORMATS, read
from sfumato.testing import formats
from sfumato.testing.formats import check_format
from tests.weights import thorough

FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 9.0, 1.0],
        "age": [31.0, 47.0, None, 22.0],
        "pay": [1.5, 2.0, 2.5, None],
        "born": [date(1980, 1, 31), date(1975, 5, 1), None, date(1999, 12, 31)],
        "city": ["Bern", "", "Thun", "Bern"],
    }
)
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}, "age": {99: "unknown"}}


def written(path: Path, **more: object) -> Path:
    frame = FRAME
    if path.suffix in (".sav", ".zsav"):
        pyreadstat.write_sav(frame, path, variable_value_labels=LABELS, compress=path.suffix == ".zsav", **more)
    elif path.suffix == ".dta":
        labels = {"sex": LABELS["sex"]}
        pyreadstat.write_dta(frame.astype({"sex": "int32"}), path, variable_value_labels=labels)
    else:
        pyreadstat.write_xport(frame, path)
    return path


@pytest.mark.parametrize("end", [".sav", ".zsav", ".dta"])
def test_labels_stand_in_place_of_codes_and_dates_are_dates(tmp_path, end):
    frame = read(written(tmp_path / f"t{end}")).frame
    assert frame.dtypes == [pl.String, pl.Int64, pl.Float64, pl.Date, pl.String]
    assert frame["sex"].to_list() == ["male", "female", "refused", "male"]
    assert frame["age"].to_list() == [31, 47, None, 22], "no label covers an age, so ages stay numbers"
    assert frame["born"].to_list() == [date(1980, 1, 31), date(1975, 5, 1), None, date(1999, 12, 31)]
    assert read(tmp_path / f"t{end}", labels=False).frame["sex"].to_list() == [1, 2, 9, 1]


def test_values_that_spss_declares_missing_are_missing(tmp_path):
    path = written(tmp_path / "t.sav", missing_ranges={"sex": [9]})
    assert read(path).frame["sex"].to_list() == ["male", "female", None, "male"]
    assert read(path, labels=False).frame["sex"].to_list() == [1, 2, None, 1]


def test_an_empty_text_is_missing_where_the_program_has_no_other(tmp_path):
    assert read(written(tmp_path / "t.sav")).frame["city"].null_count() == 0
    assert read(written(tmp_path / "t.dta")).frame["city"].null_count() == 1
    assert read(written(tmp_path / "t.xpt")).frame["city"].null_count() == 1


def test_two_codes_with_one_label_stay_codes(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"x": {1: "yes", 2: "yes"}})
    assert read(tmp_path / "t.sav").frame["x"].to_list() == [1, 2]


def test_times_of_day_stay(tmp_path):
    pyreadstat.write_sav(pd.DataFrame({"seen": [datetime(1980, 1, 1, 2, 3)]}), tmp_path / "t.sav")
    assert read(tmp_path / "t.sav").frame["seen"].to_list() == [datetime(1980, 1, 1, 2, 3)]


def test_a_plan_says_whether_labels_are_shown(tmp_path):
    written(tmp_path / "t.sav")
    columns = {"sex": {"role": "quasi", "hierarchy": {"kind": "flat"}}}
    for labels, value in ((True, "male"), (False, "1")):
        tree = {"input": {"path": "t.sav", "labels": labels}, "columns": columns, "privacy": {"k_anonymity": 2}}
        tree["algorithm"] = {"max_suppressed": 0.5}
        shown = sf.release(sf.Plan.parse(tree, folder=tmp_path)).frame
        assert set(shown["sex"].cast(pl.String)) == {value}


@pytest.mark.parametrize("end", [".sav", ".dta", ".xpt"])
def test_the_kit(tmp_path, end, monkeypatch):
    """Every file is read by a process of its own: the profile quick tries every third of the broken ones."""
    if not thorough():
        wrong = formats._wrong
        monkeypatch.setattr(formats, "_wrong", lambda data: islice(wrong(data), 0, None, 3))
    form = next(one for one in FORMATS if end in one.extensions)
    path = written(tmp_path / f"t{end}")
    check_format(form, [(path.read_bytes(), read(path).frame)])


@pytest.mark.parametrize("end", [".sav", ".zsav", ".dta", ".xpt", ".sas7bdat"])
def test_bytes_of_something_else_are_refused(tmp_path, end):
    for data in (b"a,b\n1,2\n", b"\0" * 400, b"$FL2" + b"\0" * 600):
        (tmp_path / f"t{end}").write_bytes(data)
        with pytest.raises(DataError, match=r"is not a valid|but no rows"):
            read(tmp_path / f"t{end}")


def test_a_file_that_unfolds_beyond_its_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.tables.survey_files.MOST_CELLS", 15)
    with pytest.raises(DataError, match="more than 3 rows of 5 columns"):
        read(written(tmp_path / "t.sav"))


def test_a_file_that_crashes_the_reader_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path / "t.sav")
    (tmp_path / "crashes.py").write_text("import os; os.abort()")
    monkeypatch.setattr("sfumato.tables.survey_reader.__file__", str(tmp_path / "crashes.py"))
    with pytest.raises(DataError, match="its reader breaks down on it"):
        read(path)


def test_without_the_extra_the_refusal_names_it(tmp_path, monkeypatch):
    path = written(tmp_path / "t.sav")
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[files\]'"):
        read(path)
