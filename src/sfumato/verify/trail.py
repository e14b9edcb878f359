"""Walking a trail back from the released rows: every table on the way is a coarser form of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.describe.hierarchy import TOP
from sfumato.group.classes import Classes
from sfumato.group.keys import distinct, representatives


def trail_fits(manifest: Mapping[str, Any], classes: Classes, check: Callable[..., Any]) -> Iterable[Any]:
    """The trail leads from one class of ``*`` to the released rows, with the smallest classes that it states."""
    trail = manifest.get("trail")
    if trail is None:
        return
    steps: Sequence[Mapping[str, Any]] = trail["steps"]
    found, top = walked_back(classes, [(s["column"], s["coarse"], tuple(s["fine"])) for s in steps])
    stated = [trail["anonymity"], *(step["anonymity"] for step in steps)]
    holds = found == stated and top and trail["direction"] == "down"
    wrong = next((n for n, (a, b) in enumerate(zip(found, stated, strict=True)) if a != b), None)
    detail = f"{len(steps)} steps from one class of {TOP}"
    if wrong is not None:
        detail = f"after {wrong} steps the smallest class has {found[wrong]} rows, not {stated[wrong]}"
    elif not holds:
        detail = f"the steps do not begin with one class of {TOP}"
    yield check(what="trail", holds=holds, detail=detail)


def walked_back(classes: Classes, steps: Sequence[tuple[str, str, tuple[str, ...]]]) -> tuple[list[int], bool]:
    """The smallest class before the first step and after each one, and whether all began as ``*``."""
    found: list[int] = []
    for column, coarse, fine in reversed(steps):
        found.append(_smallest(classes))
        classes = _merged(classes, classes.quasi.index(column), coarse, fine)
    found.append(_smallest(classes))
    top = all(
        {names[code] for code in codes} <= {TOP} for names, codes in zip(classes.labels, classes.keys, strict=True)
    )
    return found[::-1], top


def _smallest(classes: Classes) -> int:
    return int(classes.sizes.min()) if classes.count else 0


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
