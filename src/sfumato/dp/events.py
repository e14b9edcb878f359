"""Events: what was released, as data, before anybody says what it costs.

Neighbouring tables differ by one record that is there or not. An event says how much more likely any output can be on
one of them than on the other; composition says what several events cost together.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

from sfumato.core.errors import ParameterError
from sfumato.core.fractions import fraction_of, within

DIGITS = 30
"""A budget that somebody writes has no more digits above or below the line, and no larger exponent."""
_SHORT = 12
"""A fraction with more characters is rounded where people read it."""
_MADE = 300
"""A budget that was computed, a share of a share, may have more."""


def exactly(name: str, value: Any) -> Fraction:
    """A positive budget as an exact fraction; a float means the shortest decimal that is written for it.

    >>> exactly("epsilon", 0.1), exactly("epsilon", "1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float | Rational):
        raise ParameterError(f"{name} must be a number above 0, not {value!r}")
    try:
        amount = _fraction(value)
    except OverflowError:
        raise ParameterError(
            f"{name} must be a budget for which {DIGITS} digits above and below the line, and an exponent within "
            f"{DIGITS}, are enough"
        ) from None
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a finite number above 0, not {value!r}") from None
    if amount <= 0:
        raise ParameterError(f"{name} must be above 0, not {value!r}")
    return amount


def _fraction(value: Any) -> Fraction:
    """The number in Python's own integers, whichever library it comes from; OverflowError where it is too long."""
    if isinstance(value, str | float):
        return fraction_of(value if isinstance(value, str) else repr(float(value)), DIGITS)
    fraction = Fraction(int(value.numerator), int(value.denominator))
    return within(fraction, _MADE if isinstance(value, Fraction) else DIGITS)


def written(value: Fraction) -> str:
    """A budget for a message: short, however large or small it is.

    >>> written(Fraction(1, 3)), written(Fraction(10) ** 400)
    ('0.333333', 'about 10^400')
    """
    try:
        short = float(value)
    except OverflowError:
        short = 0.0
    if short or not value:
        return f"{short:.6g}"
    return f"about 10^{len(str(value.numerator)) - len(str(value.denominator))}"


def readable(value: Fraction) -> str:
    """A budget for a table that people read: exactly where that is short, else rounded and marked so.

    >>> readable(Fraction(1, 3)), readable(Fraction(114687233329, 5000000000000))
    ('1/3', '≈ 0.0229374')
    """
    return str(value) if len(str(value)) <= _SHORT else f"≈ {written(value)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pure:
    """A release that is epsilon-differentially private."""

    epsilon: Fraction
    """How much: the ratio of probabilities is at most e to this."""
    what: str = ""
    """What it was for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentrated:
    """A release that is rho-zero-concentrated differentially private, such as Gaussian noise."""

    rho: Fraction
    """How much."""
    what: str = ""
    """What it was for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", exactly("rho", self.rho))


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate:
    """A release that is (epsilon, delta)-differentially private, such as a choice of values above a threshold."""

    epsilon: Fraction
    """The ratio of probabilities is at most e to this ..."""
    delta: Fraction
    """... but for outputs that together have no more than this probability."""
    what: str = ""
    """What it was for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))
        object.__setattr__(self, "delta", exactly("delta", self.delta))
        if self.delta >= 1:
            raise ParameterError(f"delta must be below 1, not {written(self.delta)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """A release that protects single rows, where a person has several: all rows of a person are the neighbour."""

    part: Event
    """What it costs for one row."""
    rows: int
    """The most rows of one person that it was given."""
    what: str = ""
    """What it was for."""

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise ParameterError(f"rows must be a whole number of at least 1, not {self.rows!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential:
    """Several releases about the same records: their costs add up."""

    parts: tuple[Event, ...]
    """The releases."""
    what: str = ""
    """What they were for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """Releases about disjoint records: a record is in one of them only, so the dearest counts."""

    parts: tuple[Event, ...]
    """The releases."""
    what: str = ""
    """What they were for."""


Event = Pure | Concentrated | Approximate | Grouped | Sequential | Parallel


def to_json(event: Event) -> dict[str, Any]:
    """An event as the manifest and the ledger have it; fractions as exact texts."""
    match event:
        case Pure():
            return {"kind": "pure", "epsilon": str(event.epsilon), "what": event.what}
        case Concentrated():
            return {"kind": "concentrated", "rho": str(event.rho), "what": event.what}
        case Approximate():
            amounts = {"epsilon": str(event.epsilon), "delta": str(event.delta)}
            return {"kind": "approximate", **amounts, "what": event.what}
        case Grouped():
            return {"kind": "grouped", "rows": event.rows, "what": event.what, "part": to_json(event.part)}
        case _:
            kind = "sequential" if isinstance(event, Sequential) else "parallel"
            return {"kind": kind, "what": event.what, "parts": [to_json(part) for part in event.parts]}


def from_json(tree: Any) -> Event:
    """An event as it was written, or a refusal."""
    try:
        kind, what = tree["kind"], str(tree.get("what", ""))
        if kind == "pure":
            return Pure(epsilon=fraction_of(tree["epsilon"], _MADE), what=what)
        if kind == "concentrated":
            return Concentrated(rho=fraction_of(tree["rho"], _MADE), what=what)
        if kind == "approximate":
            amounts = (fraction_of(tree[name], _MADE) for name in ("epsilon", "delta"))
            return Approximate(**dict(zip(("epsilon", "delta"), amounts, strict=True)), what=what)
        if kind == "grouped":
            return Grouped(part=from_json(tree["part"]), rows=tree["rows"], what=what)
        parts = tuple(from_json(part) for part in tree["parts"])
        return Sequential(parts=parts, what=what) if _together(kind) else Parallel(parts=parts, what=what)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ParameterError(
            f"event must be pure, concentrated, approximate, grouped, sequential or parallel, not {tree!r}"
        ) from error


def _together(kind: str) -> bool:
    return {"sequential": True, "parallel": False}[kind]
