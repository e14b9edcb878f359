"""DiffGen: seconds of CPU for growing tables, h = 15, epsilon = 1 (figure 6.6 of document 003)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from measure import table, timed
from pictures import TONES, Line, Panel, save
from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.private_table import PrivateTable
from sfumato.core.run_context import Work
from sfumato.papers.diffgen_adult import Domains, domains, private
from top_down import CLASS, people

SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
ATTRIBUTES = (4, 7, 10, 13)
STEPS = (5, 10, 15, 20)
Point = tuple[float, float]
DROPPED = "native-country"
"""Thirteen attributes are left."""
ASKED = {
    "max": DiffGen(epsilon=1, specializations=15, score="max"),
    "gini": DiffGen(epsilon=1, specializations=15, score="gini"),
    "gini, auto": DiffGen(epsilon=1),
}


def seconds(asked: DiffGen, one: PrivateTable) -> tuple[float, int]:
    """CPU of one release, and its groups."""
    made, cost = timed(lambda: asked(one, Work()))
    return cost.cpu, int(made.effort["groups"])


def by_records(base: Any, names: list[str], domains_: Domains) -> tuple[list[list[str]], dict[str, list[Point]]]:
    """Growing tables."""
    rows, points = [], {name: [] for name in ASKED}
    for size in SIZES:
        one = private(base.times(size).frame, domains_)
        found = {name: seconds(asked, one) for name, asked in ASKED.items()}
        rows.append(
            [f"{size:,}", *(text for cpu, groups in found.values() for text in (f"{cpu:.2f} s", f"{groups:,}"))]
        )
        for name, (cpu, _) in found.items():
            points[name].append((size, cpu))
    return rows, points


def by_attributes(one: PrivateTable) -> tuple[list[list[str]], dict[str, list[Point]]]:
    """The first attributes of a table."""
    rows, points = [], {name: [] for name in ASKED}
    for many in ATTRIBUTES:
        part = replace(one, attributes=one.attributes[:many])
        found = {name: seconds(asked, part) for name, asked in ASKED.items()}
        rows.append([str(many), *(text for cpu, groups in found.values() for text in (f"{cpu:.2f} s", f"{groups:,}"))])
        for name, (cpu, _) in found.items():
            points[name].append((many, cpu))
    return rows, points


def by_steps(one: PrivateTable) -> tuple[list[list[str]], dict[str, list[Point]]]:
    """More and more specializations."""
    rows, points = [], {name: [] for name in ("max", "gini")}
    for h in STEPS:
        found = {n: seconds(DiffGen(epsilon=1, specializations=h, score=n), one) for n in ("max", "gini")}
        rows.append([str(h), *(text for cpu, groups in found.values() for text in (f"{cpu:.2f} s", f"{groups:,}"))])
        for name, (cpu, _) in found.items():
            points[name].append((h, cpu))
    return rows, points


def picture(series: list[tuple[str, str, tuple[int, ...], dict[str, list[Point]]]]) -> None:
    """Three panels with the same axis of seconds."""
    most = max(y for *_, points in series for line in points.values() for _, y in line)
    ticks = tuple(float(round(most * part / 4, 1)) for part in range(5))
    tones = dict(zip(ASKED, TONES, strict=False))
    panels = [
        Panel(
            title=title,
            lines=[Line(name=name, points=line, tone=tones[name]) for name, line in points.items()],
            x=x,
            ticks=at,
            y=ticks,
            unit=" s",
            log_x=False,
            log_y=False,
        )
        for title, x, at, points in series
    ]
    save([panels], "diffgen-cost.svg")


def main() -> str:
    """Tables and the picture: the search and the noise, not the reading."""
    base = people()
    names = [name for name in base.frame.columns if name not in (CLASS, DROPPED)]
    domains_ = domains(names)
    records, first = by_records(base, names, domains_)
    one = private(base.times(SIZES[0]).frame, domains_)
    attributes, second = by_attributes(one)
    steps, third = by_steps(one)
    picture(
        [
            ("by records, h = 15", "records", SIZES, first),
            (f"by attributes, {SIZES[0]:,} records", "attributes", ATTRIBUTES, second),
            (f"by specializations, {SIZES[0]:,} records", "h", STEPS, third),
        ]
    )
    heads = [text for name in ASKED for text in (name, "groups")]
    return "\n".join(
        [
            table(
                "DiffGen by records, h = 15, epsilon = 1, seconds of CPU (thesis: 33 s at a million)",
                ["records", *heads],
                records,
            ),
            table(f"DiffGen by attributes, {SIZES[0]:,} records", ["attributes", *heads], attributes),
            table(f"DiffGen by specializations, {SIZES[0]:,} records", ["h", *heads[:4]], steps),
        ]
    )


if __name__ == "__main__":
    print(main())
