"""The optimal search for models of sensitive values, against judging every node from the cells of the table."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from measure import command, table, timed
from sfumato.algorithms.feasibility import Suppression
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Levels, Problem
from sfumato.core.fractions import rows_within
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models.l_diversity import EntropyLDiversity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.model import Model
from sfumato.models.t_closeness import TCloseness
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tables import Subject, subject

SENSITIVE = ("occupation", "disease")
SAMPLE = 40
SHARES = (0.0, 0.01, 0.04, 0.1, 0.5, 1.0)


def problem(one: Subject, sensitive: str, model: Model, share: float) -> Problem:
    """All other columns are quasi-identifiers."""
    loaded = Table(frame=one.frame)
    columns = [loaded.column(name) for name in one.hierarchies if name != sensitive]
    grouped = cells(columns, [loaded.column(sensitive)]).classes
    return Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=tuple(read_hierarchy(one.hierarchies[c.name]).build(ObservedDomain.of(c)) for c in columns),
        models=(model,),
        metric=LossMetric(),
        limit=rows_within(share, one.frame.height),
    )


def judged(given: Problem, levels: Levels) -> bool:
    """A node judged from the cells: recode, count, take out what fails."""
    chosen = [h.levels[n] for h, n in zip(given.hierarchies, levels, strict=True)]
    classes, _ = given.cells.recoded([level.parent for level in chosen], [level.labels for level in chosen])
    return Suppression(given).hide(classes, np.zeros(classes.count, np.bool_))[0]


def row(one: Subject, sensitive: str, model: Model, words: str, asked: str, share: float) -> list[str]:
    """One line of the table."""
    given = problem(one, sensitive, model, share)
    found, cost = timed(lambda: optimal(given, Work()))
    nodes = list(product(*(range(h.height + 1) for h in given.hierarchies)))
    sample = random.Random(1).sample(nodes, SAMPLE)
    _, slow = timed(lambda: [judged(given, levels) for levels in sample])
    every = slow.cpu / SAMPLE * len(nodes)
    return [
        words,
        f"{share:.0%}",
        f"{found.loss:.4f}",
        f"{found.effort['checked']:,} of {len(nodes):,}",
        f"{cost.cpu:.2f} s",
        f"{every:,.1f} s",
        f"{every / cost.cpu:,.0f}",
        f"{whole(one, sensitive, asked, share):.1f} s",
    ]


def whole(one: Subject, sensitive: str, asked: str, share: float) -> float:
    """CPU of a release from start to exit."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plan = one.write(place, suppressed=share, k=1, privacy=asked)
        text = plan.read_text().replace("k_anonymity = 1\n", "")
        quasi = (
            f'[columns.{sensitive}]\nrole = "quasi"\nhierarchy = {{ file = "{one.hierarchies[sensitive].resolve()}" }}'
        )
        plan.write_text(text.replace(quasi, f'[columns.{sensitive}]\nrole = "sensitive"'))
        out = str(place / "out")
        return command(["release", str(plan), "--set", "attack.run=false", "-o", out, "--no-inside", "--json"]).cpu


def main() -> str:
    """t-closeness at every limit of suppression, entropy l-diversity at some, LKC-privacy at 4 %."""
    one = subject()
    sensitive = next(name for name in SENSITIVE if name in one.hierarchies)
    close = TCloseness(t=0.2, column=sensitive, distance="emd-equal")
    diverse = EntropyLDiversity(l=3, column=sensitive)
    told = 't_closeness = { t = 0.2, distance = "emd-equal" }'
    rows = [row(one, sensitive, close, "t-closeness, t = 0.2", told, share) for share in SHARES]
    told = 'l_diversity = { kind = "entropy", l = 3 }'
    rows += [row(one, sensitive, diverse, "entropy l-diversity, l = 3", told, share) for share in (0.01, 1.0)]
    for l in (2, 3, 4):
        known = LKCPrivacy(l=l, k=50, c=0.5, column=sensitive)
        told = f"lkc = {{ l = {l}, k = 50, c = 0.5 }}"
        rows.append(row(one, sensitive, known, f"LKC-privacy, L = {l}, K = 50, C = 50 %", told, 0.04))
    headers = ["model", "may be suppressed", "loss", "nodes checked", "search, CPU"]
    headers += [f"every node from the cells, CPU, from {SAMPLE}", "ratio", "whole command, CPU"]
    return table(
        f"Optimal search with sensitive values, {one.name}, eight quasi-identifiers, metric loss", headers, rows
    )


if __name__ == "__main__":
    print(main())
