"""What the parts of a manifest must say about each other, and what stated counts must be beside released ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.bundle.published import Published
from sfumato.group.classes import Classes

Checks = Callable[..., Any]
SEEDED = "made with a fixed seed: for studies only, not for publication"
"""The warning of a release that can be made again; nothing else in a bundle tells of a seed."""
CUT_SHORT = "the search was cut short by its time limit; with more algorithm.seconds the release may lose less"
"""The warning of a release whose search was stopped before its end; how fast a computer is no verifier can know."""
UNASKED = (SEEDED, CUT_SHORT)
"""Warnings that nothing else in a bundle tells of."""
NAMED = "Named in the plan."
"""Why an algorithm was used that the plan names; ``auto`` gives reasons of its own."""
AUTO = "auto"


def marks_fit(manifest: Mapping[str, Any], due: Iterable[str], check: Checks) -> Any:
    """The warnings are those that rows and plan ask for, each once; only of those in ``UNASKED`` nothing else tells."""
    told = [mark for mark in manifest["marks"] if mark not in UNASKED]
    absent = sorted(set(due) - set(told))
    strange = sorted(set(told) - set(due)) or ["one twice"] * (len(set(manifest["marks"])) < len(manifest["marks"]))
    detail = f"missing: {absent[0]}" if absent else f"nothing asks for: {strange[0]}" if strange else "as they must be"
    return check(what="warnings", holds=not absent and not strange, detail=detail)


def algorithm_fits(manifest: Mapping[str, Any], check: Checks) -> Any:
    """The algorithm is the one that the plan names, or was chosen for a reason that the manifest states."""
    asked, recoding = manifest["plan"]["algorithm"]["name"], manifest["recoding"]
    named = asked == recoding["algorithm"] and recoding["why"] == NAMED
    chosen = asked == AUTO and recoding["algorithm"] != AUTO and recoding["why"] not in (NAMED, "")
    detail = f"{recoding['algorithm']}, where the plan says {asked}: {recoding['why']}"
    return check(what="algorithm", holds=named or chosen, detail=detail)


def consistent(manifest: Mapping[str, Any], published: Published, check: Checks) -> Iterable[Any]:
    """The description of the data and the figures of suppression are those that the plan asks for."""
    asked = manifest["plan"]["algorithm"]
    stated = manifest["suppression"]
    pairs = {
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
    fits = (
        not twice
        and not empty
        and all(len(labels) == len(classes.quasi) for labels in lines)
        and bool((inside >= classes.sizes).all())
    )
    return {"holds": fits, "detail": "at least the released rows of each class" if fits else "impossible counts"}
