"""How many shifts of dates remain possible for an attacker who knows the period and the weekdays of visits.

Secret from everyone who gets the file: the true days, and the key that moves them.
Becomes public: the visits with moved days, and by how many days they can have moved.

Run: python examples/shifted_dates.py
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.attacks.frame.moved_dates import measured

FIRST, LAST = date(2014, 1, 1), date(2019, 12, 31)
PLAIN: dict[str, Any] = {"days": 365}
WEEKS: dict[str, Any] = {"days": 364, "weeks": True}
CUT: dict[str, Any] = {"days": 365, "period": [FIRST.isoformat(), LAST.isoformat()]}
BOTH: dict[str, Any] = {"days": 364, "weeks": True, "period": [FIRST.isoformat(), LAST.isoformat()]}


def visits(people: int = 400, seed: int = 1) -> pl.DataFrame:
    """One to twelve visits of each patient, on weekdays of six years."""
    draw, days = Random(seed), (LAST - FIRST).days + 1
    open_days = [day for day in (FIRST + timedelta(days=n) for n in range(days)) if day.weekday() < 5]
    rows = []
    for person in range(people):
        sex, seen = draw.choice("fm"), draw.sample(open_days, draw.randint(1, 12))
        rows += [(f"p{person}", sex, day.isoformat()) for day in seen]
    return pl.DataFrame(rows, schema=["patient", "sex", "seen"], orient="row")


def released(shift: dict[str, Any], folder: Path, frame: pl.DataFrame, attack: dict[str, Any] | None = None) -> Any:
    """A release of the visits with moved dates; the key is fixed, so that the figures can be repeated."""
    (folder / "secret.key").write_bytes(b"an example key, at least 16 bytes")
    tree = {
        "input": {"unit": "patient"},
        "columns": {
            "patient": {"role": "identifier"},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "seen": {"role": "keep", "type": "date", "shift": {"key_file": "secret.key", **shift}},
        },
        "privacy": {"k_anonymity": 5},
        "attack": attack or {"run": False},
    }
    return sf.release(sf.Plan.parse(tree, folder=folder), frame)


def remaining(shift: dict[str, Any], folder: Path) -> dict[str, float]:
    """The figures of the attack date-shift, and the share of dates that are published."""
    release = released(shift, folder, visits())
    kept = 1 - release.frame["seen"].null_count() / release.frame.height
    return {**measured(release.shifts), "published": kept}


def main() -> None:
    """Print a line for each way to move dates."""
    with tempfile.TemporaryDirectory() as folder:
        for name, shift in (("plain", PLAIN), ("weeks", WEEKS), ("period", CUT), ("both", BOTH)):
            found = remaining(shift, Path(folder))
            print(
                f"{name}: of {found['shifts']:.0f} shifts {found['median_shifts']:.0f} remain in the median and "
                f"{found['fewest_shifts']:.0f} in the worst case; {found['published']:.1%} of dates are published"
            )


if __name__ == "__main__":
    main()
