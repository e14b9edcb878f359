"""Mondrian against a plain recursive one in Python, and its loss beside that of the full-domain optimum."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from lattice import problem
from measure import table, timed
from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.work import Work
from sfumato.models.k_anonymity import KAnonymity
from sfumato.publish.lattice.optimal import optimal
from sfumato.publish.mondrian import mondrian
from sfumato.publish.problem import Problem
from sfumato.utility.cell_metrics import NCP
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
    found, cost = timed(lambda: mondrian(asked, Work()), repeat=2)
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


def main() -> str:
    """Adult for several k, and a million rows."""
    small = subject()
    given = problem(small, 0.0)
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
    return table("Mondrian, nine quasi-identifiers, no suppression", headers, rows)


if __name__ == "__main__":
    print(main())
