"""What a claim promises about an adversary: how surely a row is found, how frequent a value can be in a class.

The one place that reads claims for attackers. A model's part in the catalog brings its reader; ours stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finding import Limit
from sfumato.core.claims import titled
from sfumato.core.special import bisected

Claims = Iterable[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How near to the whole table a class must be."""

    t: float
    """The largest distance."""
    distance: str
    """How far two distributions are apart, as the claim names it."""
    order: tuple[str, ...] = ()
    """The values in their order, where the claim lists them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What one claim says; whatever is left out is not promised."""

    find: float | None = None
    """The largest chance to pick a person's row or record."""
    known: int | None = None
    """For whoever knows at most so many values or items of the person; None: however many."""
    quasi: tuple[str, ...] = ()
    """For whoever knows these columns of the person; none means all of them."""
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
    """Whether the claim says that nobody infers the value more surely than by this share."""
    closeness: Closeness | None = None
    """How near a class is to the whole table."""
    far: float | None = None
    """In no class a value that is far from somebody's own has this share or more."""
    branches: Mapping[str, str] = field(default_factory=dict)
    """Far is another branch; a value that has none here is one by itself."""
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


def _lkc(given: Mapping[str, Any]) -> Sequence[Promise]:
    """Whoever knows at most L values finds K rows, and infers no protected value more surely than by C."""
    l, share, values = int(given["l"]), float(given.get("c", 1.0)), tuple(given.get("values") or ())
    sure = Promise(share=share, values=values, posterior=True, known=l)
    return (*_known("l")(given), *([sure] if share < 1 else []))


def _uncertain(given: Mapping[str, Any]) -> Sequence[Promise]:
    """Whoever knows at most l items infers no other sensitive item more surely than by rho."""
    l = given.get("l")
    return (
        Promise(
            share=float(given["rho"]),
            values=tuple(given["sensitive"]),
            known=None if l is None else int(l),
            posterior=True,
        ),
    )


def _alpha_k(given: Mapping[str, Any]) -> Sequence[Promise]:
    values = tuple(given.get("values") or ())
    return (*_of_size(given), Promise(share=float(given["alpha"]), values=values, posterior=True))


def _templates(given: Mapping[str, Any]) -> Sequence[Promise]:
    return tuple(
        Promise(
            share=float(rule["limit"]),
            values=(rule["value"],),
            column=rule["column"],
            quasi=tuple(rule.get("quasi") or ()),
            posterior=True,
        )
        for rule in given.get("templates") or ()
    )


def _recursive(given: Mapping[str, Any]) -> Sequence[Promise]:
    """r1 < c (rl + ... + rm): with l = 1 the sum is all rows, with a larger one at most those of other values."""
    c = float(given["c"])
    return (Promise(share=min(c, 1.0) if int(given["l"]) < 2 else c / (1 + c)),)


def _guarded(given: Mapping[str, Any]) -> Sequence[Promise]:
    """A value whose owners guard it, or a node above it, is no more frequent than p in any class that has it.

    Who guards what by a column of wishes is not known from the claim.
    """
    above = given.get("paths") or {}
    guards = given.get("guards") or {}
    values = tuple(value for value, node in guards.items() if node == value or node in above.get(value, ()))
    return (Promise(share=float(given["p"]), values=values, posterior=True),) if values else ()


def _close(given: Mapping[str, Any]) -> Sequence[Promise]:
    order = tuple(given.get("order") or ())
    return (Promise(closeness=Closeness(t=float(given["t"]), distance=str(given.get("distance", "")), order=order)),)


def _far(given: Mapping[str, Any]) -> Sequence[Promise]:
    """No value of another branch right below the top has the stated share or more."""
    branches = {value: above[-1] for value, above in (given.get("paths") or {}).items() if above}
    return (Promise(far=float(given["confidence"]), branches=branches),)


READERS: Mapping[str, Reader] = {
    "k-anonymity": _of_size,
    "k-map": _of_size,
    "alpha-k-anonymity": _alpha_k,
    "lkc-privacy": _lkc,
    "km-anonymity": _known("m"),
    "rho-uncertainty": _uncertain,
    "distinct-l-diversity": lambda given: (Promise(spare=int(given["l"]) - 1),),
    "simple-l-diversity": lambda given: (Promise(share=1 / float(given["l"]), posterior=True),),
    "entropy-l-diversity": lambda given: (Promise(entropy=float(given["l"])),),
    "recursive-l-diversity": _recursive,
    "confidence-bounding": _templates,
    "personalized-privacy": _guarded,
    "t-closeness": _close,
    "divergence-bounding": _far,
}
"""Our models that promise something of the kind; distances between sensitive numbers, for example, do not."""


def promises(claims: Claims, readers: Mapping[str, Reader] = READERS) -> tuple[Promise, ...]:
    """Everything that claims promise, in their order."""
    result = []
    for name, given in claims:
        for promise in readers.get(name, nothing)(given):
            column = promise.column or given.get("column")
            result.append(replace(promise, column=column, why=f"claim {titled(name, given)}"))
    return tuple(result)


def about(
    promised: Iterable[Promise], column: str, different: int, known: int | None = None, quasi: Sequence[str] = ()
) -> tuple[Promise, ...]:
    """The promises about how frequent values of a column are, which has so many different values.

    They are those to whoever knows so many quasi-identifiers of a person, and perhaps which: then a promise about these
    columns counts too.
    """
    mine = [
        promise
        for promise in promised
        if _of_shares(promise, column) and _covers(promise, known) and _named(promise, quasi)
    ]
    return tuple(
        promise if promise.entropy is None else replace(promise, share=_entropy(promise.entropy, different))
        for promise in mine
    )


def _of_shares(promise: Promise, column: str | None) -> bool:
    return (
        promise.find is None and promise.closeness is None and promise.far is None and promise.column in (None, column)
    )


def _named(promise: Promise, quasi: Sequence[str]) -> bool:
    return not promise.quasi or (bool(quasi) and set(quasi) <= set(promise.quasi))


def limit_to_find(promised: Iterable[Promise], known: int | None) -> Limit | None:
    """The tightest promise to whoever is found by so many values; None: by all of them."""
    limits = [
        Limit(value=promise.find, why=promise.why)
        for promise in promised
        if promise.find is not None and _covers(promise, known)
    ]
    return min(limits, key=lambda limit: limit.value, default=None)


def _covers(promise: Promise, known: int | None) -> bool:
    return promise.known is None or (known is not None and known <= promise.known)


def limit_to_tell(
    promised: Iterable[Promise],
    column: str | None,
    *,
    values: Sequence[str] = (),
    different: int = 2,
    known: int | None = None,
    quasi: Sequence[str] = (),
    inferred: bool = False,
) -> Limit | None:
    """How often bets on these values, or on any value, are right at most; None where one of them is not bounded.

    Whoever reads a class by itself is bounded by every promise about shares. Whoever reasons about it (``inferred``) is
    bounded by those only that say so: that nobody infers a value more surely. Of several values the one that may be
    most frequent counts, and for each value the tightest promise.
    """
    mine = about(promised, column or "", different, known, quasi)
    bounds = [promise for promise in mine if promise.share < 1 and (promise.posterior or not inferred)]
    limits = [
        _tightest(promise for promise in bounds if not promise.values or value in promise.values) for value in values
    ]
    limits = limits if values else [_tightest(promise for promise in bounds if not promise.values)]
    bounded = [limit for limit in limits if limit is not None]
    return max(bounded, key=lambda limit: limit.value) if len(bounded) == len(limits) else None


def _tightest(promised: Iterable[Promise]) -> Limit | None:
    limits = (Limit(value=promise.share, why=promise.why) for promise in promised)
    return min(limits, key=lambda limit: limit.value, default=None)


def protected(
    promised: Iterable[Promise], column: str | None, known: int | None = None
) -> dict[float, tuple[str, ...]]:
    """The values that claims name and say how surely nobody infers them, by that bound.

    >>> named = Promise(share=0.5, values=("HIV",), posterior=True)
    >>> protected([named, Promise(share=0.5, values=("flu", "HIV"), posterior=True)], "ill")
    {0.5: ('HIV', 'flu')}
    """
    values_by_share: dict[float, tuple[str, ...]] = {}
    for promise in about(promised, column or "", 2, known):
        if promise.posterior and promise.values and promise.share < 1:
            values_by_share[promise.share] = tuple(
                dict.fromkeys((*values_by_share.get(promise.share, ()), *promise.values))
            )
    return values_by_share


def allowed(promised: Iterable[Promise], column: str, different: int) -> dict[str, float]:
    """The highest rate of right guesses that promises about every value of a column allow, as a figure of a finding.

    The models bound shares within a class; an attack that looks at more than one class may well do better.
    """
    shares = [
        promise.share for promise in about(promised, column, different) if not promise.values and promise.share < 1
    ]
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

    def lack(p: float) -> float:
        return float(np.log(l) + p * np.log(p) + (1 - p) * np.log((1 - p) / (different - 1)))

    low, high = 1 / different, 1 - 1e-12
    return bisected(lack, low, high) if lack(low) < 0 else low
