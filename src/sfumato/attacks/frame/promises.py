"""What a claim promises about an adversary: how surely a row is found, how frequent a value can be in a class.

The one place that reads claims for attackers. A model's part in the catalog brings its reader; ours stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.frame.trials import Limit
from sfumato.bundle.claims import titled

Claims = Iterable[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What one claim says; whatever is left out is not promised."""

    find: float | None = None
    """The largest chance to pick a person's row or record."""
    known: int | None = None
    """For whoever knows at most so many values or items of the person; None: however many."""
    share: float = 1.0
    """No class has a larger share of one value."""
    spare: int = 0
    """How many rows of a class must have other values."""
    entropy: float | None = None
    """The values of a class are as uncertain as so many equally likely ones."""
    values: tuple[str, ...] = ()
    """Of which values; none means all."""
    column: str | None = None
    """Of which sensitive column; None means every one."""
    posterior: bool = False
    """Whether the share bounds how surely the value of a class is read off."""
    why: str = ""
    """The claim."""

    def most(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The most rows of one value in classes of these sizes.

        >>> Promise(share=1 / 3).most(np.array([2, 3, 7])).tolist()
        [0, 1, 2]
        """
        return np.minimum(np.floor(self.share * sizes + 1e-9), sizes - self.spare).astype(np.int64)


Reader = Callable[[Mapping[str, Any]], Sequence[Promise]]
"""From the parameters of a claim to what it promises."""


def nothing(given: Mapping[str, Any]) -> Sequence[Promise]:
    """A model that bounds neither."""
    return ()


def _of_size(given: Mapping[str, Any]) -> Sequence[Promise]:
    return (Promise(find=1 / float(given["k"])),)


def _known(size: str) -> Reader:
    """Whoever knows at most so many values or items finds k rows."""
    return lambda given: (Promise(find=1 / float(given["k"]), known=int(given[size])),)


def _alpha_k(given: Mapping[str, Any]) -> Sequence[Promise]:
    values = tuple(given.get("values") or ())
    return (*_of_size(given), Promise(share=float(given["alpha"]), values=values, posterior=not values))


def _templates(given: Mapping[str, Any]) -> Sequence[Promise]:
    return tuple(
        Promise(share=float(rule["limit"]), values=(rule["value"],), column=rule["column"])
        for rule in given.get("templates") or ()
        if not rule.get("quasi")
    )


READERS: Mapping[str, Reader] = {
    "k-anonymity": _of_size,
    "k-map": _of_size,
    "alpha-k-anonymity": _alpha_k,
    "lkc-privacy": _known("l"),
    "km-anonymity": _known("m"),
    "distinct-l-diversity": lambda given: (Promise(spare=int(given["l"]) - 1),),
    "simple-l-diversity": lambda given: (Promise(share=1 / float(given["l"]), posterior=True),),
    "entropy-l-diversity": lambda given: (Promise(entropy=float(given["l"])),),
    "recursive-l-diversity": lambda given: (Promise(share=float(given["c"]) / (1 + float(given["c"]))),),
    "confidence-bounding": _templates,
}
"""Our models that promise something of the kind; closeness to the whole table, for example, does not."""


def promises(claims: Claims, readers: Mapping[str, Reader] = READERS) -> tuple[Promise, ...]:
    """Everything that claims promise, in their order."""
    found = []
    for name, given in claims:
        for one in readers.get(name, nothing)(given):
            column = one.column or given.get("column")
            found.append(replace(one, column=column, why=f"claim {titled(name, given)}"))
    return tuple(found)


def about(promised: Iterable[Promise], column: str, different: int) -> tuple[Promise, ...]:
    """The promises about how frequent values of a column are, which has so many different values."""
    mine = [one for one in promised if one.find is None and one.column in (None, column)]
    return tuple(one if one.entropy is None else replace(one, share=_entropy(one.entropy, different)) for one in mine)


def limit_to_find(promised: Iterable[Promise], known: int | None) -> Limit | None:
    """The tightest promise to whoever is found by so many values; None: by all of them."""
    found = [Limit(value=one.find, why=one.why) for one in promised if one.find is not None and _covers(one, known)]
    return min(found, key=lambda one: one.value, default=None)


def _covers(one: Promise, known: int | None) -> bool:
    return one.known is None or (known is not None and known <= one.known)


def limit_to_tell(promised: Iterable[Promise], column: str | None) -> Limit | None:
    """The tightest promise about how surely the value of a class is read off."""
    mine = [one for one in promised if one.posterior and one.column in (None, column)]
    return min((Limit(value=one.share, why=one.why) for one in mine), key=lambda one: one.value, default=None)


def allowed(promised: Iterable[Promise], column: str, different: int) -> dict[str, float]:
    """The highest rate of right guesses that promises about every value of a column allow, as a figure of a finding.

    The models bound shares within a class; an attack that looks at more than one class may well do better.
    """
    shares = [one.share for one in about(promised, column, different) if not one.values and one.share < 1]
    return {"allowed_by_claims": min(shares)} if shares else {}


def class_size(claims: Claims) -> int:
    """How many rows every class has, by the claims."""
    return max((int(given["k"]) for _, given in claims if "k" in given), default=1)


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
