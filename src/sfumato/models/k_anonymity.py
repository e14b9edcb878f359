"""k-anonymity: nobody is alone with their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sfumato.ground.arguments import at_least
from sfumato.group.classes import Classes
from sfumato.models.laws import explained
from sfumato.models.verdict import Verdict, one_class


@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Every class has at least ``k`` rows.

    Claim: whoever knows all quasi-identifiers of a person in the table finds at least ``k`` rows that may be theirs.
    Source: Samarati 2001; Sweeney 2002.
    Does not protect against: learning a sensitive value that all rows of a class share; knowledge beyond the
        quasi-identifiers; several releases of the same people.

    Example:
        >>> from sfumato.testing.model_kit import classes_of
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
        return explained(self.check(one_class(table)), asked=f"k = {self.k}", found="{} rows")


def asked_k(models: Iterable[object]) -> int:
    """The largest k that any k-anonymity among the models asks for; 1 if there is none.

    >>> asked_k([KAnonymity(k=5), KAnonymity(k=3)]), asked_k([])
    (5, 1)
    """
    return max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
