"""Secure comparisons and maxima, of two and of more parties, against the plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError
from sfumato.core.randomness import fresh_key
from sfumato.parties import secure_maximum
from sfumato.parties.gmw import ready_to_share
from sfumato.parties.secure_maximum import (
    Greatest,
    compare,
    joint_maximum_of_shares,
    joint_maximum_of_values,
    maximum_of_shares,
    maximum_of_values,
)
from sfumato.parties.simulation import seats, together
from tests.parties.ready import ready_pair
from tests.parties.views import differences, views
from tests.weights import examples

EDGES = (0, 1, 2**63 - 1, 2**63, 2**64 - 1)
SIGNED = (-(2**63), -1, 0, 1, 2**63 - 1)


def expected(numbers: list[int]) -> Greatest:
    return Greatest(index=numbers.index(max(numbers)), value=max(numbers))


def shared(numbers: list[int], parties: int, bits: int = 64) -> list[list[int]]:
    """Random shares of each number modulo 2^bits."""
    shares = [[int.from_bytes(fresh_key(8), "little") % 2**bits for _ in numbers] for _ in range(parties - 1)]
    last = [(number - sum(others)) % 2**bits for number, *others in zip(numbers, *shares, strict=True)]
    return [*shares, last]


@pytest.mark.parametrize(("edges", "signed"), [(EDGES, False), (SIGNED, True)])
def test_comparisons_at_the_edges(edges: tuple[int, ...], signed: bool):
    pairs = [(one, other) for one in edges for other in edges]
    ours, theirs = ([pair[at] for pair in pairs] for at in (0, 1))
    sending, receiving = ready_pair()
    kind = np.int64 if signed else np.uint64
    for mine, yours in ((ours, theirs), (np.array(ours, kind), np.array(theirs, kind))):
        found = together([compare(sending, mine, signed=signed), compare(receiving, yours, signed=signed)])
        assert all(one.tolist() == [x < y for x, y in pairs] for one in found)


def test_many_comparisons_and_none():
    sending, receiving = ready_pair()
    for count in (0, 1, 127, 128, 129, 300):
        ours, theirs = (np.frombuffer(fresh_key(8 * count), np.uint64) for _ in range(2))
        found = together([compare(sending, ours), compare(receiving, theirs)])
        assert all((one == (ours < theirs)).all() for one in found)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=9), st.integers(0, 9))
@examples(40)
def test_maxima_of_two_parties(numbers: list[int], cut: int):
    sending, receiving = ready_pair()
    options = {"bits": 8, "signed": True, "tell_value": True}
    ours, theirs = shared(numbers, 2, 8)
    found = together([maximum_of_shares(sending, ours, **options), maximum_of_shares(receiving, theirs, **options)])
    assert found == [expected(numbers)] * 2
    mine, yours = numbers[:cut], numbers[cut:]
    found = together(
        [
            maximum_of_values(sending, mine, len(yours), **options),
            maximum_of_values(receiving, yours, len(mine), **options),
        ]
    )
    assert found == [expected(numbers)] * 2


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 129])
def test_the_first_of_equal_numbers_and_unsigned_edges(count: int):
    sending, receiving = ready_pair()
    for numbers in ([2**64 - 1] * count, [*range(count - 1), 2**63], [2**63 - 1] * (count - 1) + [2**63]):
        ours, theirs = (np.array(one, np.uint64) for one in shared(numbers, 2))
        found = together([maximum_of_shares(sending, ours), maximum_of_shares(receiving, theirs)])
        assert found == [Greatest(index=numbers.index(max(numbers)))] * 2


@pytest.fixture(scope="module")
def three() -> list:
    return together([ready_to_share(one) for one in seats(3)])


@given(numbers=st.lists(st.integers(-50, 50), min_size=1, max_size=6), data=st.data())
@examples(20)
def test_maxima_of_three_parties(three: list, numbers: list[int], data: st.DataObject):
    options = {"bits": 8, "signed": True, "tell_value": True}
    talks = [
        joint_maximum_of_shares(one, part, **options) for one, part in zip(three, shared(numbers, 3, 8), strict=True)
    ]
    assert together(talks) == [expected(numbers)] * 3
    ends = sorted(data.draw(st.integers(0, len(numbers))) for _ in range(2))
    parts = [numbers[: ends[0]], numbers[ends[0] : ends[1]], numbers[ends[1] :]]
    sizes = [len(part) for part in parts]
    talks = [joint_maximum_of_values(one, part, sizes, **options) for one, part in zip(three, parts, strict=True)]
    assert together(talks) == [expected(numbers)] * 3


def test_shares_at_the_edges_for_three_parties(three: list):
    numbers = [2**63, 2**64 - 1, 2**64 - 1, 0]
    talks = [joint_maximum_of_shares(one, part) for one, part in zip(three, shared(numbers, 3), strict=True)]
    assert together(talks) == [Greatest(index=1)] * 3


def test_what_does_not_fit_is_refused(three: list):
    with pytest.raises(ParameterError, match="party 0 has 1 numbers, not 2"):
        next(joint_maximum_of_values(three[0], [5], [2, 1, 1]))
    with pytest.raises(ParameterError, match="whole numbers from 0 to 255"):
        next(compare(ready_pair()[0], [256], bits=8))
    with pytest.raises(ParameterError, match="maximum of nothing"):
        next(maximum_of_shares(ready_pair()[0], []))


def test_views_depend_on_nothing_but_the_winner(three: list):
    """Two inputs with the same winner look alike to everybody. False alarms: below 1e-9."""

    def seen(numbers: list[int]) -> list:
        sizes = [1, 1, 1]
        return views(
            lambda: [
                joint_maximum_of_values(one, [number], sizes, bits=1)
                for one, number in zip(three, numbers, strict=True)
            ],
            60,
        )

    for real, other in zip(seen([0, 1, 1]), seen([0, 1, 0]), strict=True):
        assert differences(real, other) == []


def test_the_leakage_is_declared():
    assert "index of the greatest" in " ".join(secure_maximum.LEAKAGE.lines())
