"""Bottom-up generalization on Adult: table 1 and figure 3 of Wang, Yu and Chakraborty."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.describe.hchy import read_hchy
from sfumato.describe.paths import Paths
from sfumato.ground.work import Work
from sfumato.papers.inputs import CLASS, RICH, AdultData, adult_data
from sfumato.papers.shapes_of_figures import LEARNER, flat
from sfumato.publish.problem import Problem
from sfumato.report.base.line_chart import Line, Panel, ticks_over
from sfumato.report.papers.paper_facts import Beside, Grid, Shown
from sfumato.sklearn import BottomUpGeneralizer, FullDomainGeneralizer
from sfumato.utility.learners import learnt
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.table.preparing import prepare
from sfumato.workflow.loading import load_table
from sfumato.workflow.plan.plan import Plan

TABLE: Mapping[str, tuple[int, int]] = {
    "occupation": (14, 3),
    "education": (16, 5),
    "native-country": (41, 4),
    "marital-status": (7, 3),
    "sex": (2, 2),
    "race": (5, 2),
    "workclass": (8, 3),
}
"""Leaves and levels as table 1 has them."""
VID = tuple(TABLE)
KS = (10, 25, 50, 75, 100, 150, 200, 250, 500)
SEED = 5


def trees() -> dict[str, dict[str, Any]]:
    """The hierarchies of the seven attributes."""
    return {name: adult_data().tree(name, "pais_adult.hchy") for name in VID}


def taxonomy(name: str) -> Problem:
    """A table whose one column has every leaf of an attribute's hierarchy, so that the hierarchy is whole."""
    plan = Plan.parse({"columns": {name: {"role": "quasi", "hierarchy": trees()[name]}}, "privacy": {"k_anonymity": 1}})
    frame = pl.DataFrame({name: leaves(name)})
    return prepare(plan, load_table(plan, frame, None), None, catalog()).problem


def leaves(name: str) -> list[str]:
    """The leaves of an attribute's hierarchy."""
    tree = trees()[name]
    if "file" not in tree:
        return sorted(adult_data().frame[name].unique().to_list())
    read = read_hchy(Path(tree["file"])).attribute(tree["attribute"]).hierarchy
    assert isinstance(read, Paths)
    return sorted(read.paths)


def hierarchies(*, full: bool, work: Work) -> Shown:
    """Table 1: how many leaves and levels the hierarchies have."""
    beside = []
    for name, (many, levels) in TABLE.items():
        found = taxonomy(name).hierarchies[0]
        ours = (len(found.levels[0].labels), found.height + 1)
        beside.append(
            Beside(
                what=name,
                theirs=f"{many} leaves, {levels} levels",
                ours=f"{ours[0]} leaves, {ours[1]} levels",
                holds=ours == (many, levels),
            )
        )
    note = "A level is a generalization of every leaf; where branches have different depths the longest counts."
    return Shown(data=adult_data().words, beside=beside, notes=[note])


def errors(*, full: bool, work: Work) -> Shown:
    """Figure 3: the error of a tree that learns from generalized records, on generalized test records."""
    data, ks = adult_data(), KS if full else (10, 50, 150, 500)
    base = _tried(FullDomainGeneralizer({"k_anonymity": 1}, hierarchies=trees()), data)
    tested = data.frame[CLASS][data.training :]
    worst = int((tested == RICH).sum()) / len(tested)
    found, alone = {}, {}
    for number, k in enumerate(ks):
        work.advance("errors", number, len(ks))
        found[k] = _tried(BottomUpGeneralizer({"k_anonymity": k}, hierarchies=trees()), data)
        by_gain = {"score": "information"}
        alone[k] = _tried(BottomUpGeneralizer({"k_anonymity": k}, hierarchies=trees(), options=by_gain), data)
    above = [100 * (found[k] - base) for k in ks]
    low, high = (f"{100 * end:.1f} %" for end in (min(found.values()), max(found.values())))
    beside = [
        Beside(what="baseline error B", theirs="17.4 %", ours=f"{100 * base:.1f} %", why=LEARNER),
        Beside(what="worst error W", theirs="24.6 %", ours=f"{100 * worst:.1f} %"),
        Beside(what="E - B in points", theirs="at most 1.1", ours=f"at most {max(above):.1f}", holds=max(above) <= 1.1),
        Beside(what="E", theirs="18.4 % to 18.5 %", ours=f"{low} to {high}"),
    ]
    chart = Panel(
        title="error by K",
        lines=[
            Line(name="E", points=[(k, 100 * found[k]) for k in ks]),
            Line(name="E, I alone", points=[(k, 100 * alone[k]) for k in ks], tone=1),
            *flat(ks, {"B": 100 * base, "W": 100 * worst}),
        ],
        x="K",
        ticks=ks,
        y=ticks_over([100 * y for y in (*found.values(), *alone.values(), base, worst)]),
        unit=" %",
        log_x=True,
    )
    rows = [
        [str(k), f"{100 * found[k]:.2f} %", f"{100 * (found[k] - base):+.2f}", f"{100 * alone[k]:.2f} %"] for k in ks
    ]
    grid = Grid(title="every error", heads=["K", "E", "E - B in points", "E by information alone"], rows=rows)
    return Shown(data=data.words, beside=beside, grids=[grid], panels=[chart])


def _tried(estimator: Any, data: AdultData) -> float:
    frame, first = data.frame, data.training
    records, rich = frame.select(VID), (frame[CLASS] == RICH).to_numpy().astype(np.int64)
    estimator.fit(records[:first], frame[CLASS].to_numpy()[:first])
    found = learnt(estimator.transform(records[:first]), rich[:first], "tree", SEED)
    return float((found.predict(estimator.transform(records[first:])) != rich[first:]).mean())
