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

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import Pure
from sfumato.describe.paths import Paths
from sfumato.describe.spans import read_interval
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.work import Work
from sfumato.group.coded_column import CodedColumn
from sfumato.group.coded_rows import CodedRows
from sfumato.noise import Noisy
from sfumato.publish.marginals import Marginals
from sfumato.publish.marginals.binnings import binnings, whole
from sfumato.publish.marginals.marginal_noise import Mechanisms, count
from sfumato.publish.marginals.marginal_scores import dependence
from sfumato.publish.marginals.marginal_search import shares
from sfumato.publish.marginals.model import Measured, fitted, nearest
from sfumato.publish.marginals.noisy_marginals import published
from sfumato.publish.marginals.rows import MOST, apportioned, rows_of
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
        "attributes": st.sampled_from(["auto", 1, 2, 3, 9]),
        "bins": st.sampled_from([2, 4, 32]),
        "structure": st.sampled_from(["tree", "naive"]),
    }
)


class Recorded:
    """Mechanisms that answer from a list whatever they are asked, and keep what they were asked."""

    def __init__(self, answers=0, fill=7):
        self.dice = np.random.default_rng(answers)
        self.fill = fill
        self.asked = []

    def choose(self, scores, epsilon, what):
        self.asked.append(scores)
        return int(self.dice.integers(len(scores.values))), Pure(epsilon=epsilon, what=what)

    def count(self, counts, epsilon, what):
        self.asked.append(counts)
        values = self.dice.integers(-2, self.fill, counts.shape)
        return Noisy(values=values, event=Pure(epsilon=epsilon, what=what), scale=2.0, law="laplace")

    def run(self, asked, table):
        return published(asked, table, Work(chance=Chance(seed=1)), Mechanisms(choose=self.choose, count=self.count))


def exact_count(counts, epsilon, what):
    return Noisy(values=counts, event=Pure(epsilon=epsilon, what=what), scale=0.0, law="laplace")


def best(scores, epsilon, what):
    return int(np.argmax(scores.values)), Pure(epsilon=epsilon, what=what)


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


@examples(150)
@given(
    rows=st.lists(ROW, max_size=12),
    more=ROW,
    options=OPTIONS,
    classes=CLASSES,
    answers=st.integers(0, 10**6),
    epsilon=st.sampled_from(["1/100", "1", "100"]),
)
def test_one_record_moves_no_question_by_more_than_it_says(rows, more, options, classes, answers, epsilon):
    """With the same answers, neighbours are asked the same questions; scores and counts move within bounds.

    The answers do not depend on the rows here, so all that is left of the rows is in the questions.
    """
    asked = Marginals(epsilon=epsilon, **options)
    small, large = Recorded(answers), Recorded(answers)
    less = small.run(asked, table_of(rows, classes))
    assert same(less, large.run(asked, table_of([*rows, more], classes)))
    assert len(small.asked) == len(large.asked)
    for one, other in zip(small.asked, large.asked, strict=True):
        if isinstance(one, np.ndarray):
            assert (other - one).min() == 0
            assert (other - one).sum() == 1
        else:
            assert one.sensitivity == other.sensitivity
            assert one.monotonic == other.monotonic
            moved = other.values - one.values
            assert np.abs(moved).max() <= one.sensitivity
            assert not one.monotonic or moved.min() >= 0


@settings(deadline=None)
@given(st.integers(1, 9), st.fractions("1/1000", 10), st.booleans(), st.booleans(), st.booleans())
def test_shares_leave_nothing_and_are_all_positive(steps, epsilon, classes, tree, auto):
    one = shares(epsilon, steps, classes=classes, tree=tree, auto=auto)
    choices = steps if classes else steps - 1
    assert one.choice * choices + one.parent * (steps - 1) + one.marginal * steps + one.last == epsilon
    assert one.marginal >= epsilon / (2 * steps)


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
    for p, a, c in product(range(3), range(4), range(2)):
        n = table[:, :, c].sum()
        said += abs(table[p, a, c] - (table[p, :, c].sum() * table[:, a, c].sum() / n if n else 0)) / 2
    assert dependence(table) == pytest.approx(said)
    for row in product(range(3), range(4), range(2)):
        assert abs(dependence(of([*rows, row])) - dependence(table)) < 2


def test_dependence_nearly_moves_by_2():
    """The bound is not too wide: a record that is alone with its value and its parent's, in a large class."""
    table = np.zeros((2, 2, 1), np.int64)
    table[0, 0, 0] = 10_000
    more = table.copy()
    more[1, 1, 0] = 1
    assert 1.99 < dependence(more) - dependence(table) < 2


# The parts.


def test_binnings_are_levels_or_intervals_of_the_declared_domain():
    tree = binnings(0, tree_of("t"), 32)
    assert [one.cut.labels for one in tree] == [("AB", "CC"), ("A", "B", "C"), ("a1", "a2", "b1", "c1", "c2")]
    number = binnings(2, number_of("x"), 32)
    assert [one.size for one in number] == [4, 6, 7, 14, 21]
    assert number[1].cut.labels == ("[0-1)", "[1-3)", "[3-7)", "[7-15)", "[15-31)", "[31-40]")
    assert number[0].cut.labels == ("[0-11)", "[11-22)", "[22-33)", "[33-40]")
    assert number[0].cut.of_code.tolist() == [0] * 11 + [1] * 11 + [2] * 11 + [3] * 8
    assert number[0].cut.edges == (11.0, 22.0, 33.0)


def test_the_coarsest_binning_is_there_even_if_it_is_too_fine():
    assert [one.size for one in binnings(0, tree_of("f", {"u": (), "v": (), "w": ()}), 2)] == [3]
    assert [one.size for one in binnings(0, tree_of("t"), 2)] == [2]
    assert binnings(0, tree_of("t", {"only": ()}), 9) == ()
    assert binnings(0, number_of("x", 3, 3, 1), 9) == ()
    assert whole(number_of("x")).labels == ("*",)
    assert whole(tree_of("t")).labels == ("*",)


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
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0, 50))
def test_the_model_agrees_with_itself(seed, kinds, scale):
    """Classes add up to the same totals everywhere; an attribute's margin is the same from its own and its child."""
    dice = np.random.default_rng(seed)
    bins = [binnings(0, tree_of("t"), 32)[-1], binnings(1, number_of("x"), 8)[-1]]
    sizes = [one.size for one in bins]
    first = dice.normal(5, scale, (1, sizes[0], kinds))
    second = dice.normal(5, scale, (sizes[0], sizes[1], kinds))
    third = dice.normal(5, scale, (sizes[1], 4, kinds))
    last = binnings(2, number_of("z"), 4)[0]
    measured = [
        Measured(bins=bins[0], parent=-1, counts=first, scale=scale),
        Measured(bins=bins[1], parent=0, counts=second, scale=scale),
        Measured(bins=last, parent=1, counts=third, scale=scale),
    ]
    model = fitted(measured)
    assert (model.totals >= 0).all()
    for margin, table in zip(model.margins, model.shares, strict=True):
        assert (margin >= 0).all()
        assert margin.sum(axis=0) == pytest.approx(model.totals, abs=1e-6)
        assert (table >= 0).all()
        assert table.sum(axis=1) == pytest.approx(np.ones((table.shape[0], kinds)))
    for place, above in ((1, 0), (2, 1)):
        through = (model.shares[place] * model.margins[above][:, None]).sum(axis=0)
        assert through == pytest.approx(model.margins[place], rel=0.02, abs=0.02 * float(model.totals.sum()) + 1e-6)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_rows_are_apportioned_within_one(seed, sizes):
    dice = np.random.default_rng(seed)
    table = dice.dirichlet(np.ones(5), len(sizes))
    made = apportioned(table, np.array(sizes), dice.random(len(sizes)))
    assert made.sum(axis=1).tolist() == sizes
    assert (made >= 0).all()
    assert (np.abs(made - table * np.array(sizes)[:, None]) < 1 + 1e-9).all()


def test_drawn_rows_have_the_marginals_of_the_model():
    rows = [(t, (t + f) % 3, 8 * t + f, y) for t in range(5) for f in range(3) for y in range(2) for _ in range(9 + t)]
    made = without_noise(Marginals(epsilon=1000, attributes=3), table_of(rows))
    assert made.counts.sum(axis=0).tolist() == [len(rows) / 2] * 2
    for c, one in enumerate(table_of(rows).counts.columns):
        true = np.bincount(made.cut[c].of_code[one.codes], minlength=len(made.labels[c]))
        drawn = np.bincount(made.keys[c], weights=made.counts.sum(axis=1), minlength=len(made.labels[c]))
        assert np.abs(true - drawn).max() <= 2 * 30


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
    kept = [labels for labels in made.labels if labels != ("*",)]
    wanted = options["attributes"]
    assert len(kept) == (min(wanted, 3) if wanted != "auto" else len(kept))
    assert wanted != "auto" or len(classes) > 1 or len(kept) == 3
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
        assert made.counts.sum() == len(rows)


def test_more_rows_than_are_drawn_stand_for_several():
    bins = binnings(0, tree_of("t"), 2)[0]
    model = fitted([Measured(bins=bins, parent=-1, counts=np.array([[[6e6], [2e6]]]), scale=0.0)])
    keys, counts, stands = rows_of(model, [2], np.random.default_rng(1))
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
    assert made.labels == (("*",), ("*",))
    assert made.counts.tolist() == [[3, 1]]
    assert epsilon_of(made.event) == 10**6


def test_what_tells_the_class_is_chosen_and_the_rest_reads_star():
    """Without noise: x tells the class, t is a copy of a part of it, f is of no use."""
    rows = [(x % 5, n % 3, x, int(x >= 22)) for n in range(60) for x in range(40)]
    made = without_noise(Marginals(epsilon=1000, attributes=1), table_of(rows))
    assert made.labels[0] == made.labels[1] == ("*",)
    assert made.labels[2] == ("[0-11)", "[11-22)", "[22-33)", "[33-40]")
    assert made.steps == ("x in 4 values, measured with class",)
    split = [made.counts[made.keys[2] == k].sum(axis=0) for k in range(len(made.labels[2]))]
    wrong = sum(int(min(one)) for one in split)
    assert wrong < 0.02 * len(rows)


def test_dependent_attributes_are_measured_together():
    rows = [(t, t % 3, 8 * t, (t + n) % 2) for t in range(5) for n in range(400)]
    made = without_noise(Marginals(epsilon=1000, attributes=3), table_of(rows))
    assert all(" and " in step for step in made.steps[1:]), made.steps
    alone = without_noise(Marginals(epsilon=1000, attributes=3, structure="naive"), table_of(rows))
    assert not any(" and " in step for step in alone.steps)
    pairs = without_noise(Marginals(epsilon=1000), table_of(rows, ("all",)))
    assert [step.count("measured with") for step in pairs.steps] == [0, 1, 1]
    read = [[labels[k] for k in keys] for labels, keys in zip(pairs.labels, pairs.keys, strict=True)]
    often = dict(zip(zip(*read, strict=True), pairs.counts.sum(axis=1), strict=True))
    assert sum(sorted(often.values())[-5:]) > 0.9 * len(rows)


def test_tables_that_are_too_large_are_no_candidates():
    """Two flat domains of 1,500 values: their table would have 4.5 million cells."""
    many = {f"v{n}": () for n in range(1500)}
    wide = [tree_of("t", many), tree_of("s", many)]
    table = private(wide, [[0, 1, 2], [0, 1, 2]], ("N", "Y"), [0, 1, 1], "c")
    asked = Recorded()
    asked.run(Marginals(epsilon=1, attributes=2), table)
    assert [len(one.values) for one in asked.asked if not isinstance(one, np.ndarray)] == [2, 1, 1]


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
        ({"epsilon": 1, "attributes": 0}, "attributes must be at least 1"),
        ({"epsilon": 1, "attributes": "all"}, "attributes must be a whole number"),
        ({"epsilon": 1, "bins": 1}, "bins must be at least 2"),
        ({"epsilon": 1, "structure": "forest"}, "structure must be one of tree, naive"),
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

    One marginal of 5 x 2 counts at epsilon 3/4 has scale 4/3, so a total has a variance of at most 10 * 2 * (4/3)^2;
    cutting off at 0 does not matter for classes of 500 rows.
    """
    table = table_of([(n % 5, 0, 0, n % 2) for n in range(1000)])
    one = replace(table, attributes=table.attributes[:1])
    totals = [int(Marginals(epsilon=1, attributes=1)(one, Work()).counts.sum()) for _ in range(300)]
    within = 6.2 * sqrt(10 * 2 * (4 / 3) ** 2 + 1) / sqrt(300)
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
            made = Marginals(epsilon=epsilon, attributes=1, bins=4)(table, Work())
            drawn = made.counts.sum(axis=0)
            found += [drawn[1] >= 2, drawn[1] == 0, made.labels[0] != ("*",), made.counts.sum() >= 4]
        return found / runs

    less, more = map(happened, near)
    slack = sqrt(log(16 / FALSE_ALARM) / (2 * runs))
    for p, q in ((less, more), (more, less)):
        assert (p - slack <= exp(epsilon) * (q + slack)).all()


def test_the_noise_is_that_of_opendp():
    """The mechanism behind the counts is discrete Laplace: its scale is what the share of epsilon says."""
    made = count(np.zeros(4000, np.int64), Fraction(1, 5), "zeros")
    assert made.scale == pytest.approx(5, rel=1e-9)
    deviation = sqrt(2) * 5
    assert abs(made.values.mean()) < 6.2 * deviation / sqrt(4000)
    assert made.event == Pure(epsilon=Fraction(1, 5), what="zeros")


def test_labels_of_numbers_are_read_as_intervals():
    made = without_noise(Marginals(epsilon=1000, attributes=3), table_of([(0, 0, 3, 0), (1, 1, 30, 1)] * 40))
    for label in made.labels[2]:
        found = read_interval(label)
        assert found is not None
        assert LOW <= found.low <= found.high <= HIGH
