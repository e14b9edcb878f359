"""Every metric of the catalog passes the kit; metrics that are known to be bad do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato.metrics.information_loss import (
    ClassificationMetric,
    Discernibility,
    LossMetric,
    NonUniformEntropy,
    Precision,
)
from sfumato.metrics.metric import Loss, View
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.testing.metrics import BrokenMetric, check_metric


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", catalog().metrics)
def test_every_metric_passes(name: str, k: int):
    assert check_metric(lambda: catalog().metric(name, k=k), seed=k) == 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TooSure(LossMetric):
    """Says that nodes above lose as much as suppression costs here: they may suppress less."""

    def loss(self, view: View) -> Loss:
        found = super(TooSure, self).loss(view)
        return replace(found, coarser=found.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TooDear(Discernibility):
    """Charges finer nodes twice for the rows that they suppress too."""

    def loss(self, view: View) -> Loss:
        found = super(TooDear, self).loss(view)
        return replace(found, surcharge=found.surcharge * 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongFloor(LossMetric):
    """Forgets to divide by the number of columns."""

    def floors(self, hierarchies: Sequence[Any], counts: Sequence[Any]) -> Any:
        found = super(WrongFloor, self).floors(hierarchies, counts)
        return None if found is None else [one * len(hierarchies) for one in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upside(Precision):
    """Says that lower is better of a figure that falls with every loss."""

    direction: ClassVar[Any] = "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow(Discernibility):
    """Says that no value is above 1."""

    high: ClassVar[float] = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent(LossMetric):
    """Reads the sizes of labels and does not say so."""

    needs: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentSteps(Precision):
    """Reads how high labels lie and does not say so."""

    needs: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentClass(ClassificationMetric):
    """Reads the class and does not say so."""

    needs: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentBits(NonUniformEntropy):
    """Reads a measure and does not say so."""

    needs: ClassVar[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange(LossMetric):
    """Needs what no release offers."""

    needs: ClassVar[tuple[str, ...]] = ("sizes", "weather")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generous(Discernibility):
    """Suppressed rows cost nothing."""

    def loss(self, view: View) -> Loss:
        shown = view.classes.sizes[~view.suppressed]
        value = float(np.square(shown).sum())
        return Loss(value=value, coarser=0.0, surcharge=0.0)


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (TooSure, "no node above loses less"),
        (TooDear, "no node below loses less"),
        (WrongFloor, "the floor of"),
        (Upside, "nothing done has the best value"),
        (Narrow, "lies between 0.0 and 1"),
        (Silent, "figures are finite with what it declares"),
        (SilentSteps, "figures are finite with what it declares"),
        (SilentClass, "fails with what it declares"),
        (SilentBits, "fails with what it declares"),
        (Strange, r"not \['weather'\]"),
        (Generous, "costs the m"),
    ],
)
def test_what_is_known_to_be_bad_is_caught(make: Any, law: str):
    with pytest.raises(BrokenMetric, match=law):
        check_metric(make)
