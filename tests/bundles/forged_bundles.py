"""Bundles that a forger starts from: one of each kind and shape, signed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.bundles.signatures import Signer

CENSUS = {
    "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
    "race": {"role": "quasi", "hierarchy": {"bundled": "census/race"}},
    "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 20], "low": 0, "high": 100}},
    "occupation": {"role": "sensitive"},
    "income": {"role": "target"},
}
QUICK = {"trials": 400}
"""As many as it takes to tell a rate of a quarter from none."""


def _table() -> tuple[dict[str, Any], pl.DataFrame]:
    privacy = {"k_anonymity": 5, "l_diversity": {"kind": "entropy", "l": 2}}
    algorithm = {"max_suppressed": 0.05}
    return {"columns": CENSUS, "privacy": privacy, "algorithm": algorithm}, sf.datasets.census(900, seed=3)


def _keyed() -> tuple[dict[str, Any], pl.DataFrame]:
    columns = {**CENSUS, "name": {"role": "identifier", "pseudonym": {"key_file": "secret.key"}}}
    frame = (
        sf.datasets.census(400, seed=4)
        .with_row_index("name")
        .with_columns(pl.format("person {}", "name").alias("name"))
    )
    return {"columns": columns, "privacy": {"k_anonymity": 4}, "algorithm": {"max_suppressed": 0.1}}, frame


def _top_down() -> tuple[dict[str, Any], pl.DataFrame]:
    algorithm = {"name": "top-down"}
    return {"columns": CENSUS, "privacy": {"k_anonymity": 8}, "algorithm": algorithm}, sf.datasets.census(500, seed=5)


def _words() -> tuple[dict[str, Any], pl.DataFrame]:
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in ("sex", "education")}
    return {"columns": columns, "privacy": {"k_anonymity": 20}}, sf.datasets.census(500, seed=5)


def _anatomy() -> tuple[dict[str, Any], pl.DataFrame]:
    columns = {name: spec for name, spec in CENSUS.items() if name != "income"}
    privacy, algorithm = {"l_diversity": 3}, {"name": "anatomy"}
    return {"columns": columns, "privacy": privacy, "algorithm": algorithm}, sf.datasets.census(300, seed=6)


def _people() -> tuple[dict[str, Any], pl.DataFrame]:
    frame = sf.datasets.census(600, seed=7).with_row_index("who").with_columns(pl.col("who") // 2)
    columns = {**CENSUS, "who": {"role": "identifier"}}
    tree = {"columns": columns, "privacy": {"k_anonymity": 4}, "algorithm": {"max_suppressed": 0.2}}
    return {**tree, "input": {"unit": "who"}}, frame


def _items() -> tuple[dict[str, Any], pl.DataFrame]:
    path = {"role": "quasi", "type": "trajectory"}
    columns = {"id": {"role": "identifier"}, "path": path, "diagnosis": {"role": "sensitive"}}
    privacy = {"lkc": {"l": 2, "k": 5, "c": 0.6, "values": ["HIV"]}}
    return {"columns": columns, "privacy": privacy}, sf.datasets.city(600, blocks=5, hours=12, seed=3)


def _private() -> tuple[dict[str, Any], pl.DataFrame]:
    columns = {
        "sex": CENSUS["sex"],
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100}},
        "income": {"role": "target", "values": ["<=50K", ">50K"]},
    }
    return {"columns": columns, "privacy": {"epsilon": 1}}, sf.datasets.census(900, seed=8)


MADE: Mapping[str, Callable[[], tuple[dict[str, Any], pl.DataFrame]]] = {
    "table": _table,
    "keyed": _keyed,
    "top-down": _top_down,
    "words": _words,
    "anatomy": _anatomy,
    "people": _people,
    "items": _items,
    "private": _private,
}
"""How each of them is made: a plan and a table."""


def plan_of(name: str, folder: Path) -> tuple[sf.Plan, pl.DataFrame]:
    """The plan and the table of a bundle."""
    tree, frame = MADE[name]()
    (folder / "secret.key").write_bytes(b"0123456789abcdef0123456789abcdef")
    return sf.Plan.parse({"attack": QUICK, **tree}, folder=folder), frame


def write_all(folder: Path, signer: Signer) -> dict[str, Path]:
    """All of them, written and signed."""
    for name in MADE:
        plan, frame = plan_of(name, folder)
        assert sf.release(plan, frame).write(folder / name, signer=signer).holds
    return {name: folder / name for name in MADE}
