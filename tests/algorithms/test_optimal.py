"""The optimal search equals the exhaustive one, for every model and every metric."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.lattice.nodes import Checker, Space
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import (
    NCP,
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    DiscernibilityRatio,
    Height,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import Metric, Ruler, View, measures
from sfumato.models import (
    AlphaKAnonymity,
    ConfidenceBounding,
    DistinctLDiversity,
    DivergenceBounding,
    EMAnonymity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    PersonalizedPrivacy,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
    Template,
)
from sfumato.models.model import Model, judge
from tests.example_tables import column, hierarchy, problem_cells, quasi_rows
from tests.weights import examples

METRICS: list[Metric] = [
    LossMetric(),
    NCP(),
    Precision(),
    Height(),
    NonUniformEntropy(),
    Discernibility(),
    DiscernibilityRatio(),
    ClassificationMetric(),
    AverageClassSize(k=2),
]
TREE = {"1": ("low",), "2": ("low",), "3": ("high",)}
MODELS: list[tuple[Model, ...]] = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3),),
    (DistinctLDiversity(l=2, column="s"),),
    (KAnonymity(k=2), EntropyLDiversity(l=1.5, column="s")),
    (RecursiveLDiversity(c=2.0, l=2, column="s"),),
    (KAnonymity(k=2), SimpleLDiversity(l=1.5, column="s")),
    (TCloseness(t=0.3, column="s", distance="emd-equal"),),
    (KAnonymity(k=2), TCloseness(t=0.25, column="s", distance="emd-ordered", reference="original")),
    (AlphaKAnonymity(alpha=0.6, k=2, column="s"),),
    (ConfidenceBounding(templates=(Template(quasi=("a",), column="s", value="1", limit=0.5),)),),
    (LKCPrivacy(l=1, k=2, c=0.7, column="s", values=("1",)),),
    (EMAnonymity(e=1, m=1.5, column="s"),),
    (PersonalizedPrivacy(p=0.7, column="s", paths=TREE, guards={"1": "low"}),),
    (DivergenceBounding(confidence=0.6, column="s", far="branch", paths=TREE),),
]


def literal(problem: Problem) -> dict[tuple[int, ...], float]:
    """Every feasible node with its loss, by the definitions alone: recode, remove what fails until nothing does."""
    found: dict[tuple[int, ...], float] = {}
    for levels in product(*(range(h.height + 1) for h in problem.hierarchies)):
        chosen = [h.levels[n] for h, n in zip(problem.hierarchies, levels, strict=True)]
        classes, _ = problem.cells.recoded([c.parent for c in chosen], [c.labels for c in chosen])
        hidden = np.zeros(classes.count, bool)
        while not hidden.all():
            left = np.flatnonzero(~hidden)
            shown = classes.take(~hidden)
            failing = sorted({int(i) for m in problem.models for i in judge(m, shown, problem.reading).failing})
            if not failing:
                break
            hidden[left[failing]] = True
        rows = int(classes.sizes[hidden].sum())
        if hidden.all() or rows > problem.limit:
            continue
        if problem.suppressed == "star" and not problem.exempt and rows:
            starred = classes.starred(hidden)
            if not all(judge(m, starred, problem.reading).holds for m in problem.models):
                continue
        rulers = tuple(Ruler.at(h, n) for h, n in zip(problem.hierarchies, levels, strict=True))
        view = View(classes=classes, suppressed=hidden, rulers=rulers, target="y")
        found[levels] = problem.metric.loss(view).value
    return found


def check_against_every_node(problem: Problem) -> None:
    """What is found is feasible, loses what it says and no more than any other node."""
    expected = literal(problem)
    try:
        found = optimal(problem, Work())
    except Infeasible:
        assert not expected
        return
    assert found.levels in expected
    assert expected[found.levels] == pytest.approx(found.loss, abs=1e-9)
    assert found.loss == pytest.approx(min(expected.values()), abs=1e-9)
    assert int(problem.cells.sizes[found.suppressed].sum()) <= problem.limit


@pytest.mark.slow
@examples(400, whole=True)
@given(
    quasi=quasi_rows(),
    data=st.data(),
    models=st.sampled_from(MODELS),
    metric=st.sampled_from(METRICS),
    share=st.sampled_from([0.0, 0.0, 0.2, 0.5, 1.0]),
    suppressed=st.sampled_from(["remove", "remove", "star"]),
    exempt=st.booleans(),
)
def test_equals_the_exhaustive_search(quasi, data, models, metric, share, suppressed, exempt):
    rows = len(next(iter(quasi.values())))
    values = st.lists(st.sampled_from(["1", "2", "3"]), min_size=rows, max_size=rows)
    made, hierarchies = problem_cells(quasi, {"s": data.draw(values), "y": data.draw(values)})
    problem = Problem(
        cells=made.classes,
        hierarchies=hierarchies,
        models=models,
        metric=metric,
        target="y",
        limit=int(share * rows),
        suppressed=suppressed,
        exempt=exempt,
    )
    check_against_every_node(problem)


@pytest.mark.parametrize(
    ("quasi", "s", "models", "suppressed"),
    [
        ({"a": ["a1", *["a2"] * 8, "b1"]}, "1" * 10, (KAnonymity(k=2),), "star"),
        ({"a": ["a1"] * 3 + ["a2"] * 2}, "11112", (RecursiveLDiversity(c=2.0, l=2, column="s"),), "remove"),
        (
            {"a": ["a1"] * 13 + ["a2"], "b": [*"xxxxxxxxyxxxxy"]},
            "11111111122222",
            (LKCPrivacy(l=1, k=2, c=0.7, column="s", values=("1",)),),
            "remove",
        ),
    ],
    ids=["the starred rows must be enough", "more rows can break a class", "what is left is judged again"],
)
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_rare_tables_on_which_a_wrong_shortcut_shows(quasi, s, models, suppressed, share):
    """Random tables seldom tell these apart, so one that does is kept for each."""
    made, hierarchies = problem_cells(quasi, {"s": list(s), "y": list(s)})
    check_against_every_node(
        Problem(
            cells=made.classes,
            hierarchies=hierarchies,
            models=models,
            metric=LossMetric(),
            target="y",
            limit=int(share * len(s)),
            suppressed=suppressed,
        )
    )


@examples(150, whole=True)
@given(quasi=quasi_rows(columns=2), data=st.data(), models=st.sampled_from(MODELS), share=st.sampled_from([0.0, 0.3]))
def test_tagging_is_used_only_where_it_is_right(quasi, data, models, share):
    """Where the checker says monotone, every node above a feasible one is feasible."""
    rows = len(quasi["a"])
    values = st.lists(st.sampled_from(["1", "2", "3"]), min_size=rows, max_size=rows)
    made, hierarchies = problem_cells(quasi, {"s": data.draw(values), "y": data.draw(values)})
    problem = Problem(
        cells=made.classes,
        hierarchies=hierarchies,
        models=models,
        metric=LossMetric(),
        target="y",
        limit=int(share * rows),
    )
    if not Checker(problem).monotone:
        return
    feasible = set(literal(problem))
    for node in feasible:
        for place, level in enumerate(node):
            if level < hierarchies[place].height:
                assert (*node[:place], level + 1, *node[place + 1 :]) in feasible


def test_out_of_reach_is_said_before_searching():
    made, hierarchies = problem_cells({"a": ["a1", "a2", "b1"]}, {"s": ["1", "1", "2"], "y": ["1", "1", "1"]})

    def search(*models: Model, limit: int = 0) -> None:
        optimal(
            Problem(cells=made.classes, hierarchies=hierarchies, models=models, metric=LossMetric(), limit=limit),
            Work(),
        )

    with pytest.raises(Infeasible, match=r"k-anonymity \(k = 4\) is out of reach.*reaches 3"):
        search(KAnonymity(k=4))
    with pytest.raises(Infeasible, match=r"no generalization can reach entropy l = 5.*exp\(H\)"):
        search(EntropyLDiversity(l=5.0, column="s"))
    with pytest.raises(Infeasible, match="every one of the 3 rows would have to be suppressed"):
        search(SimpleLDiversity(l=3.0, column="s"), limit=3)


def test_a_lattice_too_large_to_prove_is_refused():
    with pytest.raises(PlanError, match=r"lattice of 12 quasi-identifiers has 244,140,625 nodes"):
        Space(heights=(4,) * 12)


def test_removed_rows_may_have_diluted_others_that_they_matched():
    """Strict reading, missing values, a model that merging can break: classes are judged again after each removal."""
    rows = {
        "a": ["a2", "a2", "a2", "c1", "c2", "a1", "c2", "a2", "?", "b1", "?"],
        "s": ["2", "1", "?", "?", "?", "2", "1", "1", "2", "3", "3"],
    }
    encoded = {name: column(name, values, missing=("?",)) for name, values in rows.items()}
    grouped = cells([encoded["a"]], [encoded["s"]], stars="*").classes
    problem = Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=(hierarchy(encoded["a"]),),
        models=(PersonalizedPrivacy(p=0.7, column="s", paths=TREE, guards={"1": "low"}),),
        metric=LossMetric(),
        limit=11,
    )
    found = optimal(problem, Work())
    checker = Checker(problem)
    node = checker.rollup.at(found.levels)
    shown = checker.rollup.classes(node).take(
        ~np.isin(np.arange(len(node.sizes)), checker.rollup.ids(node)[found.suppressed])
    )
    assert judge(problem.models[0], shown, "strict").holds
