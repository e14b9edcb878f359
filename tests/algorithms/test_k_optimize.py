"""K-Optimize: equal to all sets of cuts tried one by one, honest when it is stopped, and what it releases verifies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.algorithms.k_optimize.cuts import Best, Cuts, Intervals
from sfumato.algorithms.k_optimize.nodes import Nodes
from sfumato.algorithms.k_optimize.set_enumeration import KOptimize, Search
from sfumato.algorithms.k_optimize.sweep import sweep
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import (
    NCP,
    ClassificationMetric,
    Discernibility,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import measures
from sfumato.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    SimpleLDiversity,
    TCloseness,
)
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.testing.searches import check_outcome, check_problem
from tests.algorithms.test_optimal import METRICS
from tests.example_tables import column
from tests.weights import examples

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


def short_label(name: str, run: tuple[str, ...]) -> object:
    """What a run reads as where at most two values are listed."""
    return label(name, run) if len(run) > 2 and name != "n" else run


def cost_of(name: str, run: tuple[str, ...], order: list[str], output: str) -> float:
    coarse = output == "hierarchy" or (output == "short" and len(run) > 2 and name != "n" and len(run) < len(order))
    return label_cost(name, run) if coarse else box_cost(name, run, order)


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
        word = {"hierarchy": label, "short": short_label, "boxes": lambda name, run: run}[output]
        if any(len({word(n, r) for r in runs}) < len(runs) for n, runs in parts.items()):
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
        costs = [{v: cost_of(n, r, orders[n], output) for r in runs for v in r} for n, runs in parts.items()]
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


@examples(250)
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


@examples(120)
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


ENTROPY = Made(
    quasi={"a": ["a1", "a1", "a1", "a1", "?", "a1", "a2"], "b": ["x", "x", "x", "x", "x", "y", "x"]},
    s=["1"] * 7,
    y=["1"] * 7,
)
"""Drawn-in boxes of these rows have more entropy than those of the search."""


@examples(80)
@example(ENTROPY, (KAnonymity(k=2),), NonUniformEntropy(), 0.4, "strict", "boxes", "remove")
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
    # Boxes that are drawn in cover fewer values; entropy, which weighs rows, may then say more, not less.
    if metric.name != NonUniformEntropy.name or not found.suppressed.any():
        weigh_same(found, least)
    check_outcome(problem, found)


@examples(60)
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


@examples(60)
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


@examples(60)
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


@examples(120)
@given(
    made=tables(),
    models=st.sampled_from([(KAnonymity(k=2),), (KAnonymity(k=3), DistinctLDiversity(l=2, column="s"))]),
    metric=st.sampled_from([LossMetric(), Discernibility()]),
    share=st.sampled_from([0.0, 0.3]),
)
def test_sets_that_would_be_too_long_equal_all_sets_of_cuts_that_read_apart(made, models, metric, share):
    """With lists of at most two values, larger sets read and cost as the lowest label over them."""
    limit = int(share * len(made.s))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.algorithms.labels.MAX_VALUES", 2)
        expected = literal(made, models, metric, limit=limit, output="short")
        compare(made, models, metric, expected, limit=limit)


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


@examples(60)
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
