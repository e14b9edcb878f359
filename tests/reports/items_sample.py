"""Facts for the tests of the report of paths and sets: a city, a metro, a map, baskets, and the odd ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sfumato.core.claims import Claim
from sfumato.reports.items.facts import (
    GridCounts,
    ItemColumnFacts,
    ItemFacts,
    ItemUtilityFacts,
    SequenceFacts,
    StepFacts,
)
from sfumato.reports.items.page import claimed
from sfumato.reports.table_facts import ClaimFacts

EVIL = "<script>alert('x')</script>&\""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def claim(
    model: str, limit: float, reached: float, sense: str = "at least", note: str = "", **more: object
) -> ClaimFacts:
    holds = reached >= limit if sense == "at least" else reached <= limit
    return claimed(
        Claim(
            model=model,
            parameters=more,
            holds=holds,
            sense=sense,
            limit=limit,
            reading="value",
            as_value=reached,
            as_wildcard=reached,
            classes_failing=0 if holds else 3,
            note=note,
        )
    )


def lkc() -> ClaimFacts:
    note = "the smallest group of a known set has 37 records"
    return claim("lkc-privacy", 0.6, 0.4512, "at most", note, l=2, k=30, c=0.6, column="diagnosis")


def grid(places: tuple[str, ...], times: tuple[str, ...], busy: Callable[[int, int], int]) -> GridCounts:
    counts = tuple(tuple(busy(i, j) for j in range(len(times))) for i in range(len(places)))
    return GridCounts(places=places, times=times, counts=counts)


def busy(i: int, j: int) -> int:
    """Readings that rise in the morning and the evening, at few places."""
    rush = 90 - 11 * min(abs(j - 8), abs(j - 17), 8)
    return max(0, (rush * (37 * i % 29 + 1)) // 4 + (13 * i * j) % 17 - 6)


def thinned(whole: GridCounts, least: int) -> GridCounts:
    counts = tuple(tuple(value if value >= least else 0 for value in row) for row in whole.counts)
    return replace(whole, counts=counts)


def column(name: str, before: GridCounts, after: GridCounts, **more: object) -> ItemColumnFacts:
    def cells(whole: GridCounts) -> int:
        return sum(value > 0 for row in whole.counts for value in row)

    def readings(whole: GridCounts) -> int:
        return sum(map(sum, whole.counts))

    made = ItemColumnFacts(
        name=name,
        kind="trajectory",
        items_before=cells(before),
        items_after=cells(after),
        entries_before=readings(before),
        entries_after=readings(after),
        items_left_out=cells(before) - cells(after),
        entries_left_out=readings(before) - readings(after),
        before=before,
        after=after,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def sequences(places: tuple[str, ...], times: tuple[str, ...], many: int = 20) -> tuple[SequenceFacts, ...]:
    """Sequences of two to four stops; every fourth is lost."""
    made = []
    for n in range(many):
        stops = [
            (places[(n * n + 5 * s * (1 + n % 2)) % min(11, len(places))], times[(2 + 4 * s + n % 5) % len(times)])
            for s in range(2 + n % 3)
        ]
        support = 900 - 37 * n
        made.append(
            SequenceFacts(
                labels=tuple(f"{place}@{time}" for place, time in stops),
                before=support,
                after=None if n % 4 == 2 else support,
                spots=tuple(stops),
            )
        )
    return tuple(made)


def utility() -> ItemUtilityFacts:
    return ItemUtilityFacts(
        support=400,
        frequent=1234,
        lost_share=0.0813,
        coarser_share=0.0402,
        changed=17,
        largest_change=0.031,
        ncp=0.1234,
        queries=1000,
        query_median=0.021,
        query_mean=0.087,
        by_size=((1, 0.004, 0.012), (2, 0.02, 0.07), (3, 0.061, 0.18), (4, 0.12, 0.41)),
    )


def city(*, inside: bool = True) -> ItemFacts:
    """Paths through 26 places and 24 hours."""
    places, times = tuple(LETTERS), tuple(map(str, range(24)))
    before = grid(places, times, busy)
    return ItemFacts(
        title="City paths, research release",
        made="2025-03-14",
        version="0.1.0",
        inside=inside,
        records_before=80_000,
        records_after=80_000,
        claims=(lkc(),),
        columns=(
            column("path", before, thinned(before, 60)),
            ItemColumnFacts(
                name="sex",
                kind="table",
                items_before=2,
                items_after=2,
                entries_before=80_000,
                entries_after=80_000,
                frequent=(("female", 41_002, 41_002), ("male", 38_998, 38_998)),
            ),
        ),
        algorithm="trajectory",
        why="auto: paths are protected by leaving out few items.",
        utility=utility(),
        sequences=sequences(places, times),
        steps=tuple(
            StepFacts(
                action="suppress", label=f"only{n}@{n % 24}", gain=400 - 7 * n, loss=n / 4, left=max(0, 9000 - 160 * n)
            )
            for n in range(57)
        ),
        effort={"violating_sets": 9123, "steps": 57, "seconds": "3.1"},
        marks=("Readings were left out; what is left is not a random sample.",),
        notes=("Frequent means at least 400 records, 0.5 % of all.",),
    )


def metro(*, inside: bool = True) -> ItemFacts:
    """Paths through 65 stations and 60 times, some shown coarser."""
    places = tuple(
        f"Station {name} {n}" for n, name in enumerate(["Park", "Market square", "Hill", "Old harbour", "Zoo"] * 13)
    )
    times = tuple(f"{5 + n // 3:02}:{n % 3 * 20:02}" for n in range(60))
    before = grid(places, times, lambda i, j: busy(i, j * 24 // 60) * (1 + i % 7) // 3)
    kept = thinned(before, 90)
    coarse = replace(
        kept,
        places=(*places[:40], "North", "South"),
        times=(*times[:20], "[11:40-18:20)", *times[40:]),
        counts=tuple((*row[:20], sum(row[20:40]), *row[40:]) for row in kept.counts[:42]),
    )
    found = list(sequences(places, times, 24))
    for n in (1, 5):
        (p, t), *rest = found[n].spots
        shown = ((p, t), *(("North", "[11:40-18:20)") for _ in rest[:1]), *rest[1:])
        found[n] = replace(found[n], shown=tuple(f"{a}@{b}" for a, b in shown), shown_spots=shown, after=950)
    vanished = replace(before, counts=tuple(tuple(0 if v >= 60 else v for v in row) for row in before.counts))
    return replace(
        city(inside=inside),
        title="Metro rides",
        columns=(column("ride", before, coarse, items_coarser=212, vanished=vanished),),
        sequences=tuple(found),
    )


def mapped(*, inside: bool = True) -> ItemFacts:
    """Paths over the squares of a map of 30 by 40, at 90 times."""
    squares = [(r, c) for r in range(30) for c in range(40) if (r - 14) ** 2 + (c - 20) ** 2 < 170 + (r * c) % 60]
    places, times = (
        tuple(f"r{r:02}c{c:02}" for r, c in squares),
        tuple(f"{n // 4:02}:{n % 4 * 15:02}" for n in range(90)),
    )

    def here(i: int, j: int) -> int:
        r, c = squares[i]
        return max(0, 30 - abs(r - 10) - abs(c - 20 + j // 9) + (r * c * j) % 5 - 12)

    before = grid(places, times, here)
    return replace(
        city(inside=inside),
        title="Taxi rides over a map",
        columns=(column("ride", before, thinned(before, 6)),),
        sequences=sequences(places[200:], times),
    )


def baskets(*, inside: bool = True) -> ItemFacts:
    """Sets of 169 items."""
    kinds = ("whole milk", "rolls/buns", "other vegetables", "frozen potato products", "long life bakery product")
    names = [f"{kinds[n % 5]} {n}" if n >= 5 else kinds[n] for n in range(169)]
    items = tuple(
        (name, 2513 // (n + 1) + 20, None if n % 6 == 4 else 2513 // (n + 1) + 20) for n, name in enumerate(names)
    )
    pairs = tuple(
        SequenceFacts(
            labels=(names[n % 7], names[(n * 3 + 1) % 9 + 7], *((names[2],) if n % 3 == 0 else ())),
            before=700 - 31 * n,
            after=None if n % 5 == 3 else 700 - 31 * n,
            shown=("dairy", "bread") if n == 4 else (),
        )
        for n in range(18)
    )
    return replace(
        city(inside=inside),
        title="Baskets",
        records_before=9835,
        records_after=9835,
        claims=(
            claim("km-anonymity", 5, 5, k=5, m=2),
            claim("rho-uncertainty", 0.5, 0.62, "at most", rho=0.5, sensitive=("test",), l=3),
        ),
        columns=(
            ItemColumnFacts(
                name="basket",
                kind="set",
                items_before=169,
                items_after=141,
                entries_before=43_367,
                entries_after=41_200,
                items_left_out=28,
                entries_left_out=2167,
                frequent=items,
            ),
        ),
        sequences=pairs,
        algorithm="sets",
    )


def nothing(*, inside: bool = False) -> ItemFacts:
    """A release in which nothing is left."""
    before = grid(("a", "b"), ("1", "2"), lambda i, j: i + j)
    empty = GridCounts(places=(), times=(), counts=())
    basket = ItemColumnFacts(
        name="basket",
        kind="set",
        items_before=3,
        items_after=0,
        entries_before=9,
        entries_after=0,
        frequent=(("x", 3, 0),),
    )
    return replace(
        city(inside=inside),
        records_before=4,
        records_after=4,
        columns=(column("path", before, empty), basket),
        sequences=(SequenceFacts(labels=("lone@1",), before=2, spots=(("lone", "1"),)),),
        utility=ItemUtilityFacts(support=1, frequent=1, lost_share=1.0),
    )


def bare(*, inside: bool = False) -> ItemFacts:
    """No claims, no columns, no records."""
    return ItemFacts(
        title="Nothing",
        made="2025-03-14",
        version="0.1.0",
        inside=inside,
        records_before=0,
        records_after=0,
        claims=(),
        columns=(),
        algorithm="trajectory",
        why="",
    )


def hostile(*, inside: bool = True) -> ItemFacts:
    """Names that try to be markup, and long ones."""
    places, times = (EVIL, "x" * 200, "", "line\nbreak\x00\x1b[31m", "汉字" * 30), (EVIL, "y" * 90)
    before = grid(places, times, lambda i, j: i + j + 1)
    frequent = tuple((place, 5, 5) for place in places)
    return replace(
        city(inside=inside),
        title=EVIL,
        algorithm=EVIL,
        why=EVIL,
        effort={EVIL: EVIL},
        marks=(EVIL,),
        notes=(EVIL,),
        claims=(claim(EVIL, 5, 7, column=EVIL),),
        columns=(
            column(EVIL, before, before),
            ItemColumnFacts(
                name=EVIL,
                kind="set",
                items_before=5,
                items_after=5,
                entries_before=25,
                entries_after=25,
                frequent=frequent,
            ),
        ),
        sequences=(
            SequenceFacts(labels=(EVIL, "x" * 200), before=3, after=3, spots=((EVIL, EVIL), ("x" * 200, "y" * 90))),
            SequenceFacts(labels=(EVIL, "z"), before=3, after=3),
        ),
        steps=(StepFacts(action="generalize", label=EVIL, to=EVIL),),
        utility=replace(utility(), by_size=((1, 0.0, float("inf")), (2, float("nan"), 0.0))),
    )


EVERY: dict[str, Callable[..., ItemFacts]] = {
    "city": city,
    "metro": metro,
    "mapped": mapped,
    "baskets": baskets,
    "nothing": nothing,
    "bare": bare,
    "hostile": hostile,
}
