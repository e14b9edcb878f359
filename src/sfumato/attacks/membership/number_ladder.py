"""Numbers that were drawn, compared with people's by how far they are, in a few hundred steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.frame.numeric_labels import Floats, numbers
from sfumato.attacks.frame.subject import Codes, Ints, Subject

_STEPS = 512
"""At most so many numbers are told apart, equally full steps of all that occur."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ladder:
    """One column of drawn numbers: the steps, where each released row stands, and how far steps are apart."""

    name: str
    steps: Floats
    released: Codes
    distance: NDArray[np.float32]
    """Steps x steps, as a share of the range; the last column is for what is no number."""

    @classmethod
    def of(cls, subject: Subject, name: str) -> Ladder:
        """The column of a subject."""
        frames = (subject.release, subject.people, *([] if subject.control is None else [subject.control]))
        known = np.concatenate([numbers(frame[name]) for frame in frames])
        known = known[np.isfinite(known)]
        steps = np.unique(np.quantile(known, np.linspace(0, 1, _STEPS))) if len(known) else np.zeros(1)
        wide = float(steps[-1] - steps[0]) or 1.0
        apart = np.abs(steps[:, None] - steps[None, :]) / wide
        distance = np.concatenate([apart, np.ones((len(steps), 1))], axis=1).astype(np.float32)
        released = _placed(steps, numbers(subject.release[name])).clip(max=len(steps) - 1)
        return cls(name=name, steps=steps, released=released.astype(np.int32), distance=distance)

    def coded(self, people: pl.DataFrame) -> Ints:
        """The steps that people stand on; the last code is for who has no number."""
        return _placed(self.steps, numbers(people[self.name]))


def _placed(steps: Floats, values: Floats) -> Ints:
    """The nearest step of every number."""
    after = np.searchsorted(steps, np.nan_to_num(values)).clip(max=len(steps) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(steps[before] - values) <= np.abs(steps[after] - values)
    return np.asarray(np.where(np.isnan(values), len(steps), np.where(nearer, before, after)), np.int64)
