"""What several figures share: lines to compare with, and time that grows with the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sfumato.ground.work import Work
from sfumato.report.base.line_chart import Line, Panel, ticks_over
from sfumato.report.papers.paper_facts import Beside, Grid, Shown

LEARNER = "The document learns by C4.5, here by scikit-learn's tree with pruning."
_MORE = 1.5
"""Time a record may take so many times as long in the largest table as in the smallest."""


def flat(ends: Sequence[float], named: Mapping[str, float]) -> list[Line]:
    """Dashed lines at some heights."""
    return [
        Line(name=name, points=[(x, y) for x in (ends[0], ends[-1])], tone=-1, dashed=True) for name, y in named.items()
    ]


def by_epsilon(
    found: Mapping[tuple[str, str], float],
    named: Mapping[str, str],
    epsilons: Sequence[str],
    compared: Mapping[str, float],
    title: str,
) -> Panel:
    """Shares in per cent by budget, a line for each name."""
    budgets = [float(e) for e in epsilons]
    lines = [
        Line(name=name, points=[(float(e), found[key, e]) for e in epsilons], tone=n)
        for n, (key, name) in enumerate(named.items())
    ]
    heights = ticks_over([*found.values(), *compared.values()])
    lines += flat(budgets, compared)
    return Panel(title=title, lines=lines, x="epsilon", ticks=budgets, y=heights, unit=" %", log_x=True)


def growth(
    sizes: Sequence[int],
    seconds: Callable[[int], Mapping[str, float]],
    work: Work,
    *,
    main: str,
    title: str,
    data: str,
    beside: Callable[[Mapping[tuple[str, int], float]], Sequence[Beside]],
) -> Shown:
    """Seconds of CPU by size; ``seconds`` measures one size, ``main`` is the line whose growth is looked at."""
    found: dict[tuple[str, int], float] = {}
    for number, size in enumerate(sizes):
        work.advance("sizes", number, len(sizes))
        found |= {(name, size): took for name, took in seconds(size).items()}
    names = list(dict.fromkeys(name for name, _ in found))
    first, last = (1e6 * found[main, size] / size for size in (sizes[0], sizes[-1]))
    linear = Beside(
        what="time grows no faster than the records",
        theirs="linearly",
        ours=f"{first:.1f} and {last:.1f} s a million",
        holds=last <= _MORE * first,
    )
    chart = Panel(
        title=f"seconds of CPU, {title}",
        lines=[Line(name=one, points=[(x, found[one, x]) for x in sizes], tone=n) for n, one in enumerate(names)],
        x="records",
        ticks=sizes,
        y=ticks_over([0.0, *found.values()]),
        unit=" s",
    )
    rows = [[f"{size:,}", *(f"{found[one, size]:.2f} s" for one in names)] for size in sizes]
    grid = Grid(title="every size", heads=["records", *names], rows=rows)
    return Shown(data=data, beside=[*beside(found), linear], grids=[grid], panels=[chart])


def sizes_of(full: bool, quick: tuple[int, ...]) -> tuple[int, ...]:
    """200,000 records to a million, as in the thesis; or a few."""
    return (200_000, 400_000, 600_000, 800_000, 1_000_000) if full else quick
