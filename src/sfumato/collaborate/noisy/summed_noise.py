"""Noisy counts of all parties' records: each adds its share of noise to its own counts, and only the sum is opened.

Claim: whatever up to ``colluding`` of n parties see together, beside their own records and their own noise, is
epsilon-differentially private for the records of the others; so is what outsiders see. Masks hide everything but the
sum (`primitives.secure_sum`), and the sum holds at least one whole noise of the parties that do not collude.
Source: Goryczka and Xiong 2015; Dwork et al. 2006 (Our data, ourselves).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.events import Pure
from sfumato.budget.purse import Cost
from sfumato.collaborate.conversation import Conversation
from sfumato.collaborate.summed_cuts import SummedNumbers, refuse_outside
from sfumato.ground.errors import ParameterError
from sfumato.noise import Noisy, laplace_share
from sfumato.publish.looking import Counts, Mechanisms, Scores

Draw = Callable[[tuple[int, ...], Fraction, int], NDArray[np.int64]]
"""From a shape, an epsilon and a number of parties to one party's share of noise."""


class SummedNoise:
    """Noisy sums over all parties of a conversation."""

    def __init__(self, conversation: Conversation, *, colluding: int = 1, draw: Draw = laplace_share) -> None:
        """Agree on keys; ``colluding`` parties may put together what they know."""
        self._sums = SummedNumbers(conversation, signed=True)
        self._most = conversation.max_records
        self.parties, self.needed = conversation.seat.count, conversation.seat.count - colluding
        refuse_colluding(colluding, self.parties)
        self._draw = draw

    def count(self, counts: Counts, cost: Cost) -> Noisy:
        """The noisy counts of all parties' records, the same at every party; these are one's own."""
        if not isinstance(cost, Pure):
            raise ParameterError("shares of noise are for pure epsilon; several parties release nothing for rho")
        own = np.asarray(counts, np.int64) + self._draw(np.shape(counts), cost.epsilon, self.needed)
        total = self._sums(own)
        refuse_unlikely(total, self._most, self.parties, cost.epsilon)
        return Noisy(
            values=total,
            event=cost,
            scale=float(1 / cost.epsilon),
            law="laplace",
            draws=self.parties / self.needed,
        )

    @property
    def mechanisms(self) -> Mechanisms:
        """As an algorithm is handed them: it may count, and nothing else."""
        return Mechanisms(choose=_refuse_choice, count=self.count, waits=_refuse_waits)


def refuse_unlikely(total: Counts, records: int, parties: int, epsilon: Fraction) -> None:
    """Refuse noisy counts that honest parties of so many records each do not have, but once in e^64 times.

    The noise of one party, whole or a share, is beyond m with a probability of at most 2 e^(-epsilon m).
    """
    reach = parties * ceil((64 + log(2 * parties * max(total.size, 1))) / epsilon)
    refuse_outside(total, -reach, parties * records + reach)


def refuse_colluding(colluding: int, parties: int) -> None:
    """Refuse a number of parties that cannot work together against another one."""
    if isinstance(colluding, bool) or not isinstance(colluding, int) or not 0 <= colluding < parties:
        raise ParameterError(f"colluding must be a whole number from 0 to {parties - 1}, not {colluding!r}")


def _refuse_choice(scores: Scores, cost: Cost) -> int:
    raise ParameterError("several parties cannot choose by scores, which do not add up; choose by noisy counts")


def _refuse_waits(number: int, rate: Fraction) -> Counts:
    raise ParameterError("several parties cannot test parts of sets; leave columns with sets out")
