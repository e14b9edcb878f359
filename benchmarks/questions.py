"""Noisy answers over a million rows against polars' exact ones, and charges per second of one ledger."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path

import polars as pl

import sfumato as sf
from measure import table, timed
from sfumato.dp.events import Pure
from sfumato.dp.ledger import Ledger
from sfumato.queries import Categories, Numbers, Session

ROWS = 1_000_000
CHARGES = 200
PROCESSES = (1, 2, 8)


def asked(frame: pl.DataFrame, session: Session) -> list[list[str]]:
    """Each kind of question, noisy and exact."""
    old = pl.col("age") >= 65
    cases = {
        "count where age >= 65": (
            lambda: session.count(epsilon="1/1000", where="age >= 65"),
            lambda: frame.select(old.sum()),
        ),
        "mean of age": (lambda: session.mean("age", epsilon="1/1000"), lambda: frame.select(pl.col("age").mean())),
        "variance of age": (
            lambda: session.variance("age", epsilon="1/1000"),
            lambda: frame.select(pl.col("age").var()),
        ),
        "median of age": (
            lambda: session.median("age", epsilon="1/1000"),
            lambda: frame.select(pl.col("age").median()),
        ),
        "count by sex and race": (
            lambda: session.count(epsilon="1/1000", by=["sex", "race"]),
            lambda: frame.group_by("sex", "race").len(),
        ),
    }
    rows = []
    for name, (noisy, exact) in cases.items():
        noisy()  # OpenDP is loaded, columns are encoded
        _, mine = timed(noisy, repeat=3)
        _, plain = timed(exact, repeat=3)
        ratio = f"{mine.wall / max(plain.wall, 1e-6):.0f}"
        rows.append([name, f"{1000 * mine.wall:.0f} ms", f"{1000 * plain.wall:.1f} ms", ratio])
    return rows


def charge(path: str) -> None:
    """Some charges, reserved and settled one by one."""
    ledger = Ledger(path)
    for _ in range(CHARGES):
        with ledger.charged("ann", Pure(epsilon=Fraction(1, 10**6))):
            pass


def charged(place: Path) -> list[list[str]]:
    """Charges per second by so many processes at once."""
    rows = []
    for many in PROCESSES:
        path = place / f"{many}.db"
        Ledger.create(path, total=100).grant("ann", 100)
        with ProcessPoolExecutor(many) as pool:
            list(pool.map(time.sleep, [0.1] * many))
            began = time.perf_counter()
            list(pool.map(charge, [str(path)] * many))
            took = time.perf_counter() - began
        kept = Ledger(path).accounts()[0].spent == Fraction(many * CHARGES, 10**6)
        rows.append([str(many), f"{many * CHARGES:,}", f"{many * CHARGES / took:,.0f}", "yes" if kept else "NO"])
    return rows


def main() -> str:
    """Both tables."""
    frame = sf.datasets.census(ROWS, seed=1)
    domains = {
        "age": Numbers(low=0, high=100),
        "sex": Categories(values=("Female", "Male")),
        "race": Categories(values=("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")),
    }
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        Ledger.create(place / "budget.db", total=10).grant("ann", 10)
        session = Session(frame, domains=domains, ledger=place / "budget.db", analyst="ann")
        answers, charges = asked(frame, session), charged(place)
    heads = ["question", "noisy, paid for", "exact, by polars", "times as long"]
    return "\n".join(
        [
            table(f"Questions to {ROWS:,} rows", heads, answers),
            table("One ledger", ["processes", "charges", "charges per second", "all counted"], charges),
        ]
    )


if __name__ == "__main__":
    print(main())
