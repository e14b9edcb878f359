"""K-Optimize: equal to all sets of cuts tried one by one, honest when it is stopped, and what it releases verifies."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.describe.domains import ObservedDomain
from sfumato.describe.paths import Paths
from sfumato.ground.errors import Infeasible, ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.cells import cells
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EMAnonymity,
    EntropyLDiversity,
    KAnonymity,
    LKCPrivacy,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
)
from sfumato.publish.k_optimize.algorithm import KOptimize
from sfumato.publish.k_optimize.best import Best
from sfumato.publish.k_optimize.cuts import Cuts
from sfumato.publish.k_optimize.intervals import Intervals
from sfumato.publish.k_optimize.nodes import Nodes
from sfumato.publish.k_optimize.search import Search
from sfumato.publish.k_optimize.sweep import sweep
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.problem import Outcome, Problem
from sfumato.testing.search_kit import check_outcome, check_problem
from sfumato.utility.cell_metrics import NCP, Height, LossMetric, Precision
from sfumato.utility.class_metrics import ClassificationMetric, Discernibility
from sfumato.utility.view import measures
from tests.publish.test_optimal import METRICS
from tests.shared_data import adult_problem
from tests.tables import column

PATHS = {
    "a": {"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c1": ("C", "CC"), "c2": ("C", "CC")},
    "b": {"x": ("X",), "y": ("X",), "z": ("Z",)},
    "n": {str(i): () for i in range(1, 21)},
}
VALUES = {"a": ["a1", "a2", "b1", "c1", "?"], "b": ["x", "y", "z"], "n": ["3", "7", "12", "15"]}
NARROW: list[Any] = [LossMetric(), Discernibility(), ClassificationMetric()]
SIMPLE: list[Any] = [
    KAnonymity(k=2),
    KAnonymity(k=4),
    DistinctLDiversity(l=2, column="s"),
    EntropyLDiversity(l=1.6, column="s"),
]
ACCEPTED = [
    (KAnonymity(k=2),),
    (KAnonymity(k=3), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (RecursiveLDiversity(c=2.0, l=2, column="s"),),
    (KAnonymity(k=2), SimpleLDiversity(l=1.5, column="s")),
    (TCloseness(t=0.4, column="s", distance="emd-equal"),),
    (KAnonymity(k=2), TCloseness(t=0.3, column="s", distance="emd-equal", reference="original")),
    (AlphaKAnonymity(alpha=0.7, k=2, column="s"),),
]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A random table: its rows by column, quasi-identifiers first."""

    quasi: dict[str, list[str]]
    s: list[str]
    y: list[str]

    def problem(self, models, metric, **more) -> Problem:
        encoded = [column(name, values, missing=("?",)) for name, values in self.quasi.items()]
        made = cells(encoded, [column("s", self.s), column("y", self.y)]).classes
        tallies = {name: replace(t, original=t.overall) for name, t in made.tallies.items()}
        return Problem(
            cells=replace(made, tallies=tallies, measures=measures(made)),
            hierarchies=tuple(Paths(paths=PATHS[c.name]).build(ObservedDomain.of(c)) for c in encoded),
            models=models,
            metric=metric,
            target="y",
            numbers=tuple(c.numbers if c.name == "n" else None for c in encoded),
            **more,
        )


@st.composite
def tables(draw: st.DrawFn, *, most: int = 16) -> Made:
    names = draw(st.sampled_from([["a"], ["n"], ["a", "b"], ["n", "b"], ["a", "n"], ["a", "b", "n"]]))
    rows = draw(st.integers(1, most))
    several = {name: st.lists(st.sampled_from(VALUES[name]), min_size=rows, max_size=rows) for name in names}
    numbers = st.lists(st.sampled_from("123"), min_size=rows, max_size=rows)
    return Made(quasi={name: draw(values) for name, values in several.items()}, s=draw(numbers), y=draw(numbers))


# The literal twin: every set of cuts, by the definitions alone.


def ordered(name: str, values: list[str]) -> list[str]:
    """Numbers by size, others by their taxonomy, the missing value last."""
    present = [v for v in set(values) if v != "?"]
    return sorted(present, key=lambda v: (int(v) if name == "n" else 0, v)) + (["?"] if "?" in values else [])


def partitions(order: list[str]):
    """Every way to cut an ordered list into runs."""
    for bits in product([False, True], repeat=max(len(order) - 1, 0)):
        runs = [[order[0]]]
        for value, cut in zip(order[1:], bits, strict=True):
            if cut:
                runs.append([value])
            else:
                runs[-1].append(value)
        yield [tuple(run) for run in runs]


def box_cost(name: str, run: tuple[str, ...], order: list[str]) -> float:
    """LM of a box: the share of the declared domain that it cannot tell apart."""
    total = len(PATHS[name])
    if len(run) == 1:
        return 0.0
    if "?" in run or (name != "n" and len(run) == len(order)):
        return 1.0
    width = int(run[-1]) - int(run[0]) + 1 if name == "n" else len(run)
    return (width - 1) / (total - 1)


def label(name: str, run: tuple[str, ...]) -> str:
    """The lowest hierarchy value over all values of a run."""
    if len(run) == 1:
        return run[0]
    if "?" in run:
        return "*"
    depth = max(len(path) for path in PATHS[name].values())
    ways = [[PATHS[name][v][d] for d in range(depth)] for v in run]
    return next((level[0] for level in zip(*ways, strict=True) if len(set(level)) == 1), "*")


def label_cost(name: str, run: tuple[str, ...]) -> float:
    word, total = label(name, run), len(PATHS[name])
    if len(run) == 1:
        return 0.0
    leaves = total if word == "*" else sum(word in path for path in PATHS[name].values())
    return (leaves - 1) / (total - 1)


def passes(model, sensitive: list[str]) -> bool:
    counts = Counter(sensitive)
    if isinstance(model, KAnonymity):
        return len(sensitive) >= model.k
    if isinstance(model, DistinctLDiversity):
        return len(counts) >= model.l
    entropy = -sum(c / len(sensitive) * log(c / len(sensitive)) for c in counts.values())
    return exp(entropy) >= model.l - 1e-12


def loss_of(made: Made, metric, groups: dict, hidden: set, costs: list[dict[str, float]]) -> float:
    rows = len(made.s)
    total = 0.0
    for key, members in groups.items():
        if isinstance(metric, Discernibility):
            total += len(members) * (rows if key in hidden else len(members))
        elif isinstance(metric, ClassificationMetric):
            majority = max(Counter(made.y[i] for i in members).values())
            total += (len(members) if key in hidden else len(members) - majority) / rows
        else:
            for i in members:
                cells = [cost[values[i]] for cost, values in zip(costs, made.quasi.values(), strict=True)]
                total += (1.0 if key in hidden else sum(cells) / len(cells)) / rows
    return total


def literal(made: Made, models, metric, *, limit: int, star: bool = False, output: str = "boxes") -> float:
    """The least loss over all sets of cuts; infinite where none is feasible."""
    best = inf
    orders = {name: ordered(name, values) for name, values in made.quasi.items()}
    for chosen in product(*(partitions(order) for order in orders.values())):
        parts = dict(zip(orders, chosen, strict=True))
        if output == "hierarchy" and any(len({label(n, r) for r in runs}) < len(runs) for n, runs in parts.items()):
            continue
        place = {name: {v: i for i, run in enumerate(runs) for v in run} for name, runs in parts.items()}
        groups: dict[tuple[int, ...], list[int]] = {}
        for i in range(len(made.s)):
            groups.setdefault(tuple(place[n][made.quasi[n][i]] for n in parts), []).append(i)
        hidden = {k for k, m in groups.items() if not all(passes(x, [made.s[i] for i in m]) for x in models)}
        lost = [i for key in hidden for i in groups[key]]
        if len(lost) > limit or len(hidden) == len(groups):
            continue
        if star and lost and not all(passes(model, [made.s[i] for i in lost]) for model in models):
            continue
        costs = [
            {v: box_cost(n, r, orders[n]) if output == "boxes" else label_cost(n, r) for r in runs for v in r}
            for n, runs in parts.items()
        ]
        best = min(best, loss_of(made, metric, groups, hidden, costs))
    return best


def weigh_same(found: Outcome, expected: float) -> None:
    """Just the least loss, or no more where boxes were drawn in to published rows."""
    if found.suppressed.any():
        assert found.loss <= expected + 1e-9
    else:
        assert found.loss == pytest.approx(expected, abs=1e-9)


def compare(made: Made, models, metric, expected: float, *, output: Any = "boxes", **more) -> None:
    problem = made.problem(models, metric, **more)
    try:
        found = KOptimize(output=output)(problem, Work())
    except Infeasible:
        assert expected == inf
        return
    assert found.proven
    assert "gap" not in found.effort
    weigh_same(found, expected)
    check_outcome(problem, found)


@settings(max_examples=250, deadline=None)
@given(
    made=tables(),
    models=st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=2, unique=True),
    metric=st.sampled_from(NARROW),
    share=st.sampled_from([0.0, 0.0, 0.2, 0.5, 1.0]),
    suppressed=st.sampled_from(["remove", "remove", "star"]),
    exempt=st.booleans(),
)
def test_equals_all_sets_of_cuts(made, models, metric, share, suppressed, exempt):
    limit = int(share * len(made.s))
    expected = literal(made, models, metric, limit=limit, star=suppressed == "star" and not exempt)
    compare(made, tuple(models), metric, expected, limit=limit, suppressed=suppressed, exempt=exempt)


@settings(max_examples=120, deadline=None)
@given(
    made=tables(),
    model=st.sampled_from(SIMPLE),
    metric=st.sampled_from(NARROW),
    share=st.sampled_from([0.0, 0.3]),
)
def test_hierarchy_values_equal_all_sets_of_cuts_that_read_apart(made, model, metric, share):
    limit = int(share * len(made.s))
    expected = literal(made, [model], metric, limit=limit, output="hierarchy")
    compare(made, (model,), metric, expected, output="hierarchy", limit=limit)


@settings(max_examples=80, deadline=None)
@given(
    made=tables(most=12),
    models=st.sampled_from(ACCEPTED),
    metric=st.sampled_from(METRICS),
    share=st.sampled_from([0.0, 0.4]),
    reading=st.sampled_from(["strict", "value", "wildcard"]),
    output=st.sampled_from(["boxes", "hierarchy"]),
    suppressed=st.sampled_from(["remove", "star"]),
)
def test_every_model_and_metric_beats_every_other_set(made, models, metric, share, reading, output, suppressed):
    """The optimum is compared with every set of cuts as the nodes weigh it, for whatever has no twin above."""
    limit = int(share * len(made.s))
    problem = made.problem(models, metric, limit=limit, reading=reading, suppressed=suppressed)
    nodes = Nodes(problem, output)
    heads = (np.array(bits, np.bool_) for bits in product([False, True], repeat=nodes.cuts.count))
    least = min(nodes.loss(nodes.at(head, nodes.none())) for head in heads)
    alone = Search(nodes, Best(), Work())
    alone.run()
    assert alone.best.loss == pytest.approx(least, abs=1e-9), "without a good start"
    try:
        found = KOptimize(output=output)(problem, Work())
    except Infeasible:
        assert least == inf
        return
    assert found.proven
    weigh_same(found, least)
    check_outcome(problem, found)


@settings(max_examples=60, deadline=None)
@given(made=tables(), models=st.sampled_from(ACCEPTED), metric=st.sampled_from(NARROW), share=st.sampled_from([0, 0.3]))
def test_it_loses_no_more_than_the_full_domain_optimum(made, models, metric, share):
    """Every level of a hierarchy is a set of intervals of the order along it."""
    problem = replace(made.problem(models, metric, limit=int(share * len(made.s))), numbers=())
    run = KOptimize(output="hierarchy")
    check_problem(run, problem)
    try:
        whole = optimal(problem, Work())
    except Infeasible:
        return
    assert run(problem, Work()).loss <= whole.loss + 1e-9


@settings(max_examples=60, deadline=None)
@given(
    made=tables(),
    models=st.sampled_from(ACCEPTED),
    metric=st.sampled_from([*NARROW, *METRICS]),
    share=st.sampled_from([0.0, 0.3]),
    data=st.data(),
)
def test_bounds_and_promises_of_any_node_are_kept(made, models, metric, share, data):
    problem = made.problem(models, metric, limit=int(share * len(made.s)))
    nodes = Nodes(problem, "boxes")
    kinds = [data.draw(st.sampled_from("htx")) for _ in range(nodes.cuts.count)]
    head, tail = (np.array([kind == which for kind in kinds], np.bool_) for which in "ht")
    node = nodes.at(head, tail)
    found, bound = sweep(nodes, node), nodes.bound(node)
    open_ = np.flatnonzero(tail)
    for bits in product([False, True], repeat=len(open_)):
        chosen = head.copy()
        chosen[open_[np.array(bits, np.bool_)]] = True
        loss = nodes.loss(nodes.at(chosen, nodes.none()))
        assert bound <= loss + 1e-9
        for cut in open_[np.array(bits, np.bool_)]:
            assert found.bound[cut] <= loss + 1e-9
            assert np.isinf(loss) or found.lost[cut] <= nodes.requirement.most
        if sum(bits) == 1:
            assert found.loss[open_[bits.index(True)]] <= loss + 1e-9


@settings(max_examples=60, deadline=None)
@given(made=tables(), metric=st.sampled_from([LossMetric(), NCP(), Precision()]), data=st.data())
def test_intervals_cost_what_their_labels_cost(made, metric, data):
    problem = made.problem((KAnonymity(k=2),), metric)
    for output in ("boxes", "hierarchy"):
        cuts = Cuts.of(problem)
        intervals = Intervals(problem, cuts, output, metric.cost)
        chosen = np.array([data.draw(st.booleans()) for _ in range(cuts.count)], np.bool_)
        if not intervals.apart(chosen):
            continue
        for place in range(cuts.columns):
            made_ = intervals.shown(chosen, place)
            lows, highs = cuts.limits(chosen, place)
            expected = metric.cost(made_.rulers[0])[made_.keys[0][lows]]
            assert intervals.costs(place, lows, highs) == pytest.approx(expected)
            assert intervals.words(place, lows, highs) == [made_.labels[0][key] for key in made_.keys[0][lows]]


def wildcard_groups(made: Made, parts: dict[str, list[tuple[str, ...]]]) -> dict[tuple[str | None, ...], list[int]]:
    """Rows by what they show; None where nothing is known."""
    shown = {
        name: {
            v: None if "?" in run or (len(runs) == 1 and len(run) > 1) else ",".join(run) for run in runs for v in run
        }
        for name, runs in parts.items()
    }
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for i in range(len(made.s)):
        groups.setdefault(tuple(shown[name][made.quasi[name][i]] for name in parts), []).append(i)
    return groups


def matches(one: tuple[str | None, ...], other: tuple[str | None, ...]) -> bool:
    return all(x == y or x is None or y is None for x, y in zip(one, other, strict=True))


@settings(max_examples=60, deadline=None)
@given(made=tables(), share=st.sampled_from([0.0, 0.3]), k=st.integers(2, 4))
def test_missing_values_as_wildcards(made, share, k):
    """A class passes if k rows could be taken for one of its own; what fails is removed until nothing does."""
    if "n" in made.quasi:
        return
    rows, least = len(made.s), inf
    limit = int(share * rows)
    orders = {name: ordered(name, values) for name, values in made.quasi.items()}
    for chosen in product(*(partitions(order) for order in orders.values())):
        groups = wildcard_groups(made, dict(zip(orders, chosen, strict=True)))
        left = dict(groups)
        while True:
            failing = [key for key in left if sum(len(left[o]) for o in left if matches(key, o)) < k]
            left = {key: members for key, members in left.items() if key not in failing}
            if not failing:
                break
        lost = rows - sum(map(len, left.values()))
        if left and lost <= limit:
            least = min(least, lost * rows + sum(len(members) ** 2 for members in left.values()))
    compare(made, (KAnonymity(k=k),), Discernibility(), least, limit=limit, reading="wildcard")


def ages() -> Made:
    """Nine people, of whom the page on the algorithm tells."""
    rows = [("3", "x")] * 2 + [("7", "x")] + [("7", "y")] * 2 + [("12", "y")] * 3 + [("12", "x")]
    return Made(quasi={"n": [a for a, _ in rows], "b": [b for _, b in rows]}, s=list("121212121"), y=list("112222221"))


def shown(found, problem, column_: int) -> dict[str, str]:
    recoded = found.recoding(problem)
    return {
        problem.cells.labels[column_][code]: recoded.labels[column_][key]
        for code, key in zip(problem.cells.keys[column_], recoded.keys[column_], strict=True)
    }


def test_the_example_by_hand():
    made = ages()
    problem = made.problem((KAnonymity(k=2),), Discernibility())
    found = KOptimize()(problem, Work())
    assert found.proven
    assert found.loss == 29
    assert shown(found, problem, 0) == {"3": "3", "7": "7", "12": "12"}
    assert shown(found, problem, 1) == {"x": "*", "y": "*"}
    assert [found.effort[name] for name in ("checked", "pruned_by_cost", "pruned_values", "cuts_made")] == [2, 2, 1, 2]
    nodes = Nodes(problem, "boxes")
    heads = [np.array(bits, np.bool_) for bits in product([False, True], repeat=3)]
    assert [nodes.loss(nodes.at(head, nodes.none())) for head in heads] == [81, 41, 41, inf, 53, 33, 29, inf]
    after = np.array([False, True, False])
    assert nodes.bound(nodes.at(nodes.none(), ~nodes.none())) == 21
    assert nodes.bound(nodes.at(after, np.array([True, False, False]))) == 29
    assert nodes.bound(nodes.at(nodes.none(), ~after)) == 33


def middle(share: float = 0.0, metric=None, rows: int = 1500) -> Problem:
    """A table of the census generator with some 30 cuts."""
    frame = sf.census(rows, seed=2)
    tree = {
        "columns": {
            name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}}
            for name in ("sex", "race", "marital-status", "education")
        }
        | {"occupation": {"role": "sensitive"}, "income": {"role": "target"}},
        "privacy": {"k_anonymity": 10},
        "algorithm": {"name": "k-optimize", "max_suppressed": share, "seconds": 0.001},
        "utility": {"metric": "discernibility"},
    }
    problem = sf.release(sf.Plan.parse(tree), frame).prepared.problem
    return problem if metric is None else replace(problem, metric=metric)


@pytest.mark.parametrize("metric", [Discernibility(), ClassificationMetric(), LossMetric()])
@pytest.mark.parametrize("share", [0.0, 0.01])
def test_when_time_is_over_it_gives_the_best_so_far_and_a_true_bound(metric, share):
    problem = middle(share, metric)
    work = Work(seconds=0.0)
    time.sleep(0.001)
    early = KOptimize()(problem, work)
    check_outcome(problem, early)
    assert not early.proven
    assert early.effort["stopped"] == "time limit"
    assert early.effort["lower_bound"] + early.effort["gap"] == pytest.approx(early.loss)
    late = KOptimize()(problem, Work(seconds=1.5))
    assert early.effort["lower_bound"] <= late.loss <= early.loss + 1e-9
    assert late.effort.get("lower_bound", late.loss) >= early.effort["lower_bound"] - 1e-9
    check_outcome(problem, late)


def test_suppressing_a_part_may_cost_less_than_keeping_it():
    """One row beside nine: 10 for the suppressed one and 81 are less than 100."""
    made = Made(quasi={"n": ["3"] + ["7"] * 9}, s=list("1" * 10), y=list("1" * 10))
    search = Search(Nodes(made.problem((KAnonymity(k=2),), Discernibility(), limit=1), "boxes"), Best(), Work())
    search.run()
    assert search.best.loss == 91


def test_a_cut_that_parts_nothing_may_make_intervals_read_alike():
    """With x always goes 3 or 7, with z 12 or 15: a cut between 7 and 12 parts nothing, but * would stand for both."""
    often = [("3", "x"), ("7", "x"), ("7", "x"), ("12", "z"), ("15", "z"), ("15", "z")]
    rows = [(n, b, a) for n, b in often for a in ("a1", "a2")]
    made = Made(
        quasi={name: list(values) for name, values in zip("nba", zip(*rows, strict=True), strict=True)},
        s=list("1" * 12),
        y=list("1" * 12),
    )
    search = Search(Nodes(made.problem((KAnonymity(k=3),), LossMetric()), "hierarchy"), Best(), Work())
    search.run()
    assert search.best.loss == pytest.approx(1 / 3)


def test_a_cut_that_parts_nothing_may_be_what_tells_intervals_apart():
    made = Made(
        quasi={
            "a": ["b1", "a1", "a1", "?", "c1", "a2", "a1", "c1", "c1"],
            "n": ["12", "3", "15", "7", "12", "7", "15", "12", "7"],
        },
        s=list("1" * 9),
        y=list("1" * 9),
    )
    problem = made.problem((KAnonymity(k=2),), Discernibility(), limit=2)
    search = Search(Nodes(problem, "hierarchy"), Best(), Work())
    search.run()
    assert search.best.loss == 21
    assert literal(made, [KAnonymity(k=2)], Discernibility(), limit=2, output="hierarchy") == 21


def test_a_spoilt_cut_may_be_what_the_group_of_stars_needs():
    """One suppressed row cannot be published as a group of stars with k = 2; two can."""
    made = Made(
        quasi={"n": ["7", "12", "3", "12", "12", "7", "7", "7", "15", "12"], "b": list("zzyzyyyyzx")},
        s=list("1" * 10),
        y=list("1" * 10),
    )
    for suppressed, loss in [("star", 42), ("remove", 39)]:
        more = {"limit": 2, "suppressed": suppressed}
        search = Search(Nodes(made.problem((KAnonymity(k=2),), Discernibility(), **more), "boxes"), Best(), Work())
        search.run()
        assert search.best.loss == literal(
            made, [KAnonymity(k=2)], Discernibility(), limit=2, star=suppressed == "star"
        )
        assert search.best.loss == loss


def test_a_metric_without_bounds_is_still_right():
    made = ages()
    found = KOptimize()(made.problem((KAnonymity(k=2),), Height()), Work())
    assert found.proven
    stopped = Work(seconds=0.0)
    time.sleep(0.001)
    assert KOptimize()(made.problem((KAnonymity(k=2),), Height()), stopped).effort["lower_bound"] == 0.0


def test_refusals():
    made = ages()
    for model in (LKCPrivacy(l=1, k=1, c=1.0, column="s"), EMAnonymity(e=1, m=1.5, column="s")):
        with pytest.raises(PlanError, match=r"k-optimize judges groups one by one .* does not allow; use optimal"):
            KOptimize()(made.problem((model,), LossMetric()), Work())
    with pytest.raises(ParameterError, match="output must be one of boxes, hierarchy"):
        KOptimize(output="means")  # type: ignore[arg-type]
    with pytest.raises(Infeasible, match="k = 10"):
        KOptimize()(made.problem((KAnonymity(k=10),), LossMetric()), Work())
    with pytest.raises(Infeasible, match="every one of the 9 rows"):
        KOptimize()(made.problem((SimpleLDiversity(l=4.0, column="s"),), LossMetric(), limit=9), Work())
    stopped = Work(seconds=0.0)
    time.sleep(0.001)
    with pytest.raises(Infeasible, match="in the time it had"):
        KOptimize()(made.problem((SimpleLDiversity(l=4.0, column="s"),), LossMetric(), limit=8), stopped)


CENSUS: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "type": "integer", "hierarchy": {"bundled": "census/age"}},
        "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
        "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
        "workclass": {"role": "quasi", "hierarchy": {"bundled": "census/workclass"}},
        "occupation": {"role": "sensitive"},
        "income": {"role": "target"},
    },
    "privacy": {"k_anonymity": 5},
    "algorithm": {"name": "k-optimize", "seconds": 0.5},
}


@pytest.mark.parametrize(
    ("privacy", "metric", "algorithm"),
    [
        ({"k_anonymity": 5}, "classification", {}),
        ({"k_anonymity": 5, "l_diversity": {"kind": "entropy", "l": 3}}, "classification", {"max_suppressed": 0.02}),
        ({"l_diversity": {"kind": "distinct", "l": 4}}, "discernibility", {"max_suppressed": 0.05}),
        ({"k_anonymity": 3, "t_closeness": {"t": 0.3}}, "loss", {"output": "hierarchy"}),
        ({"k_anonymity": 4}, "loss", {"max_suppressed": 0.05, "suppressed": "star"}),
    ],
)
def test_what_it_releases_verifies(tmp_path: Path, privacy, metric, algorithm):
    people = sf.census(600, seed=3).with_columns(
        workclass=pl.when(pl.int_range(pl.len()) < 30).then(pl.lit("?")).otherwise("workclass")
    )
    tree = {
        **CENSUS,
        "input": {"missing": ["?"]},
        "privacy": privacy,
        "utility": {"metric": metric},
        "algorithm": {**CENSUS["algorithm"], **algorithm},
    }
    made = sf.release(sf.Plan.parse(tree), people)
    assert made.write(tmp_path / "b").holds
    assert made.levels is None
    assert made.algorithm == "k-optimize"
    for name in ("age", "workclass"):
        pairs = people.select(name).with_columns(shown=pl.Series(_shown(made, name)))
        seen = pairs.filter(pl.col("shown") != "(suppressed)").unique()
        assert seen[name].n_unique() == seen.height, "equal values show equal labels"


def _shown(made, name: str) -> list[str]:
    labels, codes = made.recoding.labels[name], made.recoding.codes[name][made.recoding.row_cell]
    pairs = zip(codes, made.recoding.suppressed, strict=True)
    return ["(suppressed)" if gone else labels[code] for code, gone in pairs]


def test_options_in_a_plan():
    people = sf.census(200, seed=3)
    with pytest.raises(PlanError, match=r"algorithm.output must be one of boxes, hierarchy"):
        sf.release(sf.Plan.parse({**CENSUS, "algorithm": {"name": "k-optimize", "output": "means"}}), people)
    with pytest.raises(Infeasible, match="k = 201"):
        sf.release(sf.Plan.parse({**CENSUS, "privacy": {"k_anonymity": 201}}), people)


@pytest.mark.slow
def test_adult_stopped_early_is_already_better_than_full_domain():
    problem = replace(adult_problem(5), metric=Discernibility())
    found = KOptimize()(problem, Work(seconds=2.0))
    check_outcome(problem, found)
    assert found.loss < optimal(problem, Work()).loss
    assert 0 < found.effort["lower_bound"] <= found.loss


def test_boxes_do_not_tell_the_values_of_suppressed_rows():
    frame = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25, 26, 27, 28, 99]})
    plan = sf.Plan.parse(
        {
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10], "low": 0, "high": 100}}
            },
            "privacy": {"k_anonymity": 3},
            "algorithm": {"name": "k-optimize", "max_suppressed": 0.1},
        }
    )
    made = sf.release(plan, frame)
    assert made.suppressed_rows == 1
    assert not any("99" in label for label in made.rows["age"])
    assert "99" not in str(made.manifest({"data.csv": ""}, report="")["recoding"])
