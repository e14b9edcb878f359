"""A pseudonymized column as an attacker finds it: what is shown of every person, and what is true of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sfumato.ground.brief import Brief


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PseudonymizedColumn(Brief):
    """One column, person by person, without missing values."""

    name: str
    """The column."""
    shown: tuple[str, ...]
    """The code or alias of every person."""
    true: tuple[str, ...]
    """Their own value."""
    codes: bool
    """Whether numbers have codes, which keep order; else values have aliases."""

    @property
    def public(self) -> Mapping[str, float]:
        """How frequent every value is: what somebody with the best statistic knows."""
        return Counter(self.true)

    def without_release(self) -> PseudonymizedColumn:
        """The same people behind a column that shows everybody alike."""
        return replace(self, shown=("1",) * len(self.shown))
