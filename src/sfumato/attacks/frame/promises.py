"""What the claims of a release promise about one sensitive value: how much of a class it may be at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.subject import Subject
from sfumato.attacks.frame.trials import Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """No class has more rows of one value than this."""

    share: float = 1.0
    """The largest share of a class."""
    spare: int = 0
    """How many rows of a class must have other values."""
    values: tuple[str, ...] = ()
    """Of which values; none means all."""
    why: str
    """The claim."""

    def most(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The most rows of one value in classes of these sizes.

        >>> Promise(share=1 / 3, why="").most(np.array([2, 3, 7])).tolist()
        [0, 1, 2]
        """
        return np.minimum(np.floor(self.share * sizes + 1e-9), sizes - self.spare).astype(np.int64)


def promises(subject: Subject, column: str, different: int) -> tuple[Promise, ...]:
    """The promises about a column that has so many different values."""
    return tuple(
        promise
        for name, given in subject.claims
        if given.get("column", column) == column
        for promise in _read(name, given, column, different)
    )


def limit_of(subject: Subject, column: str, different: int) -> Limit | None:
    """The highest rate of right guesses that the promises about every value of a column allow, if read so.

    The models bound shares within a class. Who reads that as a bound on what anybody can infer hands this to an attack
    as its limit.
    """
    found = [one for one in promises(subject, column, different) if not one.values and one.share < 1]
    return min((Limit(value=one.share, why=one.why) for one in found), key=lambda one: one.value, default=None)


def promised(subject: Subject, column: str, different: int) -> dict[str, float]:
    """The same as a figure of a finding; nothing where nothing is promised about every value."""
    found = limit_of(subject, column, different)
    return {} if found is None else {"allowed_by_claims": found.value}


def size_of(subject: Subject) -> int:
    """How many rows every class has, by the claims."""
    return max((int(given["k"]) for _, given in subject.claims if "k" in given), default=1)


def _read(name: str, given: Mapping[str, Any], column: str, different: int) -> Iterator[Promise]:
    why = f"the claim of {name}"
    if name == "distinct-l-diversity":
        yield Promise(spare=int(given["l"]) - 1, why=why)
    elif name == "simple-l-diversity":
        yield Promise(share=1 / float(given["l"]), why=why)
    elif name == "entropy-l-diversity":
        yield Promise(share=_entropy(float(given["l"]), different), why=why)
    elif name == "recursive-l-diversity":
        yield Promise(share=float(given["c"]) / (1 + float(given["c"])), why=why)
    elif name == "alpha-k-anonymity":
        yield Promise(share=float(given["alpha"]), values=tuple(given.get("values") or ()), why=why)
    elif name == "confidence-bounding":
        for rule in given.get("templates") or ():
            if rule["column"] == column and not rule.get("quasi"):
                yield Promise(share=float(rule["limit"]), values=(rule["value"],), why=why)


def _entropy(l: float, different: int) -> float:
    """The share that a value cannot pass where the entropy is ln l or more and there are so many values.

    >>> round(_entropy(2, 2), 3), round(_entropy(2, 3), 3)
    (0.5, 0.773)
    """
    if different < 2 or l <= 1:
        return 1.0
    from scipy.optimize import brentq

    def slack(p: float) -> float:
        return float(-p * np.log(p) - (1 - p) * np.log((1 - p) / (different - 1)) - np.log(l))

    low, high = 1 / different, 1 - 1e-12
    return float(brentq(slack, low, high)) if slack(low) > 0 else low
