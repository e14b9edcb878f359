"""The sum audit: what follows from sums, by random vectors that are orthogonal to every answered question.

Source: Chin and Özsoyoglu, Auditing and inference control in statistical databases, 1982: a value follows from sums of
real numbers just when its unit vector lies in the row space of the questions. A vector lies in the row space just when
it is orthogonal to all vectors of the kernel; so random vectors of the kernel decide it, and they are few numbers for
each atom. Arithmetic is modulo a prime that is drawn for the log.

Claim: modulo the prime nothing that follows is overlooked. Over the rationals something can follow that does not modulo
    the prime only where the answered questions lose rank: then the prime divides a determinant of zeros and ones. By
    Hadamard's bound a system of rank r has no more than r log2(r + 1) / 60 primes above 2^30 that do, of about 50
    million (``error_bound``). What is taken for a sum that follows though it does not costs an answer, never a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

import numpy as np

from sfumato.queries.exact.keyed_draws import KeyedDraws, Residues, keyed_prime
from sfumato.queries.exact.person_atoms import Atoms, Counts, Cutting, Mask

MOST_NUMBERS = 120_000_000
"""The kernel's vectors may have so many coordinates together."""
_PRIMES = 50_000_000
"""There are more primes between 2^30 and 2^31."""
_BLOCK = 65_536


def error_bound(rank: int) -> float:
    """The largest probability that some sum follows which the prime hides, in a whole history of so many questions.

    >>> f"{error_bound(1000):.1e}"
    '3.3e-06'
    """
    return rank * log2(rank + 1) / 60 / _PRIMES if rank else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Foreseen:
    """What a question would do to a system."""

    cutting: Cutting
    """How it divides atoms."""
    new: bool
    """Whether its sum does not follow from what was answered."""
    signatures: Residues
    """The coordinates of the atoms in random vectors of the kernel, if the question is answered."""


class KernelSums:
    """A system of answered sums over people, as vectors of its kernel."""

    def __init__(self, people: int, key: str, *, signatures: int = 2, vectors: int = 32) -> None:
        self.atoms, self.prime, self._key = Atoms(people), keyed_prime(key), key
        self.answered: list[np.ndarray[tuple[int], np.dtype[np.uint8]]] = []
        self._shown, self._made = signatures, 0
        self._kernel: Residues
        self._begin(max(vectors, 4 * signatures))

    @property
    def rank(self) -> int:
        """How many answered sums do not follow from others."""
        return len(self.answered)

    @property
    def covered(self) -> Mask:
        """The people whom some answered sum counts."""
        found = np.zeros(len(self.atoms.codes), bool)
        for mask in self.masks():
            found |= mask
        return found

    def masks(self) -> Iterator[Mask]:
        """The sets of the answered sums that did not follow from others."""
        return (self._mask(bits) for bits in self.answered)

    @property
    def full(self) -> bool:
        """Whether the system is too large to take another sum."""
        return len(self._kernel) <= self._shown + 2 and 2 * self._wide * len(self.atoms.sizes) > MOST_NUMBERS

    def signatures(self) -> Residues:
        """The coordinates of the atoms in random vectors of the kernel."""
        return self._kernel[: self._shown]

    def foresee(self, mask: Mask) -> Foreseen:
        """What the sum over a set would do; nothing is changed."""
        cutting = self.atoms.cut(mask)
        first = self._divided(self._kernel[: self._shown + 2], cutting, KeyedDraws(self._key, "look", self.prime))
        told = first[:, cutting.inside].sum(axis=1) % self.prime
        pivots = np.flatnonzero(told)
        if not len(pivots):
            return Foreseen(cutting=cutting, new=False, signatures=first[: self._shown])
        left = self._without(first, told, int(pivots[0]))
        return Foreseen(cutting=cutting, new=True, signatures=left[: self._shown])

    def add(self, mask: Mask) -> bool:
        """Note that the sum over a set was answered; False where it followed already."""
        cutting = self.atoms.cut(mask)
        self._kernel = self._divided(self._kernel, cutting, self._draws)
        self.atoms.apply(cutting)
        if not self._answer(cutting.inside):
            return False
        self.answered.append(np.packbits(mask))
        if len(self._kernel) <= self._shown + 2:
            self._begin(2 * self._wide)
        return True

    def _answer(self, inside: Mask) -> bool:
        """Make the kernel orthogonal to one more question; one vector is used up."""
        told = self._kernel[:, inside].sum(axis=1) % self.prime
        pivots = np.flatnonzero(told)
        if not len(pivots):
            return False
        self._kernel = self._without(self._kernel, told, int(pivots[-1]))
        return True

    def _begin(self, vectors: int) -> None:
        """Draw so many vectors and take every answered question from them."""
        self._wide, self._made = vectors, self._made + 1
        self._draws = KeyedDraws(self._key, f"kernel {self._made}", self.prime)
        self._kernel = self._draws.draw(vectors, len(self.atoms.sizes))
        for mask in self.masks():
            self._answer(self.atoms.within(mask))

    def _mask(self, bits: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Mask:
        return np.unpackbits(bits, count=len(self.atoms.codes)).astype(bool)

    def _divided(self, vectors: Residues, cutting: Cutting, draws: KeyedDraws) -> Residues:
        """The same vectors over the atoms after a cut: a divided atom's coordinate is divided at random."""
        if not len(cutting.divided):
            return vectors
        new = draws.draw(len(vectors), len(cutting.divided))
        whole = vectors.copy()
        whole[:, cutting.divided] = (whole[:, cutting.divided] - new) % self.prime
        return np.concatenate([whole, new], axis=1)

    def _without(self, vectors: Residues, told: Counts, pivot: int) -> Residues:
        """The vectors made orthogonal to a question, by one of them that is not and is left out."""
        share = (self.prime - told) * pow(int(told[pivot]), -1, self.prime) % self.prime
        line, kept = vectors[pivot], np.delete(np.arange(len(vectors)), pivot)
        left = np.empty((len(kept), len(line)), np.int64)
        step = max(1, _BLOCK // max(1, len(line)))
        for at in range(0, len(kept), step):
            rows = kept[at : at + step]
            part = share[rows, None] * line
            part += vectors[rows]
            whole = part // self.prime  # several times as quick as the remainder
            whole *= self.prime
            np.subtract(part, whole, out=left[at : at + step])
        return left
