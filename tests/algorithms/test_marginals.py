"""Noisy marginals: every look at the rows is paid for, moves by no more than it says, and nothing else is told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.marginals import Marginals, choices
from sfumato.algorithms.marginals.choices import dependence, majority_scores
from sfumato.algorithms.marginals.levels import binned, levels_of
from sfumato.algorithms.marginals.noisy_marginals import published
from sfumato.algorithms.marginals.tree_model import MOST, fitted, rows_of
from sfumato.algorithms.private_table import Attribute, Mechanisms, NoisyTable, PrivateTable, grid_cells
from sfumato.bundles.checks.private import fits
from sfumato.core.errors import DataError, ParameterError, PlanError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.special import beta_quantile
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.dp.accounting import epsilon_of, rho_of
from sfumato.dp.noise import Noisy
from sfumato.pipeline.methods.private.domains import stated_domains
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.labels import read_interval
from tests.example_tables import column
from tests.weights import examples

TREE = {"a1": ("A", "AB"), "a2": ("A", "AB"), "b1": ("B", "AB"), "c1": ("C", "CC"), "c2": ("C", "CC")}
LOW, HIGH, GRID = 0.0, 40.0, 1.0
FALSE_ALARM = 1e-9
"""A statistical test fails by chance with at most this probability."""


def tree_of(name, paths=TREE):
    from sfumato.tables.schema import ObservedDomain

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
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), max_size=14),
    st.lists(st.lists(st.integers(1, 1024), min_size=2, max_size=2), min_size=1, max_size=2),
    st.floats(0, 9),
)
def test_told_is_its_definition_and_moves_by_no_more_than_the_heaviest_class(rows, weights, price):
    def of(given):
        table = np.zeros((3, 4, 2), np.int64)
        for row in given:
            table[row] += 1
        return majority_scores([table], table.sum(axis=1), np.array(weights), [price])

    def said(cells):
        return sum(
            max(w * cells.count((cell, c)) for c, w in enumerate(view))
            for view in weights
            for cell in {c for c, _ in cells}
        )

    found, heaviest = of(rows), max(map(sum, zip(*weights, strict=True)))
    assert found.values[0] == said([(row[:2], row[2]) for row in rows]) - int(price * heaviest) - 1
    assert found.values[1] == said([(row[0], row[2]) for row in rows])
    assert found.monotonic
    for row in product(range(3), range(4), range(2)):
        moved = of([*rows, row]).values - found.values
        assert moved.min() >= 0
        assert moved.max() <= found.sensitivity == heaviest


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
    mine = levels_of(binned(0, tree_of("t"), 2), np.array([6e6, 2e6]), 1.0, 8e6, fine=0.0, coarse=0.0)
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


def test_the_core_keeps_what_attributes_tell_together():
    """Neither t nor x alone tells the class, both together do; without noise the rows show just that."""
    rows = [
        (t, n % 3, 20 * x, int((t >= 2) == bool(x) and t > 0)) for t in range(5) for x in range(2) for n in range(300)
    ]
    made = without_noise(Marginals(epsilon=1000), table_of(rows))
    assert made.effort["in the core"] == 2
    assert made.steps[0].endswith("groups, measured with class")
    kinds = {}
    for t, x, counts in zip(made.keys[0], made.keys[2], made.counts, strict=True):
        kinds[t, x] = kinds.get((t, x), 0) + counts
    assert sum(min(one) for one in kinds.values()) <= 0.02 * len(rows)
    assert made.counts.sum(axis=0).tolist() == [sum(row[3] == c for row in rows) for c in range(2)]


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
    monkeypatch.setattr(choices, "MAX_PAIR_CELLS", 30)
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
    """Counts of events in 250 runs on neighbours respect e^epsilon, between exact bounds for each share.

    There are 16 bounds, of Clopper and Pearson: each is wrong with a probability of at most FALSE_ALARM / 16.
    """
    runs, epsilon = 250, 1.0
    rows = [(0, 0, 0, 0), (1, 1, 5, 1)]
    near = [table_of(rows), table_of([*rows, (4, 2, 39, 1)])]

    def happened(table):
        found = np.zeros(4)
        for _ in range(runs):
            made = Marginals(epsilon=epsilon, bins=4)(table, Work())
            drawn = made.counts.sum(axis=0)
            found += [drawn[1] >= 2, drawn[1] == 0, len(made.steps) > 1, made.counts.sum() >= 4]
        return found.astype(int).tolist()

    less, more = map(happened, near)
    for one, other in ((less, more), (more, less)):
        for often, seldom in zip(one, other, strict=True):
            at_least = beta_quantile(often, runs - often + 1, FALSE_ALARM / 16) if often else 0.0
            at_most = beta_quantile(seldom + 1, runs - seldom, 1 - FALSE_ALARM / 16) if seldom < runs else 1.0
            assert at_least <= exp(epsilon) * at_most


def test_labels_of_numbers_are_read_as_intervals():
    made = without_noise(Marginals(epsilon=1000), table_of([(0, 0, 3, 0), (1, 1, 30, 1)] * 40))
    for label in made.labels[2]:
        found = read_interval(label)
        assert found is not None
        assert LOW <= found.low <= found.high <= HIGH
