"""Unions by commuting encryption, texts as points, and polynomials evaluated under encryption."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.parties.conversation import Transcript
from sfumato.parties.oblivious_polynomial import PrivateKey, drawn_below, receive_polynomial, send_polynomial
from sfumato.parties.ristretto import embedded, read_texts
from sfumato.parties.secure_union import secure_union
from sfumato.parties.simulation import seats, together
from tests.weights import examples

ITEMS = st.lists(st.binary(max_size=40) | st.sampled_from([b"", b"a", b"b", b"c" * 16, b"c" * 17]), max_size=6)


@examples(40)
@given(sets=st.lists(ITEMS, min_size=2, max_size=5))
def test_everybody_learns_the_union(sets):
    found = together([secure_union(place, one) for place, one in zip(seats(len(sets)), sets, strict=True)])
    for one in found:
        assert one == sorted({item for own in sets for item in own})


def test_seven_parties_of_which_some_have_nothing():
    sets = [[b"x"], [], [b"y", b"x"], [], [], [b"z" * 100], []]
    found = together([secure_union(place, one) for place, one in zip(seats(7), sets, strict=True)])
    assert found == [[b"x", b"y", b"z" * 100]] * 7


def test_one_party_has_no_union():
    with pytest.raises(ParameterError, match="two parties"):
        next(secure_union(seats(1)[0], []))


def test_no_party_sees_another_s_points_in_the_open():
    """Before the end nobody receives a point that an item is written as."""
    sets = [[b"anna"], [b"bert"], [b"carl"]]
    logs = [Transcript() for _ in range(3)]
    together([secure_union(place, one) for place, one in zip(seats(3), sets, strict=True)], logs)
    plain = {point for own in sets for item in own for point in embedded(item)}
    for log in logs:
        seen = [one for one in log.received() if one.label not in ("union/told", "union/open")]
        assert not any(point in one.content for one in seen for point in plain)


def test_the_number_of_items_is_told_as_a_power_of_two():
    logs = [Transcript() for _ in range(2)]
    sets = [[b"%d" % n for n in range(many)] for many in (5, 3)]
    together([secure_union(place, one) for place, one in zip(seats(2), sets, strict=True)], logs)
    assert int.from_bytes(logs[1].received("union/size")[0].content, "big") == 8
    assert int.from_bytes(logs[0].received("union/size")[0].content, "big") == 4


@examples(100)
@given(text=st.binary(max_size=300))
def test_a_text_is_read_back_from_its_points(text):
    assert read_texts(embedded(text)) == [text]


def test_texts_that_are_not_whole_are_passed_over():
    points = embedded(b"0123456789" * 5)
    assert read_texts(points[:-1]) == []
    assert read_texts([*points, b"\0" * 32, b"\xff" * 32]) == [b"0123456789" * 5]
    with pytest.raises(DataError, match="too long"):
        embedded(b"x" * 5000)


@examples(6)
@given(
    coefficients=st.lists(st.integers(-(2**64), 2**64), min_size=1, max_size=5),
    point=st.integers(-(2**64), 2**64),
)
def test_shares_of_a_polynomial_add_up_to_its_value(coefficients, point):
    receiver, sender = together([receive_polynomial(1, point, len(coefficients) - 1), send_polynomial(0, coefficients)])
    assert receiver.modulus == sender.modulus
    value = sum(factor * point**exponent for exponent, factor in enumerate(coefficients))
    assert (receiver.share + sender.share - value) % receiver.modulus == 0


def test_polynomials_that_are_none_are_refused():
    with pytest.raises(ParameterError, match="at least one coefficient"):
        next(send_polynomial(0, []))
    with pytest.raises(ParameterError, match="at least 0"):
        next(receive_polynomial(0, 1, -1))
    talk = send_polynomial(0, [1])
    next(talk)
    with pytest.raises(SessionError, match="another size"):
        talk.send({0: b"\x01" * 256})


def test_sums_and_multiples_under_paillier_s_encryption():
    key = PrivateKey.new(1024)
    public = key.public
    one, other = public.encrypt(-5), public.encrypt(12)
    assert key.decrypt(public.add(one, public.times(other, 3))) == 31
    assert key.decrypt(public.times(one, 2)) == public.n - 10
    assert public.encrypt(1) != public.encrypt(1)
    for wrong in (bytes(256), public.n.to_bytes(256, "big"), b"\xff" * 256):
        with pytest.raises(SessionError, match="no encryption"):
            public.read(wrong)
    with pytest.raises(ParameterError, match="at least 1"):
        drawn_below(0)
    assert {drawn_below(3) for _ in range(100)} == {0, 1, 2}
