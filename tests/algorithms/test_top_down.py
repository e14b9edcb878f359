"""Top-down specialization: step by step as defined, every step passes, nothing more could be specialized."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.cut import cut_of_intervals, cut_of_nodes
from sfumato.algorithms.problem import Problem, Recoded
from sfumato.algorithms.top_down import TopDown, validity
from sfumato.algorithms.top_down.specializer import specialized
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import (
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import measures
from sfumato.models import (
    AlphaKAnonymity,
    ConfidenceBounding,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    SimpleLDiversity,
    TCloseness,
    Template,
)
from sfumato.models.model import judge
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.labels import roundest
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from sfumato.testing.searches import check_outcome, check_same, regrouped
from tests.weights import examples

PATHS = {
    "a": Paths(
        paths={"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c1": ("C",), "c2": ("C",), "d": ()},
    ),
    "b": Paths(paths={"x": ("X",), "y": ("X",), "z": ("Z",)}),
}
MODELS = [
    (),
    (KAnonymity(k=2),),
    (KAnonymity(k=3), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (SimpleLDiversity(l=1.5, column="s"),),
    (TCloseness(t=0.4, column="s", distance="emd-equal"),),
    (AlphaKAnonymity(alpha=0.7, k=2, column="s"),),
    (LKCPrivacy(l=1, k=2, c=1.0, column="s"),),
    (LKCPrivacy(l=2, k=2, c=0.8, column="s"),),
    (LKCPrivacy(l=2, k=3, c=0.6, column="s", values=("1",)),),
    (LKCPrivacy(l=3, k=2, c=0.7, column="s", values=("1", "?")),),
    (LKCPrivacy(l=9, k=2, c=1.0, column="s"),),
    (ConfidenceBounding(templates=(Template(quasi=("a", "n"), column="s", value="1", limit=0.6),)),),
    (ConfidenceBounding(templates=(Template(column="s", value="2", limit=0.6),)), KAnonymity(k=2)),
    (
        ConfidenceBounding(
            templates=(
                Template(quasi=("n",), column="s", value="2", limit=0.5),
                Template(column="s", value="1", limit=0.7),
            )
        ),
    ),
]


def problem_of(table: dict[str, list[str]], models=(), *, declared: bool = True, **more) -> Problem:
    """Columns a and b with taxonomies, all others but s and y numbers whose intervals are grown; "?" is missing."""
    loaded = Table(frame=pl.DataFrame(table, schema=dict.fromkeys(table, pl.String)), missing=("?",))
    names = [name for name in table if name not in ("s", "y")]
    quasi = [loaded.column(name, None if name in PATHS else "integer") for name in names]
    grown = Grown(low=-10, high=99) if declared else Grown()
    hierarchies = tuple(PATHS.get(c.name, grown).build(ObservedDomain.of(c)) for c in quasi)
    made = cells(quasi, [loaded.column(name, "text") for name in ("s", "y") if name in table]).classes
    tallies = {name: replace(tally, original=tally.overall) for name, tally in made.tallies.items()}
    given = Problem(
        cells=replace(made, tallies=tallies, measures=measures(made)),
        hierarchies=hierarchies,
        models=models,
        metric=LossMetric(),
        target="y" if "y" in table else None,
        numbers=tuple(None if c.name in PATHS else c.numbers for c in quasi),
    )
    return replace(given, **more)


@st.composite
def tables(draw: st.DrawFn, *, most: int = 16, missing: bool = True, target: bool = True) -> dict[str, list[str]]:
    """Random rows; with ``missing`` some cells are unknown."""
    rows = draw(st.integers(1, most))
    unknown = ["?"] if missing and draw(st.booleans()) else []
    numbers = ["-3", "4", "18", "24", "34", "58", "63"]
    values = {
        "a": [*PATHS["a"].paths, *unknown],
        "n": [*numbers, *unknown],
        "b": [*PATHS["b"].paths, *unknown],
        "m": numbers[:3],
        "s": ["1", "2", "3", *unknown],
        "y": ["no", "yes"],
    }
    wanted = [name for name in values if name in ("a", "n", "s") or (name == "y" and target) or draw(st.booleans())]
    found = {name: draw(st.lists(st.sampled_from(values[name]), min_size=rows, max_size=rows)) for name in wanted}
    for name in ("n", "m"):
        if name in found and set(found[name]) == {"?"}:
            found[name][0] = "4"
    return found


def rows_of(problem: Problem) -> list[tuple[tuple[int, ...], str]]:
    """The codes and the class of every row."""
    found = []
    tally = problem.cells.tally(problem.target) if problem.target else None
    for cell, size in enumerate(problem.cells.sizes):
        codes = tuple(int(c) for c in problem.cells.keys[:, cell])
        kinds = [""] * int(size)
        if tally is not None:
            kinds = [
                tally.values[code]
                for owner, code, count in zip(tally.owners, tally.codes, tally.counts, strict=True)
                for _ in range(count)
                if owner == cell
            ]
        found += [(codes, kind) for kind in kinds]
    return found


def entropy(kinds) -> float:
    counts = Counter(kinds)
    return -sum(n / len(kinds) * log2(n / len(kinds)) for n in counts.values())


def info_gain(parts) -> float:
    whole = [kind for part in parts for kind in part]
    return entropy(whole) - sum(len(part) / len(whole) * entropy(part) for part in parts if part)


class Twin:
    """The definition, word by word, on rows: nodes are frozensets of codes."""

    def __init__(self, problem: Problem, score: str) -> None:
        self.problem, self.score, self.rows = problem, score, rows_of(problem)
        self.trees = [None if self.grown(c) else h.tree() for c, h in enumerate(problem.hierarchies)]
        self.nodes = [[0] * len(h.levels[0].labels) for h in problem.hierarchies]
        self.edges: list[list[float]] = [[] for _ in problem.hierarchies]

    def grown(self, c: int) -> bool:
        return self.problem.number(c) is not None and self.problem.hierarchies[c].height == 1

    def cut(self, c: int, nodes=None, edges=None):
        if self.trees[c] is not None:
            return cut_of_nodes(self.trees[c], np.array(self.nodes[c] if nodes is None else nodes, np.int32))
        return cut_of_intervals(
            self.problem.hierarchies[c], self.problem.number(c), sorted(self.edges[c] if edges is None else edges)
        )

    def inside(self, c: int, codes: set[int]) -> list[tuple[tuple[int, ...], str]]:
        return [row for row in self.rows if row[0][c] in codes]

    def parted(self, c: int, codes: set[int], edge: float) -> list[set[int]]:
        x = self.problem.number(c)
        parts = [{i for i in codes if x[i] < edge}, {i for i in codes if x[i] >= edge}]
        return [*parts, {i for i in codes if np.isnan(x[i])}]

    def best_edge(self, c: int, codes: set[int]) -> float | None:
        held = self.inside(c, codes)
        points = sorted({x for row in held if not np.isnan(x := self.problem.number(c)[row[0][c]])})
        worth = []
        for high in points[1:]:
            parts = [[row[1] for row in held if row[0][c] in part] for part in self.parted(c, codes, high)]
            known = [len(part) for part in parts[:2]]
            worth.append(info_gain(parts) if self.score == "gain" else -sum(n * n for n in known))
        if not worth:
            return None
        place = next(i for i, w in enumerate(worth) if w >= max(worth) - 1e-12)
        return roundest(points[place], points[place + 1])

    def classes(self, cuts) -> Counter:
        return Counter(tuple(cut.of_code[code] for cut, code in zip(cuts, row[0], strict=True)) for row in self.rows)

    def candidates(self):
        cuts = [self.cut(c) for c in range(len(self.nodes))]
        classes = self.classes(cuts)
        for c, cut in enumerate(cuts):
            for label, name in enumerate(cut.labels):
                codes = {int(i) for i in np.flatnonzero(cut.of_code == label)}
                if self.trees[c] is not None:
                    node = self.nodes[c][min(codes)]
                    parts = [codes & set(np.flatnonzero(self.trees[c].covers(n))) for n in self.trees[c].children[node]]
                    step, rank = node, self.trees[c].labels[node]
                else:
                    step = self.best_edge(c, codes)
                    parts = [set()] if step is None else [p for p in self.parted(c, codes, step) if p]
                    first = min(parts[0], default=0)
                    rank = max((e for e in self.edges[c] if e <= self.problem.number(c)[first]), default=-np.inf)
                if parts and parts[0]:
                    kinds = [[row[1] for row in self.inside(c, part)] for part in parts]
                    squares = sum(n * n for key, n in classes.items() if key[c] == label)
                    worth = info_gain(kinds) if self.score == "gain" else float(squares)
                    yield (-round(worth, 12), c, rank), (c, name, step, [set(part) for part in parts])

    def valid(self, c: int, nodes, edges) -> bool:
        cuts = [self.cut(d) for d in range(len(self.nodes))]
        cuts[c] = self.cut(c, nodes, edges)
        made = Recoded.under(self.problem, cuts)
        view = made.view(self.problem, np.zeros(self.problem.cells.count, np.bool_))
        wild = tuple(
            np.array([h.missing is not None and name == "?" for name in cut.labels])
            for h, cut in zip(self.problem.hierarchies, cuts, strict=True)
        )
        classes = replace(view.classes, wild=wild)
        return all(judge(model, classes, self.problem.reading).holds for model in self.problem.models)

    def run(self):
        dropped, steps = set(), []
        while True:
            waiting = sorted(self.candidates(), key=lambda one: one[0])
            for key, (c, name, step, parts) in waiting:
                mark = (c, name, frozenset().union(*parts))
                if mark in dropped:
                    continue
                nodes, edges = list(self.nodes[c]), list(self.edges[c])
                if self.trees[c] is not None:
                    for part, child in zip(parts, self.trees[c].children[step], strict=True):
                        for code in part:
                            nodes[code] = child
                else:
                    edges.append(step)
                if not self.valid(c, nodes, edges):
                    dropped.add(mark)
                    continue
                self.nodes[c], self.edges[c] = nodes, edges
                steps.append((self.problem.cells.quasi[c], name, len(parts), -key[0]))
                break
            else:
                return steps, [self.cut(c) for c in range(len(self.nodes))]


@pytest.mark.slow
@examples(250, whole=True)
@given(
    table=tables(),
    models=st.sampled_from(MODELS),
    score=st.sampled_from(["gain", "discernibility"]),
    reading=st.sampled_from(["strict", "value", "wildcard"]),
    declared=st.booleans(),
)
def test_it_is_what_the_definition_says(table, models, score, reading, declared):
    problem = problem_of(table, models, declared=declared, reading=reading)
    try:
        found = TopDown(score=score)(problem, Work())
    except Infeasible:
        return
    steps, cuts = Twin(problem, score).run()
    assert [(s.column, s.coarse, len(s.fine)) for s in found.trail.steps] == [step[:3] for step in steps]
    assert [s.score for s in found.trail.steps] == pytest.approx([step[3] for step in steps], abs=1e-8)
    for mine, theirs in zip(found.cut, cuts, strict=True):
        assert mine.labels == theirs.labels
        assert (mine.of_code == theirs.of_code).all()
    check_outcome(problem, found)
    check_same(found, TopDown(score=score)(problem, Work()))


@examples(150, whole=True)
@given(
    table=tables(most=30),
    models=st.sampled_from(MODELS),
    score=st.sampled_from(["gain", "discernibility"]),
    reading=st.sampled_from(["strict", "value", "wildcard"]),
)
def test_counting_only_what_changes_says_the_same_as_judging_the_whole_table(table, models, score, reading):
    problem = problem_of(table, models, reading=reading)
    try:
        quick = TopDown(score=score)(problem, Work())
    except Infeasible:
        return
    slow = specialized(problem, Work(), score, None, general=True)
    assert quick.trail == slow.trail
    assert quick.effort["tested"] == slow.effort["tested"]


@examples(60)
@given(table=tables(most=30), models=st.sampled_from(MODELS[7:12]))
def test_sorting_combinations_says_the_same_as_counting_them(table, models):
    problem = problem_of(table, models)
    try:
        quick = TopDown()(problem, Work())
    except Infeasible:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validity, "_ROOM", 0)
        assert TopDown()(problem, Work()).trail == quick.trail


@examples(100)
@given(
    table=tables(),
    metric=st.sampled_from(
        [LossMetric(), Precision(), Discernibility(), AverageClassSize(), ClassificationMetric(), NonUniformEntropy()]
    ),
    models=st.sampled_from(MODELS),
)
def test_every_step_says_what_the_table_after_it_is_worth(table, metric, models):
    problem = problem_of(table, models, metric=metric)
    try:
        whole = TopDown()(problem, Work())
    except Infeasible:
        return
    trail = whole.trail
    for many in range(len(trail.steps) + 1):
        found = TopDown(steps=many)(problem, Work())
        assert found.trail.steps == trail.steps[:many]
        check_outcome(problem, found)
        classes, _ = regrouped(problem, found)
        told = trail.steps[many - 1] if many else trail
        assert told.anonymity == classes.sizes.min()
        assert told.loss == pytest.approx(found.loss)
        for step in found.trail.steps[-1:]:
            assert set(step.fine) <= set(found.cut[problem.cells.quasi.index(step.column)].labels)
