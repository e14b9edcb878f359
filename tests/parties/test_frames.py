"""Heads of frames: every byte is checked, and nothing that was changed passes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import SessionError
from sfumato.parties.network.frames import HEAD, MOST_LABEL, NOBODY, Head, Kind, check_data, decode, encode
from tests.weights import examples

TAG = bytes(range(16))


def taken(raw: bytes) -> Head:
    """A frame as a link takes it that awaits message 5, ``sum/masked`` with 24 bytes."""
    head = decode(raw[:HEAD], number=5)
    if len(raw) < HEAD + head.label:
        raise SessionError("the rest of the label is waited for")
    if head.kind == Kind.DATA:
        check_data(head, raw[HEAD : HEAD + head.label], tag=TAG, wanted="sum/masked", length=24)
    return head


def test_golden_bytes():
    made = encode(Kind.DATA, tag=TAG, number=5, label="sum/masked", content=bytes(24))
    assert made.hex() == (
        "53464d54" "01" "01" "0a" "00" "000102030405060708090a0b0c0d0e0f" "0000000000000005" "0000000000000018"
        "73756d2f6d61736b6564"
    )  # fmt: skip
    assert taken(made) == Head(kind=Kind.DATA, label=10, tag=TAG, number=5, length=24)


@examples(200)
@given(
    st.sampled_from(Kind),
    st.binary(min_size=16, max_size=16),
    st.integers(0, 2**64 - 1),
    st.text("abc/é", min_size=1, max_size=20),
    st.integers(0, 2_000),
)
def test_what_is_encoded_is_decoded(kind: Kind, tag: bytes, number: int, label: str, length: int):
    label, length = ("", 0) if kind == Kind.HEARTBEAT else (label, length)
    raw = encode(kind, tag=tag, number=number, label=label, content=bytes(length))
    named = raw[HEAD:]
    assert decode(raw[:HEAD], number=number) == Head(kind=kind, label=len(named), tag=tag, number=number, length=length)
    assert named.decode() == label


def test_a_hundred_thousand_fuzzed_frames():
    """Every byte of the head and the label of an awaited message is known: whatever differs is refused."""
    good = encode(Kind.DATA, tag=TAG, number=5, label="sum/masked", content=bytes(24))
    draw, quiet = random.Random(11), 0
    for _ in range(100_000):
        data = bytearray(good)
        act = draw.randrange(4)
        if act == 0:
            data[draw.randrange(len(data))] ^= draw.randrange(1, 256)
        elif act == 1:
            at = draw.randrange(HEAD)
            data[at : at + 8] = draw.randbytes(8)
        elif act == 2:
            data = bytearray(draw.randbytes(draw.randrange(80)))
        else:
            del data[draw.randrange(len(data)) :]
        if bytes(data) == good:
            continue
        try:
            head = taken(bytes(data))
        except SessionError:
            continue
        assert head.kind != Kind.DATA, data.hex()
        assert head.length <= 2_000
        assert head.label <= 40
        quiet += 1
    assert quiet < 100  # heartbeats and ends that chance made


@pytest.mark.parametrize("length", [0, HEAD - 1, HEAD + 1])
def test_a_head_has_its_length(length: int):
    with pytest.raises(SessionError, match="the head of a frame has 40 bytes"):
        decode(bytes(length), number=0)


def test_a_label_that_is_too_long_is_never_sent():
    with pytest.raises(SessionError, match="more than 200 bytes"):
        encode(Kind.DATA, tag=NOBODY, number=0, label="x" * (MOST_LABEL + 1))
