"""The auditor: which questions about one column are answered, by the questions and the answers so far alone.

Sums are audited by ``kernel_sums``, minima and maxima by ``extremes``. Both together are answered where the sums leave
the values of everybody in a minimum or maximum free: no combination of sums is about these people alone. Then neither
tells anything about the other, and each is decided as if the other were not there; else the question is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError
from sfumato.queries.exact.exact_sql import ExactKind
from sfumato.queries.exact.extremes import Extremes
from sfumato.queries.exact.kernel_sums import Foreseen, KernelSums
from sfumato.queries.exact.person_atoms import Mask
from sfumato.queries.exact.small_sums import follows, signatures_for, undecided
from sfumato.queries.exact.width_rule import Span, wide

Reason = Literal["", "few", "told", "undecided", "mixed", "width"]
REASONS: dict[Reason, str] = {
    "few": "it is about fewer than {k} people; ask about more of them",
    "told": "an answer could tell the value of one person, or the sum of fewer than {k}; ask about a set that differs "
    "from those asked before by more people",
    "undecided": "it cannot be decided whether an answer would tell about fewer than {k} people; ask about sets that "
    "divide people into larger parts",
    "mixed": "a minimum or maximum and sums have the same people, and what both tell together is not decided; ask "
    "about people of whom only the one or the other is known",
    "width": "an answer could tell somebody's value to less than {width:g}; ask about sets that divide people into "
    "larger parts",
}


class Auditor:
    """Answers about one column of one table to people who talk to each other.

    Claim: no value of one person, and no sum of fewer than k people, follows from all answers together, for values that
        can be any real numbers; and a refusal tells nothing, because whoever knows the questions and the answers so far
        can tell it beforehand.
    Does not protect against: what is known beforehand (whole numbers, bounds without a declared width, other columns),
        people who talk and are declared not to, and guesses that become likelier without becoming certain.
    """

    def __init__(self, people: int, key: str, *, k: int = 2, span: Span | None = None) -> None:
        if k < 2:
            raise ParameterError(f"k must be at least 2, not {k}")
        self.k, self.span, self._key = k, span, key
        self._least = k if span is None else span.least(k)
        self.sums = KernelSums(people, key, signatures=signatures_for(k, people))
        self.extremes = Extremes(people)

    def decide(self, kind: ExactKind, mask: Mask) -> Reason:
        """Why a question is refused; nothing where it is answered. Counts, and questions about nobody, tell nothing."""
        many = int(mask.sum())
        if kind == "count" or many == 0:
            return ""
        if many < self.k:
            return "few"
        return self._sum(mask) if kind in ("sum", "mean") else self._extreme(mask, largest=kind == "maximum")

    def told(self, kind: ExactKind, mask: Mask, units: int) -> None:
        """Note what was answered, in units of the column."""
        if kind == "count" or not mask.any():
            return
        if kind in ("sum", "mean"):
            self.sums.add(mask)
        else:
            self.extremes.add(mask, 2 * units, largest=kind == "maximum")
            self.sums.bar(self.extremes.people())

    def state(self) -> dict[str, NDArray[Any]]:
        """All that was worked out of what was told."""
        return {**self.sums.state(), **self.extremes.state()}

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was worked out."""
        self.sums.restore(held)
        self.extremes.restore(held)

    def _sum(self, mask: Mask) -> Reason:
        seen = self.sums.foresee(mask)
        if not seen.new:
            return ""
        if self.sums.full:
            return "undecided"
        sizes = seen.cutting.sizes
        if self.span is not None and (sizes[sizes > 0] < self._least).any():
            lines = np.vstack([self.sums.over(seen), seen.cutting.inside])
            if not wide(self.span, self.k, lines, sizes):
                return "width"
        reason = self._small(seen)
        if reason or not self.extremes.some:
            return reason
        whom = self.extremes.people(mixed=self.span is None)
        return "mixed" if (mask & whom).any() or not self.sums.leaves_free(mask) else ""

    def _small(self, seen: Foreseen) -> Reason:
        """Whether the sum of a few small atoms follows."""
        sizes = seen.cutting.sizes
        small = np.flatnonzero((sizes > 0) & (sizes < self.k))
        if not len(small):
            return ""
        if self.k > 2 and undecided(len(small), self.k):
            return "undecided"
        signatures = seen.signatures(small, self.sums.prime)
        return "told" if follows(signatures, sizes[small], self.k, self.sums.prime) is not None else ""

    def _extreme(self, mask: Mask, *, largest: bool) -> Reason:
        mixed = self.extremes.people(mixed=True, more=(largest, mask))
        if self.span is not None and (not self.span.extremes_fit(largest=largest) or mixed.any()):
            return "width"
        if self.k > 2 and (mixed & mask).any():
            return "undecided"
        verdict = self.extremes.judge(mask, largest=largest)
        if verdict in ("told", "undecided"):
            return "told" if verdict == "told" else "undecided"
        return self._apart(self.extremes.people(more=(largest, mask)), mixed)

    def _apart(self, bounded: Mask, mixed: Mask) -> Reason:
        """Whether sums leave everybody free who is in a minimum or maximum."""
        covered = self.sums.basis.counted()
        if not (covered & bounded).any():
            return ""
        if self.span is not None or (covered & mixed).any():
            return "mixed"
        return "" if self.sums.can_bar(bounded) else "mixed"
