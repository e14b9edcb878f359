"""DiffGen by rho, automatic specialization by prices, halves of flat domains, inner counts, and how noisy it all is."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.noisy_specializer import Inner, consistent, inner_counts, published
from sfumato.algorithms.diffgen.partitions import pure_cost
from sfumato.algorithms.diffgen.specialization import PRICE, noise_of, supported
from sfumato.algorithms.private_table import Attribute, PrivateTable
from sfumato.bundles.checks.private import allowed
from sfumato.core.errors import ParameterError
from sfumato.core.run_context import Work
from sfumato.counts.local_cuts import CodedColumn, CodedRows
from sfumato.dp.accounting import rho_of
from sfumato.dp.events import Pure
from sfumato.dp.noise import counted, gaussian_counts, noisy_counts
from sfumato.pipeline.methods.private.domains import stated_domains
from sfumato.tables.taxonomy import taxonomy
from tests.algorithms.diffgen_tables import G7, injected, private, wanting
from tests.algorithms.test_diffgen import FALSE_ALARM, TABLES, groups, literal
from tests.weights import examples

# Rho.


@examples(60)
@given(
    TABLES,
    st.fractions(Fraction(1, 1000), 5),
    st.integers(1, 12) | st.just("auto"),
    st.sampled_from(["max", "gain", "gini"]),
    st.sampled_from([0, Fraction(1, 8)]),
)
def test_every_part_of_rho_is_accounted_for(table, rho, h, how, inner):
    made = DiffGen(rho=rho, specializations=h, score=how, inner=inner)(table, Work())
    assert rho_of(made.event) == rho
    scale = float(made.effort["scale of the noise of a count"])
    assert scale == pytest.approx(sqrt(1 / (2 * Fraction(str(made.effort["rho of the counts"])))), rel=1e-9)


@given(st.fractions(Fraction(1, 10**20), 10**6))
def test_a_test_of_sets_costs_nearly_its_share_of_rho_and_never_more(rho):
    spent = rho_of(pure_cost("rho", rho, ""))
    assert rho * (1 - Fraction(1, 10**10)) <= spent <= rho
    assert pure_cost("epsilon", rho, "") == Pure(epsilon=rho)


def test_one_budget_is_given():
    for wrong in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(ParameterError, match="epsilon must be given, or rho in its place"):
            DiffGen(**wrong)
    with pytest.raises(ParameterError, match="inner must be below 1"):
        DiffGen(epsilon=1, inner=1)
    with pytest.raises(ParameterError, match="inner must be 0 where consistent is false"):
        DiffGen(epsilon=1, inner=0.5, consistent=False)


def test_the_expected_noise_is_that_of_the_mechanism():
    """Of Laplace noise at most, of Gaussian noise about."""
    for cost in (Pure(epsilon=Fraction(1, 5)), DiffGen(rho="1/50")):
        spent = cost if isinstance(cost, Pure) else gaussian_counts(np.zeros(1, np.int64), rho=cost.rho).event
        assert noise_of(spent) == pytest.approx(counted(np.zeros(1, np.int64), spent).expected_error, rel=1e-6)


# Prices.


def flat(rows: int, columns: int = 5, values: int = 50) -> PrivateTable:
    """Flat domains, of which three tell about the class."""
    dice = np.random.default_rng(1)
    names = tuple(f"v{n:02d}" for n in range(values))
    tree = taxonomy([(one,) for one in names], {}, total=float(values), height=1)
    codes = [dice.integers(0, values, rows) for _ in range(columns)]
    told = sum(dice.normal(size=values)[one] for one in codes[:3])
    kinds = (told + dice.logistic(size=rows) > 0).astype(np.int32)
    return PrivateTable(
        attributes=tuple(Attribute(name=f"c{n}", kind="tree", values=names, tree=tree) for n in range(columns)),
        classes=("no", "yes"),
        counts=CodedRows(
            columns=tuple(CodedColumn(codes=one.astype(np.int32), size=values) for one in codes), counted={"y": kinds}
        ),
        target_name="y",
    )


@pytest.mark.parametrize("budget", [{"epsilon": "1/10"}, {"epsilon": 1}, {"rho": "1/40"}])
@pytest.mark.parametrize("how", ["gini", "max"])
def test_flat_domains_do_not_drown_in_groups(budget, how):
    """60,000 records and flat domains of 50 values: 900,000 groups once, now no more than the records support.

    The noisy number of records is off by a quarter with a probability below 1e-9.
    """
    asked = DiffGen(**budget, score=how)
    made = asked(flat(60_000), Work())
    whole = asked.epsilon or asked.rho
    cost = Pure(epsilon=whole * asked.kept * Fraction(49, 50))
    noise = noise_of(cost) if asked.rho is None else 1 / sqrt(np.pi * float(cost.epsilon))
    assert len(made.counts) <= 1.25 * 60_000 / (2 * noise)
    assert len(made.counts) < 20_000
    domains = stated_domains(flat(0))["columns"]
    for name, labels in zip(made.columns, made.labels, strict=True):
        assert all(map(allowed(domains[name]), labels))


def test_a_flat_domain_is_specialized_a_little_at_a_time():
    """Where records support a few groups only, fifty values are halved, and what is shown is stated."""
    made = published(DiffGen(epsilon=1), flat(350, 1), Work(), injected(choose=wanting("0")))
    assert made.steps[0] == "c0: * -> v00 … v24, v25 … v49"
    assert not set(made.labels[0]) - {label for label, _ in stated_domains(flat(0, 1))["columns"]["c0"]["nodes"]}


def test_with_a_number_of_specializations_domains_are_those_that_were_declared():
    made = published(DiffGen(epsilon=1, specializations=1), flat(1000, 1), Work(), injected())
    assert len(made.labels[0]) == 50


def test_stopping_is_a_choice_and_what_is_left_goes_to_the_counts():
    table = private(list(G7) * 500, which=("job", "age"))
    made = published(DiffGen(epsilon=1), table, Work(), injected(choose=lambda scores, cost: len(scores.values) - 1))
    assert made.steps == ()
    assert [part.what for part in made.event.parts] == [
        "the number of records",
        "no further specialization",
        "counts of the groups",
    ]
    one = Fraction(str(made.effort["epsilon of one choice"]))
    assert made.effort["epsilon of the counts"] == str(Fraction(49, 50) - one)


def test_scores_are_what_is_gained_less_the_price_of_new_groups():
    """Stopping scores minus the impurity that there is; job minus what it leaves, less one group's price."""
    seen = []

    def first(scores, cost):
        seen.append(scores.values.tolist())
        return len(scores.values) - 1

    published(DiffGen(epsilon=1), private(list(G7) * 500, which=("job",)), Work(), injected(choose=first))
    noise = noise_of(Pure(epsilon=Fraction(49, 200)))
    assert supported(4000, noise, 2, stops=True).group == pytest.approx(PRICE * 2 * noise)
    assert seen[0] == pytest.approx([-2000 - PRICE * 2 * noise, -2000])


def test_without_a_class_nothing_is_weighed_and_nothing_stops():
    table = private(list(G7) * 500, which=("job",))
    bare = PrivateTable(
        attributes=table.attributes,
        classes=("all",),
        counts=CodedRows(columns=table.counts.columns, counted={"": np.zeros(4000, np.int32)}),
    )
    made = published(DiffGen(epsilon=1), bare, Work(), injected())
    assert len(made.steps) == 3


# Inner counts.


@examples(60)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.floats(0.1, 10), st.data())
def test_inner_counts_are_weighed_by_least_squares(fans, noise, data):
    """Against the general solution, where no count comes near 0."""
    parents, size = [], 1
    for _ in fans:
        widths = data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
        parents.append(np.repeat(np.arange(size, dtype=np.int32), widths))
        size = sum(widths)
    step = data.draw(st.integers(0, len(parents) - 1))
    leaf = np.array(data.draw(st.lists(st.integers(10**5, 10**5 + 99), min_size=size, max_size=size)))[:, None]
    above = np.arange(size)
    for one in reversed(parents[step:]):
        above = one[above]
    design = (above[None] == np.arange(int(above.max()) + 1)[:, None]).astype(float)
    own = inner_counts(leaf, parents, step)
    assert own.tolist() == (design @ leaf).astype(int).tolist()
    own = own + np.array(data.draw(st.lists(st.integers(-99, 99), min_size=len(own), max_size=len(own))))[:, None]
    made = consistent(leaf, parents, {step: Inner(counts=own.astype(float), noise=noise)})
    rows = np.concatenate([np.eye(size), design / sqrt(noise)])
    true = np.linalg.lstsq(rows, np.concatenate([leaf, own / sqrt(noise)]), rcond=None)[0]
    assert abs(made - true).max() <= 1


# How noisy counts are.


@pytest.mark.parametrize("scale", [0.005, 0.3, 1.0, 7.0])
def test_the_variance_is_that_of_the_law(scale):
    """Discrete Laplace noise, summed up; Gaussian noise of whole numbers has no more than real noise."""
    noisy = noisy_counts(np.zeros(1, np.int64), epsilon=Fraction(1) / Fraction(scale))
    x = np.arange(-2000, 2001)
    weight = np.exp(-np.abs(x) / noisy.scale)
    assert noisy.variance == pytest.approx(float((weight * x**2).sum() / weight.sum()), rel=1e-6, abs=1e-30)
    real = gaussian_counts(np.zeros(1, np.int64), rho=Fraction(1, 2) / Fraction(scale) ** 2)
    weight = np.exp(-(x**2) / (2 * real.scale**2))
    assert float((weight * x**2).sum() / weight.sum()) <= real.variance * (1 + 1e-9)


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/8"}])
def test_errors_are_those_of_the_published_counts(budget):
    """Two labels of four jobs each way: the squares of 400 errors; a false alarm has a probability below 1e-8.

    The fourth moment of Laplace noise is six times its squared variance, so a mean of squares has a deviation of at
    most sqrt(5 / 400) of itself, and the sums of several counts less.
    """
    table = private(list(G7) * 200, which=("job",))
    asked = DiffGen(**budget, specializations=3, score="max", consistent=False)
    found, said = [], []
    for _ in range(100):
        made = asked(table, Work())
        true = literal(table, made)
        found += [sum(counts) - sum(true[key]) for key, counts in groups(made).items()]
        said += made.errors[0].deviation.tolist()
        assert (made.errors[0].column, made.errors[0].labels) == ("job", made.labels[0])
    squares = np.square(found) / np.square(said)
    assert abs(squares.mean() - 1) < FALSE_ALARM * sqrt(5 / 400)
