"""The generalization lattice as an array: one axis per column, one step per level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import PlanError
from sfumato.publish.problem import Levels

MOST_NODES = 2**25


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All combinations of levels; coarser nodes have larger coordinates."""

    heights: Levels
    """The top level of each column."""

    def __post_init__(self) -> None:
        """Refuse lattices that do not fit into memory."""
        if self.nodes > MOST_NODES:
            raise PlanError(
                f"algorithm.name: the lattice of {len(self.heights)} quasi-identifiers has {self.nodes:,} nodes, more "
                f"than the {MOST_NODES:,} that the optimal search can prove; use algorithm.name = 'greedy', or "
                "hierarchies with fewer levels"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels per column."""
        return tuple(height + 1 for height in self.heights)

    @property
    def nodes(self) -> int:
        """How many combinations there are."""
        product = 1
        for levels in self.shape:
            product *= levels
        return product

    def above(self, node: Levels) -> tuple[slice, ...]:
        """The node and every coarser one."""
        return tuple(slice(level, None) for level in node)

    def below(self, node: Levels) -> tuple[slice, ...]:
        """The node and every finer one."""
        return tuple(slice(None, level + 1) for level in node)

    def sums(self, per_level: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """For every node, the sum of its columns' figures."""
        whole = np.zeros(self.shape)
        for axis, figures in enumerate(per_level):
            whole += figures.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return whole

    def chain(self, node: Levels, costs: Sequence[NDArray[np.float64]]) -> list[Levels]:
        """A way from the node to the top, always by the cheapest next step."""
        way = [node]
        while way[-1] != self.heights:
            here = way[-1]
            steps = [c for c, level in enumerate(here) if level < self.heights[c]]
            best = min(steps, key=lambda c: (costs[c][here[c] + 1] - costs[c][here[c]], c))
            way.append(tuple(level + (c == best) for c, level in enumerate(here)))
        return way
