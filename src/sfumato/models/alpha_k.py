"""(alpha, k)-anonymity: k-anonymity with a ceiling on the share of sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.ground.arguments import at_least, between, text
from sfumato.group.classes import Classes
from sfumato.models.laws import absent_note, explained, named, texts, top_counts
from sfumato.models.verdict import Verdict, one_class


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaKAnonymity:
    """Every class has at least ``k`` rows, and no named value of ``column`` has a share above ``alpha`` in it.

    Claim: k-anonymity, and nobody can be given a named value with more confidence than ``alpha``.
    People with several values: at least ``k`` people, of whom at most a share of ``alpha`` has any one named value.
    Source: Wong, Li, Fu, Wang 2006; their general model names all values.
    Does not protect against: values that are not named; values that mean nearly the same.

    Example:
        >>> from sfumato.testing.model_kit import classes_of
        >>> table = classes_of({"zip": ["1", "1", "2", "2"], "ill": ["flu", "hiv", "hiv", "hiv"]}, quasi=["zip"])
        >>> AlphaKAnonymity(alpha=0.5, k=2, column="ill", values=("hiv",)).check(table).failing.tolist()
        [1]
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Joined classes are larger, and their shares lie between those of their parts."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = False
    """Rows of a named value can be added."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    alpha: float
    """The largest share of a named value."""
    k: int
    """How many rows every class must have."""
    column: str
    """The sensitive column."""
    values: tuple[str, ...] = ()
    """The sensitive values; none means all."""

    def __post_init__(self) -> None:
        between("alpha", self.alpha, 0, 1, open_low=True)
        at_least("k", self.k, 1)
        text("column", self.column)
        texts("values", self.values, blank=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its largest named share and by its size; sizes are told when only they fail."""
        tally = classes.tally(self.column)
        share = top_counts(named(tally, self.values)) / classes.sizes
        note = absent_note(tally, self.values)
        by_share = Verdict.of(share, self.alpha, "at most", note=note)
        by_size = Verdict.of(classes.sizes, self.k, "at least", note=note)
        if by_size.holds:
            return by_share
        if by_share.holds:
            return by_size
        both = np.union1d(by_share.failing, by_size.failing)
        return Verdict(
            holds=False, reached=by_share.reached, limit=self.alpha, sense="at most", failing=both, note=note
        )

    def least_rows(self, table: Classes, gone: float) -> int:
        """Fewer than ``k`` rows fail."""
        return self.k

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        verdict = self.check(one_class(table))
        if verdict.sense == "at least":
            return explained(verdict, asked=f"k = {self.k}", found="{} rows")
        found = f"a value of {self.column!r} with share {{}}"
        return explained(verdict, asked=f"alpha = {self.alpha:g}", found=found)
