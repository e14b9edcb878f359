"""k-anonymity and (alpha, k)-anonymity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.arguments import at_least, between, text
from sfumato.counts.classes import Classes
from sfumato.models.model import Verdict, absent_note, explained, named, one_class, texts, top_counts

# k-anonymity: nobody is alone with their quasi-identifiers.


@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Every class has at least ``k`` rows.

    Claim: whoever knows all quasi-identifiers of a person in the table finds at least ``k`` rows that may be theirs.
    Source: Samarati 2001; Sweeney 2002.
    Does not protect against: learning a sensitive value that all rows of a class share; knowledge beyond the
        quasi-identifiers; several releases of the same people.

    Example:
        >>> from sfumato.testing.models import classes_of
        >>> table = classes_of({"zip": ["10", "10", "20"]}, quasi=["zip"])
        >>> verdict = KAnonymity(k=2).check(table)
        >>> verdict.holds, verdict.reached, verdict.failing.tolist()
        (False, 1.0, [1])
    """

    name: ClassVar[str] = "k-anonymity"
    """As the catalog lists it."""
    kept_by_merging: ClassVar[bool] = True
    """Joined classes are larger."""
    kept_by_removal: ClassVar[bool] = True
    """Each class is judged by itself."""
    kept_by_growth: ClassVar[bool] = True
    """More rows are still enough rows."""
    counts_anew: ClassVar[bool] = False
    """Overlapping groups are judged like classes."""

    k: int
    """How many rows every class must have."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """It looks at no sensitive column."""
        return ()

    def check(self, classes: Classes) -> Verdict:
        """Judge each class by its size."""
        return Verdict.of(classes.sizes, self.k, "at least")

    def reachable(self, table: Classes) -> Verdict:
        """Judge the table as one class."""
        return explained(self.check(one_class(table)), requirement=f"k = {self.k}", measurement="{} rows")


def asked_k(models: Iterable[object]) -> int:
    """The largest k that any k-anonymity among the models asks for; 1 if there is none.

    >>> asked_k([KAnonymity(k=5), KAnonymity(k=3)]), asked_k([])
    (5, 1)
    """
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=1)


# (alpha, k)-anonymity: k-anonymity with a ceiling on the share of sensitive values.


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaKAnonymity:
    """Every class has at least ``k`` rows, and no named value of ``column`` has a share above ``alpha`` in it.

    Claim: k-anonymity, and nobody can be given a named value with more confidence than ``alpha``.
    People with several values: at least ``k`` people, of whom at most a share of ``alpha`` has any one named value.
    Source: Wong, Li, Fu, Wang 2006; their general model names all values.
    Does not protect against: values that are not named; values that mean nearly the same.

    Example:
        >>> from sfumato.testing.models import classes_of
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
            return explained(verdict, requirement=f"k = {self.k}", measurement="{} rows")
        measurement = f"a value of {self.column!r} with share {{}}"
        return explained(verdict, requirement=f"alpha = {self.alpha:g}", measurement=measurement)
