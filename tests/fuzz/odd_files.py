"""Files of a valid form with strange content: frames of every type, and ledgers whose cells and schema were changed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import polars as pl

from tests.fuzz import seeds
from tests.fuzz.mutators import ODD

ROWS = seeds.TABLE.height
SERIES: dict[str, list[Any]] = {
    "inf": [float("inf"), float("-inf"), float("nan"), 1.0, None, -0.0],
    "huge": [2**63 - 1, -(2**63), 0, 1, None, 7],
    "tiny": [5e-324, 1e308, -1e308, 0.0, 1.0, None],
    "flag": [True, False, None, True, True, False],
    "none": [None] * 6,
    "text": ["", " ", "*", "?", None, "\x1b[2J"],
    "long": ["x" * 5000, "\u202e", "\x00", "a,b", 'q"q', "l\nl"],
    "day": [date(1, 1, 1), date(9999, 12, 31), None, date(2000, 2, 29), date(2000, 1, 1), date(1970, 1, 1)],
    "when": [datetime(1, 1, 1), datetime(9999, 12, 31, 23), None, datetime(2000, 1, 1), datetime(2000, 1, 1), None],
    "clock": [time(0), time(23, 59, 59), None, time(12), time(12), time(1)],
    "span": [timedelta(days=9), timedelta(0), None, timedelta(microseconds=1), timedelta(-9), timedelta(1)],
    "money": [Decimal("1.50"), Decimal("-9999999999.99"), None, Decimal(0), Decimal(1), Decimal(2)],
    "lists": [["a@1", "b@2"], [], None, ["a@1"], [None], ["a@x"]],
    "nested": [[[1]], [], None, [[2, 3]], [[]], [None]],
    "whole": [[1, 2], [], None, [3], [-1], [2**62]],
    "inside": [{"a": 1}, {"a": None}, None, {"a": 2}, {"a": 3}, {"a": 4}],
    "raw": [b"\xff", b"", None, b"a", b"\x00", b"b"],
}


VALUES: list[str | bytes] = [
    *(one for one in ODD if isinstance(one, str) and "\ud800" not in one),
    *("9" * 3000, "1/3", "1e5000", '{"kind": "pure", "epsilon": "1"}', b"\xff\x00"),
]
ENDLESS = """DROP TABLE accounts; CREATE VIEW accounts AS WITH RECURSIVE n(name, granted, spent) AS
(SELECT '', '1', '0' UNION ALL SELECT name, granted, spent FROM n) SELECT * FROM n;"""
SCHEMAS = (
    ENDLESS,
    "DROP TABLE about;",
    "DROP TABLE charges; CREATE TABLE charges (id, made);",
    "CREATE TRIGGER t BEFORE INSERT ON charges BEGIN DELETE FROM charges; END;",
)


def odd_frame(draw: Random) -> pl.DataFrame:
    """A frame of the seeds with one to three columns replaced by strange ones, or without rows."""
    frame = draw.choice((seeds.TABLE, seeds.ITEMS))
    for _ in range(draw.choice((1, 1, 2, 3))):
        name = draw.choice((*frame.columns, "count", "", "\x1b[31mred", "x" * 300))
        kind = draw.choice(list(SERIES))
        cells = pl.Series(name, (SERIES[kind] * 2)[: frame.height])
        if kind == "text" and draw.random() < 0.3:
            cells = cells.cast(pl.Categorical)
        if kind == "huge" and draw.random() < 0.5:
            cells = cells.abs().cast(pl.UInt64, strict=False)
        frame = frame.with_columns(cells)
    return frame.head(draw.choice((0, 1, 2))) if draw.random() < 0.1 else frame


def changed_ledger(data: bytes, draw: Random) -> bytes:
    """A ledger with some cells changed, or with a schema that no ledger has."""
    with closing(sqlite3.connect(":memory:")) as link:
        link.deserialize(data[:18] + b"\x01\x01" + data[20:])
        for _ in range(draw.choice((1, 1, 2))):
            table, column = draw.choice(
                (("accounts", "granted"), ("accounts", "spent"), ("accounts", "name"), ("charges", "cost"),
                 ("charges", "event"), ("charges", "analyst"), ("about", "value"), ("charges", "status"))
            )  # fmt: skip
            link.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (draw.choice(VALUES),))
        if draw.random() < 0.15:
            link.executescript(draw.choice(SCHEMAS))
        link.commit()
        return link.serialize()
