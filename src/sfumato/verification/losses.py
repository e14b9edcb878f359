"""Recomputing what the manifest says about labels and losses, from released rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, get_args

import numpy as np

from sfumato.data.kinds import Kind
from sfumato.describe.hierarchy import TOP
from sfumato.group.classes import Classes
from sfumato.utility.view import Metric, Ruler, View
from sfumato.verification.evidence import all_stars
from sfumato.verification.label_meaning import contradictions

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
    shown = [label for label in stated.get("labels", {}) if label not in (TOP, *missing)]
    return [label for label in shown if not read[label] or sizes.get(label, read[label]) != read[label]]


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
    given |= {"sizes"} if all("sizes" in one for one in columns) else set()
    given |= {"steps"} if all(step is not None for one in columns for step in one["labels"].values()) else set()
    found: dict[str, float] = {}
    for name in manifest["utility"] if names is None else names:
        metric = known.metric(name, k=k)
        if set(metric.needs) <= given:
            found[name] = metric.measure(view)
    return found


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
