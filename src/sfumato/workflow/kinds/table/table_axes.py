"""The axes on which releases of tables are compared: risk, class sizes, claims and attacks; metrics and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.frontier.axes import ACCURACY, Axis, Record, accuracy_axis

DEFAULT_METRICS = ("loss", "discernibility-ratio")
"""The default axes of utility; both mean the same for every k, as class-size (in units of k) does not."""


def privacy_axes(records: Sequence[Record]) -> tuple[Axis, ...]:
    """The risk measures, and what each promise reached where that says more."""
    made = [record for record in records if record["status"] == "verified"]
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


def utility_axes(metrics: Sequence[str], *, target: bool) -> tuple[Axis, ...]:
    """The chosen metrics; where there is a target, also the accuracy of a classifier."""
    names = tuple(metrics) or DEFAULT_METRICS
    if target and ACCURACY not in names:
        names = (*names, ACCURACY)
    return tuple(accuracy_axis() if name == ACCURACY else _metric(name) for name in names)


def _risk(name: str, field: str, how: Literal["odds", "share"], meaning: str) -> Axis:
    return Axis(name=name, meaning=meaning, better="lower", how=how, read=lambda record: record["risk"][field])


def _metric(name: str) -> Axis:
    part = catalog().metrics[name]
    return Axis(
        name=name,
        meaning=part.meaning,
        better=part.make.direction,
        how="number",
        read=lambda record: record["utility"].get(name),
    )


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
