"""Permute and flip in a circuit: the law of the coins, exactly private, and the same as OpenDP's choices."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.core.randomness import Chance
from sfumato.parties.circuits import evaluated_runs, numbers_of
from sfumato.parties.diffgen.selection import (
    Shape,
    coin_bits,
    coin_circuit,
    coin_width,
    exponential_below,
    flipped,
    flipped_by,
    gap_weights,
    own_inputs,
)
from sfumato.parties.simulation import together
from tests.parties.private_pair.plainly import weights_of
from tests.parties.ready import Repeatable, ready_pair
from tests.weights import examples

RUNS = 20_000


def law(scores: list[int], epsilon: Fraction) -> list[Fraction]:
    """The probability of each candidate, over all ways in which coins can fall."""
    weights = gap_weights(epsilon)
    heads = [Fraction(one, weights.highest) for one in weights_of(scores, weights)]
    found = [Fraction(0)] * len(scores)
    for passed in product((0, 1), repeat=len(scores)):
        chance = prod((p if one else 1 - p for p, one in zip(heads, passed, strict=True)), start=Fraction(1))
        for place in np.flatnonzero(passed).tolist():
            found[place] += chance / sum(passed)
    return found


def test_the_law_is_a_law():
    assert sum(law([3, 5, 5, 1], Fraction(1, 2))) == 1
    assert gap_weights(Fraction(1, 2)).highest == 1 << coin_width(gap_weights(Fraction(1, 2)))


@given(st.lists(st.integers(0, 12), min_size=2, max_size=5), st.data(), st.sampled_from(("1/20", "1/3", "2")))
@examples(80, whole=True)
def test_choices_are_private_exactly(scores: list[int], data: st.DataObject, epsilon: str):
    moved = [one + data.draw(st.integers(0, 1)) for one in scores]
    most = exponential_below(Fraction(epsilon))
    for one, other in zip(law(scores, Fraction(epsilon)), law(moved, Fraction(epsilon)), strict=True):
        assert one <= most * other
        assert other <= most * one


def test_winners_follow_the_law():
    """20,000 runs with a fixed seed; for fresh ones, chi-square with false alarms below 1e-6."""
    scores, asked = [7, 3, 9, 6], Fraction(1, 3)
    shape, made, dice = Shape(owners=(0, 1, 1, 0)), gap_weights(asked), Chance(seed=24).generator()
    sides = [
        np.concatenate(
            [np.broadcast_to(own, (RUNS, len(own))), dice.integers(0, 2, (RUNS, coin_bits(4, made)), np.uint8)], axis=1
        )
        for own in (own_inputs([7, 6]), own_inputs([3, 9]))
    ]
    found = evaluated_runs(coin_circuit(shape, made), sides[0], sides[1])
    counts = np.bincount([numbers_of(one[None])[0] for one in found], minlength=4)
    assert chisquare(counts, RUNS * np.array(law(scores, asked), float)).pvalue > 1e-6


def test_both_parties_learn_the_same():
    sending, receiving = ready_pair()
    shape = Shape(owners=(0, 1, 1))
    for run in range(2):
        talks = [
            flipped_by(ready, shape, own_inputs(own), gap_weights(Fraction(1)), draw=Repeatable(b"%d" % run))
            for ready, own in ((sending, [7]), (receiving, [3, 9]))
        ]
        found = together(talks)
        assert found[0] == found[1]
    talks = [
        flipped(ready, shape, own_inputs(own), Fraction(30)) for ready, own in ((sending, [1]), (receiving, [2, 9]))
    ]
    assert together(talks) == [2, 2]
