"""The best set of cuts so far."""

from __future__ import annotations

import numpy as np

from sfumato.publish.k_optimize.cuts import Flags
from sfumato.publish.lattice.result import below


class Best:
    """Keeps the set of cuts that loses least."""

    def __init__(self) -> None:
        """Nothing is found yet."""
        self.loss = np.inf
        self.head: Flags | None = None
        self.after = 0
        """How many nodes of the tree had been visited when it was found; 0 where the start found it."""

    @property
    def beaten(self) -> float:
        """Whatever cannot lose less than this is of no interest."""
        return below(self.loss) if np.isfinite(self.loss) else np.inf

    def offer(self, head: Flags, loss: float, after: int = 0) -> bool:
        """Take a set of cuts if it really loses less; tells whether it does."""
        better = loss < self.beaten
        if better:
            self.loss, self.head, self.after = loss, head, after
        return better
