"""The scalar product of two private vectors, into two shares that tell nothing alone.

Claim: one party holds bits, the other numbers modulo 2^64 (or bits); each ends with a share, and the shares add up to
the scalar product modulo 2^64. Each share alone is uniform. Of the other's vector a party learns its length only.

Source: Gilboa 1999, by correlated transfers: for every position the holder of numbers draws r_i, the holder of bits gets
r_i + b_i x_i, and the shares are the sum of these and minus the sum of the r_i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sfumato.collaborate.exchange import Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.extended_transfers import Words, receive_correlated, send_correlated
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending
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


def product_of_numbers(ready: Sending, numbers: ArrayLike) -> Talk[int]:
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


def as_words(numbers: ArrayLike) -> Words:
    """Whole numbers modulo 2^64; others, and those beyond 64 bits, are refused."""
    found = np.asarray(numbers)
    if found.ndim == 1 and found.size == 0:
        return np.empty(0, np.uint64)
    if found.ndim != 1 or found.dtype.kind not in "biu":
        raise ParameterError(
            f"a vector of whole numbers within 64 bits is needed, not {found.ndim} dimensions of {found.dtype}"
        )
    return found.astype(np.int64).view(np.uint64) if found.dtype.kind == "i" else found.astype(np.uint64)
