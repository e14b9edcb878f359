"""Private selection on hidden scores: exponential mechanism and permute-and-flip in a garbled circuit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import DataError, ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuit_arithmetic import (
    add,
    chosen_index,
    less,
    looked_up,
    maximum,
    prefix_sums,
    product,
    select,
    subtract,
    wider,
)
from sfumato.parties.circuits import ZERO, Bits, Circuit, CircuitBuilder, Wires, bits_of, numbers_of
from sfumato.parties.conversation import Talk
from sfumato.parties.garbled_circuits import compute
from sfumato.parties.oblivious_transfer import Receiving, Sending
from sfumato.parties.random_selection import BIAS, random_bits, scaled
from sfumato.parties.ristretto import Draw

# Scores that two parties' records make together, as words of a circuit: Max on joint counts (algorithm 7.6).
#
# Of each child value both parties put in, class by class, how many more records they have than of the last class. The
# most frequent class of both together has as many more as the greatest of the sums, or none; adding up the children
# and the records of the last class gives the score (equation 6.4). So one sum is spared for each child.


WIDTH = 32
"""Binary digits of scores and counts."""
MOST = 2**28
"""More records than this no party may have, so that sums of both fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is public about scores: how many there are, and of what each is made."""

    owners: tuple[int, ...] = ()
    """Where each score is one party's own: whose (0 for the garbler); then there is nothing else."""
    children: tuple[int, ...] = ()
    """Where scores are made of both parties' counts: how many child values each candidate has."""
    classes: int = 1
    """How many classes there are."""

    @property
    def count(self) -> int:
        """How many candidates there are."""
        return len(self.owners) or len(self.children)

    def bits(self, party: int) -> int:
        """How many bits a party puts in."""
        if self.owners:
            return WIDTH * self.owners.count(party)
        return WIDTH * (self.count + sum(self.children) * (self.classes - 1))


def joint_inputs(tables: Sequence[NDArray[np.int64]], prices: Sequence[int]) -> Bits:
    """One's own counts (child values x classes of each candidate) as bits; prices are public, one party takes them."""
    last = np.array([table[:, -1].sum() for table in tables], np.int64) - np.asarray(prices, np.int64)
    more = np.concatenate([(table[:, :-1] - table[:, -1:]).ravel() for table in tables])
    return _bits(np.concatenate([last, more]))


def own_inputs(scores: Sequence[int]) -> Bits:
    """One's own scores as bits."""
    return _bits(np.asarray(scores, np.int64))


def scores_of(build: CircuitBuilder, shape: Shape, ours: Wires, theirs: Wires) -> Wires:
    """Candidates x digits: the scores, signed."""
    left, right = ours.reshape(-1, WIDTH), theirs.reshape(-1, WIDTH)
    if shape.owners:
        mine = np.asarray(shape.owners) == 0
        scores = np.empty((shape.count, WIDTH), np.int64)
        scores[mine], scores[~mine] = left, right
        return scores
    summed = add(build, left, right)
    last, rest = summed[: shape.count], summed[shape.count :]
    if shape.classes == 1:
        return last
    more = rest.reshape(-1, shape.classes - 1, WIDTH)
    return add(build, last, _by_candidate(build, shape, _greatest(build, more)))


def _greatest(build: CircuitBuilder, more: Wires) -> Wires:
    """Child values x digits: the greatest of the differences, or 0."""
    sign = more[..., -1:]
    rows = build.and_(more, build.not_(sign))
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        first, second = rows[:, :half], rows[:, half : 2 * half]
        better = select(build, less(build, first, second), second, first)
        rows = np.concatenate([better, rows[:, 2 * half :]], axis=1)
    return rows[:, 0]


def _by_candidate(build: CircuitBuilder, shape: Shape, values: Wires) -> Wires:
    """Candidates x digits: sums over each candidate's child values; those that one has fewer are constant 0."""
    many = np.asarray(shape.children)
    padded = np.full((shape.count, int(many.max()), WIDTH), ZERO)
    owner = np.repeat(np.arange(shape.count), many)
    padded[owner, np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)] = values
    while padded.shape[1] > 1:
        half = padded.shape[1] // 2
        both = add(build, padded[:, :half], padded[:, half : 2 * half])
        padded = np.concatenate([both, padded[:, 2 * half :]], axis=1)
    return padded[:, 0]


def _bits(numbers: NDArray[np.int64]) -> Bits:
    if numbers.size and np.abs(numbers).max() > MOST:
        raise DataError(f"two parties can choose among scores of up to {MOST:,} records; there are more")
    return bits_of(numbers, WIDTH, signed=True).ravel()


# Whole weights for the exponential mechanism that cost no privacy by their rounding.
#
# The thesis takes the floor of exp(e u) 10^l (section 7.4.2): next to a floor the ratio of two weights can be larger
# than e^e, up to without limit where a weight becomes 0, and nothing pays for that. Here a weight depends on the gap
# of a score to the highest one, and is a product of two whole numbers from public tables, w(d) = upper[d // s] lower[d
# % s].
#
# Claim: w(d + 1) <= w(d) <= e^epsilon w(d + 1) for every gap d, exactly; from the last gap of the tables on, the weight
#     stays as it is. Where one record more moves no score down and none by more than 1, choosing with probabilities in
#     proportion to the weights is epsilon-differentially private, and rounding costs nothing.
# Proof: one more record raises each score by 0 or 1, and with them the highest. If the highest rises, every gap grows
#     by 0 or 1 and every weight is multiplied by something between e^-epsilon and 1; if it does not, every gap shrinks
#     by 0 or 1 and the factors lie between 1 and e^epsilon. Either way the weight of one candidate and the sum of all
#     move in the same direction, each by a factor of at most e^epsilon, and so does their ratio.
# Source: document 003, section 7.4.2, corrected. The exponent is epsilon times the score, not half of it, as the
#     score is monotone (McSherry, Talwar 2007, remark after theorem 6).
# Limits: gaps beyond the tables weigh what the last one does, about 2^-20 of the highest weight; steps between
#     whole numbers lose up to 1/32 of epsilon's effect, never more than it.


SPREAD = 20
"""Binary digits between the highest weight and the lowest."""
STEPS = 32
"""The lowest entries of the tables are so large that a step of epsilon is at least this many whole numbers."""
LEAST = Fraction(1, 10**5)
"""No choice of two parties costs less: the tables would be too long for a circuit."""
_DIGITS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class GapWeights:
    """The weight of each gap to the highest score."""

    upper: tuple[int, ...]
    """By the gap's upper digits."""
    lower: tuple[int, ...]
    """By its lower digits; their number is a power of two."""

    @property
    def last(self) -> int:
        """The gap from which on the weight stays the same."""
        return len(self.upper) * len(self.lower) - 1

    @property
    def highest(self) -> int:
        """The weight of no gap."""
        return self.upper[0] * self.lower[0]

    def of(self, gap: int) -> int:
        """The weight of one gap."""
        at, rest = divmod(min(gap, self.last), len(self.lower))
        return self.upper[at] * self.lower[rest]


@lru_cache(maxsize=32)
def gap_weights(epsilon: Fraction) -> GapWeights:
    """Tables for which the claim holds; the highest weight is a power of two.

    From the first entry downwards each is the smallest whole number that the one above allows.
    """
    if epsilon < LEAST:
        raise ParameterError(
            f"one choice of two parties must cost an epsilon of at least {float(LEAST):g}, not {float(epsilon):.3g}; "
            "a larger epsilon or fewer specializations would do"
        )
    ratio = exponential_below(epsilon)
    gaps = ceil(SPREAD * log(2) / float(epsilon)) + 1
    size = 1 << (gaps - 1).bit_length() // 2
    floor = max(ceil(STEPS / (ratio - 1)), STEPS).bit_length()
    lower = _descended(floor + ceil(size * float(epsilon) / log(2)), size, ratio)
    upper = _descended(floor + SPREAD, -(-gaps // size), ratio * lower[0] / lower[-1])
    return GapWeights(upper=upper, lower=lower)


def exponential_below(epsilon: Fraction) -> Fraction:
    """A fraction of few digits that is at most e^epsilon, and nearly as much.

    >>> float(exponential_below(Fraction(1)))
    2.718281828459045
    """
    term = total = Fraction(1)
    for number in range(1, 40 + ceil(4 * epsilon)):
        term = term * epsilon / number
        total += term
    return Fraction((total.numerator << _DIGITS) // total.denominator, 1 << _DIGITS)


def _descended(bits: int, size: int, ratio: Fraction) -> tuple[int, ...]:
    """So many numbers from 2^bits downwards, none less than the one above over the ratio."""
    numbers = [1 << bits]
    while len(numbers) < size:
        numbers.append(-(-numbers[-1] * ratio.denominator // ratio.numerator))
    return tuple(numbers)


# The exponential mechanism on scores that nobody knows, in one garbled circuit.
#
# Claim: two parties learn the index of the chosen candidate and nothing else. Candidate i is chosen with probability
#     w(m - u_i) / S, where m is the highest score, w are `GapWeights` and S is the sum of all weights, but for the
#     factor 1 +- 2^-64 of the random value: it costs the epsilon of the weights and 2^-63 more.
# Source: document 003, algorithms 7.2 and 7.5 to 7.7 in one: MAX, the exponential, SUM, the random value and
#     COMPARISON. No share of any of them leaves the circuit. In the thesis the exponential is an oblivious polynomial
#     (`polynomial_choice`); a table costs an and gate for each entry.
# Cost: about 1,700 and gates for each candidate, most of them for the product of two table entries.


Choosing = Callable[[Sending | Receiving, Shape, Bits, Fraction], Talk[int]]
"""How two parties choose, for what their weights may cost: by coins, in one circuit, or with oblivious polynomials."""


def chosen(ready: Sending | Receiving, shape: Shape, inputs: Bits, epsilon: Fraction) -> Talk[int]:
    """The index of the chosen candidate, from one's own part of the scores."""
    return (yield from chosen_by(ready, shape, inputs, gap_weights(epsilon)))


def chosen_by(
    ready: Sending | Receiving, shape: Shape, inputs: Bits, weights: GapWeights, *, draw: Draw = fresh_key
) -> Talk[int]:
    """The same by given weights, with random bits from where they are said to come from."""
    circuit = choice_circuit(shape, weights)
    random = random_bits(weight_bits(shape.count, weights) + BIAS, draw)
    output = yield from compute(ready, circuit, np.concatenate([inputs, random]), draw=draw)
    return numbers_of(output[None])[0] if len(output) else 0


def weight_bits(count: int, weights: GapWeights) -> int:
    """Binary digits of a sum of so many weights."""
    return (count * weights.highest).bit_length()


@lru_cache(maxsize=16)
def choice_circuit(shape: Shape, weights: GapWeights) -> Circuit:
    """The circuit of one choice; both parties build the same."""
    build, bits = CircuitBuilder(), weight_bits(shape.count, weights)
    ours, random = build.garbler_input(shape.bits(0)), build.garbler_input(bits + BIAS)
    theirs, other = build.evaluator_input(shape.bits(1)), build.evaluator_input(bits + BIAS)
    scores = scores_of(build, shape, ours, theirs)
    wide_weights = wide(weighed(build, scores, weights), bits)
    sums = prefix_sums(build, wide_weights)
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums[:-1])))
    return build.circuit(garbler=index, evaluator=index)


def gaps_of(build: CircuitBuilder, scores: Wires) -> Wires:
    """How far each score is below the highest."""
    return subtract(build, np.broadcast_to(maximum(build, scores, signed=True)[0], scores.shape), scores)


def weighed(build: CircuitBuilder, scores: Wires, weights: GapWeights) -> Wires:
    """The weight of each score."""
    gaps = gaps_of(build, scores)
    last = np.broadcast_to(build.constant(weights.last, WIDTH), gaps.shape)
    near = select(build, less(build, last, gaps), last, gaps)
    at = len(weights.lower).bit_length() - 1
    end = at + (len(weights.upper) - 1).bit_length()
    upper = looked_up(build, near[:, at:end], weights.upper)
    return product(build, upper, looked_up(build, near[:, :at], weights.lower))


def wide(words: Wires, bits: int) -> Wires:
    """Words of another width; digits that are cut off are 0."""
    return wider(words, bits)[:, :bits]


# Permute and flip on scores that nobody knows, in one garbled circuit: a better choice for the same epsilon.
#
# Every candidate passes with probability w(gap) / w(0), by a coin of its own; the best always passes. One of those
# that passed is chosen, each as likely. That is the first head of coins flipped in random order.
#
# Claim: two parties learn the chosen index and nothing else, for the epsilon of the weights and 2^-63 more, where one
#     record more moves no score down and none by more than 1. The expected score is never below the exponential
#     mechanism's (`choice_circuit`) with the same weights.
# Proof: let p_j be the probability that j passes. P(i) = p_i f with f = the integral from 0 to 1 of the product of
#     1 - p_j t over all j but i, since 1/(1+N) is the integral of t^N. By `gap_weights` one record more multiplies
#     either all p_j by factors from 1 to c = e^epsilon, or all by factors from 1/c to 1. In the first case p_i grows
#     by c at most and f does not grow, so P(i) grows by c at most. And f shrinks by c at most: 1 - p'_j t >= 1 - c
#     p_j t >= 0 for t <= 1/c, and the integral of the product of 1 - c p_j t from 0 to 1/c is f / c. The second case
#     is the first one backwards.
# Source: McKenna, Sheldon 2020 (permute and flip); the circuit and the proof for whole weights are ours.
# Cost: less than the exponential mechanism: sums and the random value are as wide as a number of candidates.


def flipped(ready: Sending | Receiving, shape: Shape, inputs: Bits, epsilon: Fraction) -> Talk[int]:
    """The index of the chosen candidate, from one's own part of the scores."""
    return (yield from flipped_by(ready, shape, inputs, gap_weights(epsilon)))


def flipped_by(
    ready: Sending | Receiving, shape: Shape, inputs: Bits, weights: GapWeights, *, draw: Draw = fresh_key
) -> Talk[int]:
    """The same by given weights, with random bits from where they are said to come from."""
    random = random_bits(coin_bits(shape.count, weights), draw)
    output = yield from compute(ready, coin_circuit(shape, weights), np.concatenate([inputs, random]), draw=draw)
    return numbers_of(output[None])[0] if len(output) else 0


def coin_bits(count: int, weights: GapWeights) -> int:
    """How many random bits each party puts in: a coin for each candidate, then a value below how many passed."""
    return count * coin_width(weights) + count.bit_length() + BIAS


def coin_width(weights: GapWeights) -> int:
    """Binary digits of a coin: the highest weight is two to this."""
    return weights.highest.bit_length() - 1


@lru_cache(maxsize=16)
def coin_circuit(shape: Shape, weights: GapWeights) -> Circuit:
    """The circuit of one choice; both parties build the same."""
    build, digits, count = CircuitBuilder(), coin_width(weights), shape.count
    width = count.bit_length()
    ours, coins = build.garbler_input(shape.bits(0)), build.garbler_input(count, digits)
    random = build.garbler_input(width + BIAS)
    theirs, others = build.evaluator_input(shape.bits(1)), build.evaluator_input(count, digits)
    other = build.evaluator_input(width + BIAS)
    scores = scores_of(build, shape, ours, theirs)
    tossed = wide(build.xor(coins, others), digits + 1)
    passed = less(build, tossed, wide(weighed(build, scores, weights), digits + 1))
    words = np.full((count, width), ZERO)
    words[:, 0] = passed
    sums = prefix_sums(build, words)
    value = scaled(build, sums[-1], random, other)
    index = chosen_index(build, build.not_(less(build, value, sums[:-1])))
    return build.circuit(garbler=index, evaluator=index)
