"""Answered questions that do not follow from each other, with one pivot person for each, modulo a prime.

The square matrix of questions and pivots is invertible, and its inverse is kept. So a vector that is orthogonal to
every question can have any numbers for all other people, and the inverse says what the pivots have. No pivot is barred:
where everybody in a minimum or maximum is, this says that no combination of the sums is about these people alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.queries.exact.keyed_draws import Residues
from sfumato.queries.exact.person_atoms import Mask

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
        self.starts = np.cumsum([0, *(len(one) for one in people)], dtype=np.int64)[:-1]

    def kernel(self, free: Residues) -> Residues:
        """The vectors with these numbers for all who are no pivots, made orthogonal to every question, in place."""
        free[:, self.pivots] = 0
        if self.rank:
            sums = np.array([np.add.reduceat(line[self.members], self.starts) % self.prime for line in free]).T
            high, low = sums >> 16, sums & 0xFFFF
            found = ((self.inverse @ high % self.prime << 16) + self.inverse @ low) % self.prime
            free[:, self.pivots] = (self.prime - found.T) % self.prime
        return free

    def counted(self) -> Mask:
        """The people whom some question counts."""
        found = np.zeros(self.people, bool)
        found[self.members] = True
        return found

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
        found = self.exchanged(barred)
        if found is None:
            return False
        self.pivots, self._inverse[: self.rank, : self.rank] = found
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
        found = np.bincount(self.members, weights=np.repeat(shares, many).astype(np.float64), minlength=self.people)
        return found.astype(np.int64) % self.prime

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
