"""Recomputes labels and information losses from released rows, and walks a trail back from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isclose
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.bundles.checks.evidence import all_stars
from sfumato.bundles.checks.labels import contradictions
from sfumato.counts.classes import Classes
from sfumato.counts.keys import distinct, representatives, total
from sfumato.metrics.metric import Metric, Ruler, View
from sfumato.tables.hierarchy import TOP
from sfumato.tables.table import Kind

# Recomputing what the manifest says about labels and losses, from released rows.


_SLACK = 1e-9


class Metrics(Protocol):
    """Whoever turns a metric's name into a metric."""

    def metric(self, name: str, *, k: int = 1) -> Metric:
        """The metric."""


def labels_fit(manifest: Mapping[str, Any], classes: Classes, check: Callable[..., Any]) -> Iterable[Any]:
    """Every released quasi-identifier is one of the labels that the recoding allows."""
    missing = manifest["data"]["missing"] or ("",)
    for name, labels, codes in zip(classes.quasi, classes.labels, classes.keys, strict=True):
        stated = manifest["recoding"]["columns"].get(name, {})
        allowed = stated.get("labels", {})
        strange = sorted({labels[code] for code in np.unique(codes)} - {*allowed, TOP})
        wrong = [label for label, steps in allowed.items() if not _placed(label, steps, stated)]
        wrong += [*_missized(stated), *misruled(stated), *_unruled(stated, missing)]
        wrong += contradictions(stated, manifest["plan"]["columns"][name], missing)
        detail = (
            _described(stated) if not strange and not wrong else f"labels that do not fit: {[*strange, *wrong][:5]}"
        )
        yield check(what=f"recoding of {name}", holds=not strange and not wrong, detail=detail)


def _placed(label: str, steps: float | None, stated: Mapping[str, Any]) -> bool:
    """Whether a label lies on a level that its hierarchy has, on the stated one if there is one, and ``*`` on top.

    A box or a mean is no hierarchy value: it lies as high as its share of the domain says, which is not told where the
    domain is not declared.
    """
    if steps is None:
        return stated.get("form") in ("boxes", "intervals", "means", "distributions") and label != TOP
    level = stated.get("level", steps)
    if stated.get("form", "levels") != "levels" and label != TOP:
        return bool(0 <= steps <= stated["of"])
    return bool(0 <= steps <= stated["of"] and steps == level and (label == TOP) == (steps == stated["of"]))


def _missized(stated: Mapping[str, Any]) -> list[str]:
    """Labels whose stated size is smaller than a leaf or larger than the domain."""
    leaf = 0.0 if stated.get("continuous") else 1.0
    return [label for label, size in stated.get("sizes", {}).items() if not leaf <= size <= stated["total"]]


def misruled(stated: Mapping[str, Any]) -> list[str]:
    """What is wrong about the form of a rule: a kind of values that there is not, labels that are no texts."""
    rule = stated.get("rule")
    if rule is None:
        return []
    kind = [] if rule["type"] in get_args(Kind) else [f"rule of type {rule['type']}"]
    return kind + [f"{value} as {label!r}" for value, label in rule.get("values", {}).items() if type(label) is not str]


def _unruled(stated: Mapping[str, Any], missing: Iterable[str]) -> list[str]:
    """Released labels that no value of a declared domain reads as, or more or fewer of them than their sizes say."""
    values = stated.get("rule", {}).get("values")
    if values is None:
        return []
    read = Counter(label for label in values.values() if isinstance(label, str))
    sizes = stated.get("sizes", {})
    labels = [label for label in stated.get("labels", {}) if label not in (TOP, *missing)]
    return [label for label in labels if not read[label] or sizes.get(label, read[label]) != read[label]]


def trees_fit(manifest: Mapping[str, Any], guarded: Iterable[str], check: Callable[..., Any]) -> Iterable[Any]:
    """Every released label of a guarded column covers the same values in its claims' tree and in the recoding."""
    missing = manifest["data"]["missing"] or ("",)
    for name in guarded:
        trees = [c["parameters"]["guarded"]["paths"] for c in manifest["claims"] if _about(c, name)]
        if not trees:
            continue
        stated = manifest["recoding"]["columns"][name]
        read: dict[str, set[str]] = {}
        for value, label in stated["rule"]["values"].items():
            if value not in missing:
                read.setdefault(label, set()).add(value)
        read.setdefault(TOP, set[str]().union(*read.values()))
        wrong = sorted({label for tree in trees for label, values in read.items() if _covered(tree, label) != values})
        detail = f"{len(trees)} claims" if not wrong else f"labels that cover other values: {wrong[:5]}"
        yield check(what=f"tree of {name}", holds=not wrong, detail=detail)


def _about(claim: Mapping[str, Any], name: str) -> bool:
    return "guarded" in claim["parameters"] and claim["parameters"]["guarded"]["column"] == name


def _covered(tree: Mapping[str, Any], label: str) -> set[str]:
    """The values below a label."""
    return {value for value, above in tree.items() if label in (value, *above, TOP)}


def _described(stated: Mapping[str, Any]) -> str:
    if "level" in stated:
        return f"level {stated['level']} of {stated['of']}"
    if stated.get("form", "levels") != "levels":
        return f"{len(stated['labels'])} {stated['form']}"
    return f"{len(stated['labels'])} labels of several levels up to {stated['of']}"


def losses(
    manifest: Mapping[str, Any], classes: Classes, known: Metrics, names: Iterable[str] | None = None
) -> dict[str, float]:
    """Every named metric (or stated one) that released rows, label sizes and declared domains suffice for."""
    columns = [manifest["recoding"]["columns"][name] for name in classes.quasi]
    view = _view(manifest, classes)
    k = max((int(c["parameters"]["k"]) for c in manifest["claims"] if c["model"] == "k-anonymity"), default=1)
    given = {"target"} if view.target is not None else set[str]()
    given |= {"sizes"} if all("sizes" in column for column in columns) else set()
    given |= {"steps"} if all(step is not None for column in columns for step in column["labels"].values()) else set()
    figures: dict[str, float] = {}
    for name in manifest["utility"] if names is None else names:
        metric = known.metric(name, k=k)
        if set(metric.needs) <= given:
            figures[name] = metric.measure(view)
    return figures


def within_range(metric: Metric, value: Any) -> bool:
    """Whether a figure is one that its metric can have, whatever it was measured on."""
    return type(value) in (int, float) and bool(metric.low - _SLACK <= value <= metric.high + _SLACK)


def _view(manifest: Mapping[str, Any], classes: Classes) -> View:
    """The release as metrics see it; removed rows come back as one suppressed class of unknown values."""
    stated = manifest["suppression"]
    columns = manifest["recoding"]["columns"]
    rulers = tuple(_ruler(columns[name], labels) for name, labels in zip(classes.quasi, classes.labels, strict=True))
    hidden = all_stars(classes) if stated["rows"] and stated["how"] == "star" else np.zeros(classes.count, np.bool_)
    if stated["rows"] and stated["how"] == "remove":
        classes = _with_removed(classes, int(stated["rows"]))
        hidden = np.append(hidden, True)
    target = next((c["name"] for c in manifest["data"]["columns"] if c["role"] == "target"), None)
    return View(classes=classes, suppressed=hidden, rulers=rulers, target=target)


def _with_removed(classes: Classes, rows: int) -> Classes:
    """One more class for the rows that were removed; nothing is known about its labels or values."""
    return replace(
        classes,
        keys=np.concatenate([classes.keys, np.zeros((len(classes.quasi), 1), np.int32)], axis=1),
        sizes=np.append(classes.sizes, rows),
        tallies={name: replace(tally, classes=tally.classes + 1) for name, tally in classes.tallies.items()},
    )


def _ruler(stated: Mapping[str, Any], labels: tuple[str, ...]) -> Ruler:
    sizes = stated.get("sizes", {})
    height = int(stated["of"])
    total = float(stated.get("total", 1.0))
    return Ruler(
        sizes=np.array([total if label == TOP else float(sizes.get(label, 1.0)) for label in labels]),
        steps=np.array([float(height if label == TOP else stated["labels"].get(label) or 0.0) for label in labels]),
        total=total,
        height=height,
        continuous=bool(stated.get("continuous", False)),
    )


# Walking a trail back from the released rows: every table on the way is a coarser form of the release.


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
    for n, (actual, expected) in enumerate(zip(walk.anonymity, stated, strict=True)):
        if actual != expected:
            wrong.append(f"after {n} steps the smallest class has {actual} rows, not {expected}")
    for n, (worth, step) in enumerate(zip(walk.scores, steps, strict=True), start=1):
        if not isclose(worth, step["score"], rel_tol=_NEAR, abs_tol=_NEAR):
            wrong.append(f"the score of step {n} is {worth:g}, not {step['score']:g}")
    if not walk.top:
        wrong.append(f"the steps do not begin with one class of {TOP}")
    return wrong + _loss(manifest, trail)


def _losses(trail: Mapping[str, Any], metric: Metric) -> list[str]:
    """Losses that the metric cannot have, or that grow where labels are only told apart."""
    every = [step["loss"] for step in (trail, *trail["steps"])]
    stated_losses = [loss for loss in every if loss is not None]
    if 0 < len(stated_losses) < len(every):
        return ["some steps state a loss, and some do not"]
    wrong = [
        f"a loss of {loss}, which {metric.name} cannot be" for loss in stated_losses if not within_range(metric, loss)
    ]
    if not wrong and metric.name in _FALLING:
        wrong = [f"the loss grows from {a:g} to {b:g}" for a, b in pairwise(stated_losses) if b > a + _NEAR]
    return wrong


def _loss(manifest: Mapping[str, Any], trail: Mapping[str, Any]) -> list[str]:
    """The last figure of the trail is that of the release, where the trail counts the loss."""
    metric = manifest["plan"]["utility"]["metric"]
    stated = manifest["utility"].get(metric)
    every = [step["loss"] for step in (trail, *trail["steps"])]
    if stated is None:
        return [] if set(every) == {None} else ["the trail states losses that are not public"]
    if metric != "loss":
        return []
    last = every[-1]
    if isclose(last, stated, rel_tol=0.0, abs_tol=_NEAR):
        return []
    return [f"the trail ends with a loss of {last:g}, the release has {stated:g}"]


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
    mask = np.array([name == label for name in classes.labels[place]], np.bool_)[classes.keys[place]]
    return float((classes.sizes[mask].astype(np.float64) ** 2).sum())


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
    new_labels = tuple(names if c == place else old for c, old in enumerate(classes.labels))
    ids, count = distinct(keys, [len(old) for old in new_labels], classes.count)
    first = representatives(ids, count)
    return classes.merged(np.array([codes[first] for codes in keys], np.int32), new_labels, ids, count)
