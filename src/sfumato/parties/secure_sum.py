"""Secure sum: pairwise masks that cancel, and the textbook's ring."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told, to_all

# Masks that every two parties share and nobody else knows: added by one, taken away by the other, they cancel.
#
# Source: Bonawitz et al. 2017, section 4. Each pair agrees on a key by X25519; AES-256 in counter mode, keyed by the
# pair, the session and the round, stretches it to as many numbers modulo 2^64 as are needed.


Words = NDArray[np.uint64]
_ABOUT = b"sfumato pairwise masks 1"


class PairwiseKeys:
    """The keys of one party with every other, and the rounds that they have been used for.

    A round number is used once. The same mask twice would tell the difference of two masked messages.
    """

    def __init__(self, seat: Seat, keys: Mapping[int, bytes]) -> None:
        """Fresh keys, by party; no round is used yet."""
        self.seat = seat
        self._keys = dict(keys)
        self._used = -1

    def mask(self, count: int, round_number: int | None = None) -> Words:
        """The masks of the next round, or of a later one: over all parties they add up to zero modulo 2^64."""
        number = self._used + 1 if round_number is None else round_number
        if number <= self._used:
            raise SessionError(f"round {number} of masks was used already; a round number is never used twice")
        self._used = number
        total = np.zeros(count, np.uint64)
        for peer, key in self._keys.items():
            stream = _stream(key, number, count)
            if peer > self.seat.me:
                total += stream
            else:
                total -= stream
        return total


def _stream(key: bytes, round_number: int, count: int) -> Words:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR

    start = round_number.to_bytes(8, "big") + bytes(8)
    zeros = bytes(8 * count)
    return np.frombuffer(Cipher(AES(key), CTR(start)).encryptor().update(zeros), "<u8")


def agree_keys(seat: Seat) -> Talk[PairwiseKeys]:
    """Every two parties agree on a key that is good for this session only (X25519, HKDF)."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    own = X25519PrivateKey.from_private_bytes(fresh_key(32))
    public_key = own.public_key().public_bytes_raw()
    came = yield to_all(seat, "keys/public", public_key)
    keys = {}
    for peer, content in came.items():
        try:
            secret = own.exchange(X25519PublicKey.from_public_bytes(content))
        except ValueError:
            raise SessionError(f"party {peer} sent a public key that is no point of the curve") from None
        keys[peer] = _derived(secret, seat, peer, sorted((public_key, content)))
    return PairwiseKeys(seat, keys)


def _derived(secret: bytes, seat: Seat, peer: int, public_keys: list[bytes]) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    pair = sorted((seat.me, peer))
    about = b"".join([_ABOUT, *(party.to_bytes(4, "big") for party in pair), *public_keys])
    return HKDF(algorithm=SHA256(), length=32, salt=seat.session, info=about).derive(secret)


def words_written(words: Words) -> bytes:
    """Numbers as they are sent."""
    return words.astype("<u8", copy=False).tobytes()


def words_read(content: bytes) -> Words:
    """Numbers as they came."""
    return np.frombuffer(content, "<u8").astype(np.uint64, copy=False)


# The sum of all parties' numbers, and nothing else about any of them: masks that cancel.
#
# Claim: whatever up to n - 2 of n semi-honest parties see together is as likely for every input of the others that has
# the same sum. Each masked vector is uniform modulo 2^64, given all others, but for their total.
#
# Source: Bonawitz et al. 2017, section 4, without its part for parties that drop out: here such a party ends the
# session. 003 section 5.4.2 sums along a ring, where the two neighbours of a party together learn its numbers
# (``ring_sum``).


Counts = NDArray[np.int64]

LEAKAGE = Leakage(
    protocol="secure sum",
    result=(Told(to="everybody", what="the sum of all parties' numbers"),),
    beyond=(Told(to="everybody", what="how many numbers are summed"),),
    withstands="any n - 2 of n parties that put together what they saw",
    limits="n - 1 parties, who subtract their own numbers from the sum; a party that sends wrong numbers",
)
_ONCE = 4096
"""Up to so many numbers, everybody sends everything to everybody; beyond, each party adds up one part for all."""


def secure_sum(seat: Seat, keys: PairwiseKeys, values: Counts) -> Talk[Counts]:
    """The sum of the parties' vectors modulo 2^64, read as signed numbers; all vectors have the same length.

    Between two parties a sum tells each the other's numbers, so fewer than three are refused.
    """
    if seat.count < 3:
        raise ParameterError(
            f"a secure sum of {seat.count} parties hides nothing: each subtracts its own numbers; it needs three"
        )
    given = np.ascontiguousarray(values, np.int64).reshape(-1).view(np.uint64)
    masked = given + keys.mask(len(given))
    if len(given) <= _ONCE:
        total = _added(masked, (yield to_all(seat, "sum/masked", words_written(masked))))
    else:
        total = yield from _in_parts(seat, masked)
    return total.view(np.int64).reshape(np.shape(values))


def _in_parts(seat: Seat, masked: Words) -> Talk[Words]:
    """Party j adds up the j-th part of everybody's vector and tells all."""
    parts = np.array_split(masked, seat.count)
    mine = parts[seat.me]
    came = yield Exchange(
        label="sum/part",
        send={other: words_written(parts[other]) for other in seat.others},
        expect=dict.fromkeys(seat.others, mine.nbytes),
    )
    parts[seat.me] = _added(mine, came)
    whole = yield Exchange(
        label="sum/whole",
        send=dict.fromkeys(seat.others, words_written(parts[seat.me])),
        expect={other: parts[other].nbytes for other in seat.others},
    )
    return np.concatenate(
        [parts[party] if party == seat.me else words_read(whole[party]) for party in range(seat.count)]
    )


def _added(own: Words, came: Mapping[int, bytes]) -> Words:
    total = own.copy()
    for content in came.values():
        total += words_read(content)
    return total


# The textbook's secure sum: a masked total goes round a ring, and each party adds its numbers.
#
# Claim: no single semi-honest party of at least three learns more than the sum. The two neighbours of a party together
# learn its numbers: one knows what came in, the other what went out. Use ``secure_sum``; this one is here because the
# literature describes it, and a test shows the two neighbours at work.
#
# Source: 003 section 5.4.2; Clifton et al. 2002.


RING_LEAKAGE = Leakage(
    protocol="ring sum",
    result=(Told(to="everybody", what="the sum of all parties' numbers"),),
    beyond=(Told(to="everybody", what="how many numbers are summed"),),
    withstands="no two parties: the two neighbours of a party learn its numbers if they put together what they saw",
    limits="neighbours that work together; a party that sends wrong numbers",
)


def ring_sum(seat: Seat, values: Counts) -> Talk[Counts]:
    """The sum of the parties' vectors modulo 2^64, read as signed numbers."""
    if seat.count < 3:
        raise ParameterError(f"a ring of {seat.count} parties hides nothing; it needs three")
    given = np.ascontiguousarray(values, np.int64).reshape(-1).view(np.uint64)
    after, before = (seat.me + 1) % seat.count, (seat.me - 1) % seat.count
    here = {before: given.nbytes}
    if seat.me == 0:
        mask = np.frombuffer(fresh_key(given.nbytes), np.uint64)
        yield Exchange(label="ring/add", send={after: words_written(given + mask)})
        back = yield Exchange(label="ring/add", expect=here)
        total = words_read(back[before]) - mask
        yield Exchange(label="ring/sum", send=dict.fromkeys(seat.others, words_written(total)))
    else:
        came = yield Exchange(label="ring/add", expect=here)
        yield Exchange(label="ring/add", send={after: words_written(words_read(came[before]) + given)})
        contents = yield Exchange(label="ring/sum", expect={0: given.nbytes})
        total = words_read(contents[0])
    return total.view(np.int64).reshape(np.shape(values))
