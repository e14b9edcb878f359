"""Whole numbers beyond what floating point holds exactly pass through every role, reader and writer unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf

BIG = 2**62 + 1
ROWS = 40
FRAME = pl.DataFrame(
    {
        "q": ["a", "b"] * (ROWS // 2),
        "code": [BIG + n % 2 for n in range(ROWS)],
        "kept": [BIG + n for n in range(ROWS)],
        "secret": [-BIG - 2 * (n % 4) for n in range(ROWS)],
    }
)
COLUMNS: dict[str, Any] = {
    "q": {"role": "quasi", "hierarchy": {"kind": "flat"}},
    "code": {"role": "quasi", "hierarchy": {"kind": "flat"}},
    "kept": {"role": "keep"},
    "secret": {"role": "sensitive"},
}


def plan(folder: Path | None = None, **more: Any) -> sf.Plan:
    tree = {
        "columns": COLUMNS,
        "privacy": {"k_anonymity": 2},
        "attack": {"trials": 20},
        "algorithm": {"seed": 1},
        **more,
    }
    return sf.Plan.parse(tree, folder=folder or Path())


def unchanged(made: sf.Release, folder: Path, names: tuple[str, ...] = ("code", "kept", "secret")) -> None:
    """The written cells are those of the table."""
    made.write(folder)
    path = next(path for path in folder.iterdir() if path.name in ("data.csv", "data.parquet"))
    rows = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    for name in names:
        assert sorted(map(int, rows[name].to_list())) == sorted(FRAME[name].to_list()), name


@pytest.mark.parametrize("algorithm", ["optimal", "greedy", "mondrian", "local", "k-optimize", "hilbert"])
def test_every_algorithm(algorithm: str, tmp_path: Path):
    unchanged(sf.release(plan(algorithm={"name": algorithm, "seed": 1}), FRAME), tmp_path / "r")


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("how", ["polars", "pandas", "nullable pandas", "arrow"])
def test_every_frame(how: str, form: str, tmp_path: Path):
    frames = {
        "polars": lambda: FRAME,
        "pandas": FRAME.to_pandas,
        "nullable pandas": lambda: FRAME.to_pandas().convert_dtypes(),
        "arrow": FRAME.to_arrow,
    }
    unchanged(sf.release(plan(output={"format": form}), frames[how]()), tmp_path / "r")


@pytest.mark.parametrize("engine", [None, "duckdb"])
@pytest.mark.parametrize("file", ["t.csv", "t.parquet", "t.arrow"])
def test_every_file(file: str, engine: str | None, tmp_path: Path):
    if engine and file.endswith("arrow"):
        pytest.skip("DuckDB reads CSV and Parquet files")
    {"csv": FRAME.write_csv, "parquet": FRAME.write_parquet, "arrow": FRAME.write_ipc}[file[2:]](tmp_path / file)
    said = {"path": file, **({} if engine is None else {"engine": engine})}
    unchanged(sf.release(plan(tmp_path, input=said)), tmp_path / "r")


OTHERS: dict[str, dict[str, Any]] = {
    "swapping": {"privacy": {}, "algorithm": {"name": "swapping", "rate": 0.1, "seed": 1}},
    "sets": {
        "columns": {
            "basket": {"role": "quasi", "type": "set", "separator": " "},
            **{n: COLUMNS[n] for n in ("kept", "secret")},
        },
        "privacy": {"km": {"k": 2, "m": 1}},
        "algorithm": {"name": "sets", "seed": 1},
    },
    "condense": {
        "columns": {
            "x": {"role": "quasi"},
            "kept": {"role": "keep", "type": "category"},
            "secret": {"role": "sensitive", "type": "category"},
        },
        "privacy": {"indistinguishable_groups": 12},
        "algorithm": {"name": "condense", "seed": 1},
    },
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_of_release(kind: str, tmp_path: Path):
    frame = FRAME.with_columns(basket=pl.lit("a b"), x=pl.Series(range(ROWS)).cast(pl.Float64))
    unchanged(sf.release(plan(**OTHERS[kind]), frame), tmp_path / "r", ("kept", "secret"))


def test_applied_to_new_records():
    made = sf.release(plan(), FRAME)
    assert sorted(map(int, made.transform(FRAME).rows["kept"].to_list())) == sorted(FRAME["kept"].to_list())


def test_condensed_numbers_that_would_be_rounded_are_refused():
    tree = {
        "columns": {"kept": {"role": "quasi"}},
        "privacy": {"indistinguishable_groups": 12},
        "algorithm": {"name": "condense"},
    }
    with pytest.raises(sf.SfumatoError, match="kept"):
        sf.release(sf.Plan.parse(tree), FRAME)
