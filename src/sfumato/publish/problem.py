"""What every algorithm is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import Hierarchy
from sfumato.group.classes import Classes
from sfumato.models.judge import Reading
from sfumato.models.verdict import Model
from sfumato.utility.view import Metric

Levels = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Problem:
    """A table, a requirement and a purpose."""

    cells: Classes
    """The finest classes of the table, with measures for the metrics."""
    hierarchies: tuple[Hierarchy, ...]
    """One per quasi-identifier, in the order of the cells' columns."""
    models: tuple[Model, ...]
    """All of them must hold."""
    metric: Metric
    """What is to be lost least."""
    target: str | None = None
    """The class attribute, if there is one."""
    limit: int = 0
    """The most rows that may be suppressed."""
    suppressed: Literal["remove", "star"] = "remove"
    """Whether a suppressed row is left out or published with every quasi-identifier as ``*``."""
    exempt: bool = False
    """Whether the group of suppressed rows need not meet the requirement."""
    reading: Reading = "strict"
    """How unknown cells are read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A full-domain generalization: a level per column, and the cells that are suppressed."""

    levels: Levels
    """The level of each quasi-identifier."""
    suppressed: NDArray[np.bool_]
    """Which cells are suppressed."""
    loss: float
    """What the metric says, lower is better."""
    proven: bool
    """Whether no other node of the lattice can lose less."""
    effort: Mapping[str, int | str] = field(default_factory=dict)
    """What the search did: nodes, checked, tagged, pruned, ..."""
