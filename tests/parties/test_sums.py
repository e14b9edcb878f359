"""Secure sums: the plain sum, fresh masks, refusals, and what the textbook's ring gives away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError, SessionError
from sfumato.parties.conversation import Seat, Transcript
from sfumato.parties.secure_sum import PairwiseKeys, agree_keys, ring_sum, secure_sum
from sfumato.parties.simulation import in_threads, seats, together
from tests.weights import examples

EDGES = [0, 1, -1, 2**62, 2**63 - 1, -(2**63)]


def keyed(count):
    places = seats(count)
    return places, together([agree_keys(one) for one in places])


def added(parts):
    """The sum modulo 2^64 as signed numbers, one at a time."""
    sums = [sum(column) % 2**64 for column in zip(*(part.tolist() for part in parts), strict=True)]
    return [one - 2**64 if one >= 2**63 else one for one in sums]


@examples(60)
@given(
    count=st.sampled_from([3, 4, 7]),
    size=st.sampled_from([0, 1, 2, 9]),
    seed=st.integers(0, 2**32 - 1),
    ring=st.booleans(),
)
def test_the_sum_is_the_plain_sum_modulo_two_to_the_64(count, size, seed, ring):
    rng = np.random.default_rng(seed)
    parts = [rng.choice(np.array(EDGES, np.int64), size) for _ in range(count)]
    places, keys = keyed(count)
    if ring:
        found = together([ring_sum(place, part) for place, part in zip(places, parts, strict=True)])
    else:
        talks = [secure_sum(place, key, part) for place, key, part in zip(places, keys, parts, strict=True)]
        found = together(talks)
    for one in found:
        assert one.tolist() == added(parts)


@pytest.mark.parametrize("size", [4096, 4097, 10_001])
def test_long_vectors_are_added_part_by_part_and_keep_their_shape(size):
    places, keys = keyed(3)
    parts = [np.arange(size, dtype=np.int64).reshape(1, size) * (n + 1) for n in range(3)]
    found = together([secure_sum(*one) for one in zip(places, keys, parts, strict=True)])
    for one in found:
        assert np.array_equal(one, 6 * parts[0])


def test_fewer_than_three_parties_are_refused():
    for count in (1, 2):
        (place, *_), (keys, *_) = keyed(count)
        with pytest.raises(ParameterError, match="hides nothing"):
            next(secure_sum(place, keys, np.zeros(1, np.int64)))
        with pytest.raises(ParameterError, match="hides nothing"):
            next(ring_sum(place, np.zeros(1, np.int64)))


def test_a_round_of_masks_is_never_used_twice():
    _, (keys, *_) = keyed(3)
    first, second = keys.mask(4), keys.mask(4)
    assert not np.array_equal(first, second)
    keys.mask(1, round_number=9)
    for number in (0, 1, 9):
        with pytest.raises(SessionError, match="never used twice"):
            keys.mask(4, round_number=number)


def test_masks_differ_between_sessions_though_the_secrets_are_the_same():
    secrets = {1: b"a" * 32, 2: b"b" * 32}
    place = Seat(me=0, count=3, session=bytes(32))
    assert np.array_equal(PairwiseKeys(place, secrets).mask(3), PairwiseKeys(place, secrets).mask(3))
    one, other = (keyed(3)[1][0].mask(3) for _ in range(2))
    assert not np.array_equal(one, other)


def test_known_masks():
    """AES-256 in counter mode by OpenSSL: key 0^32, counter block 0: the published vector of NIST's GFSbox key 0."""
    place = Seat(me=0, count=3, session=bytes(32))
    mask = PairwiseKeys(place, {1: bytes(32)}).mask(2)
    assert mask.astype("<u8").tobytes().hex() == "dc95c078a2408989ad48a21492842087"


def test_neighbours_in_the_ring_learn_a_party_s_numbers():
    """Why the ring is not the default: parties 0 and 2 put together what they saw, and have what party 1 put in."""
    secret = np.array([17, 4, 0])
    logs = [Transcript() for _ in range(3)]
    together([ring_sum(place, part) for place, part in zip(seats(3), [np.zeros(3, int), secret, np.zeros(3, int)],
                                                           strict=True)], logs)  # fmt: skip
    went_in = np.frombuffer(
        next(one.content for one in logs[0].messages if one.sent and one.label == "ring/add"), "<u8"
    )
    came_out = np.frombuffer(logs[2].received("ring/add")[0].content, "<u8")
    assert (came_out - went_in).tolist() == secret.tolist()


def test_a_public_key_that_is_no_point_ends_the_session():
    talk = agree_keys(Seat(me=0, count=2, session=bytes(32)))
    next(talk)
    with pytest.raises(SessionError, match="no point"):
        talk.send({1: bytes(32)})


def test_a_party_that_fails_ends_the_session_for_everybody():
    def fails(conversation):
        conversation.run(agree_keys(conversation.seat))
        raise ValueError("a fault of its own")

    seen = []

    def works(conversation):
        keys = conversation.run(agree_keys(conversation.seat))
        try:
            return conversation.run(secure_sum(conversation.seat, keys, np.ones(1, np.int64)))
        except SessionError as error:
            seen.append(str(error))
            raise

    with pytest.raises(ValueError, match="of its own"):
        in_threads([fails, works, works])
    assert seen
    assert all("ended the session" in one for one in seen)


def test_parties_that_say_different_things_are_refused():
    places, keys = keyed(3)
    parts = [np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(1, np.int64)]
    with pytest.raises(SessionError, match="awaits 8 bytes of 'sum/masked' from party 1, which sent 16"):
        together([secure_sum(*one) for one in zip(places, keys, parts, strict=True)])
    talks = [secure_sum(places[one], keys[one], parts[0]) for one in (0, 1)]
    with pytest.raises(SessionError, match="party 2 awaits 'ring/add' from party 1, which sent 'sum/masked'"):
        together([*talks, ring_sum(places[2], parts[0])])
