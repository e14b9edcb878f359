"""Choices in a circuit are those of plain whole numbers; over 20,000 runs they follow the exponential mechanism."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.core.errors import DataError
from sfumato.core.randomness import Chance
from sfumato.parties.circuits import bits_of, evaluated, evaluated_runs, numbers_of
from sfumato.parties.diffgen import polynomial_choice
from sfumato.parties.diffgen.polynomial_choice import chosen_by_polynomials, coarse, heights_circuit, span, weight
from sfumato.parties.diffgen.selection import (
    MOST,
    Shape,
    choice_circuit,
    chosen_by,
    gap_weights,
    joint_inputs,
    own_inputs,
    weight_bits,
)
from sfumato.parties.random_selection import BIAS, selected
from sfumato.parties.simulation import together
from tests.parties.private_pair.plainly import chosen_plainly, joint_score, random_number, weights_of
from tests.parties.ready import Repeatable, ready_pair
from tests.weights import examples

TENTH = gap_weights(Fraction(1, 10))
COUNT = st.integers(0, 60)


@st.composite
def counted(draw: st.DrawFn) -> tuple[list[np.ndarray], list[np.ndarray], list[int]]:
    """Tables of both parties for some candidates, and prices."""
    classes, children = draw(st.integers(1, 4)), draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    tables = [
        [np.array(draw(st.lists(COUNT, min_size=n * classes, max_size=n * classes))).reshape(n, classes)
         for n in children] for _ in range(2)
    ]  # fmt: skip
    return tables[0], tables[1], [draw(st.integers(0, 30)) for _ in children]


@given(counted(), st.data())
@examples(30)
def test_horizontal_choices_are_those_of_joint_counts(given_, data: st.DataObject):
    ours, theirs, prices = given_
    shape = Shape(children=tuple(map(len, ours)), classes=ours[0].shape[1])
    bits = weight_bits(shape.count, TENTH) + BIAS
    chance = [data.draw(st.integers(0, (1 << bits) - 1)) for _ in range(2)]
    inputs = [joint_inputs(ours, prices), joint_inputs(theirs, [0] * shape.count)]
    made = [np.concatenate([own, bits_of([one], bits)[0]]) for own, one in zip(inputs, chance, strict=True)]
    found = evaluated(choice_circuit(shape, TENTH), made[0], made[1])
    scores = [joint_score(*one) for one in zip(ours, theirs, prices, strict=True)]
    expected = chosen_plainly(scores, TENTH, chance[0] ^ chance[1])
    assert [numbers_of(one[None])[0] for one in found] == [expected, expected]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-300, 300)), min_size=2, max_size=7), st.data())
@examples(30)
def test_vertical_choices_are_those_of_both_parties_scores(given_: list[tuple[int, int]], data: st.DataObject):
    owners, scores = zip(*given_, strict=True)
    shape = Shape(owners=owners)
    bits = weight_bits(shape.count, TENTH) + BIAS
    chance = [data.draw(st.integers(0, (1 << bits) - 1)) for _ in range(2)]
    inputs = [own_inputs([score for owner, score in given_ if owner == me]) for me in (0, 1)]
    made = [np.concatenate([own, bits_of([one], bits)[0]]) for own, one in zip(inputs, chance, strict=True)]
    found = numbers_of(evaluated(choice_circuit(shape, TENTH), made[0], made[1])[0][None])[0]
    assert found == chosen_plainly(scores, TENTH, chance[0] ^ chance[1])


def test_both_parties_choose_as_their_random_bits_say():
    """Over the in-process transport, both partitions: the same choice as in the open, from both parties' bits."""
    sending, receiving = ready_pair()
    ours, theirs = [np.array([[9, 1], [2, 3]]), np.array([[5, 6]])], [np.array([[0, 4], [4, 0]]), np.array([[9, 0]])]
    shape, scores = Shape(children=(2, 1), classes=2), [joint_score(a, b) for a, b in zip(ours, theirs, strict=True)]
    upright = Shape(owners=(0, 1, 1))
    for run in range(3):
        seeds = [b"%d of %d" % (me, run) for me in (0, 1)]
        sides = zip((sending, receiving), (ours, theirs), seeds, strict=True)
        talks = [
            chosen_by(ready, shape, joint_inputs(own, [0, 0]), TENTH, draw=Repeatable(seed))
            for ready, own, seed in sides
        ]
        chance = random_number(seeds[0], 2, TENTH) ^ random_number(seeds[1], 2, TENTH)
        assert together(talks) == [chosen_plainly(scores, TENTH, chance)] * 2
        talks = [
            chosen_by(ready, upright, own_inputs(own), TENTH, draw=Repeatable(seed))
            for ready, own, seed in zip((sending, receiving), ([7], [3, 9]), seeds, strict=True)
        ]
        chance = random_number(seeds[0], 3, TENTH) ^ random_number(seeds[1], 3, TENTH)
        assert together(talks) == [chosen_plainly([7, 3, 9], TENTH, chance)] * 2


RUNS = 20_000


def winners(shape: Shape, inputs: list[np.ndarray], epsilon: Fraction, seed: int) -> np.ndarray:
    """How often each candidate is chosen in 20,000 runs of the circuit."""
    made, dice = gap_weights(epsilon), Chance(seed=seed).generator()
    bits = weight_bits(shape.count, made) + BIAS
    sides = [
        np.concatenate([np.broadcast_to(own, (RUNS, len(own))), dice.integers(0, 2, (RUNS, bits), np.uint8)], axis=1)
        for own in inputs
    ]
    found = evaluated_runs(choice_circuit(shape, made), sides[0], sides[1])
    return np.bincount(found @ (1 << np.arange(found.shape[1])), minlength=shape.count)


@pytest.mark.parametrize("epsilon", ["1/5", "1"])
def test_winners_follow_the_exponential_mechanism(epsilon: str):
    """Both partitions, 20,000 runs each with fixed seeds; for fresh ones, chi-square with false alarms below 1e-6."""
    asked = Fraction(epsilon)
    ours = [np.array([[9, 1], [2, 3]]), np.array([[5, 6]]), np.array([[3, 4], [1, 0], [5, 5]])]
    theirs = [np.array([[0, 4], [4, 0]]), np.array([[9, 0]]), np.array([[1, 1], [1, 1], [3, 2]])]
    joint = Shape(children=(2, 1, 3), classes=2), [joint_inputs(ours, [0] * 3), joint_inputs(theirs, [0] * 3)]
    upright = Shape(owners=(0, 1, 1, 0)), [own_inputs([7, 6]), own_inputs([3, 9])]
    for (shape, inputs), scores in (
        (joint, [joint_score(a, b) for a, b in zip(ours, theirs, strict=True)]),
        (upright, [7, 3, 9, 6]),
    ):
        found = winners(shape, inputs, asked, seed=24)
        ideal = np.exp(float(asked) * (np.array(scores) - max(scores)))
        assert chisquare(found, RUNS * ideal / ideal.sum()).pvalue > 1e-6
        whole = np.array(weights_of(scores, gap_weights(asked)), float)
        assert chisquare(found, RUNS * whole / whole.sum()).pvalue > 1e-6


def test_a_wrong_epsilon_would_be_seen():
    """The known-bad twin: half of epsilon in the exponent, as for scores that are not monotone."""
    found = winners(Shape(owners=(0, 1, 1, 0)), [own_inputs([7, 6]), own_inputs([3, 9])], Fraction(1, 2), seed=24)
    ideal = np.exp(np.array([7, 3, 9, 6]) - 9.0)
    assert chisquare(found, RUNS * ideal / ideal.sum()).pvalue < 1e-6


# The exponential by oblivious polynomials.


def test_heights_are_masked_gaps():
    shape, scores, masks = Shape(owners=(0, 1, 1)), [40, 100, 97], [5, 10**12, 2**72 - 1]
    circuit = heights_circuit(shape, 50)
    ours = np.concatenate([own_inputs(scores[:1]), bits_of(masks, polynomial_choice.MASKED - 1).ravel()])
    found = evaluated(circuit, ours, own_inputs(scores[1:]))[1].reshape(3, -1)
    assert [a + b for a, b in zip(numbers_of(found, signed=True), masks, strict=True)] == [0, 50, 47]


def test_weights_by_polynomials_are_the_series(monkeypatch: pytest.MonkeyPatch):
    """The shares that reach the choice add up to the weights."""
    shares: list[list[int]] = []

    def noted(ready, own, *, bits):
        shares.append(own)
        return (yield from selected(ready, own, bits=bits))

    monkeypatch.setattr(polynomial_choice, "selected", noted)
    sending, receiving = ready_pair()
    shape, asked, step = Shape(owners=(0, 1)), Fraction(1), coarse(Fraction(1))
    talks = [
        chosen_by_polynomials(ready, shape, own_inputs(own), asked)
        for ready, own in ((sending, [7]), (receiving, [10]))
    ]
    found = together(talks)
    assert found[0] == found[1]
    modulus = 1 << (2 * weight(step, span(step))).bit_length()
    made = [sum(pair) % modulus for pair in zip(*shares, strict=True)]
    assert made == [weight(step, span(step) - 3), weight(step, span(step))]


def test_too_many_records_are_refused():
    with pytest.raises(DataError, match="up to"):
        own_inputs([MOST + 1])
