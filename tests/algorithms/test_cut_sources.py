"""One search, many sources: a table in one piece, in shuffled parts, in an engine, and estimated counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.marginals import Marginals
from sfumato.algorithms.marginals.noisy_marginals import published as marginals_published
from sfumato.algorithms.problem import Problem
from sfumato.algorithms.top_down import TopDown
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import JointCells, WeightedCells
from sfumato.counts.local_table import cells
from sfumato.counts.sources import ROWS, CutSource
from sfumato.metrics.information_loss import ClassificationMetric, Discernibility, LossMetric, NonUniformEntropy
from sfumato.metrics.metric import measures
from sfumato.models import ConfidenceBounding, DistinctLDiversity, KAnonymity, LKCPrivacy, TCloseness, Template
from sfumato.pipeline.methods.private.comparison import accuracies
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.datasets.synthetic_census import census, census_hierarchies
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tests.algorithms.cut_sources import DuckSource, parted, rows_of_cells
from tests.algorithms.diffgen_tables import behind, injected, loud
from tests.algorithms.test_diffgen import TABLES
from tests.algorithms.test_marginals import CLASSES, EXACT, ROW, same, table_of
from tests.algorithms.test_top_down import problem_of, tables
from tests.weights import examples

DEMANDS = [
    (),
    (KAnonymity(k=2),),
    (LKCPrivacy(l=2, k=2, c=0.8, column="s"),),
    (LKCPrivacy(l=3, k=2, c=0.7, column="s", values=("1", "?")),),
    (KAnonymity(k=2), ConfidenceBounding(templates=(Template(quasi=("a", "n"), column="s", value="1", limit=0.6),))),
]
QUASI = ("age", "workclass", "education", "marital-status", "hours-per-week", "sex")


def described(problem: Problem) -> Problem:
    """The problem without any cell: columns and values only."""
    return replace(problem, cells=problem.cells.take(np.zeros(problem.cells.count, np.bool_)))


def sources(problem: Problem) -> dict[str, CutSource]:
    rows = rows_of_cells(problem.cells)
    return {"rows": rows, "parts": parted(rows, 3), "engine": DuckSource(rows)}


def check_top_down(problem: Problem, found: dict[str, CutSource], **options: object) -> None:
    """All sources say what the cells of the table say, or refuse alike."""
    run = TopDown(**options)
    try:
        true = run(problem, Work())
    except Infeasible:
        for source in found.values():
            with pytest.raises(Infeasible):
                run.over(described(problem), source, Work())
        return
    for name, source in found.items():
        made = run.over(described(problem), source, Work())
        assert made.trail == true.trail, name
        assert [c.labels for c in made.cut] == [c.labels for c in true.cut]
        assert all((a.of_code == b.of_code).all() for a, b in zip(made.cut, true.cut, strict=True))
        assert dict(made.effort) == dict(true.effort)


@examples(40)
@given(
    table=tables(),
    models=st.sampled_from(DEMANDS),
    score=st.sampled_from(["gain", "discernibility"]),
    reading=st.sampled_from(["strict", "value"]),
    metric=st.sampled_from([LossMetric(), Discernibility(), ClassificationMetric()]),
    splits=st.sampled_from(["best", "valid"]),
)
def test_top_down_says_the_same_from_every_source(table, models, score, reading, metric, splits):
    problem = problem_of(table, models, reading=reading, metric=metric)
    check_top_down(problem, sources(problem), score=score, splits=splits)


@cache
def people() -> Table:
    return Table(frame=census(2000, seed=3))


def census_problem(*models: object) -> Problem:
    loaded, files = people(), census_hierarchies()
    quasi = [loaded.column(name) for name in QUASI]
    hierarchies = [
        (Grown() if c.kind == "integer" else read_hierarchy(files[c.name])).build(ObservedDomain.of(c)) for c in quasi
    ]
    made = cells(quasi, [loaded.column("occupation"), loaded.column("income")]).classes
    return Problem(
        cells=replace(made, measures=measures(made)),
        hierarchies=tuple(hierarchies),
        models=models,
        metric=LossMetric(),
        target="income",
        numbers=tuple(c.numbers if c.kind == "integer" else None for c in quasi),
    )


def test_top_down_on_the_census():
    problem = census_problem(LKCPrivacy(l=2, k=10, c=0.8, column="occupation"), KAnonymity(k=3))
    check_top_down(problem, sources(problem))
    assert len(TopDown()(problem, Work()).trail.steps) > 5


# Estimated counts.


def estimated(problem: Problem, weight: np.ndarray | float) -> WeightedCells:
    """The rows with weights that are not whole."""
    rows = rows_of_cells(problem.cells)
    shares = {ROWS: weight * np.ones(rows.rows)}
    for name, tally in problem.cells.tallies.items():
        shares |= {(name, (code,)): weight * (rows.counted[name] == code) for code in range(len(tally.values))}
    return WeightedCells(columns=rows.columns, weights=shares)


@examples(40)
@given(table=tables(), k=st.sampled_from([2, 4]), l=st.sampled_from([1, 2, 9]), score=st.sampled_from(["gain", "auto"]))
def test_rows_that_weigh_a_half_are_as_good_as_rows_if_half_as_many_are_asked_for(table, k, l, score):
    problem = problem_of(table, (LKCPrivacy(l=l, k=k, c=0.9, column="s"), KAnonymity(k=k)))
    easy = replace(problem, models=(LKCPrivacy(l=l, k=k // 2, c=0.9, column="s"), KAnonymity(k=k // 2)))
    run = TopDown(score=score)
    try:
        true = run(problem, Work())
    except Infeasible:
        with pytest.raises(Infeasible):
            run.over(described(easy), estimated(problem, 0.5), Work())
        return
    made = run.over(described(easy), estimated(problem, 0.5), Work())
    told = [[(s.column, s.coarse, s.fine) for s in one.trail.steps] for one in (true, made)]
    assert told[0] == told[1]
    assert [s.loss for s in made.trail.steps] == pytest.approx([s.loss for s in true.trail.steps])
    assert [s.anonymity for s in made.trail.steps] == [s.anonymity // 2 for s in true.trail.steps]


def test_estimated_counts_meet_what_was_asked_for():
    """On the census with random weights: groups by every two columns, recounted from the cut."""
    problem = census_problem(LKCPrivacy(l=2, k=9, c=0.75, column="occupation"))
    source = estimated(problem, np.random.default_rng(2).gamma(2, 0.5, problem.cells.rows))
    made = TopDown().over(described(problem), source, Work())
    assert len(made.trail.steps) > 5
    labels = [cut.of_code[one.codes] for cut, one in zip(made.cut, source.columns, strict=True)]
    values = range(len(problem.cells.tally("occupation").values))
    for a, b in combinations(range(len(labels)), 2):
        key = labels[a].astype(np.int64) * 1000 + labels[b]
        used, place = np.unique(key, return_inverse=True)
        rows = np.bincount(place, weights=source.weights[ROWS], minlength=len(used))
        assert rows.min() >= 9 - 1e-9
        for code in values:
            held = np.bincount(place, weights=source.weights["occupation", (code,)], minlength=len(used))
            assert (held / rows).max() <= 0.75 + 1e-9


# Differential privacy.


def from_all(table) -> dict[str, CutSource]:
    rows = behind(table)
    return {"parts": parted(rows, 3), "engine": DuckSource(rows)}


def check_diffgen(asked: DiffGen, table, **given_: object) -> None:
    true = published(asked, table, Work(), injected(**given_))
    for name, source in from_all(table).items():
        assert same(published(asked, replace(table, counts=source), Work(), injected(**given_)), true), name


@examples(30)
@given(TABLES, st.integers(1, 8), st.sampled_from(["gini", "max", "gain"]), st.booleans())
def test_diffgen_says_the_same_from_every_source(table, h, how, all_pass):
    """Also where the test of emptiness drops records, and where it keeps them all."""
    more = {"count": loud} if all_pass else {}
    check_diffgen(DiffGen(epsilon=1, specializations=h, score=how), table, **more)


@examples(20)
@given(st.lists(ROW, max_size=20), CLASSES, st.sampled_from([8, 64]))
def test_marginals_say_the_same_from_every_source(rows, classes, bins):
    check_marginals(Marginals(epsilon=100, bins=bins), table_of(rows, classes))


def check_marginals(asked: Marginals, table) -> None:
    def run(one):
        return marginals_published(asked, one, Work(chance=Chance(seed=1)), EXACT)

    true = run(table)
    for name, source in from_all(table).items():
        assert same(run(replace(table, counts=source)), true), name


@cache
def private_census():
    files = census_hierarchies()
    columns = {
        name: {"role": "quasi", "hierarchy": {"file": str(files[name])}}
        for name in QUASI
        if name not in ("age", "hours-per-week")
    }
    columns["age"] = {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 120}}
    columns["hours-per-week"] = {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 120, "grid": 5}}
    columns["income"] = {"role": "target", "values": ["<=50K", ">50K"]}
    return declared_table(Plan.parse({"columns": columns}), people())


@pytest.mark.parametrize("how", ["gini", "max", "gain"])
def test_diffgen_on_the_census(how):
    check_diffgen(DiffGen(epsilon=1, specializations=8, score=how), private_census())


def test_marginals_on_the_census():
    check_marginals(Marginals(epsilon=1), private_census())


# Refusals.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"models": (TCloseness(t=0.4, column="s", distance="emd-equal"),)}, "top-down with t-closeness"),
        ({"models": (DistinctLDiversity(l=2, column="s"),)}, "top-down with"),
        ({"metric": NonUniformEntropy()}, "utility.metric: entropy"),
    ],
)
def test_what_needs_the_joint_refuses_a_source_without_it(change, said):
    table = {"a": ["a1", "a2", "b1"], "n": ["4", "18", "4"], "s": ["1", "2", "3"], "y": ["no", "yes", "no"]}
    problem = problem_of(table, **change)
    with pytest.raises(PlanError, match=f"{said}.* needs the cells of all columns together, and this source only"):
        TopDown().over(described(problem), rows_of_cells(problem.cells), Work())
    assert TopDown().over(problem, JointCells(cells=problem.cells), Work()).trail is not None


def test_wildcards_need_the_joint():
    table = {"a": ["a1", "?", "b1"], "n": ["4", "18", "4"], "s": ["1", "2", "3"]}
    problem = problem_of(table, (KAnonymity(k=2),), reading="wildcard")
    with pytest.raises(PlanError, match=r"k-anonymity.* needs the cells of all columns together"):
        TopDown().over(described(problem), rows_of_cells(problem.cells), Work())


def test_private_releases_refuse_estimates():
    table = private_census()
    rows = behind(table)
    weights = {("income", (code,)): 0.5 * (rows.counted["income"] == code) for code in range(2)}
    guessed = replace(table, counts=WeightedCells(columns=rows.columns, weights=weights))
    for run in (DiffGen(epsilon=1), Marginals(epsilon=1)):
        with pytest.raises(PlanError, match="needs whole counts, and the counts of this source are estimates"):
            run(guessed, Work())


def test_a_study_needs_rows():
    table = private_census()
    with pytest.raises(PlanError, match="needs single rows, and this source only counts"):
        accuracies(replace(table, counts=parted(behind(table), 2)))
