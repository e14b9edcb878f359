"""Cost of LKC-private paths: figure 4.9 of Mohammed 2012 (document 003) on the synthetic metro, L = 3, K = 30."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from item_peers import as_sets, lines, maximal, rescanned, spanned
from item_stages import SUPPORT, WATCHED, C, measured, transactions
from measure import table, timed
from pictures import TONES, Line, Panel, in_rows, save
from sfumato.algorithms.items.suppression import records
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import violating
from sfumato.tables.datasets.synthetic_metro import metro

ROWS = (200_000, 400_000, 600_000, 800_000, 1_000_000)
MINUTES = (60, 75, 90, 120)
"""With 65 stations: 3,900 to 7,800 pairs."""
LS = (1, 2, 3, 4, 0)
"""0 is the longest path: traditional k-anonymity and confidence bounding."""
LIMIT = 400.0
PEER_ROWS = (2_000, 5_000, 10_000)
PEER_K = 3
"""As many of 10,000 records as 30 of 100,000."""
SPAN_ROWS = 50_000
AIMS = {"violating": 20.0, "whole": 60.0, "whole_mb": 4096.0}
"""What a million paths may take; the thesis's machine took 46 s and 125 s."""
PARTS = {
    "read": "reading",
    "violating": "violating sequences",
    "maximal": "maximal frequent sequences",
    "suppress": "suppression",
    "whole": "whole release, verified",
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """One table and one L."""

    by: str
    at: int
    found: dict[str, Any]


def points() -> Iterator[Point]:
    """The three series of the figure: records, L, and dimensions."""
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "metro.parquet"
        for rows in ROWS:
            metro(rows, seed=1).write_parquet(data)
            yield point("records", rows, data, 3)
            if rows == ROWS[0]:
                for l in LS:
                    yield point("L", l, data, l)
        for minutes in MINUTES:
            metro(ROWS[-1], minutes=minutes, seed=1).write_parquet(data)
            yield point("pairs place@time", 65 * minutes, data, 3)


def point(by: str, at: int, data: Path, l: int) -> Point:
    """Parts and whole, each in its process."""
    found = measured(data, l, "parts", limit=LIMIT)
    if l:
        found |= measured(data, l, "whole", limit=LIMIT)
    return Point(by=by, at=at, found=found)


def row(one: Point) -> list[str]:
    """One line of the table."""
    told = one.found
    at = "the longest path" if one.by == "L" and not one.at else f"{one.at:,}"
    line = [one.by, at, f"{told['rows']:,}", f"{told['items']:,}"]
    line += [f"{told[key]:,}" if key in told else "-" for key in ("violating sets", "frequent sets", "suppressed")]
    line += [f"{told[key]:.2f} s" if key in told else "-" for key in PARTS]
    return [*line, f"{max(told.get('peak_mb', 0), told.get('whole_mb', 0)):,.0f} MB"]


def aims(found: Sequence[Point]) -> str:
    """What a million paths took, beside what they may take and what the thesis tells."""
    largest = next(one.found for one in found if one.by == "records" and one.at == ROWS[-1])
    rows = [
        ["violating sequences", f"{largest['violating']:.1f} s", "20 s", "46 s"],
        ["whole release", f"{largest['whole']:.1f} s", "60 s", "125 s"],
        ["peak memory", f"{largest['whole_mb']:,.0f} MB", "4,096 MB", "-"],
    ]
    met = [largest[key] < most for key, most in AIMS.items()]
    rows = [[*line, "yes" if one else "no"] for line, one in zip(rows, met, strict=True)]
    return table("A million paths, CPU", ["part", "measured", "aim: below", "thesis (2011)", "met"], rows)


def rescans() -> str:
    """Against the literal algorithm, on tables that it can end."""
    rows = []
    for size in PEER_ROWS:
        found = transactions(metro(size, seed=1))
        assert found.secret is not None
        secret = (found.secret.codes == found.secret.values.index(WATCHED)).tolist()
        plain = lines(found)
        theirs, slow = timed(lambda plain=plain, secret=secret: rescanned(plain, secret, 3, PEER_K, C))  # type: ignore[misc]
        ours, quick = timed(lambda found=found: violating(found, l=3, k=PEER_K, c=C, values=(WATCHED,)), repeat=3)  # type: ignore[misc]
        same = "yes" if as_sets(ours) == theirs else "no"
        line = [f"{size:,}", f"{ours.count:,}", same, f"{slow.cpu:.2f} s", f"{quick.cpu:.3f} s"]
        rows.append([*line, f"{slow.cpu / quick.cpu:,.0f}"])
    heads = ["records", "violating sequences", "the same ones", "algorithm 4.1 in plain Python", "here", "ratio"]
    return table(f"Violating sequences, metro, L = 3, K = {PEER_K}, C = 60 %, CPU", heads, rows)


def spans() -> str:
    """Against PrefixSpan, which finds the closed frequent sequences; the maximal ones are some of them."""
    found = transactions(metro(SPAN_ROWS, seed=1))
    plain, rows = lines(found), []
    for share in (0.005, SUPPORT, 0.015):
        support = records(share, found.rows)
        theirs, slow = timed(lambda support=support: spanned(plain, support))  # type: ignore[misc]
        ours, quick = timed(lambda support=support: maximal_frequent(found, support), repeat=3)  # type: ignore[misc]
        same = "yes" if as_sets(ours) == maximal(theirs) else "no"
        line = [f"{share:.1%}", f"{len(theirs):,}", f"{ours.count:,}", same, f"{slow.cpu:.2f} s", f"{quick.cpu:.3f} s"]
        rows.append([*line, f"{slow.cpu / quick.cpu:,.0f}"])
    heads = ["support", "closed", "maximal", "the same ones", "prefixspan 0.5.2, closed", "here, maximal", "ratio"]
    return table(f"Maximal frequent sequences, metro, {SPAN_ROWS:,} records, CPU", heads, rows)


def picture(found: Sequence[Point]) -> None:
    """Seconds by records and by dimensions, and of the violating sequences by L; memory by records."""
    tones = dict(zip(PARTS, TONES, strict=False))

    def by(series: str, keys: Sequence[str]) -> list[Line]:
        here = [one for one in found if one.by == series]
        told = {key: [(float(one.at), one.found[key]) for one in here if key in one.found] for key in keys}
        names = {key: PARTS.get(key, "whole") for key in keys}
        return [Line(name=names[key], points=told[key], tone=tones.get(key, TONES[0])) for key in keys]

    pairs = [65 * minutes for minutes in MINUTES]
    seconds: dict[str, Any] = {"y": (0, 5, 10, 15, 20), "unit": " s", "log_x": False, "log_y": False}
    longest = [Line(name="", points=_lengths(found), tone=tones["violating"])]
    memory: dict[str, Any] = {"y": (0, 500, 1000, 1500, 2000), "unit": " MB", "log_x": False, "log_y": False}
    panels = [
        Panel(title="CPU", lines=by("records", list(PARTS)), x="records", ticks=ROWS, **seconds),
        Panel(title="CPU, a million", lines=by(_PAIRS, list(PARTS)), x=_PAIRS, ticks=pairs, **seconds),
        Panel(
            title=f"CPU, {ROWS[0]:,}",
            lines=longest,
            x="L (last: the longest path)",
            ticks=range(1, 6),
            y=(0.1, 1, 10, 100),
            unit=" s",
            log_x=False,
        ),
        Panel(title="peak memory", lines=by("records", ["whole_mb"]), x="records", ticks=ROWS, **memory),
    ]
    save(in_rows(panels, 2), "trajectory-cost.svg")


_PAIRS = "pairs place@time"


def _lengths(found: Sequence[Point]) -> list[tuple[float, float]]:
    here = [one for one in found if one.by == "L" and "violating" in one.found]
    return [(float(one.at or len(LS)), one.found["violating"]) for one in here]


def main() -> str:
    """The tables, and the picture of the docs."""
    found = list(points())
    picture(found)
    heads = [
        "by",
        "of it",
        "records",
        "pairs",
        "violating",
        "maximal frequent",
        "suppressed",
        *PARTS.values(),
        "peak memory",
    ]
    title = f"LKC-private paths, metro, L = 3, K = 30, C = 60 %, K' = {SUPPORT:.0%}: CPU"
    return "\n".join([table(title, heads, [row(one) for one in found]), aims(found), rescans(), spans()])


if __name__ == "__main__":
    print(main())
