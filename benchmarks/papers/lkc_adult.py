"""LKC-privacy by top-down specialization on Adult: figures 3.5 to 3.7 of Mohammed 2012 (document 003)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import altair as alt
import numpy as np
import polars as pl

import sfumato as sf
from measure import table, timed
from pictures import TONES, Line, Panel, panel, save
from sfumato.datasets.uci_adult import adult_folder
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.publish.problem import Outcome
from sfumato.publish.top_down import TopDown
from sfumato.utility.class_metrics import DiscernibilityRatio
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.preparing import Prepared, prepare
from sfumato.workflow.kinds.table.table_study import study
from sfumato.workflow.loading import load_table

TREES = Path("hierarchies") / "fung" / "pais_adult.hchy"
RANGES: Mapping[str, tuple[int, int]] = {
    "age": (15, 95),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 20),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 100),
}
"""The ends of the numeric attributes in the same file."""
TRAINING = 30_162
LS, KS, CS = (2, 4, 6), (20, 40, 60, 80, 100), (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)


def prepared(frame: pl.DataFrame, privacy: Mapping[str, Any]) -> Prepared:
    """Adult with Divorced and Separated sensitive and the other 13 attributes as quasi-identifiers."""
    folder = adult_folder()
    assert folder is not None
    columns: dict[str, Any] = {"income": {"role": "target"}, "marital-status": {"role": "sensitive"}}
    for name in frame.columns:
        tree: dict[str, Any] = {"file": str((folder / TREES).resolve()), "attribute": name}
        if name in RANGES:
            tree = {"kind": "grown", "low": RANGES[name][0], "high": RANGES[name][1]}
        columns.setdefault(name, {"role": "quasi", "hierarchy": tree})
    plan = sf.Plan.parse({"columns": columns, "privacy": dict(privacy)})
    return prepare(plan, load_table(plan, frame, None), None, catalog())


def lkc(l: int, k: int, c: float) -> dict[str, Any]:
    """The requirement of the paper."""
    return {"lkc": {"l": l, "k": k, "c": c, "values": ["Divorced", "Separated"]}}


def found(frame: pl.DataFrame, privacy: Mapping[str, Any], **options: Any) -> Outcome | None:
    """The release, or nothing where the whole table as one group fails already."""
    try:
        return TopDown(**options)(prepared(frame, privacy).problem, Work())
    except Infeasible:
        return None


def errors(frame: pl.DataFrame, settings: Sequence[tuple[int, int, float]]) -> tuple[list[list[str]], dict[Any, float]]:
    """Classification errors: baseline, upper bound, and one line per requirement."""
    base = study(prepared(frame, lkc(2, 20, 0.2)), "tree", np.arange(frame.height) < TRAINING)
    rows, errors_ = [], {"BE": base.baseline, "UE": base.upper_bound}
    for l, k, c in settings:
        made = [found(frame, lkc(l, k, c)), found(frame, lkc(l, k, c), splits="valid")]
        ces = [None if one is None else base.errors(one).released for one in made]
        for how, ce in zip(("best", "valid"), ces, strict=True):
            if ce is not None:
                errors_[how, l, k, c] = ce
        told = [_percent(ce) for ce in ces] + [_points(ce, base.baseline) for ce in ces]
        rows.append([str(l), str(k), f"{c:.0%}", *told])
    return rows, errors_


def _percent(value: float | None) -> str:
    return "infeasible" if value is None else f"{value:.2%}"


def _points(value: float | None, base: float) -> str:
    return "-" if value is None else f"{100 * (value - base):+.2f}"


def ratios(frame: pl.DataFrame) -> tuple[list[list[str]], dict[Any, float]]:
    """Discernibility ratios for general analysis, and those of traditional k-anonymity."""
    rows, values = [], {}
    for k, c in [*((k, 0.2) for k in KS), *((k, 1.0) for k in KS), *((100, c) for c in CS if c != 0.2)]:
        line = [str(k), f"{c:.0%}"]
        for l in LS:
            values[l, k, c] = _ratio(frame, lkc(l, k, c))
            line.append(_written(values[l, k, c]))
        values["k", k, c] = _ratio(frame, {"k_anonymity": k})
        rows.append([*line, _written(values["k", k, c])])
    return rows, values


def _ratio(frame: pl.DataFrame, privacy: Mapping[str, Any]) -> float:
    one = prepared(frame, privacy)
    try:
        made = TopDown(score="discernibility")(one.problem, Work())
    except Infeasible:
        return float("nan")
    return DiscernibilityRatio().measure(made.recoding(one.problem).view(one.problem, made.suppressed))


def _written(value: float) -> str:
    return "infeasible" if np.isnan(value) else f"{value:.4f}"


def blown_up(frame: pl.DataFrame, rows: int) -> pl.DataFrame:
    """Adult with variations of its records: some values drawn anew from the column."""
    rng = np.random.default_rng(3)
    copies = frame[rng.integers(0, frame.height, rows - frame.height)]
    varied = []
    for name in frame.columns:
        drawn = frame[name][rng.integers(0, frame.height, copies.height)]
        keep = pl.Series(rng.random(copies.height) < (1.0 if name in ("income", "marital-status") else 0.8))
        varied.append(copies[name].zip_with(keep, drawn).alias(name))
    return pl.concat([frame, pl.DataFrame(varied)])


def speed(frame: pl.DataFrame) -> tuple[list[list[str]], list[tuple[float, float]]]:
    """Seconds of CPU of the anonymizing itself, for growing tables."""
    rows, points = [], []
    for size in SIZES:
        problem = prepared(
            blown_up(frame, size), {"lkc": {"l": 4, "k": 20, "c": 1.0, "column": "marital-status"}}
        ).problem
        made, cost = timed(lambda problem=problem: TopDown()(problem, Work()))  # type: ignore[misc]
        rows.append([f"{size:,}", f"{problem.cells.count:,}", str(len(made.trail.steps)), f"{cost.cpu:.2f} s"])
        points.append((size, cost.cpu))
    return rows, points


def picture(ce: dict[Any, float], dr: dict[Any, float], seconds: list[tuple[float, float]]) -> None:
    """The three figures side by side."""
    tones = dict(zip(LS, TONES, strict=False))
    flat = [
        Line(name=n, points=[(20, 100 * ce[n]), (100, 100 * ce[n])], tone="#5f6b76", dashed=True) for n in ("BE", "UE")
    ]
    by_k = [Line(name=f"L = {l}", points=[(k, 100 * ce["best", l, k, 0.2]) for k in KS], tone=tones[l]) for l in LS]
    dr_k = [Line(name=f"L = {l}", points=[(k, dr[l, k, 1.0]) for k in KS], tone=tones[l]) for l in LS]
    dr_k.append(Line(name="k-anonymity", points=[(k, dr["k", k, 1.0]) for k in KS], tone=TONES[3], dashed=True))
    panels = [
        Panel(
            title="classification error, C = 20 %",
            lines=[*flat, *by_k],
            x="K",
            ticks=KS,
            y=(12, 15, 18, 21, 24, 27),
            unit=" %",
            log_x=False,
            log_y=False,
        ),
        Panel(
            title="discernibility ratio, C = 100 %",
            lines=dr_k,
            x="K",
            ticks=KS,
            y=(0, 0.01, 0.02, 0.03, 0.04, 0.05),
            log_x=False,
            log_y=False,
        ),
        Panel(
            title="seconds of CPU, L = 4, K = 20",
            lines=[Line(name="", points=seconds, tone=TONES[0])],
            x="records",
            ticks=SIZES,
            y=(0, 2, 4, 6, 8, 10),
            unit=" s",
            log_x=False,
            log_y=False,
        ),
    ]
    drawn = [panel(one, width=220, height=210, named=True) for one in panels]
    save(alt.hconcat(*drawn, spacing=24), "lkc-adult.svg")


def main() -> str:
    """Tables beside the thesis's figures, or nothing where Adult is not there."""
    folder = adult_folder()
    if folder is None or not (folder / TREES).exists():
        return ""
    frame = sf.datasets.adult(folder=folder)
    settings = [(l, k, 0.2) for l in LS for k in KS] + [(l, 100, c) for l in LS for c in CS if c != 0.2]
    ce_rows, ce = errors(frame, settings)
    dr_rows, dr = ratios(frame)
    time_rows, seconds = speed(frame)
    picture(ce, dr, seconds)
    heads = ["L", "K", "C", "CE", "CE, splits valid", "CE - BE", "CE - BE, splits valid"]
    title = f"Figure 3.5: Adult, {frame.height:,} rows, BE {ce['BE']:.2%} (thesis 14.7 %), UE {ce['UE']:.2%} (24.5 %)"
    return "\n".join(
        [
            table(title, heads, ce_rows),
            table("Figure 3.6: discernibility ratio", ["K", "C", "L = 2", "L = 4", "L = 6", "k-anonymity"], dr_rows),
            table(
                "Figure 3.7: L = 4, K = 20, C = 100 % (thesis: 33 s at a million)",
                ["records", "cells", "steps", "CPU"],
                time_rows,
            ),
        ]
    )


if __name__ == "__main__":
    print(main())
