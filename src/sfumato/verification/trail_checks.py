"""Walking a trail back from the released rows: every table on the way is a coarser form of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.describe.hierarchy import TOP
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct, representatives, total
from sfumato.utility.view import Metric
from sfumato.verification.losses import within_range

_NEAR = 1e-9
_FALLING = ("loss", "ncp")
"""Metrics that never grow when a label is replaced by finer ones: each cell costs its share of the domain."""
_NEEDED_BY = "top-down"
"""The algorithm whose releases always have a trail, and never suppressed rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What the released rows say about the steps, from the first to the last."""

    anonymity: tuple[int, ...]
    """The smallest class before the first step and after each one."""
    scores: tuple[float, ...]
    """The score of each step."""
    empty: tuple[int, ...]
    """The steps that replace nothing, or labels that do not occur, counted from 1."""
    top: bool
    """Whether all began as ``*``."""


def trail_fits(
    manifest: Mapping[str, Any], classes: Classes, metric: Metric, check: Callable[..., Any]
) -> Iterable[Any]:
    """The trail leads from one class of ``*`` to the released rows, with the classes and scores that it states.

    ``metric`` is the plan's: the losses on the way are figures that it can have, and a finer table never loses more.
    """
    trail = manifest.get("trail")
    needed = manifest["recoding"]["algorithm"] == _NEEDED_BY
    if trail is None:
        if needed:
            yield check(what="trail", holds=False, detail=f"{_NEEDED_BY} leaves a trail, but none is stated")
        return
    wrong = _wrong(manifest, trail, classes) + _losses(trail, metric)
    if needed and manifest["suppression"]["rows"] != 0:
        wrong.append(f"{_NEEDED_BY} suppresses no rows")
    detail = wrong[0] if wrong else f"{len(trail['steps'])} steps from one class of {TOP}"
    yield check(what="trail", holds=not wrong, detail=detail)


def _wrong(manifest: Mapping[str, Any], trail: Mapping[str, Any], classes: Classes) -> list[str]:
    """What the rows contradict, in words."""
    steps: Sequence[Mapping[str, Any]] = trail["steps"]
    target = next((c["name"] for c in manifest["data"]["columns"] if c["role"] == "target"), None)
    if trail["direction"] != "down" or trail["enough"] is not None:
        return ["a public trail leads down, and every point of it is enough"]
    if trail["score"] not in ("gain", "discernibility") or (trail["score"] == "gain" and target is None):
        return [f"the score {trail['score']!r} cannot be recomputed"]
    by = target if trail["score"] == "gain" else None
    walk = walked_back(classes, [(s["column"], s["coarse"], tuple(s["fine"])) for s in steps], by)
    wrong = [f"step {n} replaces nothing, or labels that do not occur" for n in walk.empty]
    stated = [trail["anonymity"], *(step["anonymity"] for step in steps)]
    for n, (found, said) in enumerate(zip(walk.anonymity, stated, strict=True)):
        if found != said:
            wrong.append(f"after {n} steps the smallest class has {found} rows, not {said}")
    for n, (worth, step) in enumerate(zip(walk.scores, steps, strict=True), start=1):
        if not isclose(worth, step["score"], rel_tol=_NEAR, abs_tol=_NEAR):
            wrong.append(f"the score of step {n} is {worth:g}, not {step['score']:g}")
    if not walk.top:
        wrong.append(f"the steps do not begin with one class of {TOP}")
    return wrong + _loss(manifest, trail)


def _losses(trail: Mapping[str, Any], metric: Metric) -> list[str]:
    """Losses that the metric cannot have, or that grow where labels are only told apart."""
    every = [one["loss"] for one in (trail, *trail["steps"])]
    told = [loss for loss in every if loss is not None]
    if 0 < len(told) < len(every):
        return ["some steps state a loss, and some do not"]
    wrong = [f"a loss of {loss}, which {metric.name} cannot be" for loss in told if not within_range(metric, loss)]
    if not wrong and metric.name in _FALLING:
        wrong = [f"the loss grows from {a:g} to {b:g}" for a, b in pairwise(told) if b > a + _NEAR]
    return wrong


def _loss(manifest: Mapping[str, Any], trail: Mapping[str, Any]) -> list[str]:
    """The last figure of the trail is that of the release, where the trail counts the loss."""
    metric = manifest["plan"]["utility"]["metric"]
    said = manifest["utility"].get(metric)
    every = [one["loss"] for one in (trail, *trail["steps"])]
    if said is None:
        return [] if set(every) == {None} else ["the trail states losses that are not public"]
    if metric != "loss":
        return []
    last = every[-1]
    if isclose(last, said, rel_tol=0.0, abs_tol=_NEAR):
        return []
    return [f"the trail ends with a loss of {last:g}, the release has {said:g}"]


def walked_back(classes: Classes, steps: Sequence[tuple[str, str, tuple[str, ...]]], target: str | None) -> Walk:
    """Undo the steps from the last to the first; scores are gains about the target, or squares of classes."""
    smallest: list[int] = []
    scores: list[float] = []
    empty: list[int] = []
    for number, (column, coarse, fine) in reversed(list(enumerate(steps, start=1))):
        place = classes.quasi.index(column)
        present = {classes.labels[place][code] for code in np.unique(classes.keys[place])}
        if not fine or len(set(fine)) < len(fine) or not set(fine) <= present or coarse in present:
            empty.append(number)
        smallest.append(_smallest(classes))
        gain = 0.0 if target is None else _gain(_histogram(classes, place, target), classes.labels[place], fine)
        classes = _merged(classes, place, coarse, fine)
        scores.append(_squares(classes, place, coarse) if target is None else gain)
    smallest.append(_smallest(classes))
    top = all(
        {names[code] for code in codes} <= {TOP} for names, codes in zip(classes.labels, classes.keys, strict=True)
    )
    return Walk(anonymity=tuple(smallest[::-1]), scores=tuple(scores[::-1]), empty=tuple(empty[::-1]), top=top)


def _smallest(classes: Classes) -> int:
    return int(classes.sizes.min()) if classes.count else 0


def _squares(classes: Classes, place: int, label: str) -> float:
    """The squares of the classes that have a label, added up."""
    shown = np.array([name == label for name in classes.labels[place]], np.bool_)[classes.keys[place]]
    return float((classes.sizes[shown].astype(np.float64) ** 2).sum())


def _histogram(classes: Classes, place: int, target: str) -> NDArray[np.float64]:
    """Labels of a column x values of the target: rows."""
    tally = classes.tally(target)
    many, width = len(classes.labels[place]), len(tally.values)
    pairs = classes.keys[place][tally.owners].astype(np.int64) * width + tally.codes
    return total(pairs, tally.counts, many * width).reshape(many, width).astype(np.float64)


def _gain(rows: NDArray[np.float64], labels: Sequence[str], fine: Sequence[str]) -> float:
    """The information gain, in bits, of telling the labels below apart."""
    parts = rows[[place for place, label in enumerate(labels) if label in fine]]
    whole = parts.sum(axis=0)
    return float(_bits(whole) - _bits(parts).sum()) / max(float(whole.sum()), 1.0)


def _bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows times entropy, along the last axis."""
    return np.asarray(_each(counts.sum(axis=-1)) - _each(counts).sum(axis=-1))


def _each(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts * np.log2(np.maximum(counts, 1.0)))


def _merged(classes: Classes, place: int, coarse: str, fine: tuple[str, ...]) -> Classes:
    """The classes with some labels of one column replaced by another."""
    labels = classes.labels[place]
    names = tuple(dict.fromkeys([coarse if label in fine else label for label in labels]))
    lift = np.array([names.index(coarse if label in fine else label) for label in labels], np.int32)
    keys = [lift[codes] if c == place else codes for c, codes in enumerate(classes.keys)]
    shown = tuple(names if c == place else old for c, old in enumerate(classes.labels))
    ids, count = distinct(keys, [len(old) for old in shown], classes.count)
    first = representatives(ids, count)
    return classes.merged(np.array([codes[first] for codes in keys], np.int32), shown, ids, count)
