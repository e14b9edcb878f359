"""Oblivious transfers: base, extended, of many; known answers, plain twins, and views that tell nothing."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties import oblivious_transfer
from sfumato.parties.circuits import columns_of, rows_of
from sfumato.parties.conversation import Exchange, Transcript
from sfumato.parties.oblivious_transfer import (
    FixedKeyHash,
    ready_to_receive,
    ready_to_send,
    receive_base,
    receive_many,
    send_base,
    send_many,
)
from sfumato.parties.ristretto import base_times, hashed_to_point, inverse, minus, times
from sfumato.parties.simulation import seats, together
from tests.parties.ready import Repeatable, one_after_the_other, ready_pair
from tests.parties.views import RATE, differences, indistinguishable, random_like, views
from tests.weights import examples

EDGES = (0, 1, 7, 8, 9, 127, 128, 129, 1000)
BASE = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"
TWICE = "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919"
ESPRESSO = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46"
"""RFC 9496, appendices A.1 and A.3."""


def bits(count: int) -> np.ndarray:
    return np.frombuffer(fresh_key(count), np.uint8) & 1


def rows(count: int, length: int) -> np.ndarray:
    return np.frombuffer(fresh_key(count * length), np.uint8).reshape(count, length)


def scalar(number: int) -> bytes:
    return number.to_bytes(32, "little")


def test_points_are_those_of_the_standard():
    assert base_times(scalar(1)).hex() == BASE
    assert base_times(scalar(2)).hex() == TWICE == times(scalar(2), bytes.fromhex(BASE)).hex()
    assert hashed_to_point(b"Ristretto is traditionally a short shot of espresso coffee").hex() == ESPRESSO
    assert minus(bytes.fromhex(TWICE), bytes.fromhex(BASE)).hex() == BASE
    assert times(inverse(scalar(77)), times(scalar(77), bytes.fromhex(ESPRESSO))).hex() == ESPRESSO


@pytest.mark.parametrize("bad", ["00" * 32, "ff" * 32, "01" + "00" * 31, BASE[:-1] + "7"])
def test_what_is_no_point_ends_the_session(bad: str):
    """Not canonical, negative, or the neutral point (RFC 9496, A.2)."""
    with pytest.raises(SessionError, match="no point"):
        times(scalar(3), bytes.fromhex(bad))


@given(st.integers(0, 40), st.sampled_from((8, 16, 128, 448)), st.integers(0, 2**32))
@examples(40)
def test_bit_matrices_turn_as_plain_ones_do(length: int, count: int, seed: int):
    matrix = np.frombuffer(Repeatable(seed.to_bytes(8, "little"))(length * count), np.uint8).reshape(count, length)
    plain = np.packbits(np.unpackbits(matrix, axis=1, bitorder="little").T, axis=1, bitorder="little")
    assert (rows_of(matrix) == plain).all()
    assert (columns_of(rows_of(matrix)) == matrix).all()


def test_the_hash_is_p_of_p_of_x_and_the_tweak():
    hashed = FixedKeyHash(bytes(32), "golden")
    key = hashlib.sha256(b"sfumato golden " + bytes(32)).digest()[:16]

    def p(block: bytes) -> bytes:
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)

    def xor(one: bytes, other: bytes) -> bytes:
        return bytes(a ^ b for a, b in zip(one, other, strict=True))

    blocks = np.frombuffer(Repeatable(b"h")(16 * 20_000), np.uint64).reshape(-1, 2)
    found = hashed(blocks, np.arange(20_000, dtype=np.uint64), part=3)
    for at in (0, 1, 8191, 8192, 19_999):
        once = p(blocks[at].tobytes())
        tweak = at.to_bytes(8, "little") + (3).to_bytes(8, "little")
        assert found[at].tobytes() == xor(p(xor(once, tweak)), once)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_a_base_transfer_hands_over_the_chosen_key(count: int):
    one, other = seats(2)
    choices = bits(count).tolist()
    pairs, found = together([send_base(one, 1, count), receive_base(other, 0, choices)])
    assert found == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    assert len({key for pair in pairs for key in pair}) == 2 * count


def test_a_base_transfer_refuses_what_is_no_point():
    one, _ = seats(2)
    talk = send_base(one, 1, 1)
    next(talk)
    with pytest.raises(SessionError, match="no point"):
        talk.send({1: b"\xff" * 32})


def test_known_transcript():
    """Fixed random bytes make fixed messages: whoever changes the protocol must mean it."""
    one, other = seats(2, b"golden")
    notes = [Transcript(), Transcript()]
    ready = together([ready_to_send(one, 1, draw=Repeatable(b"1")), ready_to_receive(other, 0, draw=Repeatable(b"2"))])
    zeros = np.arange(60, dtype=np.uint8).reshape(20, 3)
    together(
        [
            oblivious_transfer.send_chosen(ready[0], zeros, zeros + 100),
            oblivious_transfer.receive_chosen(ready[1], [0, 1] * 10, 3),
        ],
        notes,
    )
    digest = hashlib.sha256(b"".join(message.content for message in notes[0].messages)).hexdigest()
    assert digest == "eb46a216f0c0c9d89912e48022243a1d0d05a9e461ac2cbb56f6dd0bda27c60e"


def test_extension_from_base_transfers():
    one, other = seats(2)
    sending, receiving = together([ready_to_send(one, 1), ready_to_receive(other, 0)])
    for count in (5, 300):
        choices = bits(count)
        pair, found = together(
            [oblivious_transfer.send_random(sending, count), oblivious_transfer.receive_random(receiving, choices)]
        )
        assert (found == np.where(choices[:, None] == 1, pair[1], pair[0])).all()
    assert sending.done == receiving.done == 305


@pytest.mark.parametrize("count", EDGES)
def test_extended_transfers_of_any_number(count: int):
    sending, receiving = ready_pair()
    choices = bits(count)
    for length in (0, 1, 16, 33):
        zeros, ones = rows(count, length), rows(count, length)
        _, found = together(
            [
                oblivious_transfer.send_chosen(sending, zeros, ones),
                oblivious_transfer.receive_chosen(receiving, choices, length),
            ]
        )
        assert (found == np.where(choices[:, None] == 1, ones, zeros)).all()
    words = np.frombuffer(fresh_key(8 * count), np.uint64)
    own, found = together(
        [oblivious_transfer.send_correlated(sending, words), oblivious_transfer.receive_correlated(receiving, choices)]
    )
    assert (found == own + words * choices).all()
    offset = np.frombuffer(fresh_key(16), np.uint64).reshape(1, 2)
    own, found = together(
        [oblivious_transfer.send_offset(sending, count, offset), oblivious_transfer.receive_offset(receiving, choices)]
    )
    assert (found == own ^ offset * choices[:, None].astype(np.uint64)).all()
    others = bits(count)
    own, found = together(
        [oblivious_transfer.send_bits(sending, others), oblivious_transfer.receive_bits(receiving, choices)]
    )
    assert (found == own ^ (others & choices)).all()


@pytest.mark.parametrize("choices", [[0, 2], [[0, 1]], [-1]])
def test_choices_are_bits(choices: list):
    with pytest.raises(ParameterError, match="0 and 1"):
        oblivious_transfer.as_choices(choices)


@given(st.integers(1, 40), st.integers(0, 40), st.data())
@examples(60)
def test_k_of_n(count: int, length: int, data: st.DataObject):
    sending, receiving = ready_pair()
    messages = rows(count, length)
    chosen = data.draw(st.lists(st.integers(0, count - 1), max_size=5))
    _, found = together([send_many(sending, messages, len(chosen)), receive_many(receiving, chosen, count, length)])
    assert (found == messages[chosen]).all()


def test_k_of_n_refuses_what_is_not_there():
    sending, receiving = ready_pair()
    with pytest.raises(ParameterError, match="from 0 to 3"):
        next(receive_many(receiving, [4], 4, 1))
    with pytest.raises(ParameterError, match="at least one"):
        next(send_many(sending, rows(0, 3)))
    with pytest.raises(ParameterError, match="one shape"):
        next(oblivious_transfer.send_chosen(sending, rows(3, 1), rows(3, 2)))


def test_every_file_declares_its_leakage():
    for leakage in (
        oblivious_transfer.LEAKAGE,
        oblivious_transfer.EXTENSION_LEAKAGE,
        oblivious_transfer.ONE_OF_N_LEAKAGE,
    ):
        assert leakage.lines()


RUNS = 200
"""Enough for a bit that is always the same: Hoeffding's bound for 1e-9 and 10,000 bits is a difference of 0.41."""


def random_point() -> bytes:
    return hashed_to_point(fresh_key())


def check_random(real: list, *, rate: float = RATE) -> list[str]:
    """What tells views from messages of the same lengths that are random through and through."""
    return differences(real, [random_like(view, fresh_key) for view in real], rate=rate)


def _base(choices: list[int], places: tuple = ()) -> list:
    one, other = places or seats(2)
    return [send_base(one, 1, len(choices)), receive_base(other, 0, choices)]


def test_views_of_base_transfers_are_random_points():
    """False alarms: below 1e-9, as everywhere below."""
    seen = views(lambda: _base([0, 1, 1, 0]), RUNS)
    for real, many in zip(seen, (4, 1), strict=True):
        simulated = [{oblivious_transfer.LABEL: [b"".join(random_point() for _ in range(many))]} for _ in real]
        assert differences(real, simulated) == []


def test_a_receiver_that_forgets_its_mask_is_caught():
    """It sends the public point C instead of C - kG where it chose 1."""
    places = seats(2)

    def forgetful(choices: list[int]):
        unknown = oblivious_transfer._unknown(places[1])
        firsts = [unknown if choice else random_point() for choice in choices]
        yield Exchange(label=oblivious_transfer.LABEL, send={0: b"".join(firsts)}, expect={0: 32})

    real = views(lambda: [send_base(places[0], 1, 4), forgetful([0, 1, 1, 0])], RUNS)[0]
    honest = views(lambda: _base([0, 1, 1, 0], places), RUNS)[0]
    assert not indistinguishable(real, honest)


def _twice(pairs: list) -> list:
    """Two batches of transfers of 16 bytes, one after the other."""
    zeros, ones = np.zeros((8, 16), np.uint8), np.full((8, 16), 7, np.uint8)
    sends = [oblivious_transfer.send_chosen(pair[0], zeros, ones) for pair in pairs]
    receives = [oblivious_transfer.receive_chosen(pair[1], [0, 1] * 4, 16) for pair in pairs]
    return [one_after_the_other(*sends), one_after_the_other(*receives)]


def test_views_of_extended_transfers_are_random():
    pair = ready_pair()
    for real in views(lambda: _twice([pair, pair]), RUNS):
        assert check_random(real) == []


def test_streams_that_are_used_twice_are_caught():
    """The same seeds and tweaks for two batches: both columns and masks repeat, in both views."""

    def talks() -> list:
        seed, places = fresh_key(), seats(2)
        return _twice([ready_pair(Repeatable(seed), places) for _ in range(2)])

    for real in views(talks, 60):
        found = check_random(real)
        assert any("xors" in one for one in found)
        assert any("repeats" in one for one in found)


def test_a_missing_mask_is_caught():
    sending, receiving = ready_pair()

    def naked(zeros, ones):
        yield from oblivious_transfer.extend_sending(sending, len(zeros))
        yield Exchange(label="transfer/chosen", send={1: zeros.tobytes() + ones.tobytes()})

    def talks() -> list:
        zeros = np.zeros((8, 16), np.uint8)
        return [naked(zeros, zeros + 7), oblivious_transfer.receive_chosen(receiving, [0, 1] * 4, 16)]

    assert "transfer/chosen: octets" in check_random(views(talks, 60)[1])


def test_views_of_one_of_many_are_random():
    sending, receiving = ready_pair()
    messages = np.zeros((10, 5), np.uint8)
    for real in views(lambda: [send_many(sending, messages, 2), receive_many(receiving, [3, 9], 10, 5)], RUNS):
        assert check_random(real) == []
