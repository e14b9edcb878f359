"""Valid inputs of every kind, small: tables of twelve rows, the plans that release them, and their bundles."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pyreadstat

import sfumato as sf
from tests.mining.small_trees import figure_five
from tests.tables.made_workbooks import ods_row, open_document, rows

TABLE = pl.DataFrame(
    {
        "age": [21, 23, 25, 27, 31, 33, 35, 37, 41, 43, 45, 47],
        "zip": ["101", "101", "102", "102", "103", "103", "101", "102", "103", "101", "102", "103"],
        "born": [f"19{90 - i:02d}-0{1 + i % 9}-11" for i in range(12)],
        "ill": ["flu", "hiv", "cold", "flu", "hiv", "cold"] * 2,
        "pay": [1.5, 2.0, 2.5, 3.0, 3.5, 4.0] * 2,
    }
)
ITEMS = pl.DataFrame(
    {
        "who": [str(i) for i in range(8)],
        "path": ["a@1|b@2", "a@1|b@2|c@3", "a@1", "b@2|c@3", "a@1|c@3", "b@2", "a@1|b@2", "c@3"],
        "basket": ["milk|beer", "milk", "beer|bread", "milk|bread", "milk|beer", "bread", "", "beer"],
        "ill": ["flu", "hiv"] * 4,
    }
)
TREE = json.dumps(figure_five())
ZIPS = {"Any": {"10x": ["101", "102"], "other": ["103"]}}
HCHY = b"age:continuous\n{0-100 {0-50 {0-25} {25-50}} {50-100}}\nzip:discrete\n{Any {10x {101} {102}} {103}}\n"
FILES: dict[str, bytes] = {
    "zip.csv": b"101;10x;*\n102;10x;*\n103;other;*\n",
    "zip.json": json.dumps(ZIPS).encode(),
    "zip.toml": b'[Any]\n"10x" = ["101", "102"]\nother = ["103"]\n',
    "both.hchy": HCHY,
    "costs.csv": b"x,flu,hiv,cold\nflu,0,1,1\nhiv,1,0,1\ncold,1,1,0\n",
    "key": b"k" * 32,
}
QUIET = {"run": False}
AGE = {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 50], "low": 0, "high": 100}}
ZIP = {"role": "quasi", "hierarchy": {"file": "zip.csv"}}
SICK = {"role": "sensitive"}
COLUMNS: dict[str, Any] = {"age": AGE, "zip": ZIP, "ill": SICK}


def _plan(privacy: dict[str, Any], columns: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "input": {"path": "t.csv"},
        "columns": columns or COLUMNS,
        "privacy": privacy,
        "algorithm": {"name": more.pop("name", "auto"), "seconds": 5, "seed": 1, **more.pop("options", {})},
        "attack": QUIET,
        **more,
    }


L2 = {"l_diversity": {"kind": "distinct", "l": 2}}
TREES: dict[str, dict[str, Any]] = {
    "table": _plan({"k_anonymity": 2, **L2}, {**COLUMNS, "pay": {"role": "keep"}, "born": {"role": "drop"}}),
    "top-down": _plan({"lkc": {"l": 2, "k": 2, "c": 0.9}}, name="top-down"),
    "anatomy": _plan(L2, name="anatomy"),
    "closeness": _plan(
        {"k_anonymity": 2, "t_closeness": {"t": 0.6, "distance": "emd-matrix", "file": "costs.csv"}}, name="mondrian"
    ),
    "dates": _plan(
        {"k_anonymity": 3},
        {
            "born": {"role": "quasi", "hierarchy": {"kind": "dates"}},
            "zip": {"role": "quasi", "hierarchy": {"file": "zip.json"}},
            "ill": SICK,
        },
        options={"max_suppressed": 0.3},
    ),
    "items": {
        "input": {"path": "i.csv"},
        "columns": {"path": {"role": "quasi", "type": "trajectory"}, "ill": SICK, "who": {"role": "identifier"}},
        "privacy": {"lkc": {"l": 2, "k": 2, "c": 0.9}},
        "algorithm": {"name": "trajectory", "seconds": 5},
        "attack": QUIET,
    },
    "sets": {
        "input": {"path": "i.csv"},
        "columns": {
            "basket": {
                "role": "quasi",
                "type": "set",
                "hierarchy": {"tree": {"food": ["milk", "bread"], "drink": ["beer"]}},
            }
        },
        "privacy": {"km": {"k": 2, "m": 2}},
        "algorithm": {"name": "sets", "seconds": 5},
        "attack": QUIET,
    },
    "private": {
        "input": {"path": "t.csv"},
        "columns": {
            "age": AGE,
            "zip": {"role": "quasi", "hierarchy": {"tree": ZIPS}},
            "ill": {"role": "target", "values": ["flu", "hiv", "cold"]},
        },
        "privacy": {"epsilon": 1.0},
        "algorithm": {"name": "diffgen", "output": "counts"},
        "attack": QUIET,
    },
}
"""Plans by name; their files are beside them."""
BUNDLES = ("table", "top-down", "anatomy", "items", "sets", "private")
SQL = (
    "SELECT COUNT(*) WHERE age >= 40",
    "SELECT SUM(age), AVG(age) FROM t WHERE zip IN ('101', '102') GROUP BY zip",
    "SELECT MEDIAN(age), QUANTILE(age, 0.9) WHERE NOT (age BETWEEN 20 AND 30 OR zip = '103')",
)


def typed(frame: pl.DataFrame, kind: str) -> bytes:
    """The bytes of a frame as Parquet or Arrow."""
    into = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(into)
    else:
        frame.write_ipc(into, compression="lz4" if kind == "lz4" else "uncompressed")
    return into.getvalue()


@cache
def sqlite_file() -> bytes:
    """The table in a SQLite file."""
    with closing(sqlite3.connect(":memory:")) as link:
        link.execute(f"CREATE TABLE t ({', '.join(TABLE.columns)})")
        link.executemany(f"INSERT INTO t VALUES ({', '.join('?' * TABLE.width)})", TABLE.rows())
        link.commit()
        return link.serialize()


_WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}
SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(range(256)) * 16
"""How a file of SAS begins, and what SAS would not write: no other program makes a whole one."""


@cache
def foreign(name: str) -> bytes:
    """The table as a file of another program, by its extension."""
    if name.endswith(".jsonl"):
        return TABLE.write_ndjson().encode()
    if (extension := Path(name).suffix) in _WRITERS:
        with TemporaryDirectory() as folder:
            getattr(pyreadstat, _WRITERS[extension])(TABLE.to_pandas(), Path(folder) / name)
            return (Path(folder) / name).read_bytes()
    lines = [list(row) for row in TABLE.rows()]
    if name.endswith(".ods"):
        return open_document("".join(ods_row(*map(str, line)) for line in (TABLE.columns, *lines)))
    return rows(TABLE.columns, *lines)


def laid_out(folder: Path) -> None:
    """Everything that plans name lies in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    TABLE.write_csv(folder / "t.csv")
    ITEMS.write_csv(folder / "i.csv")
    for name, data in FILES.items():
        (folder / name).write_bytes(data)


def bundles(folder: Path) -> dict[str, dict[str, bytes]]:
    """A bundle of each kind, as the bytes of its files."""
    laid_out(folder)
    found = {}
    for name in BUNDLES:
        made = sf.release(sf.Plan.parse(TREES[name], folder=folder))
        made.write(folder / f"bundle-{name}")
        found[name] = {path.name: path.read_bytes() for path in sorted((folder / f"bundle-{name}").iterdir())}
    return found


def ledger(path: Path) -> bytes:
    """The bytes of a ledger with a charge."""
    made = sf.Ledger.create(path, total=5)
    made.grant("ann", 2)
    from sfumato.dp.events import Pure

    made.settle(made.reserve("ann", Pure(epsilon=1), what="a question"))
    return path.read_bytes()
