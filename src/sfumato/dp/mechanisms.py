"""OpenDP behind one door: loaded when first needed, asked what every mechanism costs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import inf, isfinite, isqrt, nextafter
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError
from sfumato.core.extras import extra
from sfumato.dp.events import written

LARGEST = 2**62
"""No count and no sum of counts may be larger: OpenDP's integers have 64 bits."""


@cache
def opendp() -> Any:
    """The library, with its mechanisms switched on.

    The parts that are used, under the names of ``opendp.prelude``; the prelude itself loads scikit-learn, Polars and
    SciPy, which takes a second.
    """
    names = ("combinators", "domains", "measurements", "measures", "metrics", "mod")
    combinators, domains, measurements, measures, metrics, mod = (extra(f"opendp.{n}", "noise") for n in names)
    mod.enable_features("contrib")
    parts = {name: value for part in (domains, metrics, measures) for name, value in vars(part).items()}
    return SimpleNamespace(m=measurements, c=combinators, **{n: v for n, v in parts.items() if not n.startswith("_")})


def sensible(name: str, value: float) -> Fraction:
    """A sensitivity as an exact fraction: finite and above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 0 < value < inf:
        raise ParameterError(f"{name} must be a finite number above 0, not {value!r}")
    if value > LARGEST:
        raise ParameterError(f"{name} must not go beyond {LARGEST}")
    return Fraction(value)


def whole_counts(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Counts as OpenDP takes them, or a refusal of what is no whole number or too large."""
    given = np.asarray(counts)
    if given.dtype.kind not in "iu":
        raise ParameterError(f"counts must be whole numbers, not {given.dtype}")
    if given.size and max(int(given.max()), -int(given.min())) > LARGEST:
        raise ParameterError(f"counts must not go beyond {LARGEST}")
    return given.astype(np.int64)


def costs(mechanism: Any, moved: Any) -> Fraction | float:
    """What OpenDP says that a mechanism costs, exactly; infinite where it gives no bound."""
    cost = float(mechanism.map(moved))
    return Fraction(cost) if isfinite(cost) else cost


def within(make: Callable[[float], Any], scale: Fraction, moved: Any, most: Fraction, what: str) -> tuple[Any, float]:
    """A mechanism of about this scale that costs at most ``most``, as OpenDP itself says, and its scale.

    ``moved`` is how far the input can move between neighbours. A scale that rounding made too small is widened.
    """
    try:
        wide = float(scale)
    except OverflowError:
        wide = float("inf")
    if not isfinite(wide) or wide <= 0:
        raise ParameterError(f"{what} must be a budget for which noise can be drawn, not {written(most)}")
    for _ in range(64):
        mechanism = make(wide)
        if costs(mechanism, moved) <= most:
            return mechanism, wide
        wide = nextafter(wide * (1 + 1e-15), float("inf"))
    raise ParameterError(f"{what} must be a budget for which noise can be drawn, not {written(most)}")


def root(square: Fraction) -> Fraction:
    """The square root to about 60 bits, however large or small the square is."""
    bits = max(120 - square.numerator.bit_length() + square.denominator.bit_length(), 0) // 2
    return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)
