"""Sets and rules that a release must not yield, and when it does not: in exact numbers, for whoever counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sfumato.core.arguments import between
from sfumato.core.errors import ParameterError
from sfumato.core.fractions import exact


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pattern:
    """A rule ``left -> right``, or the set ``right`` where ``left`` is empty; items ascend."""

    left: tuple[str, ...]
    """What the rule begins with; nothing for a set."""
    right: tuple[str, ...]
    """What it tells, or the set."""

    @classmethod
    def of(cls, right: Iterable[str], left: Iterable[str] = ()) -> Pattern:
        """From items in any order.

        >>> Pattern.of(["b", "a"]).words
        '{a, b}'
        >>> Pattern.of(["b"], ["c", "a"]).words
        '{a, c} -> {b}'
        """
        pattern = cls(left=tuple(sorted(set(left))), right=tuple(sorted(set(right))))
        both = sorted(set(pattern.left) & set(pattern.right))
        if both:
            raise ParameterError(f"{pattern.words}: {both[0]!r} stands on both sides; a rule has each item once")
        if not pattern.right:
            raise ParameterError(
                "a sensitive set or the right side of a sensitive rule has no items; name one at least"
            )
        return pattern

    @property
    def whole(self) -> tuple[str, ...]:
        """The items of both sides."""
        return tuple(sorted((*self.left, *self.right)))

    @property
    def words(self) -> str:
        """As a person writes it."""
        right = f"{{{', '.join(self.right)}}}"
        return f"{{{', '.join(self.left)}}} -> {right}" if self.left else right


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """At which support and confidence somebody mines, and how far below both a sensitive pattern must end.

    A pattern is hidden where its support is below ``(1 - margin) * min_support`` of the records or, if it is a rule,
    where its confidence is below ``(1 - margin) * min_confidence``. One that no record has is hidden.
    """

    min_support: float
    """The least share of the records that a frequent set has."""
    min_confidence: float = 1.0
    """The least confidence of a rule."""
    margin: float = 0.0
    """The safety margin, as a share of both thresholds."""

    def __post_init__(self) -> None:
        """Refuse what no miner asks for."""
        between("min_support", self.min_support, 0, 1, open_low=True)
        between("min_confidence", self.min_confidence, 0, 1, open_low=True)
        between("margin", self.margin, 0, 1)
        if self.margin == 1:
            raise ParameterError("margin must lie in [0, 1), not 1: no support is below 0")

    def least(self, rows: int) -> int:
        """The fewest of ``rows`` records that a frequent set has."""
        return max(ceil(exact(float(self.min_support)) * rows), 1)

    def most_hidden(self, rows: int) -> int:
        """The most of ``rows`` records that a hidden set may have.

        >>> Thresholds(min_support=0.1).most_hidden(100), Thresholds(min_support=0.1, margin=0.25).most_hidden(100)
        (9, 7)
        """
        return max(ceil((1 - exact(float(self.margin))) * exact(float(self.min_support)) * rows) - 1, 0)

    @property
    def sure(self) -> Fraction:
        """The confidence that a hidden rule stays below."""
        return (1 - exact(float(self.margin))) * exact(float(self.min_confidence))

    def hidden(self, whole: int, left: int | None, rows: int) -> bool:
        """Whether a pattern is hidden: the records that have all of it, its left side (None for a set), and all."""
        if whole <= self.most_hidden(rows):
            return True
        return left is not None and whole < self.sure * left

    def found(self, whole: int, left: int | None, rows: int) -> bool:
        """Whether whoever mines at these thresholds finds a pattern; the margin does not count."""
        sure = exact(float(self.min_confidence))
        return whole >= self.least(rows) and (left is None or whole >= sure * left)
