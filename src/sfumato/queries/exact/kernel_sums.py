"""The sum audit: what follows from sums, by random vectors that are orthogonal to every answered question.

Source: Chin and Özsoyoglu, Auditing and inference control in statistical databases, 1982: a value follows from sums of
real numbers just when its unit vector lies in the row space of the questions. A vector lies in the row space just when
it is orthogonal to all vectors of the kernel; so random vectors of the kernel decide it, and they are few numbers for
each person, whatever was asked. Arithmetic is modulo a prime that is drawn for the log.

Claim: modulo the prime nothing that follows is overlooked. Over the rationals something can follow that does not modulo
    the prime only where the answered questions lose rank: then the prime divides a determinant of zeros and ones. By
    Hadamard's bound a system of rank r has no more than r log2(r + 1) / 60 primes above 2^30 that do, of about 50
    million (``error_bound``). What is taken for a sum that follows though it does not costs an answer, never a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.keyed_draws import KeyedDraws, Residues, keyed_prime
from sfumato.queries.exact.person_atoms import Atoms, Cutting, Mask
from sfumato.queries.exact.question_basis import QuestionBasis, shifted

MOST_RANK = 8_000
"""So many sums that do not follow from each other are answered: the inverse has the square of it."""
READY = 12
"""Vectors of the kernel that are made ahead, beside those that are looked at."""
_PRIMES = 50_000_000
"""There are more primes between 2^30 and 2^31."""


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
    vectors: Residues
    """Random vectors of the kernel, if the question is answered."""
    codes: Callable[[], NDArray[np.int64]]
    """Everybody's atom after the cut."""

    def signatures(self, small: NDArray[np.int64], prime: int) -> Residues:
        """The sums of the vectors over some atoms, one column for each."""
        return _summed(self.vectors, self.codes(), len(self.cutting.sizes), prime)[:, small]


class KernelSums:
    """A system of answered sums over people, as vectors of its kernel."""

    def __init__(self, people: int, key: str, *, signatures: int = 2) -> None:
        self.atoms, self.prime = Atoms(people), keyed_prime(key)
        self.basis = QuestionBasis(people, self.prime)
        self._draws, self._shown = KeyedDraws(key, "kernel", self.prime), signatures
        self._kernel = self._fresh(signatures + 2 + READY)
        self._free: Residues | None = None

    @property
    def rank(self) -> int:
        """How many answered sums do not follow from others."""
        return self.basis.rank

    @property
    def full(self) -> bool:
        """Whether the system is too large to take another sum."""
        return self.rank >= MOST_RANK

    def foresee(self, mask: Mask) -> Foreseen:
        """What the sum over a set would do; nothing is changed."""
        cutting = self.atoms.cut(mask)
        first = self._kernel[: self._shown + 2]
        told = first[:, mask].sum(axis=1) % self.prime
        new = bool(told.any())
        vectors = _without(first, told, self.prime) if new else first
        return Foreseen(
            cutting=cutting, new=new, vectors=vectors[: self._shown], codes=lambda: self.atoms.coded(cutting)
        )

    def over(self, seen: Foreseen) -> Mask:
        """The answered sums over atoms as a question would cut them, one line each."""
        first = np.zeros(len(seen.cutting.sizes), np.int64)
        codes = seen.codes()
        first[codes] = np.arange(len(codes))
        return np.asarray(self.basis.columns(first) & (seen.cutting.sizes > 0), bool)

    def leaves_free(self, mask: Mask) -> bool:
        """Whether all sums with one more still leave everybody free who is barred."""
        return bool((self._apart()[:, mask].sum(axis=1) % self.prime).any())

    def bar(self, barred: Mask) -> bool:
        """Note that everybody among these must stay free; False where they are not."""
        if not self.basis.bar(barred):
            return False
        self._free = None
        return True

    def can_bar(self, barred: Mask) -> bool:
        """Whether all sums leave some people free: no combination of them is about these people alone."""
        return self.basis.exchanged(barred) is not None

    def add(self, mask: Mask) -> bool:
        """Note that the sum over a set was answered; False where it followed already."""
        told = self._kernel[:, mask].sum(axis=1) % self.prime
        if not told.any():
            return False
        self.atoms.apply(self.atoms.cut(mask))
        if self._free is not None:
            rest = self._free[:, mask].sum(axis=1) % self.prime
            self._free = _without(self._free, rest, self.prime) if rest.any() else None  # made anew when asked for
        self._kernel = _without(self._kernel, told, self.prime)
        self.basis.add(mask)
        if len(self._kernel) < self._shown + 2:
            self._kernel = np.vstack([self._kernel, self._fresh(READY)])
        return True

    def signatures(self) -> Residues:
        """The sums of random vectors of the kernel over all atoms, one column for each."""
        return _summed(self._kernel[: self._shown], self.atoms.codes, len(self.atoms.sizes), self.prime)

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was worked out, in few bytes."""
        held: dict[str, NDArray[Any]] = {"codes": self.atoms.codes.astype(np.int32), "sizes": self.atoms.sizes}
        return {
            **self.basis.state(),
            **held,
            "kernel": self._kernel.astype(np.int32),
            "drawn": np.array([self._draws.drawn]),
        }

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was worked out."""
        self.basis.restore(held)
        self.atoms.codes, self.atoms.sizes = held["codes"].astype(np.int64), held["sizes"]
        self._kernel, self._free = held["kernel"].astype(np.int64), None
        self._draws.drawn = int(held["drawn"][0])

    def _apart(self) -> Residues:
        """Vectors of the kernel that are zero for everybody who is barred."""
        if self._free is None or len(self._free) < 2:
            self._free = self._fresh(READY, barred=self.basis.barred)
        return self._free

    def _fresh(self, many: int, barred: Mask | None = None) -> Residues:
        drawn = self._draws.draw(many, self.basis.people)
        if barred is not None:
            drawn[:, barred] = 0
        return self.basis.kernel(drawn)


def _summed(vectors: Residues, codes: NDArray[np.int64], atoms: int, prime: int) -> Residues:
    """Sums over atoms; floats hold sums of so many residues exactly."""
    sums = [np.bincount(codes, weights=line.astype(np.float64), minlength=atoms) for line in vectors]
    return np.array(sums).astype(np.int64) % prime


def _without(vectors: Residues, told: Residues, prime: int) -> Residues:
    """The vectors made orthogonal to a question, by the last that is not, which is left out."""
    pivot = int(np.flatnonzero(told)[-1])
    share = (prime - told) * pow(int(told[pivot]), -1, prime) % prime
    left = np.delete(vectors, pivot, axis=0)
    shifted(left, np.delete(share, pivot), vectors[pivot], prime)
    return left
