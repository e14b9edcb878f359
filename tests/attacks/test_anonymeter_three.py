"""Singling out, linkability and inference: the kit, small tables by hand, and Anonymeter itself beside them."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks.finding import Finding, Outcome, Rate
from sfumato.attacks.inference import Inference, close
from sfumato.attacks.linkability import Linkability
from sfumato.attacks.neighbours import Space
from sfumato.attacks.singling_out import SinglingOut
from sfumato.core.randomness import Chance
from sfumato.tables.datasets.synthetic_census import census
from tests.attacks import kit

MIXED = ("age", "fnlwgt", "hours-per-week", "workclass", "occupation", "education", "marital-status", "sex")
THREE = [
    SinglingOut(trials=200),
    SinglingOut(kind="univariate"),
    Linkability(trials=200),
    Linkability(trials=200, neighbours=3),
    Inference(trials=200),
]


@pytest.mark.parametrize("attack", THREE, ids=lambda attack: f"{attack.name}-{getattr(attack, 'kind', '')}")
def test_the_kit(attack):
    subject = kit.raw_subject(census(500, seed=1), MIXED, ("income",), control=census(500, seed=2))
    kit.passes(attack, subject)


def test_nonsense_is_refused():
    kit.refuses(SinglingOut, kind="both", columns=0, trials=0, attempts=0)
    kit.refuses(Linkability, trials=0, neighbours=0, first="age")
    kit.refuses(Inference, trials=0, tolerance=-0.1, known=("age", "age"), secret=3)
    subject = kit.raw_subject(census(20, seed=1), ["age", "sex"])
    assert "sensitive" in Inference().fits(subject)
    assert "no quasi-identifier" in Linkability(first=("income",)).fits(subject)
    assert "second register" in Linkability(first=("age", "sex")).fits(subject)
    assert "two" in Linkability().fits(kit.raw_subject(census(20, seed=1), ["age"]))
    assert "no rows" in SinglingOut().fits(kit.raw_subject(census(20, seed=1)[:0], ["age"]))


def test_failed_statements_are_no_resistance():
    subject = kit.raw_subject(pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50}), ["a", "b"])
    found = SinglingOut(trials=50, attempts=200).run(subject, Chance(seed=1))
    assert found.rate.failed == 50
    kit.failed_trials_are_no_resistance(found)
    assert found.outcome is Outcome.NOT_TRIED


def test_singling_out_by_hand():
    """Ages 20, 30, 30, 40, jobs a, a, b, b. Alone in one column: 20 (as equal and as smallest), 40 (the same way).

    All four single out among the same people; among the control people 20, 20, 30, 41 only "at least 40" does.
    """
    people = pl.DataFrame({"age": ["20", "30", "30", "40"], "job": ["a", "a", "b", "b"]})
    control = pl.DataFrame({"age": ["20", "20", "30", "41"], "job": ["a", "a", "b", "b"]})
    subject = kit.raw_subject(people, ["age", "job"], control=control)
    found = SinglingOut(kind="univariate").run(subject, Chance(seed=1))
    assert (found.rate.hits, found.rate.trials, found.rate.failed) == (4, 5, 1)
    assert found.control is not None
    assert found.control.hits == 1


def test_a_generalized_release_is_read_by_its_labels():
    """[20-30) is the only row below 30: the statement fits people of 20 to 29, and 24 is the only one."""
    people = pl.DataFrame({"age": ["24", "35", "36", "37"]})
    release = pl.DataFrame({"age": ["[20-30)", "[30-40)", "[30-40)", "[30-40)"]})
    subject = kit.released_subject(release, people, ["age"])
    found = SinglingOut(kind="univariate").run(subject, Chance(seed=1))
    assert (found.rate.hits, found.rate.trials) == (1, 1)


def test_linkability_by_hand():
    """Four rows; both halves of person 1 fall on row 1; of person 2 on rows 2 and 3 on either side: chance 1/2."""
    people = pl.DataFrame({"a": ["w", "x", "x", "y"], "b": ["1", "2", "2", "4"]})
    subject = kit.raw_subject(people, ["a", "b"], numeric=frozenset())
    found = Linkability(first=("a",)).run(subject, Chance(seed=1))
    assert found.rate.hits == pytest.approx(1 + 0.5 + 0.5 + 1)
    assert found.naive.value == pytest.approx(1 / 4)


def test_inference_by_hand():
    """The nearest rows to (30, a) are the two of 30: their commonest secret is taken."""
    people = pl.DataFrame({"age": ["30", "30", "30", "60"], "s": ["flu", "flu", "hiv", "none"]})
    found = Inference().run(kit.raw_subject(people, ["age"], ["s"]), Chance(seed=1))
    assert found.rate.hits == 3
    assert found.naive.hits == 2


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1))
def test_close_is_symmetric_and_knows_signs(a, b, tolerance):
    first, second = np.array([a]), np.array([b])
    assert close(first, second, tolerance) == close(second, first, tolerance)
    assert close(first, second, tolerance) == close(-first, -second, tolerance)
    assert close(first, first, 0.0).all()
    if a * b < 0:
        assert not close(first, second, 0.99)[0]


@pytest.mark.parametrize("rows", [50, 6000])
def test_the_nearest_are_the_nearest(rows):
    """Against all distances computed one by one; 6,000 rows are enough for leaving out what is far.

    Three columns are numbers, so that far rows are left out by the order of one, too.
    """
    subject = kit.raw_subject(census(rows, seed=1), MIXED, control=census(20, seed=2))
    people = kit.texts(census(20, seed=2))
    space = Space.of(subject, people, MIXED)
    frame = pl.concat([subject.people, people])
    total = np.zeros((20, rows))
    for name in MIXED:
        if name in kit.NUMERIC:
            values = frame[name].cast(pl.Float64).to_numpy()
            apart = np.abs(values[rows:, None] - values[None, :rows]) / (values.max() - values.min())
            total += apart
        else:
            values = frame[name].to_numpy()
            total += values[rows:, None] != values[None, :rows]
    for person in range(20):
        _, edge = space.nearest(person)
        nearest = np.flatnonzero(total[person] <= total[person].min() + 1e-9)
        assert sorted(space.members(edge).tolist()) == nearest.tolist()
        drawn = space.drawn(person, 5, Chance(seed=person).generator())
        assert len(set(drawn.tolist())) == 5
        assert total[person][drawn].max() <= np.sort(total[person])[4] + 1e-9
    assert len(space.orders) == (3 if rows > 4096 else 0)


def anonymeter() -> ModuleType:
    """The library, which cannot be installed beside our versions by its own account: it asks for numpy below 1.27."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("anonymeter.evaluators")
    except ImportError as why:
        pytest.skip(f"anonymeter is not there (pip install --no-deps anonymeter==1.1.0): {why}")


def marginals(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Every column shuffled by itself."""
    draws = Chance(seed=seed).generator()
    return people.select(people[name].gather(draws.permutation(people.height)) for name in people.columns)


def noisy(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """A copy in which numbers moved a little and one word in ten is somebody else's."""
    draws = Chance(seed=seed).generator()
    made = []
    for name in people.columns:
        column, other = people[name], people[name].gather(draws.permutation(people.height))
        if name in kit.NUMERIC:
            made.append((column + column.std() * 0.1 * draws.standard_normal(people.height)).alias(name))
        else:
            keep = pl.Series(draws.random(people.height) < 0.9)
            made.append(column.zip_with(keep, other))
    return pl.DataFrame(made)


def real(rows: int, seed: int) -> pl.DataFrame:
    """Census people whose numbers have no ties: Anonymeter and we settle ties differently."""
    people, draws = census(rows, seed=seed).select(*MIXED, "income"), Chance(seed=seed).generator()
    return people.with_columns(
        (pl.col(name).cast(pl.Float64) + pl.Series(draws.random(rows))).alias(name)
        for name in MIXED
        if name in kit.NUMERIC
    )


def overlap(ours: Rate | None, theirs: object) -> bool:
    """Whether two intervals of 99.9 % meet: two attacks of equal rates fail this less than once in 10,000 times."""
    assert ours is not None
    wide = Rate(hits=ours.hits, trials=ours.trials, confidence=0.999)
    value, error = theirs.value, theirs.error
    return wide.low <= value + error and value - error <= wide.high


@pytest.mark.slow
@pytest.mark.parametrize("make", [marginals, noisy])
@pytest.mark.parametrize("threat", ["singling-out", "univariate", "linkability", "inference"])
def test_our_rates_are_those_of_anonymeter(make, threat):
    """600 people and as many for control, 400 trials: target, control and guesser agree within both intervals.

    The guesser is compared where he does the same: not for inference, where ours names the commonest secret.
    """
    library = anonymeter()
    people, control = real(600, 1), real(600, 2)
    release = make(people, 3)
    subject = kit.released_subject(release, people, MIXED, ("income",), control=control)
    found, theirs = _both(library, threat, subject, people, release, control)
    assert overlap(found.rate, theirs.attack_rate), (found.rate, theirs.attack_rate)
    assert overlap(found.control, theirs.control_rate), (found.control, theirs.control_rate)
    if threat != "inference":
        assert overlap(found.naive, theirs.baseline_rate), (found.naive, theirs.baseline_rate)


def _both(
    library: ModuleType,
    threat: str,
    subject: object,
    people: pl.DataFrame,
    release: pl.DataFrame,
    control: pl.DataFrame,
) -> tuple[Finding, object]:
    first, second = (
        ["age", "hours-per-week", "occupation", "sex"],
        ["fnlwgt", "workclass", "education", "marital-status"],
    )
    frames = {"ori": people.to_pandas(), "syn": release.to_pandas(), "control": control.to_pandas()}
    mixed = {name: frame[list(MIXED)] for name, frame in frames.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(1)  # noqa: NPY002
        if threat == "linkability":
            found = Linkability(trials=400, first=tuple(first)).run(subject, Chance(seed=1))
            theirs = library.LinkabilityEvaluator(**mixed, aux_cols=(first, second), n_attacks=400).evaluate(n_jobs=1)
        elif threat == "inference":
            found = Inference(trials=400).run(subject, Chance(seed=1))
            theirs = library.InferenceEvaluator(**frames, aux_cols=list(MIXED), secret="income", n_attacks=400)
            theirs.evaluate(n_jobs=1)
        else:
            mode = "univariate" if threat == "univariate" else "multivariate"
            found = SinglingOut(kind=mode, trials=400).run(subject, Chance(seed=1))
            theirs = library.SinglingOutEvaluator(**mixed, n_attacks=found.rate.trials, n_cols=3)
            theirs.evaluate(mode=mode)
        return found, theirs.results(confidence_level=0.999)
