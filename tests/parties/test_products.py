"""Scalar products into shares: they add up to the plain product, and no view tells a vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.parties import scalar_product
from sfumato.parties.conversation import Exchange
from sfumato.parties.oblivious_transfer import extend_sending
from sfumato.parties.scalar_product import MODULUS, as_words, product_of_bits, product_of_numbers, signed
from sfumato.parties.simulation import together
from tests.parties.ready import ready_pair
from tests.parties.views import differences, random_like, views
from tests.weights import examples

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.sampled_from((2**63, 2**64 - 1, -1, -(2**63), 0))


def product(numbers, bits) -> int:
    sending, receiving = ready_pair()
    shares = together([product_of_numbers(sending, numbers), product_of_bits(receiving, bits)])
    return sum(shares) % MODULUS


@given(st.lists(st.tuples(NUMBERS, st.booleans()), max_size=70))
@examples(120)
def test_the_shares_add_up_to_the_product(pairs: list[tuple[int, bool]]):
    numbers, bits = [number for number, _ in pairs], [int(bit) for _, bit in pairs]
    assert product(numbers, bits) == sum(number * bit for number, bit in pairs) % MODULUS


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 128, 4096, 10_001])
def test_two_vectors_of_bits(count: int):
    ours, theirs = (np.frombuffer(fresh_key(count), np.uint8) & 1 for _ in range(2))
    assert product(ours, theirs) == int((ours & theirs).sum())


def test_a_small_example_by_hand():
    assert signed(product(np.array([3, -10, 4]), [1, 1, 0])) == -7


@pytest.mark.parametrize("bad", [np.array([0.5]), np.zeros((2, 2), np.int64), [2**64], [-(2**63) - 1]])
def test_other_numbers_are_refused(bad):
    with pytest.raises(ParameterError, match="number"):
        as_words(bad)


def test_bits_are_bits():
    with pytest.raises(ParameterError, match="0 and 1"):
        next(product_of_bits(ready_pair()[1], [3]))


RUNS = 200


def test_views_are_random():
    """False alarms: below 1e-9."""
    sending, receiving = ready_pair()
    for real in views(
        lambda: [product_of_numbers(sending, np.arange(16)), product_of_bits(receiving, [1, 0] * 8)], RUNS
    ):
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


def test_shares_alone_are_uniform():
    """The lowest byte of each share of one product, 200 times: as random as the bytes of the system."""
    sending, receiving = ready_pair()
    runs = [together([product_of_numbers(sending, [5]), product_of_bits(receiving, [1])]) for _ in range(RUNS)]
    for shares in zip(*runs, strict=True):
        real = [{"share": [share.to_bytes(8, "little")]} for share in shares]
        assert differences(real, [random_like(view, fresh_key) for view in real]) == []


def test_a_difference_without_a_mask_is_caught():
    sending, receiving = ready_pair()

    def naked():
        yield from extend_sending(sending, 16)
        yield Exchange(label="transfer/correlated", send={1: np.arange(16, dtype=np.uint64).tobytes()})

    real = views(lambda: [naked(), product_of_bits(receiving, [1, 0] * 8)], 60)[1]
    assert differences(real, [random_like(view, fresh_key) for view in real])


def test_the_leakage_is_declared():
    assert "length of the vectors" in " ".join(scalar_product.LEAKAGE.lines())
