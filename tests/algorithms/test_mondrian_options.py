"""Mondrian's options: in every mode groups pass, no cut is left that would, labels cover, and releases verify."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import cycle, product
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.labels import ranks, recoded
from sfumato.algorithms.mondrian import Mondrian
from sfumato.algorithms.mondrian_columns import columns
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, ParameterError, PlanError
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import Discernibility
from sfumato.models import AlphaKAnonymity, DistinctLDiversity, EntropyLDiversity, KAnonymity, TCloseness
from sfumato.models.model import judge, one_class
from sfumato.testing.searches import check_outcome
from tests.algorithms.mondrian_tables import MISSING, TREES, groups_of, mixed_rows, problem_of
from tests.weights import examples

MODELS = [
    (KAnonymity(k=2),),
    (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")),
    (EntropyLDiversity(l=1.5, column="s"),),
    (KAnonymity(k=2), TCloseness(t=0.4, column="s", distance="emd-equal")),
    (AlphaKAnonymity(alpha=0.7, k=3, column="s"),),
]
OPTIONS = [
    {"strict": strict, "cut": cut, "order": order, "choose": choose, "output": output}
    for strict, cut, order, choose, output in product(
        (True, False),
        ("balanced", "median", "any"),
        ("taxonomy", "ordered"),
        ("metric", "width", "gain"),
        ("hierarchy", "boxes", "means"),
    )
    if strict or order == "ordered"
]


@examples(300)
@given(quasi=mixed_rows(), data=st.data(), models=st.sampled_from(MODELS), options=st.sampled_from(OPTIONS))
def test_in_every_mode_groups_pass_and_labels_cover(quasi, data, models, options):
    problem, made = drawn(quasi, data, models, options)
    try:
        found, groups = made(problem, Work()), made.groups(problem, Work())
    except Infeasible:
        assert not all(judge(model, one_class(problem.cells), "strict").holds for model in models)
        return
    check_outcome(problem, found)
    parts = replace(problem.cells, wild=None).merged(
        np.zeros((0, groups.count), np.int32), (), groups.ids, groups.count
    )
    assert all(judge(model, replace(parts, quasi=()), "strict").holds for model in models)
    table = found.recoding(problem)
    for column in range(len(problem.hierarchies)):
        shown = table.keys[column]
        assert all(len(set(shown[groups.ids == group])) == 1 for group in range(groups.count))
        if options["output"] == "hierarchy":
            for cell, code in enumerate(problem.cells.keys[column]):
                assert table.labels[column][shown[cell]] in above(problem, column, code)


def drawn(quasi, data, models, options) -> tuple[Problem, Mondrian]:
    rows = len(next(iter(quasi.values())))
    sensitive = data.draw(st.lists(st.sampled_from("123"), min_size=rows, max_size=rows))
    target = data.draw(st.lists(st.sampled_from("01"), min_size=rows, max_size=rows))
    return problem_of(quasi, sensitive, models, target, single=not options["strict"]), Mondrian(**options)


def above(problem: Problem, column: int, code: int) -> set[str]:
    """The labels of a value, as they may be shown beside equal words of another level."""
    levels = problem.hierarchies[column].levels
    found = [level.labels[level.parent[code]] for level in levels]
    return {*found, *(f"{label} (level {number})" for number, label in enumerate(found))}


@examples(200)
@given(
    quasi=mixed_rows(most=20),
    data=st.data(),
    models=st.sampled_from(MODELS),
    options=st.sampled_from([one for one in OPTIONS if one["strict"] and one["cut"] != "median"]),
)
def test_no_cut_is_left_that_all_models_would_allow(quasi, data, models, options):
    problem, made = drawn(quasi, data, models, options)
    try:
        groups = made.groups(problem, Work())
    except Infeasible:
        return
    assert not left_over(problem, groups, options["order"])


@pytest.mark.parametrize("options", [{}, {"cut": "any"}, {"order": "ordered"}, {"order": "ordered", "choose": "gain"}])
def test_no_cut_is_left_in_a_larger_table(options):
    rng = np.random.Generator(np.random.PCG64(5))
    quasi = {name: list(rng.choice(list(tree), 300)) for name, tree in TREES.items()}
    sensitive, target = list(rng.choice(list("1123"), 300)), list(rng.choice(list("01"), 300))
    problem = problem_of(quasi, sensitive, (KAnonymity(k=3), DistinctLDiversity(l=3, column="s")), target)
    groups = Mondrian(**options).groups(problem, Work())
    assert groups.refused > 20
    assert not left_over(problem, groups, options.get("order", "taxonomy"))


def left_over(problem: Problem, groups, order: str) -> list[int]:
    """The groups that could still be cut, by a literal search over all cuts of all columns."""
    found = []
    for group in range(groups.count):
        cells = np.flatnonzero(groups.ids == group)
        for column in range(len(problem.hierarchies)):
            units = in_order(problem, column, cells, order)
            for place in range(1, len(units)):
                parts = np.full(problem.cells.count, 2)
                parts[np.concatenate(units[:place])] = 0
                parts[np.concatenate(units[place:])] = 1
                if allowed(problem, parts):
                    found.append(group)
    return found


def in_order(problem: Problem, column: int, cells, order: str) -> list[np.ndarray]:
    """The cells of a group value by value, or child by child of its label, the frequent ones first."""
    codes, hierarchy = problem.cells.keys[column][cells], problem.hierarchies[column]
    rank = ranks(problem, column)
    if order == "ordered":
        return [cells[rank[codes] == place] for place in np.unique(rank[codes])]
    common = next(n for n, level in enumerate(hierarchy.levels) if len(set(level.parent[codes])) == 1)
    child = hierarchy.levels[max(common - 1, 0)].parent[codes]
    rows = {one: int(problem.cells.sizes[cells[child == one]].sum()) for one in set(child)}
    first = {one: rank[codes[child == one]].min() for one in rows}
    whole = {one: rank[hierarchy.levels[max(common - 1, 0)].parent == one].min() for one in rows}
    assert all(first[one] >= whole[one] for one in rows)
    return [cells[child == one] for one in sorted(rows, key=lambda one: (-rows[one], whole[one]))]


def allowed(problem: Problem, parts) -> bool:
    """Whether both parts (0 and 1; 2 is the rest of the table) pass every model."""
    count = int(parts.max()) + 1
    merged = problem.cells.merged(np.zeros((0, count), np.int32), (), parts, count)
    judged = [judge(model, replace(merged, quasi=()), "strict").failing for model in problem.models]
    return not any({0, 1} & set(failing.tolist()) for failing in judged)


def bits(values) -> float:
    """Entropy of a list, times its length."""
    return sum(-many * log2(many / len(values)) for many in Counter(values).values())


@examples(200)
@given(quasi=mixed_rows(most=16, missing=False), data=st.data(), order=st.sampled_from(["taxonomy", "ordered"]))
def test_the_cut_with_the_highest_information_gain_is_taken(quasi, data, order):
    """With k above a third of the rows there is one cut at most; a literal search over all of them gains no more."""
    rows = len(next(iter(quasi.values())))
    target = data.draw(st.lists(st.sampled_from("012"), min_size=rows, max_size=rows))
    problem = problem_of(quasi, None, (KAnonymity(k=rows // 3 + 1),), target)
    found = Mondrian(choose="gain", cut="any", order=order).groups(problem, Work())
    classes = problem.cells.tally("y").dense()

    def left(parts) -> float:
        held = [classes[parts == part].sum(axis=0) for part in (0, 1)]
        return sum(bits([k for k, many in enumerate(part) for _ in range(many)]) for part in held)

    everything, best = np.arange(problem.cells.count), left(np.zeros(problem.cells.count))
    for column in range(len(quasi)):
        units = in_order(problem, column, everything, order)
        for place in range(1, len(units)):
            parts = np.isin(everything, np.concatenate(units[:place])).astype(np.int64)
            if allowed(problem, parts):
                best = min(best, left(parts))
    assert found.count <= 2
    assert left(found.ids) == pytest.approx(best)


def test_tied_rows_are_dealt_out_with_their_sensitive_values():
    """Eight rows alike, two sensitive values: each half, and each quarter, holds both."""
    problem = problem_of(
        {"n": ["4"] * 8}, list("12121212"), (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")), single=True
    )
    found = Mondrian(strict=False, order="ordered").groups(problem, Work())
    assert np.bincount(found.ids).tolist() == [2, 2, 2, 2]


def test_relaxed_by_hand():
    """2, 4, 4, 4, 6, 8 with k = 3: strict cuts at 4 (four rows) leave two; relaxed ones divide the fours."""
    quasi = {"n": ["2", "4", "4", "4", "6", "8"]}
    options = {"order": "ordered", "choose": "width", "output": "boxes"}
    problem = problem_of(quasi, models=(KAnonymity(k=3),))
    assert Mondrian(**options)(problem, Work()).recoding(problem).labels == (("[2 - 8]",),)
    single = problem_of(quasi, models=(KAnonymity(k=3),), single=True)
    found = Mondrian(strict=False, **options)
    assert sorted(found(single, Work()).recoding(single).labels[0]) == ["[2 - 4]", "[4 - 8]"]
    assert sorted(map(len, groups_of(single, found.groups(single, Work())))) == [3, 3]


def test_missing_values_are_parted_from_numbers_first():
    """A label over a number and a missing value tells nothing, so that column is as wide as can be."""
    quasi = {"m": ["1", "1", MISSING, MISSING], "n": ["0", "9", "0", "9"]}
    problem = problem_of(quasi, models=(KAnonymity(k=2),))
    found = Mondrian(order="ordered", choose="width", output="boxes")(problem, Work())
    table = found.recoding(problem)
    assert set(table.labels[0]) == {"1", MISSING}
    assert set(table.labels[1]) == {"[0 - 9]"}


@pytest.mark.parametrize("output", ["hierarchy", "boxes", "means"])
def test_prices_are_what_the_metric_says_of_groups(output):
    """The price of a pair of values is the loss of a table that shows them as one group."""
    values = ["0", "3", "7", MISSING]
    for one, two in product(range(4), repeat=2):
        problem = problem_of({"n": [*values, "9"], "a": ["a1", "a2", "b1", MISSING, "c1"]})
        made = columns(problem, output)
        cells = [cell_of(problem, 0, values[one]), cell_of(problem, 0, values[two])]
        alone = replace(problem, cells=problem.cells.take(np.isin(np.arange(problem.cells.count), cells)), models=())
        table = recoded(alone, np.zeros(alone.cells.count, np.int64), 1, output)
        rulers = [problem.metric.cost(ruler)[0] for ruler in table.rulers]
        assert [priced(made, problem, column, cells) for column in range(2)] == pytest.approx(rulers)


def cell_of(problem: Problem, column: int, value: str) -> int:
    code = problem.cells.labels[column].index(value)
    return int(np.flatnonzero(problem.cells.keys[column] == code)[0])


def priced(made, problem: Problem, column: int, cells) -> float:
    one, two = (int(made.keys[column, cell]) for cell in cells)
    if made.kinds[column] == "levels":
        level = next(n for n, labels in enumerate(made.labels) if labels[one] == labels[two])
        return float(made.prices[level, one])
    if made.kinds[column] == "range":
        return float(min(abs(made.place[one] - made.place[two]), 1.0))
    return 0.0 if one == two else float(min(max(made.place[one], made.place[two]), 1.0))


def test_a_metric_without_a_cost_per_label_is_served_by_the_loss_metric():
    problem = problem_of({"a": ["a1", "a2", "b1", "c1"], "n": list("1289")}, models=(KAnonymity(k=2),))
    other = replace(problem, metric=Discernibility())
    one, two = Mondrian().groups(problem, Work()), Mondrian().groups(other, Work())
    assert one.ids.tolist() == two.ids.tolist()


@examples(150)
@given(quasi=mixed_rows(most=32), k=st.integers(2, 4), options=st.sampled_from([o for o in OPTIONS if o["strict"]]))
def test_cuts_that_are_tried_out_never_lose_more_than_those_that_only_look_best(quasi, k, options):
    """The first trial of a group is the cut that looks best, so its end is the worst that can be taken."""
    problem = problem_of(quasi, models=(KAnonymity(k=k),))
    options = {**options, "choose": "metric", "output": "hierarchy"}
    if problem.cells.rows < k:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.algorithms.mondrian._AHEAD", 0)
        looks = Mondrian(**options)(problem, Work()).loss
    assert Mondrian(**options)(problem, Work()).loss <= looks + 1e-9


def test_a_time_limit_leaves_larger_groups():
    problem = problem_of({"n": list("0123456789")}, models=(KAnonymity(k=2),))
    found = Mondrian()(problem, Work(seconds=0.0))
    assert found.effort == {"groups": 1, "rounds": 0, "cuts_taken_back": 0, "stopped": "by the time limit"}
    assert "stopped" not in Mondrian()(problem, Work(seconds=60.0)).effort


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strict": False}, "strict must be true where cuts follow taxonomies, not False; or use order = 'ordered'"),
        ({"strict": 0}, "strict must be true or false, not 0"),
        ({"cut": "mean"}, "cut must be one of balanced, median, any, not 'mean'"),
        ({"order": "size"}, "order must be one of taxonomy, ordered, not 'size'"),
        ({"choose": "widht"}, "choose must be one of metric, width, gain, not 'widht'; did you mean 'width'"),
        ({"output": "box"}, "output must be one of hierarchy, boxes, means, distributions, not 'box'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ParameterError) as caught:
        Mondrian(**options)
    assert message in str(caught.value)


def test_what_the_problem_lacks_is_named():
    problem = problem_of({"n": ["1", "1", "2"]})
    with pytest.raises(PlanError, match=r"algorithm\.choose: gain needs a column with role = 'target'"):
        Mondrian(choose="gain")(replace(problem, target=None), Work())
    with pytest.raises(ParameterError, match="cells of several rows"):
        Mondrian(strict=False, order="ordered")(problem, Work())


RELEASES = [
    {},
    {"cut": "any", "output": "boxes"},
    {"order": "ordered", "choose": "width", "cut": "median", "output": "means"},
    {"order": "ordered", "choose": "width", "output": "boxes"},
    {"strict": False, "order": "ordered", "choose": "width", "output": "boxes"},
    {"strict": False, "order": "ordered", "cut": "any", "output": "means"},
    {"strict": False, "order": "ordered", "choose": "gain"},
    {"choose": "gain", "cut": "any"},
    {"order": "ordered", "choose": "gain", "cut": "median", "output": "boxes"},
]
PRIVACY = [
    {"k_anonymity": 4},
    {"k_anonymity": 3, "l_diversity": {"kind": "entropy", "l": 2}},
    {"k_anonymity": 3, "t_closeness": {"t": 0.4}},
]


@pytest.mark.parametrize(
    ("options", "privacy"),
    [*zip(RELEASES, cycle(PRIVACY), strict=False), *zip(RELEASES[4:7], PRIVACY, strict=True)],
    ids=lambda one: "-".join(map(str, one.values())) if "k_anonymity" not in one else list(one)[-1],
)
def test_what_every_mode_releases_verifies(tmp_path: Path, options, privacy):
    people = sf.datasets.census(400, seed=6).with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 7).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(pl.int_range(pl.len()) % 30 == 3).then(None).otherwise(pl.col("workclass")).alias("workclass"),
    )
    names = ("age", "workclass", "education", "marital-status", "sex")
    tree = {
        "columns": {
            **{name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in names},
            "hours-per-week": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 20]}},
            "occupation": {"role": "sensitive"},
            "income": {"role": "target"},
        },
        "privacy": privacy,
        "algorithm": {"name": "mondrian", **options},
        "output": {"format": "csv"},
    }
    made = sf.release(sf.Plan.parse(tree), people)
    assert made.smallest_class["value"] >= privacy["k_anonymity"]
    assert made.write(tmp_path / "b").holds
    assert sf.verify(tmp_path / "b").holds
