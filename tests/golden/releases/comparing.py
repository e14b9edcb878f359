"""Where the golden files lie, and how released tables and manifests are compared with them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

HERE = Path(__file__).resolve().parent
"""Plans are parsed with this folder: their paths start here."""
EXPECTED, BUNDLES = HERE / "expected", HERE / "bundles"
PARTS = (
    "marks", "plan", "claims", "utility", "recoding", "suppression", "smallest_class", "risk", "search", "trail",
    "attacks", "attacks_not_made", "domains", "specification", "reconstruction", "trees",
)  # fmt: skip
"""What of a manifest must stay as it is; a kind of release that has no such part states none."""
CLOSE = 1e-9


def texts(frame: pl.DataFrame) -> pl.DataFrame:
    """All cells as text, the rows in the order of these texts."""
    cells = frame.with_columns(pl.all().cast(pl.String).fill_null("(null)"))
    return cells.sort(pl.all())


def tables(made: Any) -> dict[str, pl.DataFrame]:
    """The released tables by the ending of their golden file: the rows and, for anatomy, the sensitive values."""
    apart = getattr(made, "sensitive", None)
    return {"": texts(made.rows)} | ({} if apart is None else {".sensitive": texts(apart)})


def kept(name: str) -> dict[str, pl.DataFrame]:
    """The golden tables of a plan, by the ending of their file."""
    files = {ending: EXPECTED / f"{name}{ending}.csv" for ending in ("", ".sensitive")}
    return {ending: read(path) for ending, path in files.items() if path.exists()}


def read(path: Path) -> pl.DataFrame:
    """A golden table, every cell as it is written."""
    return pl.read_csv(path, infer_schema=False).fill_null("")


def manifest(folder: Path) -> dict[str, Any]:
    """The parts of a bundle's manifest that must stay as they are."""
    found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return {part: found[part] for part in PARTS if part in found}


def differences(now: Any, golden: Any, where: str = "") -> list[str]:
    """Where two trees differ; numbers may be apart by 1e-9, and the order of keys says nothing."""
    if isinstance(now, Mapping) and isinstance(golden, Mapping):
        lost = [f"{where}/{key}: is in one only" for key in sorted(now.keys() ^ golden.keys())]
        both = [key for key in golden if key in now]
        return lost + [one for key in both for one in differences(now[key], golden[key], f"{where}/{key}")]
    if isinstance(now, list) and isinstance(golden, list) and len(now) == len(golden):
        pairs = enumerate(zip(now, golden, strict=True))
        return [one for place, (a, b) in pairs for one in differences(a, b, f"{where}/{place}")]
    if _number(now) and _number(golden):
        alike = math.isclose(now, golden, rel_tol=CLOSE, abs_tol=CLOSE)
    else:
        alike = type(now) is type(golden) and now == golden
    return [] if alike else [f"{where}: {now!r}, not {golden!r}"]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
