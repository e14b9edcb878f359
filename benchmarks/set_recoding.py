"""Local recoding and top-down sets against one recoding and suppression, on real sets; each written and verified."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from measure import table
from tables import ROOT

GUARDED = ("liver loaf", "baby food", "prosecco", "rum")
"""Rare goods of the grocery; 115 of 43,367 entries."""
PARTS = 8
"""How many parts the paper's way is given."""


def main() -> str:
    """Two tables."""
    with tempfile.TemporaryDirectory() as place:
        return "\n".join([_local(Path(place)), _guarded(Path(place))])


def _local(place: Path) -> str:
    rows = []
    ways: dict[str, dict[str, Any]] = {
        "one recoding": {"name": "sets", "by": "generalization"},
        f"{PARTS} parts of one size": {"name": "local-sets", "parts": PARTS},
        "local": {"name": "local-sets"},
    }
    for name, column, frame in _trees(place):
        for k, m in ((5, 2), (20, 2), (5, 3)) if len(frame) < 20_000 else ((5, 2), (20, 2)):
            for way, options in ways.items():
                plan = {"columns": {"items": column}, "privacy": {"km": {"k": k, "m": m}}, "algorithm": options}
                made, seconds, holds = _made(plan, frame, place)
                parts = made.outcome.effort.get("parts", 1)
                line = [name, f"{k}", f"{m}", way, f"{parts}", f"{made.utility['ncp']:.5f}", _as_is(made)]
                rows.append([*line, f"{made.utility['query_error_2_median']:.2f}", f"{seconds:.1f}", holds])
    heads = ["sets", "k", "m", "how", "parts", "NCP", "entries as they were", "query error", "CPU s", "verified"]
    return table("k^m-anonymity: one recoding and local ones", heads, rows)


def _guarded(place: Path) -> str:
    rows = []
    ways: dict[str, dict[str, Any]] = {
        "suppression": {"name": "sets", "by": "suppression"},
        "top-down, keep": {"name": "top-down-sets"},
        "top-down, price": {"name": "top-down-sets", "secrets": "price"},
    }
    for name, column, frame, guarded, l in _sensitive(place):
        for rho in (0.2, 0.3):
            asked = {"rho": rho, "sensitive": list(guarded), "l": l}
            for way, options in ways.items():
                plan = {
                    "columns": {"items": column},
                    "privacy": {"rho_uncertainty": asked},
                    "algorithm": options,
                }
                made, seconds, holds = _made(plan, frame, place)
                line = [name, f"{rho}", f"{l}", way, f"{made.utility['ncp']:.5f}", _as_is(made), _kept(made, guarded)]
                rows.append([*line, f"{seconds:.1f}", holds])
    heads = ["sets", "rho", "l", "how", "NCP", "entries as they were", "sensitive entries kept", "CPU s", "verified"]
    return table("rho-uncertainty: left out or shown coarser", heads, rows) + NOTE


NOTE = """
CPU is that of the search alone. BMS-WebView-2 guards every 170th of its items by frequency, from the 300th to the
2,000th.
"""


def _made(plan: dict[str, Any], frame: pl.DataFrame, place: Path) -> tuple[sf.ItemRelease, float, str]:
    """A release, the seconds of its search, and whether it was verified."""
    from sfumato.core.run_context import Work
    from sfumato.pipeline.methods.items.problem import item_algorithm

    read = sf.Plan.parse(plan)
    made = sf.release(read, frame)
    if not isinstance(made, sf.ItemRelease):
        raise SystemExit("no release of items")
    run = item_algorithm(read)[1]
    began = time.process_time()
    run(made.prepared.problem, Work())
    seconds = time.process_time() - began
    return made, seconds, "yes" if made.write(place / "out", force=True).holds else "NO"


def _as_is(made: sf.ItemRelease) -> str:
    shown, entries = made.outcome.shown, made.outcome.entries(made.prepared.problem.transactions)
    return f"{(shown.spread[entries[entries >= 0]] == 1).sum() / len(entries):.0%}"


def _kept(made: sf.ItemRelease, guarded: tuple[str, ...]) -> str:
    records = made.prepared.problem.transactions
    mine = np.isin(records.labels, guarded)[records.codes]
    kept = (made.outcome.entries(records)[mine] >= 0).sum()
    return f"{kept:,} of {mine.sum():,}"


def _trees(place: Path) -> Iterator[tuple[str, dict[str, Any], pl.DataFrame]]:
    yield "groceries", _column(_goods(place, ())), _baskets("groceries.csv", ",")
    yield "Vermont diagnoses", _column(_codes(place)), _discharges()
    yield "BMS-WebView-2", _column(ROOT / "sets" / "treefile_BMS.txt"), _baskets("BMS-WebView-2.dat", " ")


def _sensitive(place: Path) -> Iterator[tuple[str, dict[str, Any], pl.DataFrame, tuple[str, ...], int]]:
    frame = _baskets("groceries.csv", ",")
    for l in (2, 3):
        yield "groceries", _column(_goods(place, GUARDED)), frame, GUARDED, l
    frame = _baskets("BMS-WebView-2.dat", " ")
    often = frame["items"].str.split("|").explode().value_counts().sort(["count", "items"], descending=[True, False])
    guarded = tuple(often["items"][300:2000:170])
    yield "BMS-WebView-2", _column(_clicks(place, guarded)), frame, guarded, 1


def _column(tree: Path) -> dict[str, Any]:
    return {"role": "quasi", "type": "set", "hierarchy": {"file": str(tree)}}


def _baskets(name: str, mark: str) -> pl.DataFrame:
    lines = (ROOT / "sets" / name).read_text().splitlines()
    return pl.DataFrame({"items": [line.strip().replace(mark, "|") for line in lines if line.strip()]})


def _discharges() -> pl.DataFrame:
    """The diagnoses of each discharge."""
    found = pl.read_csv(ROOT / "icd9" / "vermont_dx.csv", infer_schema=False)
    codes = [name for name in found.columns if name.startswith("DX")]
    lines = [sorted({code for code in row if code}) for row in found.select(codes).iter_rows()]
    return pl.DataFrame({"items": ["|".join(line) for line in lines]})


def _codes(place: Path) -> Path:
    """ICD-9: code, three digits, sub-chapter, chapter."""
    found = pl.read_csv(ROOT / "icd9" / "icd9cm_hierarchy.csv", infer_schema=False)
    names = ["code", "three_digit", "sub_chapter", "chapter"]
    found.select(names).write_csv(place / "icd9.csv", include_header=False, separator=";")
    return place / "icd9.csv"


def _goods(place: Path, guarded: tuple[str, ...]) -> Path:
    """The taxonomy, guarded goods in a branch of their own."""
    found = pl.read_csv(ROOT / "sets" / "groceries_taxonomy.csv")
    own = pl.col(found.columns[0]).is_in(guarded)
    found = found.with_columns(
        pl.when(own).then(pl.lit("guarded")).otherwise(pl.col(name)).alias(name) for name in found.columns[1:]
    )
    path = place / f"goods{len(guarded)}.csv"
    found.write_csv(path, include_header=False)
    return path


def _clicks(place: Path, guarded: tuple[str, ...]) -> Path:
    """The tree of clicks, guarded ones in a branch of their own."""
    lines = []
    for line in (ROOT / "sets" / "treefile_BMS.txt").read_text().splitlines():
        leaf, *above = line.split(";")
        lines.append(";".join([leaf, "guarded", above[-1]] if leaf in guarded else [leaf, *above]))
    (place / "clicks.txt").write_text("\n".join(lines) + "\n")
    return place / "clicks.txt"


if __name__ == "__main__":
    print(main())
