"""DiffGen: the thesis's example, every part against its definition, the budget to the last fraction."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.choices import ByLeaves, ByValue
from sfumato.algorithms.diffgen.columns import Candidate, NumberColumn, SetColumn, TreeColumn
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.diffgen.partitions import Partitions, passing, sifted, specialize_sets, threshold
from sfumato.algorithms.diffgen.specialization import (
    FEW,
    PART,
    Prices,
    highest,
    impurity,
    information_gain,
    score,
    supported,
)
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.core.errors import BudgetError, ParameterError
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Purse, epsilon_of, share
from sfumato.dp.events import Pure
from sfumato.tables.taxonomy import taxonomy
from tests.algorithms.diffgen_tables import (
    G7,
    JOB,
    JOBS,
    always,
    behind,
    columns_of,
    injected,
    loud,
    of_numbers,
    of_row,
    of_sets,
    of_tree,
    private,
    table_of,
    wanting,
)
from tests.weights import examples

HALF = Fraction(1, 2)
ROOT = Candidate(column=0, value=0)
FALSE_ALARM = 6.2
"""A normal variable is so many deviations off with a probability below 1e-9."""


def released(asked: DiffGen, table: PrivateTable, **given: object) -> NoisyTable:
    return published(asked, table, Work(), injected(**given))


def groups(made: NoisyTable) -> dict[tuple[str, ...], list[int]]:
    """The labels of every group with its counts."""
    names = [[labels[k] for k in keys] for labels, keys in zip(made.labels, made.keys, strict=True)]
    return dict(zip(zip(*names, strict=True), made.counts.tolist(), strict=True))


# The thesis's example (golden G7).


def specialized_codes(rows, **given):
    table = private(rows, which=("codes",))
    column = columns_of(table)[0]
    assert isinstance(column, SetColumn)
    parts = Partitions(1, table.counts.root(table.figures))
    cost = Pure(epsilon=Fraction(2))
    specialize_sets(column, Candidate(column=0, value=0), parts, cost, 2**20, injected(**given), sifted)
    return [column.name(value) for value in parts.keys[0].tolist()], of_row(table, parts)


def test_g7_child_partitions_of_the_codes():
    names, found = specialized_codes(G7)
    assert names == ["1*", "1*|2*"]
    assert [n + 1 for n, part in enumerate(found) if names[part] == "1*"] == [3, 4, 5, 6]
    assert [n + 1 for n, part in enumerate(found) if names[part] == "1*|2*"] == [1, 2, 7, 8]


def test_g7_an_empty_child_partition_may_pass():
    names, found = specialized_codes(G7, waits=always)
    assert names == ["", "1*", "2*", "1*|2*"]
    assert sorted(set(found)) == [1, 3]


def test_g7_a_set_below_one_node_has_that_node_only():
    assert specialized_codes([("Writer", 30, ("21", "22"), "Y")] * 3)[0] == ["2*"]
    whole = private([("Writer", 30, ("21", "22"), "Y")], which=("codes",))
    column = columns_of(whole)[0]
    assert column.name(0) == "*"


def test_g7_records_by_job_at_age_40():
    table = private(G7, which=("job", "age"))
    age = columns_of(table)[1]
    assert isinstance(age, NumberColumn)
    at_40 = 40 - 18 - 1
    # first split of age; then which value: job (0), age (1), and the new intervals' points; then the jobs
    made = released(DiffGen(epsilon=1, specializations=2, score="max"), table, choose=wanting(at_40, 1, 0, 0, 0))
    assert groups(made) == {
        ("Professional", "[18-40)"): [1, 2],
        ("Professional", "[40-65]"): [1, 0],
        ("Artist", "[18-40)"): [2, 2],
        ("Artist", "[40-65]"): [0, 0],
    }
    # four jobs: ages first as before, the root of the jobs, then each of the two nodes below it
    asked = DiffGen(epsilon=1, specializations=4, score="max")
    fine = released(asked, table, choose=wanting(at_40, 1, 0, 0, 0, 0, 0))
    sizes = {key: sum(counts) for key, counts in groups(fine).items()}
    assert [(sizes[job, "[18-40)"], sizes[job, "[40-65]"]) for job in JOB] == [(2, 0), (1, 1), (2, 0), (2, 0)]


@pytest.mark.parametrize(("numbers", "h"), [(0, 1), (1, 2), (6, 10)])
def test_g7_what_a_choice_costs(numbers, h):
    asked = DiffGen(epsilon="1/3", specializations=h, score="max")
    ages = tuple(of_numbers(str(n), 0, 9, 1, [1, 2]) for n in range(numbers))
    jobs = of_tree("job", JOBS, JOB, ["Writer", "Lawyer"])
    table = table_of((*ages, jobs), ("a",), [0, 0], None)
    made = asked(table, Work())
    assert made.effort["epsilon of one choice"] == str(Fraction(1, 3) / (2 * (numbers + 2 * h)))


def test_g7_the_noise_of_the_counts_is_that_of_half_the_budget():
    """Where every specialization is one of a number, nothing is left over; each choice that is not made adds e'."""
    table = private(G7, which=("age", "job"))
    asked = DiffGen(epsilon=1, specializations=2, score="max")
    spent = released(asked, table, choose=wanting(20, 0, 10, 10, 0, 5, 5))
    assert spent.effort["epsilon of the counts"] == "1/2"
    assert spent.effort["scale of the noise of a count"] == 2.0
    one_job = released(asked, table, choose=wanting(20, 0, 10, 10, 2))
    assert one_job.steps[1] == "job: * -> Professional, Artist"
    assert one_job.effort["epsilon of the counts"] == str(HALF + Fraction(1, 10))


def test_g7_as_the_docs_tell_it():
    """Scores of the three roots, the threshold, and where epsilon = 1 goes with two specializations."""
    table = private(G7)
    job, age, codes = columns_of(table)
    assert job.table(ROOT).tolist() == codes.table(ROOT).tolist() == [[2, 2], [2, 2]]
    points = highest(age.tables(0))
    assert (len(points), points.max(), (np.flatnonzero(points == 7) + 19).tolist()) == (47, 7.0, [35, 36, 37])
    at_35 = age.tables(0)[35 - 19]
    assert at_35.tolist() == [[1, 4], [3, 0]]
    assert (information_gain(at_35), impurity(at_35).sum()) == pytest.approx((0.549, 1.6), abs=1e-3)
    assert (threshold(Fraction(1, 10), 4, 2**20), passing(Fraction(1, 10), 15)) == (15, pytest.approx(0.117, abs=1e-3))
    made = released(DiffGen(epsilon=1, specializations=2, score="max"), table, choose=wanting(16, 2, 0), count=loud)
    assert groups(made) == {(j, "*", c): [1, 1] for c in ("1*", "1*|2*") for j in ("Professional", "Artist")}
    assert [str(epsilon_of(part)) for part in made.event.parts] == ["1/10", "1/5", "1/10", "3/5"]


# The budget.

TABLES = st.builds(
    lambda rows, which: private(rows, which=which),
    st.lists(
        st.tuples(
            st.sampled_from(JOB),
            st.integers(18, 65),
            st.lists(st.sampled_from(("11", "12", "21", "22")), unique=True),
            st.sampled_from("NY"),
        ),
        max_size=12,
    ),
    st.sampled_from([("job",), ("age",), ("codes",), ("job", "age"), ("age", "codes"), ("job", "age", "codes")]),
)


@examples(60)
@given(
    TABLES,
    st.fractions(Fraction(1, 50), 5),
    st.integers(1, 12) | st.just("auto"),
    st.sampled_from(["max", "gain", "gini"]),
    st.booleans(),
    st.sampled_from([HALF, Fraction(1, 10)]),
)
def test_every_part_of_epsilon_is_accounted_for(table, epsilon, h, how, consistent_, kept):
    asked = DiffGen(epsilon=epsilon, specializations=h, score=how, consistent=consistent_, kept=kept)
    made = asked(table, Work())
    assert epsilon_of(made.event) == epsilon
    assert Fraction(str(made.effort["epsilon of the counts"])) >= epsilon * (1 - PART) * kept
    assert (made.counts >= 0).all()
    assert h == "auto" or len(made.steps) <= h


@examples(30)
@given(TABLES, st.integers(1, 8))
def test_steps_are_paid_as_the_thesis_says(table, h):
    made = released(DiffGen(epsilon=1, specializations=h, score="max"), table)
    assert epsilon_of(made.event) == 1
    one = share(Fraction(1), HALF, sum(a.kind == "number" for a in table.attributes) + 2 * h)
    for part in made.event.parts:
        if part.what.startswith("specialization"):
            most = 1 if "job:" in part.what else 2
            assert epsilon_of(part) <= most * one


def test_a_purse_gives_no_more_than_it_has():
    purse = Purse(whole=Fraction(1))
    with pytest.raises(BudgetError, match="1 of epsilon was not spent"):
        purse.closed("")
    with pytest.raises(BudgetError, match="3/2 of epsilon cannot be spent where 1 is left"):
        purse.pay(purse.cost(Fraction(3, 2), ""))


# Nothing but noise depends on the records.


@examples(40)
@given(
    TABLES, st.integers(1, 9), st.lists(st.integers(0, 60), min_size=40, max_size=40), st.sampled_from(["gini", "max"])
)
def test_what_is_shown_depends_on_the_choices_only(table, h, wishes, how):
    """Without sets, the same choices give the same groups, labels, cuts and figures whatever the records are."""
    which = [a.name for a in table.attributes if a.kind != "set"] or ["job"]
    full = private(G7, which=which)
    none = private([], which=which)

    def follow():
        left = list(wishes)
        return lambda scores, cost: left.pop(0) % len(scores.values)

    a, b = (released(DiffGen(epsilon=1, specializations=h, score=how), one, choose=follow()) for one in (full, none))
    assert a.labels == b.labels
    assert a.keys.tolist() == b.keys.tolist()
    assert a.steps == b.steps
    assert dict(a.effort) == dict(b.effort)
    assert a.event == b.event
    assert [c.labels for c in a.cut if c] == [c.labels for c in b.cut if c]


def test_all_groups_of_the_product_are_there_also_without_records():
    made = DiffGen(epsilon=1, specializations=6)(private([], which=("job", "age")), Work())
    assert made.keys.shape[1] == len(made.labels[0]) * len(made.labels[1])
    assert len(groups(made)) == made.keys.shape[1]


# Step by step, as defined.


def literal(table: PrivateTable, made: NoisyTable) -> dict[tuple[str, ...], list[int]]:
    """The records of every group, one record at a time, by the cut that is published."""
    found = {key: [0] * len(table.classes) for key in groups(made)}
    rows = behind(table)
    for row in range(table.rows):
        key = tuple(cut.labels[cut.of_code[a.codes[row]]] for a, cut in zip(rows.columns, made.cut, strict=True) if cut)
        found[key][rows.counted["class"][row]] += 1
    return found


@examples(60)
@given(TABLES, st.integers(1, 10), st.sampled_from(["max", "gain", "gini"]))
def test_counts_are_those_of_the_published_cut(table, h, how):
    which = [a.name for a in table.attributes if a.kind != "set"] or ["age"]
    rows = [(JOB[i % 4], 18 + (i * 7) % 48, (), "NY"[i % 3 == 0]) for i in range(table.rows * 3)]
    one = private(rows, which=which)
    for flag in (True, False):
        made = released(DiffGen(epsilon=1, specializations=h, score=how, consistent=flag), one)
        assert groups(made) == literal(one, made)


@examples(60)
@given(TABLES, st.integers(1, 6), st.sampled_from(["gini", "max"]))
def test_sets_stay_true_to_their_nodes(table, h, how):
    """Without noise no record is lost, and each set's label names exactly the nodes of a cut that cover its items."""
    if "codes" not in [a.name for a in table.attributes]:
        return
    made = released(DiffGen(epsilon=1, specializations=h, score=how), table, count=loud)
    assert made.counts.sum() == table.rows
    place = [a.name for a in table.attributes].index("codes")
    below = {"*": {"11", "12", "21", "22"}, "1*": {"11", "12"}, "2*": {"21", "22"}}
    sets, values = behind(table).columns[place], table.attributes[place].values
    shown: dict[str, int] = {}
    for key, counts in groups(made).items():
        shown[key[place]] = shown.get(key[place], 0) + sum(counts)
    for label, many in shown.items():
        nodes = [below.get(one, {one}) for one in label.split("|") if one]
        fits = 0
        for row in range(table.rows):
            items = {values[code] for code in sets.codes[sets.starts[row] : sets.starts[row + 1]]}
            covered = items <= set().union(*nodes) and all(items & node for node in nodes)
            fits += covered or label == "*"
        assert fits == many


COUNTS = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4).map(np.array)


@given(COUNTS)
def test_scores_are_as_defined(table):
    def entropy(row):
        return -sum(x / sum(row) * log2(x / sum(row)) for x in row if x)

    whole, total = table.sum(axis=0).tolist(), int(table.sum())
    assert highest(table) == sum(max(row) for row in table.tolist())
    expected = entropy(whole) - sum(sum(r) / total * entropy(r) for r in table.tolist() if sum(r)) if total else 0.0
    assert information_gain(table) == pytest.approx(expected, abs=1e-12)

    def wrong(row):
        return sum(x * (1 - x / sum(row)) for x in row if x)

    assert impurity(table).tolist() == pytest.approx([wrong(row) for row in table.tolist()], abs=1e-9)


@given(COUNTS, st.integers(0, 3), st.integers(0, 2))
def test_one_record_moves_a_score_by_no_more_than_its_sensitivity(table, row, kind):
    more = table.copy()
    more[row % len(table), kind] += 1
    for name in ("max", "gain", "gini"):
        how = score(name, 3)
        moved = float(how.of(more) - how.of(table))
        assert abs(moved) <= how.sensitivity
        assert not how.monotonic or (moved <= 1e-9 if name == "gini" else moved >= 0)


def test_the_sensitivity_of_gain_is_reached():
    how = score("gain", 2)
    assert how.of(np.array([[1, 0], [0, 1]])) - how.of(np.array([[1, 0], [0, 0]])) == how.sensitivity == 1.0
    assert score("gain", 1).sensitivity == 1.0


def test_the_children_of_sets_are_disjoint_so_max_keeps_its_sensitivity():
    """By child values a record of a set counts several times; by child partitions once."""
    table = private(G7, which=("codes",))
    column = columns_of(table)[0]
    assert column.table(ROOT).sum() == table.rows


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), max_size=30))
def test_split_points_are_scored_on_both_sides(rows):
    numbers = of_numbers("n", 0, 20, 1, [x for x, _ in rows])
    column = columns_of(table_of([numbers], ("a", "b"), [y for _, y in rows], None))[0]
    for place, point in enumerate(range(1, 21)):
        sides = [[sum(y == k and (x >= point) == up for x, y in rows) for k in (0, 1)] for up in (False, True)]
        assert column.tables(0)[place].tolist() == sides
    column.take(0, 6)
    assert column.split(ROOT) == (1, 2)
    assert [column.name(v) for v in (0, 1, 2)] == ["*", "[0-7)", "[7-20]"]
    assert column.tables(2).shape == (13, 2, 2)


def test_a_tree_is_cut_where_it_branches():
    column = columns_of(table_of([of_tree("job", JOBS, JOB, ["Writer"])], ("a",), [0], None))[0]
    assert [JOBS.labels[node] for node in column.split(ROOT)] == ["Professional", "Artist"]
    assert column.table(Candidate(column=0, value=JOBS.labels.index("Artist"))).tolist() == [[0], [1]]
    assert not column.is_open(JOBS.labels.index("Writer"))


def searching(kind, table, **given):
    """A search at its beginning, without randomness."""
    fields = {
        "columns": tuple(columns_of(table)),
        "parts": Partitions(len(table.attributes), table.counts.root(table.figures)),
        "score": score("gini" if kind is ByLeaves else "max", len(table.classes)),
        "purse": Purse(whole=Fraction(1)),
        "share": Fraction(1, 100),
        "prices": Prices(steps=9),
        "mechanisms": injected(count=loud),
    }
    return kind(**{**fields, **given})


def test_candidates_end_where_nothing_is_left_or_no_room():
    table = private(G7, which=("job",))
    for how in ("gini", "max"):
        made = DiffGen(epsilon=1, specializations=9, score=how)(table, Work())
        assert len(made.steps) == 3
        assert made.labels == (JOB,)
    for kind in (ByLeaves, ByValue):
        search = searching(kind, table, prices=Prices(steps=9, most=2))
        search.run(Work())
        assert search.parts.count == 2


def members(table: PrivateTable, row: int) -> tuple[object, ...]:
    """A record as its leaves, cells and sets."""
    return tuple(
        int(a.codes[row]) if a.starts is None else frozenset(a.codes[a.starts[row] : a.starts[row + 1]].tolist())
        for a in behind(table).columns
    )


def literal_impurity(groups_: dict[object, list[int]]) -> float:
    return sum(sum(c) - sum(x * x for x in c) / sum(c) for c in groups_.values() if sum(c))


@examples(60)
@given(TABLES, st.integers(0, 4))
def test_gini_is_the_impurity_of_all_leaves_after_each_choice(table, h):
    """Every score against a literal regrouping of all records; one record more moves all of them down by 0 to 2."""
    search = searching(ByLeaves, table, prices=Prices(steps=h))
    search.run(Work())
    candidates = search.candidates()
    scores = search.scores(candidates).tolist()
    expected, part_of = [], of_row(table, search.parts)
    for at in candidates:
        column, attribute = search.columns[at.column], table.attributes[at.column]
        points: list[int | None] = [None]
        if isinstance(column, NumberColumn):
            low, high = column.spans[at.value]
            points = list(range(low + 1, high))
        for point in points:
            found: dict[object, list[int]] = {}
            for row in range(table.rows):
                own = members(table, row)[at.column]
                part = part_of[row]
                if point is not None:
                    child: object = own >= point if search.parts.keys[at.column, part] == at.value else None
                elif isinstance(column, TreeColumn):
                    below = [n for n, c in enumerate(attribute.tree.parent.tolist()) if c == at.value]
                    child = [n for n in below if attribute.tree.covers(n)[own]]
                else:
                    below = [n for n, c in enumerate(attribute.tree.parent.tolist()) if c == at.value]
                    child = frozenset(n for n in below for leaf in own if attribute.tree.covers(n)[leaf])
                counts = found.setdefault((part, str(child)), [0] * len(table.classes))
                counts[behind(table).counted["class"][row]] += 1
            expected.append(-literal_impurity(found))
    assert scores == pytest.approx(expected, abs=1e-9)


# The noisy test of emptiness.


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": 1e-10}, "epsilon must be at least 1e-09"),
        ({"epsilon": "1/1000000001"}, "epsilon must be at least 1e-09"),
        ({"epsilon": float("inf")}, "epsilon must be"),
        ({"epsilon": 1, "specializations": 0}, "specializations must be at least 1"),
        ({"epsilon": 1, "specializations": "many"}, "specializations must be"),
        ({"epsilon": 1, "score": "best"}, "score must be one of gini, max, gain"),
        ({"epsilon": 1, "consistent": 1}, "consistent must be true or false"),
        ({"epsilon": 1, "kept": 1}, "kept must be below 1"),
    ],
)
def test_impossible_options_are_refused(given_, message):
    with pytest.raises(ParameterError, match=message):
        DiffGen(**given_)


def test_a_budget_is_exact():
    assert DiffGen(epsilon=0.1).epsilon == Fraction(1, 10)
    assert (DiffGen(epsilon=1).kept, DiffGen(epsilon=1, score="max").kept) == (Fraction(1, 4), HALF)


@settings(deadline=None)
@given(st.floats(0.01, 400), st.integers(-100, 10**7), st.integers(1, 5))
def test_auto_goes_further_the_more_there_is(noise, records, classes):
    few, more = (supported(many, noise, classes, stops=True) for many in (records, max(records, 1) * 2))
    assert 1 <= few.steps <= more.steps <= 30
    assert FEW <= few.most <= more.most <= 2**20
    assert few.most == FEW or few.most * classes * noise <= max(records, 1) * (1 + 1e-12), (
        "the noise of all counts is within the records, up to rounding"
    )
    assert supported(records, noise / 2, classes, stops=True).steps >= few.steps


def test_auto_pays_for_the_number_of_records():
    made = released(DiffGen(epsilon=1), private(list(G7) * 117))
    first = made.event.parts[0]
    assert (first.what, epsilon_of(first)) == ("the number of records", PART)
    assert len(made.steps) <= supported(936, 4.0, 2, stops=True).steps == 3
    assert "936" not in str(made.effort) + str(made.steps) + str(made.event)


def test_a_set_node_that_is_too_wide_is_refused():
    values = tuple(str(n) for n in range(41))
    tree = taxonomy([(v,) for v in values], {}, total=41.0, height=1)
    table = table_of([of_sets("s", tree, values, [["1"]])], ("a",), [0], None)
    with pytest.raises(ParameterError, match="at most 40 nodes below a node, but 's' has 41"):
        DiffGen(epsilon=1)(table, Work())
