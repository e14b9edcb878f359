"""What sites agree on before graded grouping: columns with their ranges or values, which nobody takes from a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sfumato.describe.graded import MOST_DECIMALS, GradedGrouping, decimal_of
from sfumato.ground.errors import ParameterError, listed, nearest

MOST_CATEGORIES = 1000
"""A numeric column is cut into at most so many ranges."""
MOST_GAP = 1000
"""Values of neighbouring ranges lie at most so much further apart than 1."""
MOST_FIRST = 1_000_000
"""The value of the first range is at most so large."""
_UNIFORM = ("low", "high", "categories")
_KEYS = (*_UNIFORM, "ranges", "decimals", "first", "gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTerm:
    """A numeric column: where its ranges begin, and how their values are chosen."""

    limits: tuple[Fraction, ...]
    """Where ranges begin, ascending, and the largest number of all."""
    decimals: int = 0
    """How many digits after the point numbers may have."""
    first: int | None = None
    """The value of the first range; None: drawn from the secret."""
    gap: int = 0
    """Values of neighbouring ranges are 1 to 1 + gap apart, drawn from the secret; with 0 they follow each other."""

    def to_json(self) -> dict[str, Any]:
        """In one spelling; ``read_terms`` reads it back."""
        ranges = [[str(low), str(high)] for low, high in pairwise(self.limits)]
        told = {"ranges": ranges, "decimals": self.decimals, "gap": self.gap}
        return told if self.first is None else {**told, "first": self.first}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryTerm:
    """A column of categories."""

    values: tuple[str, ...]
    """Every value that it may have."""

    def to_json(self) -> list[str]:
        """As a session file says it."""
        return list(self.values)


Term = NumberTerm | CategoryTerm
Terms = Mapping[str, Term]


def read_terms(said: Any, where: str = "columns") -> Terms:
    """The terms from nested tables: a list of texts, or a range with its number of categories, or ranges one by one.

    >>> read_terms({"age": {"low": 15, "high": 90, "categories": 5}})["age"].limits[1]
    Fraction(30, 1)
    """
    if not isinstance(said, Mapping) or not said:
        raise ParameterError(
            f'{where} must name columns, such as ward = ["A", "B"], or age = {{ low = 0, high = 100, categories = 5 }}'
        )
    return {str(name): _term(one, f"{where}.{name}") for name, one in said.items()}


def terms_json(terms: Terms) -> dict[str, Any]:
    """The terms in one spelling, columns by name."""
    return {name: terms[name].to_json() for name in sorted(terms)}


def _term(said: Any, where: str) -> Term:
    if isinstance(said, Mapping):
        return _numbers(said, where)
    if not isinstance(said, list) or not said or not all(isinstance(one, str) and one for one in said):
        raise ParameterError(f"{where} must list texts, or be a range with low, high and categories, not {said!r}")
    if len(set(said)) < len(said):
        raise ParameterError(f"{where} names a value twice")
    return CategoryTerm(values=tuple(said))


def _numbers(said: Mapping[str, Any], where: str) -> NumberTerm:
    for key in said:
        if key not in _KEYS:
            raise ParameterError(f"{where}.{key} is not known{nearest(key, _KEYS)} Known are {listed(_KEYS)}")
    found = NumberTerm(
        limits=_chosen(said, where) if "ranges" in said else _uniform(said, where),
        decimals=_whole(said, "decimals", where, 0, MOST_DECIMALS, 0),
        first=_whole(said, "first", where, -MOST_FIRST, MOST_FIRST, 0) if "first" in said else None,
        gap=_whole(said, "gap", where, 0, MOST_GAP, 0),
    )
    try:
        GradedGrouping(limits=found.limits, values=tuple(range(len(found.limits) - 1)), decimals=found.decimals)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None
    for end in (found.limits[0], found.limits[-1]):
        if (end * 10**found.decimals).denominator != 1:
            raise ParameterError(f"{where}: {end} has more than decimals = {found.decimals} digits after the point")
    return found


def _uniform(said: Mapping[str, Any], where: str) -> tuple[Fraction, ...]:
    low, high = (_number(said.get(key), f"{where}.{key}") for key in ("low", "high"))
    count = _whole(said, "categories", where, 1, MOST_CATEGORIES, None)
    if low >= high:
        raise ParameterError(f"{where}.low must be below {where}.high, not {low} and {high}")
    return tuple(low + (high - low) * Fraction(one, count) for one in range(count + 1))


def _chosen(said: Mapping[str, Any], where: str) -> tuple[Fraction, ...]:
    ranges = said["ranges"]
    for key in _UNIFORM:
        if key in said:
            raise ParameterError(f"{where} has ranges and {key}; ranges say all, so leave {key} out")
    if not isinstance(ranges, list) or not 1 <= len(ranges) <= MOST_CATEGORIES:
        raise ParameterError(f"{where}.ranges must list 1 to {MOST_CATEGORIES} pairs, such as [[0, 20], [20, 100]]")
    limits: list[Fraction] = []
    for one in ranges:
        if not isinstance(one, list) or len(one) != 2:
            raise ParameterError(f"{where}.ranges must list pairs of a lower and an upper end, not {one!r}")
        low, high = (_number(end, f"{where}.ranges") for end in one)
        if low >= high:
            raise ParameterError(f"{where}.ranges: the range from {low} to {high} is empty")
        if limits and low != limits[-1]:
            told = "overlaps" if low < limits[-1] else "leaves a gap above"
            raise ParameterError(
                f"{where}.ranges: the range that begins at {low} {told} the one before, which ends at {limits[-1]}; "
                "each must begin where the one before ends"
            )
        limits = [*(limits or [low]), high]
    return tuple(limits)


def _number(said: Any, where: str) -> Fraction:
    """A number of a TOML or JSON file, or a fraction in one spelling."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        raise ParameterError(f"{where} must be a number, not {said!r}")
    top, mark, bottom = str(said).partition("/")
    if isinstance(said, str) and mark and bottom.isascii() and bottom.isdigit() and int(bottom):
        return Fraction(decimal_of(top)) / int(bottom)
    try:
        return Fraction(decimal_of(said))
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _whole(said: Mapping[str, Any], key: str, where: str, low: int, high: int, default: int | None) -> int:
    found = said.get(key, default)
    if type(found) is not int or not low <= found <= high:
        raise ParameterError(f"{where}.{key} must be a whole number between {low} and {high}, not {found!r}")
    return found
