"""A metric that every release can have, and one that needs what nobody provides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.metrics.metric import Direction, Loss, View


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstColumn:
    """The share of its hierarchy that the cells of the worst column climbed; a suppressed cell climbed all of it."""

    name: ClassVar[str] = "worst-column"
    direction: ClassVar[Direction] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("steps",)

    def measure(self, view: View) -> float:
        return self.loss(view).value

    def loss(self, view: View) -> Loss:
        sizes = view.classes.sizes / max(view.classes.rows, 1)
        climbed = [r.steps[codes] / max(r.height, 1) for codes, r in zip(view.classes.keys, view.rulers, strict=True)]
        shown = max((float(sizes @ one) for one in climbed), default=0.0)
        value = max((float(sizes @ np.where(view.suppressed, 1.0, one)) for one in climbed), default=0.0)
        return Loss(value=value, coarser=shown, surcharge=0.0)

    def floors(self, hierarchies: Sequence[Any], counts: Sequence[Any]) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather(WorstColumn):
    """How the weather was, which no release tells."""

    name: ClassVar[str] = "weather"
    needs: ClassVar[tuple[str, ...]] = ("weather",)

    def loss(self, view: View) -> Loss:
        raise KeyError("weather")
