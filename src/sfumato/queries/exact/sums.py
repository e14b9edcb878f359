"""The sum audit: linear algebra modulo a prime on the answered questions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.atoms import Atoms, Cutting, Mask

# Numbers modulo a prime that only the holder of a log can foretell: the same in every process that opens the log.


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
        candidate = 2**30 + drawn % 2**30 | 1
        if is_prime(candidate):
            return candidate
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


# Answered questions that do not follow from each other, with one pivot person for each, modulo a prime.
#
# The square matrix of questions and pivots is invertible, and its inverse is kept. So a vector that is orthogonal to
# every question can have any numbers for all other people, and the inverse says what the pivots have. No pivot is
# barred: where everybody in a minimum or maximum is, this says that no combination of the sums is about these people
# alone.


MOST_STEPS = 60_000_000
"""Pivots are exchanged where that takes no more steps."""
TRIED = 32
_BLOCK = 65_536


def reduced(numbers: Residues, prime: int) -> Residues:
    """Numbers modulo a prime, in place; the quotient is several times as quick as the remainder."""
    whole = numbers // prime
    whole *= prime
    numbers -= whole
    return numbers


def shifted(target: Residues, shares: Residues, line: Residues, prime: int) -> None:
    """Add to every row its share of a line, modulo a prime, in place."""
    step = max(1, _BLOCK // max(1, len(line)))
    for at in range(0, len(target), step):
        part = shares[at : at + step, None] * line
        part += target[at : at + step]
        target[at : at + step] = reduced(part, prime)


class QuestionBasis:
    """Independent questions, their pivots and the inverse."""

    def __init__(self, people: int, prime: int) -> None:
        self.people, self.prime, self.rank = people, prime, 0
        self.pivots: NDArray[np.int64] = np.zeros(0, np.int64)
        self.barred: Mask = np.zeros(people, bool)
        self.members: NDArray[np.int32] = np.zeros(0, np.int32)
        """The people of all questions, one question after the other."""
        self.starts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._bits: NDArray[np.uint8] = np.zeros((8, (people + 7) // 8), np.uint8)
        self._inverse: Residues = np.zeros((8, 8), np.int64)

    @property
    def inverse(self) -> Residues:
        """One row for each pivot, one column for each question."""
        return self._inverse[: self.rank, : self.rank]

    def add(self, mask: Mask) -> None:
        """Take a question that does not follow from the others, also without the people who are barred."""
        chosen = mask[self.pivots]
        share = self.inverse[chosen].sum(axis=0) % self.prime
        pivot, left = self._pivot(mask, share)
        column = self._column(pivot)
        side = self.inverse[:, column].sum(axis=1) % self.prime
        over = pow(left, -1, self.prime)
        self._grow()
        shifted(self.inverse, side * over % self.prime, share, self.prime)
        at = self.rank
        self._inverse[:at, at] = (self.prime - side) * over % self.prime
        self._inverse[at, :at] = (self.prime - share) * over % self.prime
        self._inverse[at, at] = over
        self._bits[at] = np.packbits(mask)
        self.starts = np.append(self.starts, len(self.members))
        self.members = np.concatenate([self.members, np.flatnonzero(mask).astype(np.int32)])
        self.pivots = np.append(self.pivots, pivot)
        self.rank += 1

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was worked out, in few bytes."""
        held: dict[str, NDArray[Any]] = {
            "pivots": self.pivots,
            "barred": np.packbits(self.barred),
            "bits": self._bits[: self.rank],
        }
        return {**held, "inverse": self.inverse.astype(np.int32)}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was worked out."""
        self.rank, self.pivots = len(held["pivots"]), held["pivots"]
        self.barred = np.unpackbits(held["barred"], count=self.people).astype(bool)
        room = max(8, 1 << max(self.rank - 1, 0).bit_length())
        self._bits = np.zeros((room, (self.people + 7) // 8), np.uint8)
        self._bits[: self.rank] = held["bits"]
        self._inverse = np.zeros((room, room), np.int64)
        self._inverse[: self.rank, : self.rank] = held["inverse"]
        people = [np.flatnonzero(np.unpackbits(line, count=self.people)).astype(np.int32) for line in held["bits"]]
        self.members = np.concatenate([np.zeros(0, np.int32), *people])
        self.starts = np.cumsum([0, *(len(indices) for indices in people)], dtype=np.int64)[:-1]

    def kernel(self, free: Residues) -> Residues:
        """The vectors with these numbers for all who are no pivots, made orthogonal to every question, in place."""
        free[:, self.pivots] = 0
        if self.rank:
            sums = np.array([np.add.reduceat(line[self.members], self.starts) % self.prime for line in free]).T
            high, low = sums >> 16, sums & 0xFFFF
            coefficients = ((self.inverse @ high % self.prime << 16) + self.inverse @ low) % self.prime
            free[:, self.pivots] = (self.prime - coefficients.T) % self.prime
        return free

    def counted(self) -> Mask:
        """The people whom some question counts."""
        mask = np.zeros(self.people, bool)
        mask[self.members] = True
        return mask

    def exchanged(self, barred: Mask) -> tuple[NDArray[np.int64], Residues] | None:
        """Pivots that are not barred, and their inverse; None where there are none, or it takes too many steps."""
        pivots, inverse = self.pivots.copy(), self.inverse.copy()
        places = np.flatnonzero(barred[pivots])
        if len(places) * (len(self.members) + self.rank**2) > MOST_STEPS:
            return None
        for place in places.tolist():
            line = self._combined(inverse[place])
            free = np.flatnonzero((line != 0) & ~barred)
            if not len(free):
                return None
            pivot = int(free[0])
            side = inverse[:, self._column(pivot)].sum(axis=1) % self.prime
            own = inverse[place] * pow(int(side[place]), -1, self.prime) % self.prime
            shifted(inverse, (self.prime - side) % self.prime, own, self.prime)
            inverse[place], pivots[place] = own, pivot
        return pivots, inverse

    def bar(self, barred: Mask) -> bool:
        """Move the pivots away from some people; False, and nothing done, where that cannot be."""
        exchange = self.exchanged(barred)
        if exchange is None:
            return False
        self.pivots, self._inverse[: self.rank, : self.rank] = exchange
        self.barred = barred
        return True

    def _pivot(self, mask: Mask, share: Residues) -> tuple[int, int]:
        """Somebody in whom a question differs from what follows, and by how much."""
        inside = np.flatnonzero(mask & ~self.barred)
        tried = inside[:: max(1, len(inside) // TRIED)]
        for person in tried.tolist():
            left = int(1 - share[self._column(person)].sum()) % self.prime
            if left:
                return person, left
        left_over = (mask - self._combined(share)) % self.prime
        left_over[self.barred] = 0
        person = int(np.flatnonzero(left_over)[0])
        return person, int(left_over[person])

    def _combined(self, shares: Residues) -> Residues:
        """A combination of the questions; floats hold sums of so many residues exactly."""
        if not self.rank:
            return np.zeros(self.people, np.int64)
        many = np.diff(np.append(self.starts, len(self.members)))
        sums = np.bincount(self.members, weights=np.repeat(shares, many).astype(np.float64), minlength=self.people)
        return sums.astype(np.int64) % self.prime

    def _column(self, person: int) -> Mask:
        """Which questions count somebody."""
        held = self._bits[: self.rank, person >> 3] >> (7 - (person & 7)) & 1
        return held.astype(bool)

    def columns(self, people: NDArray[np.int64]) -> Mask:
        """Which questions, one line each, count which of some people."""
        return np.asarray(self._bits[: self.rank, people >> 3] >> (7 - (people & 7)).astype(np.uint8) & 1, bool)

    def _grow(self) -> None:
        """Make room for one more question."""
        room = len(self._bits)
        if self.rank < room:
            return
        self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
        wide = np.zeros((2 * room, 2 * room), np.int64)
        wide[:room, :room] = self._inverse
        self._inverse = wide


# The sum audit: what follows from sums, by random vectors that are orthogonal to every answered question.
#
# Source: Chin and Özsoyoglu, Auditing and inference control in statistical databases, 1982: a value follows from sums
# of real numbers just when its unit vector lies in the row space of the questions. A vector lies in the row space just
# when it is orthogonal to all vectors of the kernel; so random vectors of the kernel decide it, and they are few
# numbers for each person, whatever was asked. Arithmetic is modulo a prime that is drawn for the log.
#
# Claim: modulo the prime nothing that follows is overlooked. Over the rationals something can follow that does not
#     modulo the prime only where the answered questions lose rank: then the prime divides a determinant of zeros and
#     ones. By Hadamard's bound a system of rank r has no more than r log2(r + 1) / 60 primes above 2^30 that do, of
#     about 50 million (``error_bound``). What is taken for a sum that follows though it does not costs an answer,
#     never a person.


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
        products = first[:, mask].sum(axis=1) % self.prime
        new = bool(products.any())
        vectors = _without(first, products, self.prime) if new else first
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
        products = self._kernel[:, mask].sum(axis=1) % self.prime
        if not products.any():
            return False
        self.atoms.apply(self.atoms.cut(mask))
        if self._free is not None:
            rest = self._free[:, mask].sum(axis=1) % self.prime
            self._free = _without(self._free, rest, self.prime) if rest.any() else None  # made anew when asked for
        self._kernel = _without(self._kernel, products, self.prime)
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


def _without(vectors: Residues, products: Residues, prime: int) -> Residues:
    """The vectors made orthogonal to a question, by the last that is not, which is left out."""
    pivot = int(np.flatnonzero(products)[-1])
    share = (prime - products) * pow(int(products[pivot]), -1, prime) % prime
    left = np.delete(vectors, pivot, axis=0)
    shifted(left, np.delete(share, pivot), vectors[pivot], prime)
    return left


# Which few small atoms have a sum that follows: a set of atoms whose signatures add up to zero.
#
# The signature of an atom is its coordinate in some random vectors that are orthogonal to every answered question. The
# sum of some atoms follows from the answers only if the signatures of these atoms add up to zero modulo the prime.


MOST_SETS = 50_000
"""So many sets of atoms are looked at, in each half of a set that could follow."""
SPARE_BITS = 40
"""A set is taken for one that follows though it does not with a probability below 2 to the minus this."""


def signatures_for(k: int, people: int) -> int:
    """How many random vectors are needed, so that no set is taken for one that follows.

    >>> signatures_for(2, 30_000), signatures_for(5, 30_000)
    (2, 4)
    """
    sets = sum(comb(max(people, 1), many) for many in range(1, min(k, people + 1)))
    return max(2, -int(-(log2(max(sets, 1)) + SPARE_BITS) // 30))


def undecided(small: int, k: int) -> bool:
    """Whether there are too many small atoms to look at all their sets of fewer than k people."""
    return sum(comb(small, many) for many in range(1, k // 2 + 1)) > MOST_SETS


def follows(signatures: Residues, sizes: NDArray[np.int64], k: int, prime: int) -> tuple[int, ...] | None:
    """Atoms of fewer than k people together whose sum follows, or None; one column of signatures for each atom."""
    if k == 2:
        alone = np.flatnonzero((signatures == 0).all(axis=0) & (sizes < k))
        return (int(alone[0]),) if len(alone) else None
    halves: list[tuple[int, ...]] = [()]
    sums, weights = [np.zeros((len(signatures), 1), np.int64)], [np.zeros(1, np.int64)]
    for many in range(1, min(k // 2, len(sizes)) + 1):
        sets = np.array(list(combinations(range(len(sizes)), many)), np.int64)
        sets = sets[sizes[sets].sum(axis=1) < k]
        halves += [tuple(atoms) for atoms in sets.tolist()]
        sums.append(signatures[:, sets].sum(axis=2) % prime)
        weights.append(sizes[sets].sum(axis=1))
    return _paired(halves, np.concatenate(sums, axis=1), np.concatenate(weights), k, prime)


def _paired(
    halves: list[tuple[int, ...]], sums: Residues, weights: NDArray[np.int64], k: int, prime: int
) -> tuple[int, ...] | None:
    """Two halves without a common atom whose signatures add up to zero, and that have fewer than k people."""
    order = np.argsort(sums[0], kind="stable")
    wanted = (prime - sums[0]) % prime
    low = np.searchsorted(sums[0], wanted, side="left", sorter=order)
    high = np.searchsorted(sums[0], wanted, side="right", sorter=order)
    for place in np.flatnonzero(high > low).tolist():
        for other in order[low[place] : high[place]].tolist():
            atoms = (*halves[place], *halves[other])
            if not atoms or len(set(atoms)) < len(atoms) or weights[place] + weights[other] >= k:
                continue
            if not ((sums[:, place] + sums[:, other]) % prime).any():
                return tuple(sorted(atoms))
    return None
