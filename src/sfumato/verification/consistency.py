"""What the parts of a manifest must say about each other, and what stated counts must be beside released ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.bundle.published import MARKERS, Published
from sfumato.group.classes import Classes

Checks = Callable[..., Any]


def consistent(manifest: Mapping[str, Any], published: Published, check: Checks) -> Iterable[Any]:
    """The description of the data and the figures of suppression are those that the plan asks for."""
    asked = manifest["plan"]["algorithm"]
    stated = manifest["suppression"]
    planned = tuple(manifest["plan"]["input"]["missing"])
    possible = [planned] if planned else [(), *((marker,) for marker in MARKERS)]
    pairs = {
        "missing markers": (published.missing in possible, True),
        "exemption of suppressed rows": (published.exempt, asked["exempt_suppressed"]),
        "limit of suppression": (stated["limit"], asked["max_suppressed"]),
        "way of suppression": (stated["how"], asked["suppressed"]),
    }
    for what, (found, said) in pairs.items():
        detail = f"{found}" if found == said else f"found {found}, planned {said}"
        yield check(what=what, holds=found == said, detail=detail)


def evidence_fits(published: Published, classes: Classes, check: Checks) -> Iterable[Any]:
    """The population's counts, which cannot be recomputed, must at least be possible."""
    if published.population:
        yield check(what="population counts", **_population(published, classes))


def _population(published: Published, classes: Classes) -> dict[str, Any]:
    """Every line names labels once and somebody; nobody is released who is not in it."""
    lines = [labels for labels, _ in published.population]
    inside, _ = classes.population_sizes()
    twice = len(set(lines)) < len(lines)
    empty = any(rows < 1 for _, rows in published.population)
    fits = not twice and not empty and bool((inside >= classes.sizes).all())
    return {"holds": fits, "detail": "at least the released rows of each class" if fits else "impossible counts"}
