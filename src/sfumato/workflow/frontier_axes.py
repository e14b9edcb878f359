"""The axes of a frontier, and the Pareto set: the points that nothing beats on both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.workflow.catalog import catalog
from sfumato.workflow.frontier_check import ACCURACY
from sfumato.workflow.words import METRICS

DEFAULT_METRICS = ("loss", "discernibility-ratio")
"""The axes of utility where nothing is said; both mean the same for every k, as class-size (in units of k) does not."""
Record = Mapping[str, Any]
Better = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that is measured at every point."""

    name: str
    """What it is called in tables."""
    meaning: str
    """What it measures, in one sentence."""
    better: Better
    """Which side is better: more private, or more useful."""
    how: Literal["share", "odds", "count", "number"]
    """How its values are written."""
    read: Callable[[Record], Any]
    """Its value in a record; None where there is none."""

    def value(self, record: Record) -> float | None:
        """The value of a verified point, if it has a finite one."""
        found = self.read(record) if record["status"] == "verified" else None
        return float(found) if isinstance(found, int | float) and isfinite(found) else None


def privacy_axes(records: Sequence[Record]) -> tuple[Axis, ...]:
    """The risk measures, and what each promise reached where that says more."""
    made = [record for record in records if record["status"] == "verified"]
    if any("epsilon" in record for record in made):
        told = "how much likelier any output can be with a record than without, as a power of e"
        return (
            Axis(name="epsilon", meaning=told, better="lower", how="number", read=lambda record: record["epsilon"]),
        )
    axes = [
        _risk("highest risk", "prosecutor", "odds", "the highest chance to pick the row of a person known to be in it"),
        _risk("average risk", "marketer", "share", "the share of rows matched rightly by whoever tries to match all"),
    ]
    if any(record["risk"]["population_known"] for record in made):
        told = "the highest chance to pick the row of a person known to be in the population"
        axes.append(_risk("journalist risk", "journalist", "odds", told))
    smallest = Axis(
        name="smallest class",
        meaning="the rows of the smallest group that share their quasi-identifiers, by the stricter reading",
        better="higher",
        how="count",
        read=lambda record: min(record["smallest_class"].values()),
    )
    claims = [axis for axis in _claim_axes(made) if not _same(axis, smallest, made)]
    attacks = dict.fromkeys(name for record in made for name in record.get("attacks", {}))
    return (*axes, smallest, *claims, *map(_attack, attacks))


def _attack(name: str) -> Axis:
    told = f"what attack {name} gains over guessing without the release"
    return Axis(
        name=f"attack {name}",
        meaning=told,
        better="lower",
        how="share",
        read=lambda record: record.get("attacks", {}).get(name),
    )


def utility_axes(metrics: Sequence[str], *, target: bool, private: bool = False) -> tuple[Axis, ...]:
    """The chosen metrics; where there is a target, also the accuracy of a classifier, which is all of a private one."""
    if private:
        return (_accuracy(),) if target else (_groups(),)
    names = metrics or DEFAULT_METRICS
    if target and ACCURACY not in names:
        names = (*names, ACCURACY)
    return tuple(_accuracy() if name == ACCURACY else _metric(name) for name in names)


def pareto(privacy: NDArray[np.float64], utility: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points no other point beats; lower is better on both sides, and equal points stand or fall together.

    One point beats another if it is nowhere worse and somewhere better.

    >>> pareto(np.array([1.0, 2.0, 2.0, 3.0]), np.array([3.0, 1.0, 1.0, 1.0])).tolist()
    [True, True, True, False]
    """
    order = np.lexsort((utility, privacy))
    x, y = privacy[order], utility[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]]) if len(y) else y
    first = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))[: len(y)]
    leads = np.where(first, y < before, False)
    kept = np.zeros(len(y), np.bool_)
    kept[order] = leads[np.maximum.accumulate(np.where(first, np.arange(len(y)), 0))]
    return kept


def front(privacy: Axis, utility: Axis, records: Mapping[int, Record]) -> tuple[int, ...]:
    """The numbers of the points in the Pareto set of two axes."""
    pairs = {number: (privacy.value(record), utility.value(record)) for number, record in records.items()}
    known = {number: pair for number, pair in pairs.items() if None not in pair}
    values = np.array(list(known.values()), np.float64).reshape(len(known), 2)
    signs = [1.0 if axis.better == "lower" else -1.0 for axis in (privacy, utility)]
    kept = pareto(values[:, 0] * signs[0], values[:, 1] * signs[1])
    return tuple(number for number, stays in zip(known, kept, strict=True) if stays)


def _risk(name: str, field: str, how: Literal["odds", "share"], meaning: str) -> Axis:
    return Axis(name=name, meaning=meaning, better="lower", how=how, read=lambda record: record["risk"][field])


def _metric(name: str) -> Axis:
    make = catalog().metrics[name]
    return Axis(
        name=name,
        meaning=METRICS.get(name, ""),
        better=make.direction,
        how="number",
        read=lambda record: record["utility"].get(name),
    )


def _accuracy() -> Axis:
    told = "the share of held-out original rows whose class is told rightly by a classifier trained on the release"
    return Axis(name=ACCURACY, meaning=told, better="higher", how="share", read=lambda record: record["accuracy"])


def _groups() -> Axis:
    told = "how many groups of rows the release tells apart"
    return Axis(name="groups", meaning=told, better="higher", how="count", read=lambda record: record["classes"])


def _claim_axes(made: Sequence[Record]) -> list[Axis]:
    """One axis for each model and column that some point makes a promise about."""
    found: dict[tuple[str, str | None, int], Axis] = {}
    for record in made:
        for (model, column, turn), claim in _turns(record).items():
            of = f" of {column}" if column else ""
            name = f"{model}{of}" + (f" ({turn + 1})" if turn else "")
            told = f"the worst value of {model}{of} over all groups; required is {claim['sense']} a limit"
            found.setdefault(
                (model, column, turn),
                Axis(
                    name=name,
                    meaning=told,
                    better="higher" if claim["sense"] in ("at least", "above") else "lower",
                    how="number",
                    read=lambda each, key=(model, column, turn): _turns(each).get(key, {}).get("reached"),  # type: ignore[misc]
                ),
            )
    return list(found.values())


def _turns(record: Record) -> dict[tuple[str, str | None, int], Mapping[str, Any]]:
    """A record's claims by model, column and, where several have the same, their turn."""
    found: dict[tuple[str, str | None, int], Mapping[str, Any]] = {}
    for claim in record["claims"]:
        turn = sum(key[:2] == (claim["model"], claim["column"]) for key in found)
        found[claim["model"], claim["column"], turn] = claim
    return found


def _same(one: Axis, other: Axis, made: Sequence[Record]) -> bool:
    return all(one.value(record) == other.value(record) for record in made)
