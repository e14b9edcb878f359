"""Joint releases for tests: what parties ask for, random tables, and the release of one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from hypothesis import strategies as st

import sfumato as sf
from sfumato.parties.simulation import in_threads
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.joint.release import declared_rows
from sfumato.tables.table import Table

JOBS = {
    "*": [
        {"Blue-collar": [{"Non-Technical": ["Janitor", "Mover"]}, {"Technical": ["Carpenter", "Technician"]}]},
        {"White-collar": [{"Professional": ["Doctor", "Lawyer"]}]},
    ]
}
G5: dict[str, Any] = {
    "columns": {
        "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
        "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["M", "F"]}}},
        "age": {"role": "quasi", "unit": "years", "hierarchy": {"kind": "grown", "low": 1, "high": 99, "grid": 1}},
        "transfuse": {"role": "target", "values": ["Y", "N"]},
        "surgery": {"role": "sensitive", "values": ["Transgender", "Plastic", "Urology", "Vascular"]},
    },
    "privacy": {"lkc": {"l": 2, "k": 2, "c": 0.5, "column": "surgery", "values": ["Transgender"]}},
}
NAMES = ["job", "sex", "age", "transfuse", "surgery"]
PARTS = (
    "Janitor M 34 Y Transgender; Lawyer F 58 N Plastic; Mover M 58 N Urology",
    "Lawyer M 24 N Vascular; Mover M 34 Y Transgender; Janitor M 44 Y Plastic; Doctor F 44 N Vascular",
    "Doctor M 58 N Plastic; Doctor M 24 N Urology; Carpenter F 63 Y Vascular; Technician F 63 Y Plastic",
)


def patients() -> list[pl.DataFrame]:
    """The records of table 5.2, party by party."""
    return [frame_of([line.split() for line in part.split(";")], NAMES) for part in PARTS]


def frame_of(rows: Sequence[Sequence[str]], names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(list(map(tuple, rows)), schema=dict.fromkeys(names, pl.String), orient="row")


def jointly(protocol: str, asked: Mapping[str, Any], tables: Sequence[pl.DataFrame]) -> list[Any]:
    """What every party has in the end."""
    names = tuple("abcdef"[: len(tables)])
    one = catalog().protocol(protocol)
    read = one.read(asked, names)
    own = [one.prepare(read, Table(frame=table)) for table in tables]
    assert all(one.given(read, mine) for mine in own)
    assert one.leakage(read, names).lines()
    return in_threads([lambda talk, mine=mine: one.run(talk, read, mine) for mine in own])


def central(protocol: str, asked: Mapping[str, Any], whole: pl.DataFrame, parties: int = 3) -> Any:
    """The release of one table that has all rows and columns, by the walk of every release."""
    read = catalog().protocol(protocol).read(asked, tuple("abcdef"[:parties]))
    plan = read.plan
    domains = getattr(read, "release", read).domains
    return sf.release(plan, declared_rows(plan, Table(frame=whole), domains))


def rows_of(made: Any) -> Counter[tuple[str, ...]]:
    return Counter(made.rows.rows())


QUASI = ("a", "b", "n")
COLUMNS: dict[str, Any] = {
    "a": {"role": "quasi", "hierarchy": {"tree": {"*": [{"x": ["x1", "x2"]}, {"y": ["y1", {"yy": ["y2", "y3"]}]}]}}},
    "b": {"role": "quasi", "hierarchy": {"tree": {"*": ["0", "1", "2"]}}},
    "n": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 12, "grid": 0.5}},
    "s": {"role": "sensitive", "values": ["f", "g", "h"]},
    "t": {"role": "target", "values": ["no", "yes"]},
}
MODELS: tuple[dict[str, Any], ...] = (
    {"k_anonymity": 2},
    {"lkc": {"l": 2, "k": 2, "c": 0.7, "column": "s"}},
    {"lkc": {"l": 1, "k": 3, "c": 0.8, "column": "s", "values": ["f"]}, "k_anonymity": 2},
    {"k_anonymity": 2, "confidence": [{"quasi": ["a", "n"], "column": "s", "value": "g", "limit": 0.6}]},
)


@st.composite
def wholes(draw: st.DrawFn, least: int = 6, most: int = 30) -> pl.DataFrame:
    """Random rows over the declared domains."""
    row = st.tuples(
        st.sampled_from(["x1", "x2", "y1", "y2", "y3"]),
        st.sampled_from("012"),
        st.sampled_from(["0", "0.5", "3", "7", "7.5", "12"]),
        st.sampled_from("ffgh"),
        st.sampled_from(["no", "yes"]),
    )
    return frame_of(draw(st.lists(row, min_size=least, max_size=most)), list("abnst"))


@st.composite
def asking(draw: st.DrawFn) -> dict[str, Any]:
    """A random requirement and random options."""
    options: dict[str, Any] = {"score": draw(st.sampled_from(["gain", "discernibility"]))}
    options["splits"] = draw(st.sampled_from(["best", "valid"]))
    return {
        "columns": COLUMNS,
        "privacy": draw(st.sampled_from(MODELS)),
        "algorithm": options,
        "attack": {"run": False},
    }
