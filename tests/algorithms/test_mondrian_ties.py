"""Mondrian breaks ties by the order of the columns: not by the order of rows, sums or units of measure."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.mondrian import Mondrian
from sfumato.algorithms.problem import Problem
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.schema import ObservedDomain
from tests.algorithms.mondrian_tables import groups_of, mixed_rows, problem_of
from tests.example_tables import column
from tests.weights import examples

MODELS = ((KAnonymity(k=2),), (KAnonymity(k=2), DistinctLDiversity(l=2, column="s")))
CUTS, CHOICES, OUTPUTS = ("balanced", "median", "any"), ("metric", "width", "gain"), ("hierarchy", "boxes", "means")


@st.composite
def rules(draw: st.DrawFn) -> Mondrian:
    order = draw(st.sampled_from(["taxonomy", "ordered"]))
    return Mondrian(
        order=order,
        strict=order == "taxonomy" or draw(st.booleans()),
        cut=draw(st.sampled_from(CUTS)),
        choose=draw(st.sampled_from(CHOICES)),
        output=draw(st.sampled_from(OUTPUTS)),
    )


def alike(one: Problem, other: Problem, rule: Mondrian) -> None:
    """Both are refused, or have the same groups."""
    made = []
    for problem in (one, other):
        try:
            made.append(sorted(sorted(group) for group in groups_of(problem, rule.groups(problem, Work()))))
        except (Infeasible, PlanError) as error:
            made.append(type(error))
    assert made[0] == made[1]


@examples(200)
@given(quasi=mixed_rows(most=20), data=st.data(), rule=rules(), models=st.sampled_from(MODELS))
def test_the_order_of_rows_changes_nothing(quasi, data, rule, models):
    rows = len(next(iter(quasi.values())))
    some = st.lists(st.sampled_from("123"), min_size=rows, max_size=rows)
    sensitive, target = data.draw(some), data.draw(some)
    order = data.draw(st.permutations(range(rows)))
    first = problem_of(quasi, sensitive, models, target, single=not rule.strict)
    mixed = {name: [values[row] for row in order] for name, values in quasi.items()}
    turned = [[values[row] for row in order] for values in (sensitive, target)]
    alike(first, problem_of(mixed, turned[0], models, turned[1], single=not rule.strict), rule)


def measured(
    numbers: dict[str, list[Decimal]], limits: dict[str, tuple[Decimal, Decimal]], target: list[str]
) -> Problem:
    """Columns of numbers between declared limits."""
    encoded = [column(name, [str(value) for value in values]) for name, values in numbers.items()]
    made = cells(encoded, [column("s", target), column("y", target)]).classes
    built = tuple(
        Grown(low=float(limits[one.name][0]), high=float(limits[one.name][1])).build(ObservedDomain.of(one))
        for one in encoded
    )
    return Problem(
        cells=replace(made, measures=measures(made)),
        hierarchies=built,
        models=MODELS[0],
        metric=LossMetric(),
        target="y",
        numbers=tuple(np.array([float(value) for value in one.values]) for one in encoded),
    )


@examples(200)
@given(
    data=st.data(),
    rows=st.integers(2, 24),
    many=st.integers(1, 3),
    scales=st.lists(st.sampled_from(["1", "10", "100", "0.1", "8", "0.25"]), min_size=3, max_size=3),
    cut=st.sampled_from(CUTS),
    choose=st.sampled_from(CHOICES),
)
def test_units_of_measure_change_nothing(data, rows, many, scales, cut, choose):
    names = ["p", "q", "r"][:many]
    tenths = st.lists(
        st.integers(0, 3).map(lambda n: Decimal(3 * n) / 10 + Decimal("0.05")), min_size=rows, max_size=rows
    )
    numbers = {name: data.draw(tenths) for name in names}
    limits = {name: (Decimal("-0.5"), Decimal("2.5")) for name in names}
    target = data.draw(st.lists(st.sampled_from("01"), min_size=rows, max_size=rows))
    by = {name: Decimal(scale) for name, scale in zip(names, scales, strict=False)}
    scaled = {name: [value * by[name] for value in values] for name, values in numbers.items()}
    wide = {name: (low * by[name], high * by[name]) for name, (low, high) in limits.items()}
    rule = Mondrian(order="ordered", cut=cut, choose=choose, output="boxes")
    alike(measured(numbers, limits, target), measured(scaled, wide, target), rule)


@pytest.mark.parametrize("choose", CHOICES)
@pytest.mark.parametrize("unit", ["1", "10", "0.1", "0.3"])
def test_of_equal_columns_the_first_is_cut(choose, unit):
    """Both columns are equally wide and tell equally much: the rows are parted by the first."""
    ranks = [1, 1, 3, 3], [1, 3, 1, 3]
    units = Decimal("0.1"), Decimal("0.1") * Decimal(unit)
    numbers = {n: [Decimal(v) * u for v in values] for n, values, u in zip("pq", ranks, units, strict=True)}
    limits = {n: (Decimal(0), Decimal("0.7") * u * 10) for n, u in zip("pq", units, strict=True)}
    problem = measured(numbers, limits, ["0", "1", "1", "0"])
    found = Mondrian(order="ordered", choose=choose, output="boxes").groups(problem, Work())
    assert sorted(sorted(row[0] for row in group) for group in groups_of(problem, found)) == [[0, 0], [1, 1]]


@pytest.mark.parametrize("seed", [1, 3, 4, 10, 17, 22])
def test_ten_times_the_unit_gives_the_same_groups(seed):
    """Tables with cuts that are as good as each other, which rounding once told apart in another unit."""
    chance = Random(seed)
    rows = chance.randint(6, 16)
    numbers = {name: [Decimal(3 * chance.randint(0, 3)) / 10 + Decimal("0.05") for _ in range(rows)] for name in "pq"}
    target = [chance.choice("01") for _ in range(rows)]
    limits = dict.fromkeys("pq", (Decimal("-0.5"), Decimal("2.5")))
    larger = {"p": numbers["p"], "q": [value * 10 for value in numbers["q"]]}
    wider = {"p": limits["p"], "q": (Decimal(-5), Decimal(25))}
    for cut in CUTS:
        for choose in CHOICES:
            rule = Mondrian(order="ordered", cut=cut, choose=choose, output="boxes")
            alike(measured(numbers, limits, target), measured(larger, wider, target), rule)
