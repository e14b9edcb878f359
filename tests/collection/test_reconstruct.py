"""Reconstruction against literal twins; the likelihood never falls; known distributions come back; intervals cover."""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.collection.channels import (
    Evidence,
    category_channel,
    evidence,
    number_channel,
    shown_bits,
    shown_codes,
    shown_numbers,
)
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.privacy_measures import _by_ones, _of_bits, mutual_information, privacy_given
from sfumato.collection.reconstruction import (
    Stopping,
    inverted,
    likelihood,
    onto_simplex,
    reconstruct,
    stepped,
    unbiased,
    with_intervals,
)
from sfumato.collection.specification import number_question
from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import Chance
from tests.weights import examples

LAWS = st.sampled_from(["uniform", "gaussian", "laplace"])
LETTERS = tuple("abcdef")


def number(law: Any, steps: int, size: int) -> NoisyNumber:
    return NoisyNumber.declared("x", law, low=0, high=steps, step=1, size=size)


@lru_cache(maxsize=100_000)
def mass(question: NoisyNumber, y: int) -> float:
    """The law of the noise, as it is written."""
    size = float(question.spread)
    weight = {
        "uniform": lambda y: float(abs(y) <= size),
        "laplace": lambda y: exp(-abs(y) / size),
        "gaussian": lambda y: exp(-(y**2) / (2 * size**2)),
    }[question.law]
    return weight(y) / sum(weight(t) for t in range(-300, 301))


@given(LAWS, st.integers(3, 12), st.integers(1, 6), st.data())
@examples(40)
def test_the_matrix_is_the_mean_over_a_cell_of_all_that_can_be_shown(law: str, steps: int, size: int, data: Any):
    question = number(law, steps, size)
    cells = data.draw(st.integers(2, steps + 1))
    channel = number_channel(question, cells)
    assert channel.bins is not None
    starts = [-(10**9), *channel.bins.tolist(), 10**9]
    first = [n * (steps + 1) // cells for n in range(cells + 1)]
    for cell in range(cells):
        inside = range(first[cell], first[cell + 1])
        for outcome in data.draw(st.lists(st.integers(0, len(starts) - 2), min_size=1, max_size=3)):
            low, high = max(starts[outcome], -260), min(starts[outcome + 1], 300)
            told = sum(mass(question, z - x) for x in inside for z in range(low, high)) / len(inside)
            assert channel.matrix[outcome, cell] == pytest.approx(told, abs=1e-9)
    assert channel.matrix.sum(axis=0) == pytest.approx(1)


def literal_round(shares: list[float], shown: list[int], kernel: Any) -> list[float]:
    """Formula (20.5), answer by answer."""
    found = [0.0] * len(shares)
    for z in shown:
        below = sum(kernel[z][w] * shares[w] for w in range(len(shares)))
        for a in range(len(shares)):
            found[a] += kernel[z][a] * shares[a] / below / len(shown)
    return found


@given(LAWS, st.sampled_from(["em", "bayes"]), st.integers(0, 1000))
@examples(40)
def test_rounds_are_the_formula_answer_by_answer(law: str, method: Any, seed: int):
    question = number(law, 11, 3)
    true = Chance(seed=seed).generator().integers(2, 8, 60).astype(float)
    seen = evidence(question, shown_numbers(question, true, Chance(seed=seed)), cells=4)
    kernel = seen.channel.matrix if method == "em" else seen.channel.densities
    shares = [0.25] * 4
    for _ in range(5):
        shares = literal_round(shares, seen.codes.tolist(), kernel)
    found = reconstruct(seen, method=method, stopping=Stopping(rule="likelihood", limit=1e-300, rounds=5))
    assert found.rounds <= 5
    if found.rounds == 5:
        assert found.shares == pytest.approx(shares, abs=1e-9)


@given(st.integers(2, 8), st.integers(2, 12), st.integers(0, 10_000))
@examples(120)
def test_the_likelihood_never_falls(cells: int, outcomes: int, seed: int):
    rng = Chance(seed=seed).generator()
    matrix = rng.dirichlet(np.full(outcomes, 0.5), size=cells).T
    counts, shares = rng.integers(0, 50, outcomes).astype(float) + (np.arange(outcomes) == 0), np.full(cells, 1 / cells)
    before = likelihood(shares, counts, matrix)
    for _ in range(15):
        shares = stepped(shares, counts, matrix)
        after = likelihood(shares, counts, matrix)
        assert after >= before - 1e-12
        assert shares.sum() == pytest.approx(1)
        assert (shares >= 0).all()
        before = after


def test_em_ends_at_the_maximum():
    """At the maximum no cell that is held could gain: the derivative is 1 there, and at most 1 elsewhere."""
    question = KeptCategory.generalized("q", LETTERS, keep="1/2")
    true = Chance(seed=3).generator().choice(6, size=4000, p=[0.5, 0.3, 0.1, 0.05, 0.05, 0])
    seen = evidence(question, [LETTERS[n] for n in shown_codes(question, true, Chance(seed=4))])
    found = reconstruct(seen, stopping=Stopping(rule="likelihood", limit=1e-15, rounds=20_000))
    slope = (seen.counts / seen.answers / (seen.channel.matrix @ found.shares)) @ seen.channel.matrix
    assert (slope <= 1 + 1e-4).all()
    assert slope[found.shares > 0.01] == pytest.approx(1, abs=1e-4)
    assert list(found.likelihoods) == sorted(found.likelihoods)
    if (unbiased(seen) >= 0).all():
        assert found.shares == pytest.approx(unbiased(seen), abs=1e-3)


SHAPES = {"plateau": np.repeat([0.0, 1.0, 1.0, 0.0], 25), "triangle": np.minimum(np.arange(100), np.arange(100)[::-1])}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("law", ["uniform", "gaussian"])
@pytest.mark.parametrize(("privacy", "error"), [(0.25, 0.2), (0.5, 0.24), (1, 0.45), (2, 0.6)])
def test_known_distributions_come_back(shape: str, law: Any, privacy: float, error: float):
    """Half the sum of differences, of 20 cells and 20,000 answers; seeds are fixed. Raw counts are further off."""
    weights = SHAPES[shape] / SHAPES[shape].sum()
    question = number_question("x", law, low=0, high=99, privacy=privacy)
    true = Chance(seed=1).generator().choice(100, size=20_000, p=weights).astype(float)
    shown = shown_numbers(question, true, Chance(seed=2))
    told = weights.reshape(20, 5).sum(axis=1)
    found = reconstruct(evidence(question, shown, cells=20)).shares
    naive = np.bincount(np.clip(shown // 5, 0, 19).astype(int), minlength=20) / len(shown)
    apart, raw = (float(np.abs(one - told).sum() / 2) for one in (found, naive))
    assert apart < error / 2
    assert apart < 0.75 * raw


def test_more_answers_are_nearer():
    question = number_question("x", "uniform", low=0, high=99, privacy=1)
    weights = SHAPES["triangle"] / SHAPES["triangle"].sum()
    errors = []
    for many in (500, 50_000):
        apart = []
        for seed in range(5):
            true = Chance(seed=seed).generator().choice(100, size=many, p=weights).astype(float)
            seen = evidence(question, shown_numbers(question, true, Chance(seed=seed + 50)), cells=20)
            apart.append(np.abs(reconstruct(seen).shares - weights.reshape(20, 5).sum(axis=1)).sum())
        errors.append(np.mean(apart))
    assert errors[1] < errors[0] / 2


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
@examples(60)
def test_the_projection_is_the_nearest_distribution(shares: list[float]):
    given_, found = np.array(shares), onto_simplex(np.array(shares))
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    slope = given_ - found  # the nearest point: the same for all that are held, and not more for the others
    held = found > 0
    assert slope[held] == pytest.approx(slope[held][0], abs=1e-9)
    assert (slope[~held] <= slope[held][0] + 1e-9).all()


@pytest.mark.parametrize(
    "question",
    [
        KeptCategory.within("q", LETTERS[:3], epsilon=1),
        UnaryBits.within("q", LETTERS[:3], epsilon=1),
        UnaryBits.declared("q", LETTERS[:3], keep="3/4", flip="1/5", one="4/5", zero="1/10"),
    ],
    ids=["generalized", "unary", "rappor"],
)
def test_inversion_has_no_bias(question: Any):
    """The mean over everything that can be shown, each with its probability, is the truth: exactly, not by draws."""
    truth = np.array([0.6, 0.3, 0.1])
    if isinstance(question, KeptCategory):
        shown = [str(one) for one in question.values]
        chances = category_channel(question).matrix
        estimates = np.array([unbiased(evidence(question, [one])) for one in shown])
    else:
        keep, flip = map(float, question.shown)
        rows = np.array([[int(b) for b in f"{n:03b}"] for n in range(8)], bool)
        estimates = np.array([unbiased(evidence(question, row[None])) for row in rows])
        each = np.where(np.eye(3, dtype=bool)[None], keep, flip)
        chances = np.where(rows[:, None, :], each, 1 - each).prod(axis=2)
    assert (chances @ truth) @ estimates == pytest.approx(truth)


def test_rappor_frequencies_are_those_of_the_closed_form():
    question = UnaryBits.declared("q", LETTERS, keep="3/4", flip="1/4", one="3/4", zero="1/2")
    true = Chance(seed=1).generator().choice(6, size=30_000, p=[0.5, 0.2, 0.1, 0.1, 0.07, 0.03])
    bits = shown_bits(question, np.eye(6, dtype=bool)[true], Chance(seed=2))
    f, p, q = 0.5, 0.5, 0.75  # Erlingsson, Pihur, Korolova: (c - (p + fq/2 - fp/2) N) / ((1 - f)(q - p) N)
    closed = (bits.mean(axis=0) - (p + f * q / 2 - f * p / 2)) / ((1 - f) * (q - p))
    seen = evidence(question, bits)
    assert unbiased(seen) == pytest.approx(closed)
    assert np.abs(inverted(seen).shares - np.bincount(true, minlength=6) / len(true)).max() < 0.06
    assert np.abs(reconstruct(seen).shares - np.bincount(true, minlength=6) / len(true)).max() < 0.06


def test_intervals_cover():
    """200 intervals at 95 %: fewer than 175 would hold once in ten million trials, were the coverage 0.95."""
    question = KeptCategory.within("q", LETTERS[:4], epsilon=1)
    numbers = number_question("x", "uniform", low=0, high=39, privacy="0.5")
    weights, held, numeric = np.array([0.4, 0.3, 0.2, 0.1]), 0, 0
    for seed in range(50):
        rng = Chance(seed=seed).generator()
        true = rng.choice(4, size=3000, p=weights)
        chance = Chance(seed=seed + 100)
        seen = evidence(question, [LETTERS[n] for n in shown_codes(question, true, chance)])
        found = with_intervals(seen, method="inversion", chance=chance)
        held += int(((found.low <= weights) & (weights <= found.high)).sum())
        inside = true * 10.0 + rng.integers(0, 10, len(true))
        seen = evidence(numbers, shown_numbers(numbers, inside, chance), cells=4)
        found = with_intervals(seen, chance=chance, resamples=100)
        numeric += int(((found.low <= weights) & (weights <= found.high)).sum())
    assert held >= 175
    assert numeric >= 165


def test_early_rules_stop_early_and_say_so():
    question = number_question("x", "uniform", low=0, high=99, privacy=1)
    true = Chance(seed=1).generator().normal(50, 10, 5000)
    seen = evidence(question, shown_numbers(question, true, Chance(seed=2)), cells=20)
    rounds = [
        reconstruct(seen, stopping=Stopping(rule=rule)).rounds for rule in ("mean-change", "chi-square", "likelihood")
    ]
    assert max(rounds[:2]) < rounds[2]
    assert reconstruct(seen, stopping=Stopping(rounds=3)).rounds == 3
    assert reconstruct(seen, method="bayes").likelihoods == ()


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_mutual_information_of_bits_by_their_number(epsilon: str):
    keep, flip = map(float, UnaryBits.within("q", LETTERS, epsilon=epsilon).shown)
    assert _by_ones(6, keep, flip) == pytest.approx(_of_bits(6, keep, flip))


def test_privacy_that_is_given():
    """Warner with 3/4: 1 - H(3/4) bits; uniform noise over all of the range: the half of what others would tell."""
    coin = privacy_given(KeptCategory.warner("q", ("a", "b"), truth="3/4"))
    assert coin.information == pytest.approx(0.188722, abs=1e-6)
    assert coin.loss == pytest.approx(1 - 2**-0.188722, abs=1e-6)
    assert privacy_given(UnaryBits.items("q", LETTERS, epsilon=1)).entropy == 6
    wide, narrow = (privacy_given(number_question("x", "laplace", low=0, high=99, privacy=p)) for p in (2, "0.5"))
    assert wide.information < narrow.information < narrow.entropy
    assert wide.shares[0.95] == pytest.approx(2, abs=0.01)
    with pytest.raises(ParameterError, match="add up to 1"):
        mutual_information(np.eye(2), np.array([0.5, 0.6]))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (np.array([1.0, np.nan]), "row 2: nan was not shown"),
        (np.array([0.5]), "was not shown by it"),
        (np.array([500.0]), "was not shown by it"),
        (["12", "x"], "'x' was not shown by it"),
        ([], "there are no answers"),
    ],
)
def test_what_was_not_shown_is_no_evidence(shown: Any, words: str):
    with pytest.raises(DataError, match=words):
        evidence(number("uniform", 99, 50), shown)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda seen: evidence(number("uniform", 9, 5), np.array([1.0]), cells=11), "at most 10"),
        (lambda seen: evidence(KeptCategory.warner("q", ("a", "b"), truth="3/4"), ["a"], cells=3), "for numbers"),
        (lambda seen: evidence(UnaryBits.items("q", ("a", "b"), epsilon=1), ["b00"]), "see baskets"),
        (lambda seen: reconstruct(seen, method="inversion"), "for categories"),
        (lambda seen: reconstruct(seen, method="guess"), "must be one of"),
        (lambda seen: Stopping(rule="soon"), "must be one of"),
        (lambda seen: Stopping(limit=0), "above 0"),
        (lambda seen: with_intervals(seen, confidence=2), "confidence"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, words: str):
    seen: Evidence = evidence(number("uniform", 9, 5), np.array([1.0, 2.0]))
    with pytest.raises(ParameterError, match=words):
        call(seen)
