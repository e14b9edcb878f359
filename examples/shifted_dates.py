"""How many shifts of dates remain possible for an attacker who knows the period and the weekdays of visits.

Secret from everyone who gets the file: the true days, and the key that moves them.
Becomes public: the visits with moved days, and by how many days they can have moved.
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
from sfumato.attacks.subject import measured

FIRST, LAST = date(2014, 1, 1), date(2019, 12, 31)
PLAIN: dict[str, Any] = {"days": 365}
WEEKS: dict[str, Any] = {"days": 364, "weeks": True}
CUT: dict[str, Any] = {"days": 365, "period": [FIRST.isoformat(), LAST.isoformat()]}
BOTH: dict[str, Any] = {**WEEKS, "period": CUT["period"]}


def visits(people: int = 400, seed: int = 1) -> pl.DataFrame:
    """One to twelve visits of each patient, on weekdays of six years."""
    draw, days, rows = Random(seed), (LAST - FIRST).days + 1, []
    open_days = [day for day in (FIRST + timedelta(days=n) for n in range(days)) if day.weekday() < 5]
    for person in range(people):
        sex, seen = draw.choice("fm"), draw.sample(open_days, draw.randint(1, 12))
        rows += [(f"p{person}", sex, day.isoformat()) for day in seen]
    return pl.DataFrame(rows, schema=["patient", "sex", "seen"], orient="row")


def released(shift: dict[str, Any], folder: Path, attack: dict[str, Any] | None = None) -> Any:
    """A release of the visits with moved dates; the key is fixed, so that the figures can be repeated."""
    (folder / "secret.key").write_bytes(b"an example key, at least 16 bytes")
    seen = {"role": "keep", "type": "date", "shift": {"key_file": "secret.key", **shift}}
    sex = {"role": "quasi", "hierarchy": {"kind": "flat"}}
    columns = {"patient": {"role": "identifier"}, "sex": sex, "seen": seen}
    tree = {"input": {"unit": "patient"}, "columns": columns, "privacy": {"k_anonymity": 5}}
    return sf.release(sf.Plan.parse({**tree, "attack": attack or {"run": False}}, folder=folder), visits())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for name, shift in (("plain", PLAIN), ("weeks", WEEKS), ("period", CUT), ("both", BOTH)):
            release = released(shift, Path(place))
            found, kept = measured(release.shifts), 1 - release.frame["seen"].null_count() / release.frame.height
            print(f"{name}: of {found['shifts']:.0f} shifts {found['median_shifts']:.0f} remain in the median and")
            print(f"  {found['fewest_shifts']:.0f} in the worst case; {kept:.1%} of dates are published")
