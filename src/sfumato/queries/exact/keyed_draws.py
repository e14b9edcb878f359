"""Numbers modulo a prime that only the holder of a log can foretell: the same in every process that opens the log."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.int64]
_BASES = (2, 3, 5, 7)
"""Miller and Rabin's test with these bases is exact below 3,215,031,751."""


def keyed_prime(key: str) -> int:
    """A prime between 2^30 and 2^31 by a key: one of about 50 million.

    >>> keyed_prime("a") == keyed_prime("a"), keyed_prime("a") == keyed_prime("b"), 2**30 < keyed_prime("a") < 2**31
    (True, False, True)
    """
    place = 0
    while True:
        drawn = int.from_bytes(hashlib.sha256(f"prime {key} {place}".encode()).digest()[:4], "little")
        found = 2**30 + drawn % 2**30 | 1
        if is_prime(found):
            return found
        place += 1


def is_prime(number: int) -> bool:
    """Whether a number below 2^31 is prime, exactly.

    >>> [n for n in range(30) if is_prime(n)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    if number < 2 or any(number % base == 0 for base in _BASES):
        return number in _BASES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in _BASES)


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


class KeyedDraws:
    """A stream of residues modulo a prime, by a key and a name."""

    def __init__(self, key: str, name: str, prime: int) -> None:
        self._seed, self._prime = f"{key} {name}", prime
        self.drawn = 0
        """How often was drawn."""

    def draw(self, rows: int, columns: int) -> Residues:
        """The next ``rows`` times ``columns`` residues; each is uniform up to 2^-33."""
        self.drawn += 1
        data = hashlib.shake_256(f"{self._seed} {self.drawn}".encode()).digest(8 * rows * columns)
        wide = np.frombuffer(data, dtype="<u8").reshape(rows, columns)
        return (wide % np.uint64(self._prime)).astype(np.int64)
