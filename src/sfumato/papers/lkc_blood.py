"""LKC-privacy on transfusion records with 41 quasi-identifiers: figure 3.4 of the thesis, on a stand-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sfumato.datasets.synthetic_blood import QUASI, blood, blood_hierarchy
from sfumato.ground.work import Work
from sfumato.papers.lkc_adult import ratio, specialized
from sfumato.papers.shapes_of_figures import flat
from sfumato.report.base.line_chart import Line, Panel, ticks_over
from sfumato.report.papers.paper_facts import Beside, Grid, Shown
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.preparing import Prepared, prepare
from sfumato.workflow.kinds.table.table_study import study
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.plan import Plan

RECORDS, C = 10_000, 0.2
LS = (2, 4, 6)


def prepared(frame: pl.DataFrame, privacy: Mapping[str, Any]) -> Prepared:
    """The records with their blood group as the class and their diagnosis as the secret."""
    columns: dict[str, Any] = {n: {"role": "quasi", "hierarchy": blood_hierarchy(n)} for n in QUASI}
    columns |= {"blood group": {"role": "target"}, "diagnosis": {"role": "sensitive"}}
    plan = Plan.parse({"columns": columns, "privacy": dict(privacy)})
    return prepare(plan, load_table(plan, frame, None), None, catalog())


def utility(*, full: bool, work: Work) -> Shown:
    """Figure 3.4: classification error and discernibility ratio by K, for three L."""
    ks = (20, 40, 60, 80, 100) if full else (20, 60, 100)
    frame = blood(RECORDS, seed=1).select(*QUASI, "blood group", "diagnosis")
    base = study(prepared(frame, {"k_anonymity": 1}), "tree", np.arange(RECORDS) < 2 * RECORDS // 3)
    error, ratios = {}, {}
    asked = [(l, k) for l in (*LS, 0) for k in ks]
    for number, (l, k) in enumerate(asked):
        work.advance("transfusions", number, len(asked))
        wanted = {"lkc": {"l": l, "k": k, "c": C, "column": "diagnosis"}} if l else {"k_anonymity": k}
        one = prepared(frame, wanted)
        made = specialized(one, work, score="gain")
        error[l, k] = float("nan") if made is None else base.errors(made).released
        ratios[l, k] = ratio(one, work)
    beside = _stated(error, ratios, ks, base.baseline, base.upper_bound)
    named = {**{l: f"L = {l}" for l in LS}, 0: "k-anonymity"}
    rows = [[str(k), *(f"{error[l, k]:.2%}" for l in (*LS, 0)), *(f"{ratios[l, k]:.4f}" for l in (*LS, 0))] for k in ks]
    heads = ["K", *(f"CE, {named[l]}" for l in (*LS, 0)), *(f"DR, {named[l]}" for l in (*LS, 0))]
    ends = flat(ks, {"BE": 100 * base.baseline, "UE": 100 * base.upper_bound})
    panels = [
        _panel("classification error, C = 20 %", ks, named, {at: 100 * y for at, y in error.items()}, ends, " %"),
        _panel("discernibility ratio, C = 20 %", ks, named, ratios, [], ""),
    ]
    return Shown(
        data=f"A stand-in for the records of the thesis, which are not public: {RECORDS:,} synthetic records with 41 "
        "quasi-identifiers, 8 blood groups and 15 diagnoses.",
        beside=beside,
        grids=[Grid(title="every figure", heads=heads, rows=rows)],
        panels=panels,
    )


Found = Mapping[tuple[int, int], float]
"""By L (0 for traditional k-anonymity) and K."""


def _stated(error: Found, ratios: Found, ks: Sequence[int], baseline: float, upper_bound: float) -> list[Beside]:
    """What the thesis says about the figure."""
    few = [100 * (error[l, k] - baseline) for l in (2, 4) for k in ks]
    most = [error[6, k] for k in ks]
    saved = [ratios[0, k] - ratios[l, k] for l in (2, 4) for k in ks]
    return [
        Beside(what="baseline error BE", theirs="22.1 %", ours=f"{baseline:.1%}", why=_SET),
        Beside(what="upper bound UE", theirs="44.1 %", ours=f"{upper_bound:.1%}", why=_SET),
        Beside(
            what="CE - BE in points, L = 2 and 4",
            theirs="-2.9 to 5.2",
            ours=f"{min(few):.1f} to {max(few):.1f}",
            holds=max(few) <= 5.2,
        ),
        Beside(
            what="CE at L = 6 is larger than at L = 2 and 4",
            theirs="about 40 %",
            ours=f"{min(most):.1%} to {max(most):.1%}",
            holds=all(error[6, k] >= error[l, k] for l in (2, 4) for k in ks),
        ),
        Beside(
            what="DR grows with L, and k-anonymity has the largest",
            theirs="by 0.1 to 0.45",
            ours=f"by {min(saved):.2f} to {max(saved):.2f}",
            holds=all(ratios[2, k] <= ratios[4, k] <= ratios[6, k] <= ratios[0, k] for k in ks),
        ),
    ]


_SET = "The stand-in was made so that this figure is near; the others follow from it."


def _panel(
    title: str,
    ks: Sequence[int],
    named: Mapping[int, str],
    found: Found,
    ends: Sequence[Line],
    unit: str,
) -> Panel:
    lines = [
        Line(name=name, points=[(k, found[l, k]) for k in ks], tone=n) for n, (l, name) in enumerate(named.items())
    ]
    heights = [*found.values(), *(y for one in ends for _, y in one.points)]
    return Panel(title=title, lines=[*lines, *ends], x="K", ticks=ks, y=ticks_over(heights), unit=unit)
