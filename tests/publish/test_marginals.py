"""Noisy marginals: every look at the rows is paid for, moves by no more than it says, and nothing else is told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.budget.accountants import epsilon_of, rho_of
from sfumato.describe.paths import Paths
from sfumato.describe.spans import read_interval
from sfumato.ground.chance import Chance
from sfumato.ground.errors import DataError, ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.coded_column import CodedColumn
from sfumato.group.coded_rows import CodedRows
from sfumato.noise import Noisy
from sfumato.publish.looking import Mechanisms
from sfumato.publish.marginals import Marginals, pair_choice
from sfumato.publish.marginals.binnings import binned, gathered
from sfumato.publish.marginals.coded_levels import levels_of
from sfumato.publish.marginals.marginal_scores import dependence
from sfumato.publish.marginals.noisy_marginals import published
from sfumato.publish.marginals.rows import MOST, apportioned, rows_of
from sfumato.publish.marginals.shrinking import nearest, raked, shrunk
from sfumato.publish.marginals.tree_model import ClassTable, Edge, fitted
from sfumato.publish.noisy_table import Attribute, NoisyTable, PrivateTable, grid_cells
from sfumato.verification.private_checks import fits
from sfumato.workflow.kinds.private.private_rows import stated_domains
from tests.tables import column
from tests.weights import examples

TREE = {"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c1": ("C", "CC"), "c2": ("C", "CC")}
LOW, HIGH, GRID = 0.0, 40.0, 1.0
FALSE_ALARM = 1e-9
"""A statistical test fails by chance with at most this probability."""


def tree_of(name, paths=TREE):
    from sfumato.describe.domains import ObservedDomain

    made = Paths(paths=paths).build(ObservedDomain.of(column(name, list(paths))))
    return Attribute(name=name, kind="tree", values=made.levels[0].labels, tree=made.tree())


def number_of(name, low=LOW, high=HIGH, grid=GRID):
    values = tuple(str(n) for n in range(grid_cells(low, high, grid)))
    return Attribute(name=name, kind="number", values=values, low=low, high=high, grid=grid)


def private(attributes, codes, classes, target, name=None):
    """A table of some attributes with the codes of its rows."""
    sizes = [len(one.values) for one in attributes]
    columns = [CodedColumn(codes=as_codes(one) % size, size=size) for one, size in zip(codes, sizes, strict=True)]
    rows = CodedRows(columns=tuple(columns), counted={name or "": as_codes(target)})
    return PrivateTable(attributes=tuple(attributes), classes=classes, counts=rows, target_name=name)


def as_codes(codes):
    return np.asarray(codes, np.int32).reshape(-1)


def table_of(rows, classes=("N", "Y")):
    """Rows of (leaf, leaf of a flat domain, cell, class)."""
    cells = np.asarray(rows, np.int64).reshape(-1, 4)
    attributes = (tree_of("t"), tree_of("f", {"u": (), "v": (), "w": ()}), number_of("x"))
    name = "class" if len(classes) > 1 else None
    return private(attributes, cells[:, :3].T, classes, cells[:, 3] % len(classes), name)


ROW = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 40), st.integers(0, 2))
CLASSES = st.sampled_from([("all",), ("N", "Y"), ("N", "Y", "Z")])
OPTIONS = st.fixed_dictionaries(
    {
        "bins": st.sampled_from([2, 4, 64]),
        "workload": st.sampled_from([(), (("t", "f"),), (("t", "f", "x"), ("x",))]),
    }
)


class Recorded:
    """Mechanisms that answer from a list whatever they are asked, and keep what they were asked."""

    def __init__(self, answers=0, fill=7):
        self.dice = np.random.default_rng(answers)
        self.fill = fill
        self.asked = []

    def choose(self, scores, cost):
        self.asked.append((scores, cost))
        return int(self.dice.integers(len(scores.values)))

    def count(self, counts, cost):
        self.asked.append((counts, cost))
        values = self.dice.integers(-2, self.fill, counts.shape)
        return Noisy(values=values, event=cost, scale=2.0, law="laplace")

    def run(self, asked, table):
        return published(asked, table, Work(chance=Chance(seed=1)), Mechanisms(choose=self.choose, count=self.count))


def exact_count(counts, cost):
    return Noisy(values=counts, event=cost, scale=0.0, law="laplace")


def best(scores, cost):
    return int(np.argmax(scores.values))


EXACT = Mechanisms(choose=best, count=exact_count)


def without_noise(asked, table):
    return published(asked, table, Work(chance=Chance(seed=1)), EXACT)


def same(one: NoisyTable, other: NoisyTable) -> bool:
    return (
        one.columns == other.columns
        and one.labels == other.labels
        and np.array_equal(one.keys, other.keys)
        and np.array_equal(one.counts, other.counts)
        and one.steps == other.steps
        and dict(one.effort) == dict(other.effort)
        and one.event == other.event
    )


# What is read, and what it costs.


@examples(60)
@given(rows=st.lists(ROW, max_size=12), epsilon=st.fractions("1/1000", 20), options=OPTIONS, classes=CLASSES)
def test_the_event_adds_up_exactly(rows, epsilon, options, classes):
    made = Marginals(epsilon=epsilon, **options)(table_of(rows, classes), Work())
    assert epsilon_of(made.event) == epsilon
    loose = Marginals(rho=epsilon, **options)(table_of(rows, classes), Work())
    assert rho_of(loose.event) == epsilon


@examples(150)
@given(
    rows=st.lists(ROW, max_size=12),
    more=ROW,
    options=OPTIONS,
    classes=CLASSES,
    answers=st.integers(0, 10**6),
    budget=st.sampled_from([{"epsilon": "1/100"}, {"epsilon": 1}, {"epsilon": 100}, {"rho": "1/50"}, {"rho": 10}]),
    fill=st.sampled_from([7, 90, 4000]),
)
def test_one_record_moves_no_question_by_more_than_it_says(rows, more, options, classes, answers, budget, fill):
    """With the same answers, neighbours are asked the same questions; scores and counts move within bounds.

    The answers do not depend on the rows here, so all that is left of the rows is in the questions.
    """
    asked = Marginals(**budget, **options)
    small, large = Recorded(answers, fill), Recorded(answers, fill)
    less = small.run(asked, table_of(rows, classes))
    assert same(less, large.run(asked, table_of([*rows, more], classes)))
    assert len(small.asked) == len(large.asked)
    for (one, cost), (other, same_cost) in zip(small.asked, large.asked, strict=True):
        assert cost == same_cost
        if isinstance(one, np.ndarray):
            assert (other - one).min() >= 0
            assert (other - one).sum() == 1
        else:
            assert one.sensitivity == other.sensitivity
            assert one.monotonic == other.monotonic
            moved = other.values - one.values
            assert np.abs(moved).max() <= one.sensitivity
            assert not one.monotonic or moved.min() >= 0


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), max_size=14))
def test_dependence_is_its_definition_and_moves_by_less_than_2(rows):
    def of(given):
        table = np.zeros((3, 4, 2), np.int64)
        for row in given:
            table[row] += 1
        return table

    table = of(rows)
    said = 0.0
    for g, v, c in product(range(3), range(4), range(2)):
        n = table[g].sum()
        said += abs(table[g, v, c] - (table[g, v].sum() * table[g, :, c].sum() / n if n else 0)) / 2
    assert dependence(table) == pytest.approx(said)
    for row in product(range(3), range(4), range(2)):
        assert abs(dependence(of([*rows, row])) - dependence(table)) < 2


def test_dependence_nearly_moves_by_2():
    """The bound is not too wide: a record that is alone with its value and its class, in a large group."""
    table = np.zeros((1, 2, 2), np.int64)
    table[0, 0, 0] = 10_000
    more = table.copy()
    more[0, 1, 1] = 1
    assert 1.99 < dependence(more) - dependence(table) < 2


# The parts.


def test_labels_are_a_level_or_intervals_of_the_declared_domain():
    assert binned(0, tree_of("t"), 64).cut.labels == ("a1", "a2", "b1", "c1", "c2")
    assert binned(0, tree_of("t"), 4).cut.labels == ("A", "B", "C")
    assert binned(0, tree_of("t"), 2).cut.labels == ("AB", "CC")
    assert binned(0, tree_of("f", {"u": (), "v": (), "w": ()}), 2).size == 3
    assert binned(2, number_of("x"), 64).size == 41
    assert binned(2, number_of("x"), 8).cut.labels[:3] == ("[0-1)", "[1-3)", "[3-7)")
    assert binned(2, number_of("x"), 4).cut.of_code.tolist() == sorted(binned(2, number_of("x"), 4).cut.of_code)
    assert binned(0, tree_of("t", {"only": ()}), 9).size == 1
    assert binned(0, number_of("x", 3, 3, 1), 9).cut.labels == ("*",)


@examples(100)
@given(st.integers(1, 3000), st.sampled_from([2, 3, 8, 32, 64]))
def test_no_number_has_more_labels_than_asked(cells, most):
    cut = binned(0, number_of("x", 0, cells - 1 if cells > 1 else 0.5, 1), most).cut
    assert len(cut.labels) <= most
    assert len(np.unique(cut.of_code)) == len(cut.labels)
    assert (np.diff(cut.of_code) >= 0).all()


@examples(100)
@given(st.lists(st.floats(0, 100), min_size=5, max_size=5), st.floats(0, 300), st.sampled_from(["t", "x"]))
def test_groups_have_enough_rows_unless_all_together_have_too_few(counts, least, name):
    """Every group but one of what remains has the least; groups of numbers are intervals, groups of a tree siblings."""
    bins = binned(0, tree_of("t"), 64) if name == "t" else binned(0, number_of("x", 0, 4, 1), 64)
    group = gathered(bins, np.array(counts), least)
    sums = np.bincount(group, weights=counts)
    assert sorted(set(group.tolist())) == list(range(len(sums)))
    assert (sums < least - 1e-9).sum() <= 1
    assert name == "t" or (np.diff(group) >= 0).all()


def test_few_rows_are_gathered_with_their_siblings_first():
    bins = binned(0, tree_of("t"), 64)
    group = gathered(bins, np.array([3.0, 4.0, 50.0, 60.0, 2.0]), 5.0)
    assert group[0] == group[1]
    assert len({group[0], group[2], group[3]}) == 3


@settings(deadline=None)
@given(st.lists(st.floats(0, 500), min_size=41, max_size=41), st.floats(0, 50), st.floats(0, 500))
def test_coarse_groups_are_made_of_fine_ones(counts, fine, coarse):
    made = levels_of(binned(0, number_of("x"), 64), np.array(counts), 1.0, fine=fine, coarse=coarse)
    for group in range(made.fine.size):
        assert len(set(made.coarse.of_label[made.fine.of_label == group].tolist())) == 1
    assert made.coarse.summed(made.rows).sum() == pytest.approx(sum(counts))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 100))
def test_shrinking_stays_between_the_plain_model_and_what_was_counted(seed, deviation):
    dice = np.random.default_rng(seed)
    plain = dice.uniform(1, 100, (4, 3))
    noisy = plain * dice.uniform(0, 3, (4, 3)) + dice.normal(0, deviation, (4, 3))
    made = shrunk(noisy, plain, deviation**2)
    low, high = np.minimum(plain, np.maximum(noisy, plain / 64)), np.maximum(plain, noisy)
    assert ((made >= low - 1e-9) & (made <= high + 1e-9)).all()


def test_shrinking_believes_what_noise_cannot_explain():
    """Without noise the counts stay; counts that are all noise become the plain model."""
    plain = np.full((4, 5), 100.0)
    true = plain * np.linspace(0.2, 3, 20).reshape(4, 5)
    assert shrunk(true, plain, 1e-9) == pytest.approx(true, rel=1e-6)
    assert shrunk(plain + np.array([1.0, -1, 1, -1, 0]), plain, 100.0) == pytest.approx(plain)


def test_raking_meets_its_margins():
    dice = np.random.default_rng(3)
    true = dice.uniform(1, 9, (3, 4, 2))
    margins = [((2,), true.sum(axis=2)), ((0,), true.sum(axis=0)), ((1,), true.sum(axis=1))]
    made = raked(np.ones((3, 4, 2)), margins)
    for over, margin in margins:
        assert made.sum(axis=over) == pytest.approx(margin, rel=0.01)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(-20, 20), min_size=2, max_size=2), min_size=1, max_size=6),
    st.lists(st.integers(0, 30), min_size=2, max_size=2),
)
def test_nearest_is_the_projection(values, totals):
    """It is not negative, adds up, and its residuals are equal where it is positive and no larger where it is 0."""
    table, sums = np.array(values, float), np.array(totals, float)
    made = nearest(table, sums)
    assert (made >= 0).all()
    assert made.sum(axis=0) == pytest.approx(sums)
    for c in range(2):
        away = table[:, c] - made[:, c]
        if sums[c]:
            level = away[made[:, c] > 0]
            assert level == pytest.approx(np.full(len(level), level[0]))
            assert (away[made[:, c] == 0] <= level[0] + 1e-9).all()


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0, 50), st.booleans())
def test_the_model_agrees_with_itself(seed, kinds, scale, paired):
    """Shares add up to 1, and the labels of an attribute add up to its own rows: drawn through parents or not."""
    dice = np.random.default_rng(seed)
    bins = [binned(0, tree_of("t"), 64), binned(1, number_of("x"), 8), binned(2, number_of("z"), 4)]
    totals = dice.uniform(200, 900, kinds)
    levels = [
        levels_of(
            one,
            nearest(dice.normal(50, scale, (one.size, 1)), totals.sum()[None])[:, 0],
            scale**2 + 1,
            fine=9.0,
            coarse=60.0,
        )
        for one in bins
    ]
    tables = [ClassTable(place=1, counts=dice.normal(40, scale, (levels[1].fine.size, kinds)), variance=scale**2 + 1)]
    with_class = kinds if paired else 1
    edges = [
        Edge(
            places=pair,
            counts=dice.normal(9, scale, (*(levels[p].coarse.size for p in pair), with_class)),
            variance=scale**2 + 1,
        )
        for pair in ((0, 1), (0, 2))
    ]
    model = fitted(levels, totals, tables if kinds > 1 else [], edges)
    assert sorted(model.order) == [0, 1, 2]
    assert all(model.parents[p] < 0 or model.order.index(model.parents[p]) < model.order.index(p) for p in range(3))
    for place, table in enumerate(model.shares):
        assert (table >= 0).all()
        assert table.sum(axis=2) == pytest.approx(np.ones(table.shape[:2]))
        above = model.parents[place]
        assert table.shape[0] == (1 if above < 0 else model.groups[above].size)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_rows_are_apportioned_within_one(seed, sizes):
    dice = np.random.default_rng(seed)
    table = dice.dirichlet(np.ones(5), len(sizes))
    made = apportioned(table, np.array(sizes), dice.random(len(sizes)))
    assert made.sum(axis=1).tolist() == sizes
    assert (made >= 0).all()
    assert (np.abs(made - table * np.array(sizes)[:, None]) < 1 + 1e-9).all()


def test_drawn_rows_have_the_marginals_of_the_table():
    """Without noise: all attributes alone, each with the class, and the pairs of the tree."""
    rows = [(t, (t + f) % 3, 8 * t + f, y) for t in range(5) for f in range(3) for y in range(2) for _ in range(90 + t)]
    table = table_of(rows)
    made = without_noise(Marginals(epsilon=1000), table)
    assert made.counts.sum(axis=0).tolist() == [len(rows) / 2] * 2
    for c, one in enumerate(table.counts.columns):
        true = np.bincount(made.cut[c].of_code[one.codes], minlength=len(made.labels[c]))
        drawn = np.bincount(made.keys[c], weights=made.counts.sum(axis=1), minlength=len(made.labels[c]))
        assert np.abs(true - drawn).sum() <= 0.05 * len(rows)


# Whole releases.


def labels_fit(made, table):
    domains = stated_domains(table)["columns"]
    for name, labels in zip(made.columns, made.labels, strict=True):
        assert len(set(labels)) == len(labels)
        assert all(fits(label, domains[name]) for label in labels), labels
    assert all(keys.max(initial=0) < len(labels) for keys, labels in zip(made.keys, made.labels, strict=True))
    assert made.counts.shape == (made.keys.shape[1], len(table.classes))
    assert (made.counts >= 0).all()
    assert len(np.unique(made.keys, axis=1).T) == made.keys.shape[1]


@examples(60)
@given(rows=st.lists(ROW, max_size=12), options=OPTIONS, classes=CLASSES, answers=st.integers(0, 10**6))
def test_labels_lie_in_the_declared_domains(rows, options, classes, answers):
    table = table_of(rows, classes)
    made = Recorded(answers).run(Marginals(epsilon=1, **options), table)
    labels_fit(made, table)
    assert all(labels != ("*",) for labels in made.labels)
    for cut, one in zip(made.cut, table.attributes, strict=True):
        assert len(cut.of_code) == len(one.values)


@pytest.mark.parametrize("epsilon", ["1/1000000000", "1/1000", 1, 10**6])
@pytest.mark.parametrize("classes", [("all",), ("N", "Y"), ("N", "Y", "Z")])
@pytest.mark.parametrize("rows", [[], [(1, 2, 3, 0)], [(0, 0, 0, 1)] * 50])
def test_any_budget_and_no_rows_at_all(epsilon, classes, rows):
    table = table_of(rows, classes)
    made = Marginals(epsilon=epsilon)(table, Work())
    labels_fit(made, table)
    assert epsilon_of(made.event) == Fraction(epsilon)
    if epsilon == 10**6:
        assert abs(made.counts.sum() - len(rows)) <= 1


def test_more_rows_than_are_drawn_stand_for_several():
    mine = levels_of(binned(0, tree_of("t"), 2), np.array([6e6, 2e6]), 1.0, fine=0.0, coarse=0.0)
    keys, counts, stands = rows_of(fitted([mine], np.array([8e6])), np.random.default_rng(1))
    assert stands == 8
    assert abs(counts.sum() - 8e6) <= stands
    assert counts.sum() / stands <= MOST
    assert keys.tolist() == [[0, 1]]
    assert counts[0, 0] == pytest.approx(6e6, abs=2 * stands)


def test_one_attribute_and_constant_ones():
    one = private([tree_of("t")], [[0, 1, 2, 3]], ("N", "Y"), [0, 0, 1, 1], "c")
    labels_fit(Marginals(epsilon=1)(one, Work()), one)
    narrow = [tree_of("t", {"only": ()}), number_of("x", 3, 3, 1)]
    still = private(narrow, [[0] * 4, [0] * 4], ("N", "Y"), [0, 0, 1, 0], "c")
    made = Marginals(epsilon=10**6)(still, Work())
    assert made.labels == (("only",), ("*",))
    assert made.counts.tolist() == [[3, 1]]
    assert epsilon_of(made.event) == 10**6


def test_what_tells_the_class_is_measured_with_it_first():
    """Without noise: x tells the class, t is a copy of a part of it, f is of no use."""
    rows = [(x % 5, n % 3, x, int(x >= 22)) for n in range(60) for x in range(40)]
    made = without_noise(Marginals(epsilon=1000), table_of(rows))
    assert made.steps[0] == "x in 40 groups, measured with class"
    split = [made.counts[made.keys[2] == k].sum(axis=0) for k in range(len(made.labels[2]))]
    assert sum(int(min(one)) for one in split) < 0.02 * len(rows)


def test_an_unbalanced_class_keeps_what_tells_it():
    """Six in a hundred are of class Y, never the most frequent of any value: a choice by hits would see nothing."""
    rows = [(t, n % 3, 0, int(n % 100 < (18, 3, 3, 3, 3)[t])) for t in range(5) for n in range(2000)]
    made = Marginals(epsilon=2)(table_of(rows), Work())
    drawn = np.array([made.counts[made.keys[0] == k].sum(axis=0) for k in range(5)])
    rates = drawn[:, 1] / np.maximum(drawn.sum(axis=1), 1)
    assert rates[0] > 3 * rates[1:].mean()


def test_dependent_attributes_are_measured_together():
    rows = [(t, t % 3, 8 * t, (t + n) % 2) for t in range(5) for n in range(400)]
    for classes in (("all",), ("N", "Y")):
        made = without_noise(Marginals(epsilon=1000), table_of(rows, classes))
        assert sum("measured together" in step for step in made.steps) == 2
        read = [[labels[k] for k in keys] for labels, keys in zip(made.labels, made.keys, strict=True)]
        often = dict(zip(zip(*read, strict=True), made.counts.sum(axis=1), strict=True))
        assert sum(sorted(often.values())[-5:]) > 0.9 * len(rows)


def test_a_workload_says_which_pairs_are_measured():
    rows = [(t, t % 3, 8 * t, 0) for t in range(5) for n in range(400)]
    made = without_noise(Marginals(epsilon=1000, workload=[["t", "f"]]), table_of(rows, ("all",)))
    assert [step for step in made.steps if "together" in step] == ["t and f, measured together"]
    with pytest.raises(DataError, match=r"algorithm\.workload"):
        Marginals(epsilon=1, workload=[["t", "nobody"]])(table_of(rows), Work())


def test_tables_that_are_too_large_are_no_candidates(monkeypatch):
    """Of t and x, each of five values and in two classes, there would be fifty cells."""
    rows = [(t, t % 3, 8 * t, y) for t in range(5) for y in range(2) for _ in range(400)]
    monkeypatch.setattr(pair_choice, "MOST_CELLS", 30)
    made = without_noise(Marginals(epsilon=1000), table_of(rows))
    together = [step.split(",")[0] for step in made.steps if "together" in step]
    assert sorted(together) == ["f and x", "t and f"]


def test_sets_are_refused():
    table = table_of([(0, 0, 0, 0)])
    one = table.attributes[0]
    sets = Attribute(name="s", kind="set", values=one.values, tree=one.tree)
    with pytest.raises(PlanError, match=r"columns\.s: marginals do not read sets; use algorithm\.name = 'diffgen'"):
        Marginals(epsilon=1)(PrivateTable(attributes=(sets,), classes=("all",), counts=table.counts), Work())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": 1e-10}, "epsilon must be at least 1e-09"),
        ({"epsilon": "1/1000000001"}, "epsilon must be at least 1e-09"),
        ({}, "epsilon must be given, or rho in its place"),
        ({"epsilon": 1, "rho": 1}, "epsilon must be given, or rho in its place"),
        ({"rho": 0}, "rho must be above 0"),
        ({"epsilon": 1, "bins": 1}, "bins must be at least 2"),
        ({"epsilon": 1, "workload": "age"}, "workload must be lists of column names"),
        ({"epsilon": 1, "workload": ["age"]}, "workload must be lists of column names"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        Marginals(**options)


@pytest.mark.parametrize("epsilon", [1e-9, 1e20])
def test_extreme_budgets_work(epsilon):
    table = table_of([(n % 5, n % 3, n % 40, n % 2) for n in range(60)])
    assert (Marginals(epsilon=epsilon)(table, Work()).counts >= 0).all()


# Statistics of the noise: each fails by chance with a probability below FALSE_ALARM.


def test_the_number_of_rows_is_right_on_average_and_hidden():
    """The noise of a total has mean 0: the mean of 300 runs lies within 6.2 of its deviations.

    The total is a mean of what all tables say, so it has less noise than that of the attribute alone: five counts for
    9/10 of 3/20 of epsilon 2, with a variance of 5 * 2 / 0.27^2. Rows of a class are rounded.
    """
    table = table_of([(n % 5, 0, 0, n % 2) for n in range(1000)])
    one = replace(table, attributes=table.attributes[:1])
    totals = [int(Marginals(epsilon=2)(one, Work()).counts.sum()) for _ in range(300)]
    within = 6.2 * sqrt(5 * 2 / 0.27**2 + 1) / sqrt(300) + 1
    assert abs(np.mean(totals) - 1000) < within
    assert len(set(totals)) > 5


def test_no_output_is_much_likelier_with_one_more_record():
    """Counts of events in 600 runs on neighbours respect e^epsilon, up to Hoeffding's bound."""
    runs, epsilon = 600, 1.0
    rows = [(0, 0, 0, 0), (1, 1, 5, 1)]
    near = [table_of(rows), table_of([*rows, (4, 2, 39, 1)])]

    def happened(table):
        found = np.zeros(4)
        for _ in range(runs):
            made = Marginals(epsilon=epsilon, bins=4)(table, Work())
            drawn = made.counts.sum(axis=0)
            found += [drawn[1] >= 2, drawn[1] == 0, len(made.steps) > 1, made.counts.sum() >= 4]
        return found / runs

    less, more = map(happened, near)
    slack = sqrt(log(16 / FALSE_ALARM) / (2 * runs))
    for p, q in ((less, more), (more, less)):
        assert (p - slack <= exp(epsilon) * (q + slack)).all()


def test_labels_of_numbers_are_read_as_intervals():
    made = without_noise(Marginals(epsilon=1000), table_of([(0, 0, 3, 0), (1, 1, 30, 1)] * 40))
    for label in made.labels[2]:
        found = read_interval(label)
        assert found is not None
        assert LOW <= found.low <= found.high <= HIGH
