"""A clock for trajectories: times become whole ticks since a start, and long ones can be cut into windows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from sfumato.data.times import KNOWN, NAMES, Moment, Timeline, moment
from sfumato.ground.arguments import number
from sfumato.ground.errors import DataError, ParameterError

Ints = NDArray[np.int64]
_DURATION = re.compile(r"([1-9][0-9]*)([smhdw])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Times in whole steps since a start; with ``split`` every window of that length is a record of its own.

    Steps and windows are numbers where times are numbers, else durations. Windows begin at ``start``; without
    one at 0, at midnight, or on Monday where they last weeks, and ticks count from the window's own start.
    Date-times with an offset are counted in UTC.
    """

    step: str | float
    """The length of a tick: "10m", "1h", "1d" (s, m, h, d, w), or a number."""
    start: str | float | None = None
    """The time of tick 0. Dates need one unless they are split; numbers begin at 0, clock times at midnight."""
    split: str | float | None = None
    """The length of a window: "1d", "1w" ..., or a number; None: one window without an end."""

    def __post_init__(self) -> None:
        step = _length("clock step", self.step)
        if self.split is not None:
            split = _length("clock split", self.split)
            if isinstance(self.step, str) != isinstance(self.split, str):
                raise ParameterError(
                    f"clock step {self.step!r} and split {self.split!r} must both be numbers or both durations"
                )
            if split < step:
                raise ParameterError(f"clock split must be at least one step of {self.step!r}, not {self.split!r}")
        if isinstance(self.start, str):
            if moment(self.start) is None:
                raise ParameterError(f"clock start must be a time, not {self.start!r}; times are {KNOWN}")
        elif self.start is not None:
            number("clock start", self.start)

    def ticks(self, line: Timeline) -> tuple[Ints, Ints]:
        """For each time: its window's number (0 without split), and the ticks from the start (below 0 before it)."""
        if not line.moments:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        self._fits(line.kind)
        start, step = self._start(line.kind), _length("clock step", self.step)
        length = None if self.split is None else _length("clock split", self.split)
        if line.kind == "number":
            found = [_exact(Fraction(one), start, step, length) for one in line.moments]
            try:
                return np.array([w for w, _ in found], np.int64), np.array([t for _, t in found], np.int64)
            except OverflowError:
                raise DataError(f"clock step {self.step!r}: times are too many steps away from the start") from None
        since = np.array(line.moments, np.int64) - int(start)
        window = np.zeros_like(since) if length is None else since // int(length)
        return window, (since - window * int(length or 0)) // int(step)

    def _fits(self, kind: str) -> None:
        if (kind == "number") == isinstance(self.step, str):
            needed = "a number" if kind == "number" else 'a duration such as "10m"'
            raise DataError(
                f"clock step {self.step!r}: a time of the table is {NAMES[kind]}; the step must be {needed}"
            )

    def _start(self, kind: str) -> Fraction:
        """The start as a number, or as microseconds."""
        if self.start is None:
            if self.split is None and kind not in ("number", "clock"):
                raise DataError(
                    f"clock: a time of the table is {NAMES[kind]}, which needs a start to count from; "
                    "name the start, or split the time into windows"
                )
            return Fraction(0)
        found = moment(self.start) if isinstance(self.start, str) else ("number", _decimal(self.start))
        if found is None or not (found[0] == kind or (found[0], kind) in (("date", "datetime"), ("datetime", "date"))):
            raise DataError(
                f"clock start {self.start!r}: a time of the table is {NAMES[kind]}; the start must be one too"
            )
        return Fraction(found[1])


def _exact(at: Fraction, start: Fraction, step: Fraction, length: Fraction | None) -> tuple[int, int]:
    window = 0 if length is None else floor((at - start) / length)
    return window, floor((at - start - window * (length or 0)) / step)


def _length(name: str, value: str | float) -> Fraction:
    """A duration in microseconds, or a number."""
    if not isinstance(value, str):
        if number(name, value) <= 0:
            raise ParameterError(f"{name} must be above 0, not {value}")
        return Fraction(_decimal(value))
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ParameterError(f'{name} must be a number or a duration such as "10m", "1h" or "1d", not {value!r}')
    return Fraction(int(found[1]) * _UNITS[found[2]] * 1_000_000)


def _decimal(value: float) -> Moment:
    """A number as it is written: 0.1 is one tenth."""
    return Decimal(str(value))
