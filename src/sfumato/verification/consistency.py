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


def evidence_fits(manifest: Mapping[str, Any], published: Published, classes: Classes, check: Checks) -> Iterable[Any]:
    """Counts that cannot be recomputed (the original's, the population's) must at least be possible."""
    for name, known in published.references.items():
        yield check(what=f"original counts of {name}", **_references(manifest, known, classes, name))
    if published.population:
        yield check(what="population counts", **_population(published, classes))


def _references(manifest: Mapping[str, Any], known: Mapping[str, int], classes: Classes, name: str) -> dict[str, Any]:
    """The original has at least the released rows of each value, and as many rows in all as are stated."""
    stated = manifest["suppression"]
    tally = classes.tally(name)
    short = [v for v, rows in zip(tally.values, tally.overall, strict=True) if rows > known.get(v, 0)]
    asked = any(
        c["parameters"].get("column") == name and c["parameters"].get("reference") == "original"
        for c in manifest["claims"]
    )
    fits = not short and min(known.values()) >= 0 and sum(known.values()) == stated["of"]
    needed = asked and stated["how"] == "remove" and stated["rows"] > 0
    detail = "at least the released rows of each value" if fits and needed else f"impossible or not needed: {short[:3]}"
    return {"holds": bool(fits and needed), "detail": detail}


def _population(published: Published, classes: Classes) -> dict[str, Any]:
    """Every line names labels once and somebody; nobody is released who is not in it."""
    lines = [labels for labels, _ in published.population]
    inside, _ = classes.population_sizes()
    twice = len(set(lines)) < len(lines)
    empty = any(rows < 1 for _, rows in published.population)
    fits = not twice and not empty and bool((inside >= classes.sizes).all())
    return {"holds": fits, "detail": "at least the released rows of each class" if fits else "impossible counts"}
