"""Mondrian against a plain recursive one in Python, its loss beside the full-domain optimum, and its options."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from lattice import problem
from measure import table, timed
from sfumato.algorithms.lattice.optimal import optimal
from sfumato.algorithms.mondrian import Mondrian, mondrian
from sfumato.algorithms.problem import Problem
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import NCP, ClassificationMetric, LossMetric
from sfumato.metrics.metric import measures
from sfumato.models.k_anonymity import KAnonymity
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tables import Subject, subject


def plain(one: Subject, hierarchies: tuple[Hierarchy, ...], k: int) -> int:
    """The same cuts, one group after the other, on rows as tuples; how many groups it makes."""
    paths = [
        {value: [lv.labels[lv.parent[i]] for lv in h.levels] for i, value in enumerate(h.levels[0].labels)}
        for h in hierarchies
    ]
    waiting, done = [list(one.frame.iter_rows())], 0
    while waiting:
        rows = waiting.pop()
        for column in sorted(range(len(paths)), key=lambda c: -_widest(rows, c, paths)):
            first, second = _halves(rows, column, paths)
            if len(first) >= k and len(second) >= k:
                waiting += [first, second]
                break
        else:
            done += 1
    return done


def _level(rows: list[tuple[str, ...]], column: int, paths: list[dict[str, list[str]]]) -> int:
    values = {row[column] for row in rows}
    levels = len(next(iter(paths[column].values())))
    return next(level for level in range(levels) if len({paths[column][v][level] for v in values}) == 1)


def _widest(rows: list[tuple[str, ...]], column: int, paths: list[dict[str, list[str]]]) -> float:
    return _level(rows, column, paths) / (len(next(iter(paths[column].values()))) - 1)


def _halves(rows: list[tuple[str, ...]], column: int, paths: list[dict[str, list[str]]]):
    below = max(_level(rows, column, paths) - 1, 0)
    counts = Counter(paths[column][row[column]][below] for row in rows).most_common()
    first, had = set(), 0
    for name, many in counts[:-1]:
        if first and abs(2 * (had + many) - len(rows)) > abs(2 * had - len(rows)):
            break
        first.add(name)
        had += many
    inside = [paths[column][row[column]][below] in first for row in rows]
    return [r for r, i in zip(rows, inside, strict=True) if i], [r for r, i in zip(rows, inside, strict=True) if not i]


def row(one: Subject, given: Problem, k: int, *, peer: bool) -> list[str]:
    """One line of the table."""
    asked = replace(given, models=(KAnonymity(k=k),))
    found, cost = timed(lambda: mondrian(asked, Work()), repeat=3)
    ncp = NCP().measure(found.recoding(asked).view(asked, found.suppressed))
    slow = timed(lambda: plain(one, given.hierarchies, k))[1].wall if peer else float("nan")
    return [
        one.name,
        str(k),
        f"{found.effort['groups']:,}",
        f"{found.loss:.4f}",
        f"{ncp:.4f}",
        f"{optimal(asked, Work()).loss:.4f}",
        f"{cost.wall:.2f} s",
        f"{slow:.1f} s" if peer else "",
        f"{slow / cost.wall:.0f}" if peer else "",
    ]


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"cut": "any"},
    {"output": "boxes"},
    {"choose": "width"},
    {"choose": "gain", "cut": "any"},
    {"order": "ordered"},
    {"order": "ordered", "output": "boxes"},
    {"order": "ordered", "cut": "any", "output": "boxes"},
    {"order": "ordered", "choose": "width", "output": "boxes"},
    {"order": "ordered", "choose": "width", "cut": "median", "output": "boxes"},
    {"order": "ordered", "choose": "gain", "cut": "any", "output": "boxes"},
    {"strict": False, "order": "ordered", "choose": "width", "output": "boxes"},
    {"strict": False, "order": "ordered", "cut": "any", "output": "boxes"},
    {"strict": False, "order": "ordered", "cut": "any", "output": "means"},
)


def with_target(one: Subject, target: str, numbers: tuple[str, ...], *, single: bool) -> Problem:
    """The table with one column as the class attribute, by cells or by single rows."""
    loaded = Table(frame=one.frame)
    quasi = [loaded.column(name) for name in one.hierarchies if name != target]
    counted = loaded.column(target)
    made = cells(quasi, [counted])
    grouped = made.singly({target: counted}).classes if single else made.classes
    return Problem(
        cells=replace(grouped, measures=measures(grouped)),
        hierarchies=tuple(read_hierarchy(one.hierarchies[c.name]).build(ObservedDomain.of(c)) for c in quasi),
        models=(KAnonymity(k=5),),
        metric=LossMetric(),
        target=target,
        numbers=tuple(np.array(c.values, np.float64) if c.name in numbers else None for c in quasi),
    )


def options_row(options: dict[str, Any], given: Problem) -> list[str]:
    """One line of the table of options."""
    found, cost = timed(lambda: Mondrian(**options)(given, Work()), repeat=3)
    view = found.recoding(given).view(given, found.suppressed)
    sizes = view.classes.rows / int(found.effort["groups"])
    return [
        ", ".join(f"{key} = {str(value).lower()}" for key, value in options.items()) or "(none)",
        f"{found.effort['groups']:,}",
        f"{sizes:.1f}",
        f"{found.loss:.4f}",
        f"{NCP().measure(view):.4f}",
        f"{ClassificationMetric().measure(view):.4f}",
        f"{cost.wall:.2f} s",
    ]


def by_options(one: Subject) -> str:
    """What the options bring, k = 5."""
    target = list(one.hierarchies)[-1]
    both = [with_target(one, target, ("age",), single=single) for single in (False, True)]
    rows = [options_row(options, both[not options.get("strict", True)]) for options in OPTIONS]
    headers = ["options", "groups", "rows per group", "loss", "NCP", "classification metric", "seconds"]
    return table(f"Mondrian's options, {one.name}, k = 5, {target} as the class", headers, rows)


def main() -> str:
    """Adult for several k, a million rows, and the options."""
    small = subject()
    given = problem(small, 0.0)
    mondrian(given, Work())  # compiled, or read from where it was kept
    rows = [row(small, given, k, peer=True) for k in (2, 5, 10, 100)]
    large = small.times(1_000_000)
    rows.append(row(large, problem(large, 0.0), 5, peer=False))
    headers = [
        "table",
        "k",
        "groups",
        "loss",
        "NCP",
        "loss of the full-domain optimum",
        "mondrian",
        "plain Python",
        "ratio",
    ]
    return table("Mondrian, nine quasi-identifiers, no suppression", headers, rows) + "\n" + by_options(small)


if __name__ == "__main__":
    print(main())
