"""The known-bad twin of the auditor: it refuses only where the true answer tells a value, and its refusals tell it."""

from __future__ import annotations

import numpy as np

from sfumato.queries.exact.extremes import Extremes


class ValueDependent:
    """Maxima, answered unless the true answer tells somebody's value: the refusal depends on values."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.told = values, list[tuple[np.ndarray, int]]()

    def ask(self, mask: np.ndarray) -> int | None:
        answer = int(self.values[mask].max())
        after = Extremes(len(self.values))
        for one, value in (*self.told, (mask, answer)):
            after.add(one, 2 * value, largest=True)
        if after.known()[0] == "told":
            return None
        self.told.append((mask, answer))
        return answer


def read_off(ask, people: int) -> dict[int, int]:
    """The attack: the maximum of three, then of two of them; a refusal says that the third has the maximum."""
    known = {}
    for first in range(0, people - 2, 3):
        three = np.arange(first, first + 3)
        most = ask(np.isin(np.arange(people), three))
        for person in three.tolist() if most is not None else ():
            if ask(np.isin(np.arange(people), three[three != person])) is None:
                known[person] = most
                break
    return known
