"""Random values below a shared number, and choices by shared weights: right, unbiased, and told to nobody else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties import random_selection
from sfumato.parties.circuits import Circuit, bits_of, evaluated, numbers_of
from sfumato.parties.conversation import Exchange
from sfumato.parties.oblivious_transfer import Sending
from sfumato.parties.random_selection import BIAS, selected
from sfumato.parties.simulation import together
from tests.parties.ready import Repeatable, ready_pair
from tests.parties.views import differences, random_like, views
from tests.weights import examples


@given(st.sampled_from((1, 3, 8, 32)), st.data())
@examples(60)
def test_the_circuit_is_u_times_n_shifted(bits: int, data: st.DataObject):
    """Against plain whole numbers, with chosen random bits."""
    modulus, wide = 1 << bits, bits + BIAS
    shares = [data.draw(st.integers(0, modulus - 1)) for _ in range(2)]
    chance = [data.draw(st.integers(0, (1 << wide) - 1) | st.just((1 << wide) - 1)) for _ in range(2)]
    mask = data.draw(st.integers(0, modulus - 1))
    ours = np.concatenate([bits_of([shares[0]], bits)[0], bits_of([chance[0]], wide)[0], bits_of([mask], bits)[0]])
    theirs = np.concatenate([bits_of([shares[1]], bits)[0], bits_of([chance[1]], wide)[0]])
    found = evaluated(random_selection._circuit(bits), ours, theirs)[1]
    value = (sum(shares) % modulus * (chance[0] ^ chance[1])) >> wide
    assert numbers_of(found[None]) == [(value - mask) % modulus]
    assert value < max(1, sum(shares) % modulus)


@pytest.mark.parametrize("total", [1, 2, 5, 2**63, 2**64 - 1])
def test_values_are_below_the_number(total: int):
    sending, receiving = ready_pair()
    share = int.from_bytes(fresh_key(8), "little")
    talks = random_selection.random_value(sending, share), random_selection.random_value(receiving, total - share)
    assert sum(together(talks)) % 2**64 < total


def drawn(total: int, times: int) -> np.ndarray:
    """How often each value comes, in the open."""
    draw, circuit, mask = Repeatable(b"values"), random_selection._circuit(4), np.zeros(4, np.uint8)
    found = []
    for at in range(times):
        ours = np.concatenate([bits_of([at % 16], 4)[0], random_selection.random_bits(4 + BIAS, draw), mask])
        theirs = np.concatenate([bits_of([(total - at) % 16], 4)[0], random_selection.random_bits(4 + BIAS, draw)])
        found += numbers_of(evaluated(circuit, ours, theirs)[1][None])
    return np.bincount(found, minlength=16)


def test_values_are_uniform():
    """Fixed random bytes; for fresh ones, a chi-square test with a false-alarm rate of 1e-6."""
    counts = drawn(11, 250)
    assert counts[11:].sum() == 0
    assert chisquare(counts[:11]).pvalue > 1e-6


def chosen_plainly(weights: list[int], chance: int, bits: int) -> int:
    """The first candidate whose prefix sum is above the random value."""
    value, sums = sum(weights) * chance >> bits + BIAS, np.cumsum(np.array(weights, object))
    return next((at for at, one in enumerate(sums) if value < one), len(weights))


def choose(circuit: Circuit, shares: list[list[int]], chance: list[int], bits: int) -> int:
    inputs = [
        np.concatenate([bits_of(share, bits).ravel(), bits_of([one], bits + BIAS)[0]])
        for share, one in zip(shares, chance, strict=True)
    ]
    return numbers_of(evaluated(circuit, *inputs)[0][None])[0]


@given(st.sampled_from((4, 16, 64)), st.integers(1, 9), st.data())
@examples(80)
def test_choices_are_those_of_prefix_sums(bits: int, count: int, data: st.DataObject):
    modulus, wide = 1 << bits, bits + BIAS
    weights = data.draw(st.lists(st.integers(0, (modulus - 1) // count), min_size=count, max_size=count))
    ours = [data.draw(st.integers(0, modulus - 1)) for _ in weights]
    theirs = [(weight - one) % modulus for weight, one in zip(weights, ours, strict=True)]
    chance = [data.draw(st.integers(0, (1 << wide) - 1) | st.sampled_from((0, (1 << wide) - 1))) for _ in range(2)]
    circuit = random_selection._selection_circuit(count, bits)
    assert choose(circuit, [ours, theirs], chance, bits) == chosen_plainly(weights, chance[0] ^ chance[1], bits)


def test_the_example_of_the_thesis():
    """Example 7.4.3: weights 545 and 4034 of one party, 73 of the other; each random value by itself."""
    circuit = random_selection._selection_circuit(3, 13)
    shares = [[545, 4034, 0], [0, 0, 73]]
    for value, expected in ((0, 0), (544, 0), (545, 1), (4578, 1), (4579, 2), (4651, 2)):
        chance = -(-(value << 13 + BIAS) // 4652)
        assert choose(circuit, shares, [chance, 0], 13) == expected


def test_choices_follow_the_weights():
    """Fixed random bytes; for fresh ones, a chi-square test with a false-alarm rate of 1e-6."""
    draw, circuit, weights = Repeatable(b"choices"), random_selection._selection_circuit(4, 4), [3, 0, 1, 4]
    found = []
    for at in range(240):
        theirs = [(weight - at) % 16 for weight in weights]
        chance = [int.from_bytes(draw(9), "little") % (1 << 4 + BIAS) for _ in range(2)]
        found.append(choose(circuit, [[at % 16] * 4, theirs], chance, 4))
    counts = np.bincount(found, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[[0, 2, 3]], 240 * np.array([3, 1, 4]) / 8).pvalue > 1e-6


def test_both_parties_learn_the_same_choice():
    sending, receiving = ready_pair()
    for _ in range(5):
        pair = together([selected(sending, [3, 0, 1], bits=8), selected(receiving, [0, 0, 255], bits=8)])
        assert pair[0] == pair[1] == 0


def test_weights_of_nothing_are_refused():
    sending, receiving = ready_pair()
    with pytest.raises(SessionError, match="all candidates are 0"):
        together([selected(sending, [5, 9], bits=8), selected(receiving, [-5, -9], bits=8)])
    with pytest.raises(ParameterError, match="no candidates"):
        next(selected(sending, []))


RUNS = 110


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch):
    """Fewer random bits than a release needs, for circuits that take less time."""
    random_selection._circuit.cache_clear()
    monkeypatch.setattr(random_selection, "BIAS", 1)
    yield
    random_selection._circuit.cache_clear()


@pytest.mark.usefixtures("short")
def test_views_are_random():
    """False alarms: below 1e-9."""
    sending, receiving = ready_pair()
    seen = views(
        lambda: [
            random_selection.random_value(sending, 3, bits=8),
            random_selection.random_value(receiving, 0, bits=8),
        ],
        RUNS,
    )
    for real in seen:
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


def in_the_open(ready, circuit: Circuit, bits: np.ndarray, draw=None):
    """Instead of `compute`: both show their inputs."""
    sizes = circuit.garbler_inputs, circuit.evaluator_inputs
    sends = isinstance(ready, Sending)
    came = yield Exchange(label="open", send={ready.peer: bits.tobytes()}, expect={ready.peer: sizes[sends]})
    other = np.frombuffer(came[ready.peer], np.uint8)
    return evaluated(circuit, bits, other)[0] if sends else evaluated(circuit, other, bits)[1]


@pytest.mark.usefixtures("short")
def test_shares_of_a_value_are_uniform(monkeypatch: pytest.MonkeyPatch):
    """Whoever forgets the mask hands out the value itself, which is always below N = 1 here."""
    sending, receiving = ready_pair()
    monkeypatch.setattr(random_selection, "compute", in_the_open)

    def shares(draw=fresh_key) -> list[dict]:
        found = []
        for _ in range(RUNS):
            talks = [
                random_selection.random_value(sending, 1, bits=8, draw=draw),
                random_selection.random_value(receiving, 0, bits=8),
            ]
            found.append({"share": [bytes([together(talks)[1]])]})
        return found

    real = shares()
    assert differences(real, [random_like(view, fresh_key) for view in real]) == []

    def forgetful(length: int) -> bytes:
        return bytes(length) if length == 1 else fresh_key(length)

    assert differences(shares(forgetful), [random_like(view, fresh_key) for view in real])


def test_leakages_are_declared():
    for leakage in (random_selection.LEAKAGE, random_selection.SELECTION_LEAKAGE):
        assert "either party alone" in " ".join(leakage.lines())
