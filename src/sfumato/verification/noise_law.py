"""How noisy published counts are, by what the ledger of a private bundle says they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isclose, sinh
from typing import Any

_SHARP = 100.0
"""For more epsilon than this there is no noise to speak of ..."""
NOISES = "noises in a count"
"""As the figures of a search name how many whole noises a count has: more than one where several parties add some."""
SMALLEST = 1e-12
"""... and a variance is told as this."""


def noise_fits(manifest: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], check: Callable[..., Any]) -> Any:
    """Where a column was measured by itself, its deviations are those of the noise that its parts of the ledger buy."""
    recoding = manifest["recoding"]
    stated = [(name, f"marginal of {name}", one.get("deviations", {})) for name, one in recoding["columns"].items()]
    stated.append(("the class", "rows of every class", recoding.get("classes", {})))
    draws = float(manifest["search"].get(NOISES, 1))
    wrong = []
    for name, what, told in stated:
        bought = [1 / (draws * variance(part)) for part in parts if part["what"] == what]
        if bought and any(not isclose(one, sum(bought) ** -0.5, rel_tol=1e-6) for one in told.values()):
            wrong.append(name)
    detail = f"not that of the ledger: {', '.join(wrong)}" if wrong else "as the ledger buys it"
    return check(what="noise of the published labels", holds=not wrong, detail=detail)


def variance(part: Mapping[str, Any]) -> float:
    """Of the noise of a count that is bought for this: discrete Laplace for epsilon, Gaussian for rho.

    >>> round(variance({"epsilon": "1/10"})), variance({"rho": "1/200"})
    (200, 100.0)
    """
    if "rho" in part:
        return 1 / (2 * float(Fraction(part["rho"])))
    epsilon = float(Fraction(part["epsilon"]))
    return 0.5 / sinh(epsilon / 2) ** 2 if epsilon < _SHARP else SMALLEST
