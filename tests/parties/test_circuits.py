"""Circuits: words against plain numbers, garbled circuits and circuits on shares against the plain evaluator."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties import circuit_arithmetic as words
from sfumato.parties import garbled_circuits, gmw
from sfumato.parties.circuits import Circuit, CircuitBuilder, Wires, bits_of, evaluated, numbers_of
from sfumato.parties.conversation import Exchange
from sfumato.parties.garbled_circuits import compute, evaluate, garble, ready_to_compute
from sfumato.parties.gmw import compute_shared, ready_to_share, side_by_side
from sfumato.parties.oblivious_transfer import FixedKeyHash
from sfumato.parties.simulation import seats, together
from tests.parties.ready import Repeatable, ready_pair
from tests.parties.views import differences, random_like, views
from tests.weights import examples

WIDTHS = (1, 2, 3, 8, 63, 64, 65)
Operation = Callable[[CircuitBuilder, Wires, Wires], Wires]


def built(operation: Operation, counts: tuple[int, int], width: int) -> Circuit:
    build = CircuitBuilder()
    ours, theirs = build.garbler_input(counts[0], width), build.evaluator_input(counts[1], width)
    found = operation(build, ours, theirs)
    return build.circuit(garbler=found, evaluator=found)


def computed(operation: Operation, ours: list[int], theirs: list[int], width: int) -> np.ndarray:
    circuit = built(operation, (len(ours), len(theirs)), width)
    return evaluated(circuit, bits_of(ours, width).ravel(), bits_of(theirs, width).ravel())[0]


@st.composite
def pairs_of_numbers(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    width = draw(st.sampled_from(WIDTHS))
    number = st.integers(0, 2**width - 1) | st.sampled_from((0, 2**width - 1, 2 ** (width - 1)))
    ours = draw(st.lists(number, min_size=1, max_size=5))
    theirs = [draw(number | st.just(one)) for one in ours]
    return width, ours, theirs


@given(pairs_of_numbers())
@examples(80)
def test_arithmetic_and_comparisons(drawn: tuple[int, list[int], list[int]]):
    width, ours, theirs = drawn
    pairs, modulus, half = list(zip(ours, theirs, strict=True)), 1 << width, 1 << width - 1
    for operation in (words.add, words.flat_add, lambda b, x, y: words.flat_sum(b, np.stack([x, y]))):
        found = computed(operation, ours, theirs, width).reshape(-1, width)
        assert numbers_of(found) == [(x + y) % modulus for x, y in pairs]
    found = computed(words.subtract, ours, theirs, width).reshape(-1, width)
    assert numbers_of(found) == [(x - y) % modulus for x, y in pairs]
    assert computed(words.equal, ours, theirs, width).tolist() == [x == y for x, y in pairs]
    for flat in (True, False):
        found = computed(lambda b, x, y, flat=flat: words.less(b, x, y, flat=flat), ours, theirs, width)
        assert found.tolist() == [x < y for x, y in pairs]
        found = computed(lambda b, x, y, flat=flat: words.less(b, x, y, signed=True, flat=flat), ours, theirs, width)
        assert found.tolist() == [(x + half) % modulus < (y + half) % modulus for x, y in pairs]


@given(pairs_of_numbers())
@examples(80)
def test_products_sums_selections_and_maxima(drawn: tuple[int, list[int], list[int]]):
    width, ours, theirs = drawn
    product = computed(lambda b, x, y: words.product(b, x[0], y[0]), ours, theirs, width)
    assert numbers_of(product[None]) == [ours[0] * theirs[0]]
    sums = computed(lambda b, x, y: words.prefix_sums(b, x), ours, theirs, width)
    assert numbers_of(sums.reshape(-1, width)) == [sum(ours[: at + 1]) % (1 << width) for at in range(len(ours))]
    chosen = computed(lambda b, x, y: words.select(b, x[:, 0], x, y), ours, theirs, width)
    expected = [x if x & 1 else y for x, y in zip(ours, theirs, strict=True)]
    assert numbers_of(chosen.reshape(-1, width)) == expected
    every = ours + theirs
    for flat in (None, False):
        found = computed(
            lambda b, x, y, flat=flat: np.concatenate(words.maximum(b, np.concatenate([x, y]), flat=flat)),
            ours,
            theirs,
            width,
        )
        assert numbers_of(found[None, :width]) == [max(every)]
        assert numbers_of(found[None, width:]) == [every.index(max(every))]


@pytest.mark.parametrize("parties", [1, 2, 3, 4, 5, 8])
def test_sums_of_many_words(parties: int):
    numbers = [int.from_bytes(fresh_key(8), "little") for _ in range(parties)]
    found = computed(lambda b, x, y: words.flat_sum(b, x), numbers, [], 64)
    assert numbers_of(found[None]) == [sum(numbers) % 2**64]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9])
def test_how_many_come_first(count: int):
    for ones in range(count + 1):
        steps = [(1 << ones) - 1]
        found = computed(lambda b, x, y: words.chosen_index(b, x[0]), steps, [], count)
        assert numbers_of(found[None]) == [ones]


def test_costs_are_those_of_the_literature():
    """One and gate for a digit, but for the last carry of a sum; constants cost nothing (Kolesnikov et al. 2009)."""
    assert built(words.add, (1, 1), 64).ands == 63
    assert built(words.add, (500, 500), 64).ands == 500 * 63
    assert built(words.less, (200, 200), 64).ands == 200 * 64
    assert built(words.equal, (1, 1), 64).ands == 63
    assert built(lambda b, x, y: words.product(b, x[0], b.constant(1, 64)), (1, 0), 64).ands == 0
    assert built(lambda b, x, y: b.not_(b.xor(x, y)), (3, 3), 64).ands == 0
    assert len(built(words.flat_add, (1, 1), 64).layers) < 30 < len(built(words.add, (1, 1), 64).layers)


def test_numbers_and_bits():
    assert numbers_of(bits_of([-5, 5], 9, signed=True), signed=True) == [-5, 5]
    assert numbers_of(bits_of(np.array([-5, 5]), 70, signed=True), signed=True) == [-5, 5]
    assert numbers_of(bits_of(np.array([2**64 - 1], np.uint64), 64)) == [2**64 - 1]
    assert numbers_of(bits_of([2**64 - 1, 1], 64)) == [2**64 - 1, 1]
    assert bits_of([], 64).shape == (0, 64)
    for bad in ([-1], [8], np.array([0.5])):
        with pytest.raises(ParameterError, match="whole numbers from 0 to 7"):
            bits_of(bad, 3)


def test_builders_refuse_what_comes_too_late():
    build = CircuitBuilder()
    build.evaluator_input(2)
    with pytest.raises(ParameterError, match="before the evaluator's"):
        build.garbler_input(1)
    build.and_(np.array([2]), np.array([3]))
    with pytest.raises(ParameterError, match="before gates"):
        build.evaluator_input(1)
    with pytest.raises(ParameterError, match="takes 0 and 2 bits, not 1 and 2"):
        evaluated(build.circuit(), np.zeros(1, np.uint8), np.zeros(2, np.uint8))
    with pytest.raises(ParameterError, match="maximum of nothing"):
        words.maximum(build, np.empty((0, 4), np.int64))


def mixed(build: CircuitBuilder, ours: Wires, theirs: Wires) -> Wires:
    """Something of everything."""
    best, index = words.maximum(build, words.add(build, ours, theirs))
    rest = words.product(build, ours[0], theirs[0])
    return np.concatenate([best, index, rest, build.constant(5, 3), build.not_(ours[0]), build.xor(ours, ours)[0]])


@given(pairs_of_numbers())
@examples(20)
def test_garbled_circuits_compute_what_plain_ones_do(drawn: tuple[int, list[int], list[int]]):
    width, ours, theirs = drawn
    circuit = built(mixed, (len(ours), len(theirs)), width)
    inputs = bits_of(ours, width).ravel(), bits_of(theirs, width).ravel()
    sending, receiving = ready_pair()
    for _ in range(2):
        found = together([garble(sending, circuit, inputs[0]), evaluate(receiving, circuit, inputs[1])])
        assert all((one == evaluated(circuit, *inputs)[0]).all() for one in found)


def test_every_gate_of_a_garbled_circuit():
    """All four inputs of an and gate, and all colours of their labels, by many garblings."""
    circuit = built(lambda b, x, y: b.and_(x, y), (4, 4), 1)
    inputs = np.array([0, 0, 1, 1], np.uint8), np.array([0, 1, 0, 1], np.uint8)
    sending, receiving = ready_pair()
    for _ in range(20):
        found = together([garble(sending, circuit, inputs[0]), evaluate(receiving, circuit, inputs[1])])
        assert [one.tolist() for one in found] == [[0, 0, 0, 1]] * 2


def test_outputs_go_to_whom_they_belong():
    build = CircuitBuilder()
    ours, theirs = build.garbler_input(3), build.evaluator_input(3)
    circuit = build.circuit(garbler=theirs[:1], evaluator=build.and_(ours, theirs))
    one, other = seats(2)
    ready = together([ready_to_compute(one, 1), ready_to_compute(other, 0)])
    inputs = [np.array([1, 1, 0], np.uint8), np.array([1, 0, 1], np.uint8)]
    found = together([compute(side, circuit, bits) for side, bits in zip(ready, inputs, strict=True)])
    assert [one.tolist() for one in found] == [[1], [1, 0, 0]]
    nothing = CircuitBuilder().circuit()
    empty = np.empty(0, np.uint8)
    assert all(not len(side) for side in together([compute(side, nothing, empty) for side in ready]))


def test_known_garbling():
    """Fixed labels make fixed tables: whoever changes the garbling must mean it."""
    circuit = built(words.add, (2, 2), 8)
    draw = Repeatable(b"garbling")
    offset = garbled_circuits.fresh_offset(draw)
    theirs = np.frombuffer(draw(16 * 16), np.uint64).reshape(-1, 2)
    labels, tables = garbled_circuits.garbled(circuit, FixedKeyHash(bytes(32), "golden"), offset, theirs, draw)
    assert offset[0, 0] & np.uint64(1) == 1
    digest = hashlib.sha256(labels.tobytes() + tables.tobytes()).hexdigest()
    assert digest == "e15efddbf03bcb33a685c57e8ac872020a80e6afd600132590fbfe9e227eb198"


@pytest.mark.parametrize("parties", [1, 2, 3, 4])
def test_circuits_on_shares_compute_what_plain_ones_do(parties: int):
    places = seats(parties)
    ready = together([ready_to_share(one) for one in places])
    build = CircuitBuilder()
    inputs = build.garbler_input(parties, 9)
    total = words.flat_sum(build, inputs)
    circuit = build.circuit(garbler=np.concatenate([total, *words.maximum(build, inputs), build.not_(inputs[0])]))
    for numbers in ([at * 100 % 512 for at in range(parties)], [511] * parties, [0] * parties):
        bits = bits_of(numbers, 9)
        sizes = [9] * parties
        found = together([compute_shared(side, circuit, bits[at], sizes) for at, side in enumerate(ready)])
        expected = evaluated(circuit, bits.ravel(), np.empty(0, np.uint8))[0]
        assert all((one == expected).all() for one in found)


def test_talks_side_by_side_are_at_the_same_step():
    def talk(label: str):
        yield Exchange(label=label)

    with pytest.raises(SessionError, match="different steps: one, two"):
        next(side_by_side({1: talk("one"), 2: talk("two")}))
    assert together([side_by_side({})]) == [{}]


RUNS = 130


def test_views_of_garbled_circuits_are_random():
    """All that the evaluator gets is random but for its outputs; false alarms below 1e-9.

    The decoding bits at the end of the evaluator's message are the colours of random labels: random too.
    """
    sending, receiving = ready_pair()
    circuit = built(words.add, (1, 1), 8)
    inputs = bits_of([3], 8)[0], bits_of([250], 8)[0]
    talks = lambda: [garble(sending, circuit, inputs[0]), evaluate(receiving, circuit, inputs[1])]  # noqa: E731
    for real in views(talks, RUNS):
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


@pytest.mark.parametrize("fault", ["offset", "labels", "tweak"])
def test_bad_garblings_are_caught(fault: str, monkeypatch: pytest.MonkeyPatch):
    """The same offset and labels in every run; labels that are zero; tables of gates hashed without the inputs."""
    sending, receiving = ready_pair()
    circuit = built(words.add, (1, 1), 8)
    inputs = bits_of([3], 8)[0], bits_of([250], 8)[0]
    if fault == "tweak":
        monkeypatch.setattr(FixedKeyHash, "__call__", lambda self, blocks, tweaks, part=0: np.zeros_like(blocks))
    draw = {"offset": lambda: Repeatable(b"same"), "labels": lambda: bytes, "tweak": lambda: fresh_key}[fault]
    talks = lambda: [garble(sending, circuit, inputs[0], draw=draw()), evaluate(receiving, circuit, inputs[1])]  # noqa: E731
    real = views(talks, 80)[1]
    assert differences(real, [random_like(view, fresh_key) for view in real])


def seen_on_shares(parties: int = 3, *, masked: bool = True) -> list:
    """Views of a circuit with outputs of and gates, and of exclusive ors of inputs alone."""
    ready = together([ready_to_share(one) for one in seats(parties)])
    ready = ready if masked else [replace(one, masks={}) for one in ready]
    build = CircuitBuilder()
    ours = build.garbler_input(parties, 8)
    both = build.and_(build.and_(ours[0], ours[1]), ours[-1])
    circuit = build.circuit(garbler=np.concatenate([both, build.xor(build.xor(ours[0], ours[1]), ours[-1])]))
    bits = bits_of([255, 254, 253][:parties], 8)
    sizes = [8] * parties
    return views(lambda: [compute_shared(side, circuit, bits[at], sizes) for at, side in enumerate(ready)], RUNS)


def test_views_of_circuits_on_shares_are_random():
    """Shares of outputs are random each, and add up to the outputs: two of three are independent."""
    for real in seen_on_shares()[:1]:
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


def test_outputs_without_masks_are_caught():
    """Otherwise the exclusive or of two inputs tells each of them."""
    real = seen_on_shares(2, masked=False)[0]
    assert "shares/output: positions" in differences(real, [random_like(view, fresh_key) for view in real])


def test_shares_without_triples_are_caught(monkeypatch: pytest.MonkeyPatch):
    def nothing(ready, count, draw):
        yield from ()
        return (np.zeros(count, np.uint8),) * 3

    ready = together([ready_to_share(one) for one in seats(2)])
    monkeypatch.setattr(gmw, "_triples", nothing)
    build = CircuitBuilder()
    ours = build.garbler_input(2, 64)
    circuit = build.circuit(garbler=build.and_(ours[0], ours[1]))
    bits = bits_of([5, 2**64 - 1], 64)
    talks = lambda: [compute_shared(side, circuit, bits[at], [64, 64]) for at, side in enumerate(ready)]  # noqa: E731
    real = views(talks, 60)[0]
    assert differences(real, [random_like(view, fresh_key) for view in real])


def test_leakages_are_declared():
    for module in (garbled_circuits, gmw):
        assert "may stop" in " ".join(module.LEAKAGE.lines())
