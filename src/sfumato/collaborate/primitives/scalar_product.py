"""The scalar product of two private vectors, into two shares that tell nothing alone.

Claim: one party holds bits, the other numbers modulo 2^64 (or bits); each ends with a share, and the shares add up to
the scalar product modulo 2^64. Each share alone is uniform. Of the other's vector a party learns its length only.

Source: Gilboa 1999, by correlated transfers: for every position the holder of numbers draws r_i, the holder of bits
gets r_i + b_i x_i, and the shares are the sum of these and minus the sum of the r_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.extended_transfers import Words, receive_correlated, send_correlated
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
from sfumato.collaborate.primitives.wire_bits import Numbers
from sfumato.ground.errors import ParameterError

MODULUS = 1 << 64
"""Shares are added modulo this."""

LEAKAGE = Leakage(
    protocol="scalar product into shares",
    result=(Told(to="everybody", what="one share of the product, uniform modulo 2^64"),),
    beyond=(Told(to="everybody", what="the length of the vectors"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol, or that uses another vector than it should; whoever learns both "
    "shares learns the product, and many products tell the vectors",
)


def product_of_numbers(ready: Sending, numbers: Numbers) -> Talk[int]:
    """A share of the product, for the party that holds numbers; negative ones count modulo 2^64."""
    own = yield from send_correlated(ready, as_words(numbers))
    return -int(own.sum(dtype=np.uint64)) % MODULUS


def product_of_bits(ready: Receiving, bits: ArrayLike) -> Talk[int]:
    """A share of the product, for the party that holds bits."""
    found = yield from receive_correlated(ready, bits)
    return int(found.sum(dtype=np.uint64))


def signed(value: int) -> int:
    """A number modulo 2^64 as one from -2^63 to 2^63 - 1.

    >>> signed(MODULUS - 3), signed(5)
    (-3, 5)
    """
    return (value + MODULUS // 2) % MODULUS - MODULUS // 2


def as_words(numbers: Numbers | NDArray[np.bool_] | NDArray[np.uint8]) -> Words:
    """Whole numbers modulo 2^64; others, and those beyond 64 bits, are refused.

    >>> as_words([1, -1]).tolist()
    [1, 18446744073709551615]
    """
    if not isinstance(numbers, np.ndarray):
        if not all(-MODULUS // 2 <= one < MODULUS for one in numbers):
            raise ParameterError("numbers from -2^63 to 2^64 - 1 are needed")
        return np.array([int(one) % MODULUS for one in numbers], np.uint64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise ParameterError(f"a vector of whole numbers is needed, not {numbers.ndim} dimensions of {numbers.dtype}")
    return numbers.astype(np.int64).view(np.uint64) if numbers.dtype.kind == "i" else numbers.astype(np.uint64)
