"""What a specification of randomized answers gives, computed from its numbers alone; shares no code with ``collect``.

The verifier reads fractions as they stand in the specification and derives from them what is promised and what can be
shown. A specification that promises more privacy than its coins give, and answers that no coin shows, are found so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import log
from statistics import NormalDist
from typing import Any

Tree = Mapping[str, Any]
CONFIDENCE = 0.95
"""Of the interval that is claimed where there is no epsilon."""
_DIGITS = re.compile(r"-?\d{1,1000}(\.\d{1,1000})?|-?\d{1,1000}/0*[1-9]\d{0,1000}")
_CELL = re.compile(r"-?\d{1,40}(\.\d{0,40})?([eE][+-]?\d{1,3})?")


def exact(text: str) -> Fraction:
    """A number or fraction that is written with digits alone; a text from a stranger must not cost a gigabyte.

    >>> exact("-0.5"), exact("13591/5000")
    (Fraction(-1, 2), Fraction(13591, 5000))
    """
    if not _DIGITS.fullmatch(text):
        raise ValueError(f"{text[:60]!r} is no number such as 3/4 or 0.5")
    return Fraction(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number plus logarithms of ratios, exactly."""

    plain: Fraction = Fraction(0)
    """The number."""
    logs: Mapping[Fraction, int] = field(default_factory=dict)
    """Ratios with how often the logarithm of each counts."""

    @classmethod
    def read(cls, text: str) -> Amount:
        """An amount as a specification writes it.

        >>> float(Amount.read("2 ln 3 + 1")) == 2 * log(3) + 1
        True
        """
        plain, logs = Fraction(0), Counter[Fraction]()
        for part in text.split(" + "):
            many, mark, ratio = part.rpartition("ln ")
            if mark:
                logs[exact(ratio)] += int(many) if many.strip() else 1
            else:
                plain += exact(part)
        return cls(plain=plain, logs=dict(logs))

    def __add__(self, other: Amount) -> Amount:
        return Amount(plain=self.plain + other.plain, logs=dict(Counter(self.logs) + Counter(other.logs)))

    def times(self, many: int) -> Amount:
        """So many of it."""
        return Amount(plain=self.plain * many, logs={ratio: each * many for ratio, each in self.logs.items()})

    def __float__(self) -> float:
        return float(self.plain) + sum(many * log(ratio) for ratio, many in self.logs.items())


def _ratio(value: Fraction) -> Amount:
    return Amount(logs={value: 1}) if value != 1 else Amount()


def epsilon_of(question: Tree, *, lasting: bool = False) -> Amount | None:
    """The local epsilon of one answer, or of all that stand on one remembered draw; None where there is none.

    Of a set, that of one item.
    """
    kind = question["kind"]
    if kind in ("uniform", "gaussian"):
        return None
    if kind == "laplace":
        return Amount(plain=(exact(question["high"]) - exact(question["low"])) / exact(question["scale"]))
    if kind in ("warner", "generalized"):
        shown = ("truth", "lie") if kind == "warner" else ("keep", "other")
        return _ratio(exact(question[shown[0]]) / exact(question[shown[1]]))
    keep, flip = exact(question["keep"]), exact(question["flip"])
    if not lasting:
        one, zero = exact(question.get("one", "1")), exact(question.get("zero", "0"))
        keep, flip = (p * one + (1 - p) * zero for p in (keep, flip))
    ones, zeros = keep / flip, (1 - flip) / (1 - keep)
    return _ratio(ones * zeros if kind == "unary" else max(ones, zeros))


def everything_of(spec: Tree) -> Amount | None:
    """What all answers of a person give away together, as often as they may be asked; None without a promise."""
    whole, memoized = Amount(), spec["repeats"] == "memoize"
    for one in spec["questions"]:
        each = epsilon_of(one, lasting=memoized)
        if each is None:
            return None
        whole = whole + each.times(len(one["values"]) if one["kind"] == "items" else 1)
    return whole.times(1 if memoized else int(spec["most"]))


def width_of(question: Tree) -> float:
    """How wide an interval around a shown number must be to hold the true one, of the continuous law."""
    kind = question["kind"]
    if kind == "uniform":
        return CONFIDENCE * float(2 * exact(question["reach"]) + exact(question["step"]))
    if kind == "gaussian":
        return 2 * NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(exact(question["deviation"]))
    return 2 * log(1 / (1 - CONFIDENCE)) * float(exact(question["scale"]))


def false_promises(spec: Tree) -> Iterable[str]:
    """The promises of a specification that its numbers do not give."""
    told = spec["promises"]
    names = [one["name"] for one in spec["questions"]]
    for key in ("epsilon", "lasting"):
        given = {one["name"]: epsilon_of(one, lasting=key == "lasting") for one in spec["questions"]}
        stated = {name: _read(text) for name, text in told[key].items()}
        yield from (f"{key} of {name}" for name in names if name not in stated or stated[name] != given[name])
        yield from (f"{key} of {name}" for name in stated if name not in given)
    if _read(told["everything"]) != everything_of(spec):
        yield "epsilon of everything"


def _read(text: str | None) -> Amount | None:
    return None if text is None else Amount.read(text)


def claims_of(spec: Tree) -> list[dict[str, Any]]:
    """What a bundle of a specification claims: of every question an exact epsilon, or the width of an interval."""
    found: list[dict[str, Any]] = []
    for one in spec["questions"]:
        if epsilon_of(one) is None:
            told: dict[str, Any] = {"question": one["name"], "confidence": CONFIDENCE, "width": _six(width_of(one))}
            found.append({"model": "interval-privacy", "parameters": told})
        else:
            told = {"question": one["name"], "epsilon": spec["promises"]["epsilon"][one["name"]]}
            told |= {"of": "each item"} if one["kind"] == "items" else {}
            found.append({"model": "local-privacy", "parameters": told})
    if everything_of(spec) is not None:
        told = {"question": "*", "epsilon": spec["promises"]["everything"], "of": "all answers of a person"}
        found.append({"model": "local-privacy", "parameters": told})
    return found


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def can_show(question: Tree) -> Callable[[str], bool]:
    """Whether a text is an answer that a question can show."""
    kind = question["kind"]
    if kind in ("warner", "generalized"):
        return frozenset(question["values"]).__contains__
    if kind in ("unary", "items"):
        many = len(question["values"]) + 1
        return lambda text: len(text) == many and text[0] == "b" and not set(text[1:]) - {"0", "1"}
    low, high, step = (exact(question[key]) for key in ("low", "high", "step"))
    far = exact(question["reach"]) if kind == "uniform" else None

    def fits(text: str) -> bool:
        if not _CELL.fullmatch(text):
            return False
        value = Fraction(text)
        on_grid = ((value - low) / step).denominator == 1
        return on_grid and (far is None or low - far <= value <= high + far)

    return fits
