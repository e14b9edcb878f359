"""Measuring one algorithm on Adult with one requirement: a verified release, and what it lost."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import sfumato as sf
from sfumato.core.errors import SfumatoError
from sfumato.core.run_context import Work
from sfumato.metrics.classification import Trial
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.table.release import TableRelease as Release
from stages import Stopwatch
from tables import Subject, subject

K_SERIES = (2, 5, 10, 25, 50, 100)
SHARES = (0.0, 0.04)
"""What may be suppressed."""
SECONDS = {"k-optimize": 5.0}
"""How long a search may take that would not end by itself."""
TARGET = "salary-class"
"""One of the nine quasi-identifiers; where accuracy is measured it is the class instead."""
WRITTEN = "k = 5"
"""The requirement whose releases are written as whole bundles; the others are verified as trials."""


class Key(NamedTuple):
    """What was measured."""

    algorithm: str
    requirement: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A promise, and the sensitive column that it is about."""

    title: str
    privacy: Mapping[str, Any]
    sensitive: str | None = None

    @classmethod
    def of_k(cls, k: int) -> Requirement:
        """K-anonymity."""
        return cls(title=f"k = {k}", privacy={"k_anonymity": k})


REQUIREMENTS = (
    *map(Requirement.of_k, K_SERIES),
    Requirement(title="entropy l = 3", privacy={"l_diversity": {"kind": "entropy", "l": 3}}, sensitive="occupation"),
    Requirement(title="t = 0.2", privacy={"t_closeness": 0.2}, sensitive="occupation"),
)


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An algorithm, and options that are worth a line of their own."""

    title: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether it runs as the catalog has it."""
        return not self.options


def contenders() -> tuple[Contender, ...]:
    """Everything in the catalog, and variants that show boxes instead of hierarchy values or work otherwise."""
    plain = [Contender(title=name, name=name) for name in catalog().solving("table")]
    boxes = {"order": "ordered", "output": "boxes"}
    return (
        *plain,
        Contender(title="local, repeated optimum", name="local", options={"method": "optimum"}),
        Contender(title="mondrian, boxes", name="mondrian", options=boxes),
        Contender(title="hilbert, boxes", name="hilbert", options={"output": "boxes"}),
    )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a release lost and what it took."""

    loss: float
    ncp: float
    discernibility: float
    average: float
    """Published rows per class."""
    suppressed: int
    form: str
    """Hierarchy values, boxes or means."""
    search: float
    """Seconds to encode, count and search."""
    whole: float
    """Seconds until the released rows were there and judged."""
    verified: bool
    accuracy: float | None = None
    original: float | None = None
    majority: float | None = None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why an algorithm gave nothing."""

    reason: str


Results = Mapping[Key, Measured | Refused]


def measure_all() -> Results:
    """Every algorithm with every requirement, without suppression and with a little."""
    one = subject()
    return {
        Key(each.title, asked.title, share): measured(one, each, asked, share)
        for share in SHARES
        for asked in REQUIREMENTS
        for each in contenders()
    }


def measured(one: Subject, each: Contender, asked: Requirement, share: float) -> Measured | Refused:
    """A verified release; where rows may be suppressed also how well it predicts the target."""
    try:
        found = _released(one, each, asked, share)
        trial = _trial(one, each, asked, share) if share else {}
    except SfumatoError as error:
        return Refused(reason=_reason(str(error)))
    return Measured(**found, **trial)


def _reason(message: str) -> str:
    """A message without the plan's path and the numbers, so that one footnote serves all requirements."""
    return re.sub(r" \([a-z]+ = [^)]*\)", "", message.removeprefix("algorithm.name: "))


def plan(one: Subject, each: Contender, asked: Requirement, share: float, *, target: bool) -> sf.Plan:
    """All columns are quasi-identifiers but the sensitive one, and but the target where there is to be one."""
    columns: dict[str, Any] = {
        name: {"role": "quasi", "hierarchy": {"file": str(path.resolve())}} for name, path in one.hierarchies.items()
    }
    columns |= {asked.sensitive: {"role": "sensitive"}} if asked.sensitive else {}
    columns |= {TARGET: {"role": "target"}} if target else {}
    algorithm = {"name": each.name, "max_suppressed": share, **each.options}
    algorithm |= {"seconds": SECONDS[each.name]} if each.name in SECONDS else {}
    return sf.Plan.parse({"columns": columns, "privacy": dict(asked.privacy), "algorithm": algorithm})


def _released(one: Subject, each: Contender, asked: Requirement, share: float) -> dict[str, Any]:
    chosen = plan(one, each, asked, share, target=False)
    watch, began = Stopwatch(), time.perf_counter()
    made = sf.release(chosen, one.frame, work=Work(progress=watch))
    whole = time.perf_counter() - began
    return {
        "loss": made.utility["loss"],
        "ncp": made.utility["ncp"],
        "discernibility": made.utility["discernibility"],
        "average": made.published.rows / max(made.classes.count, 1),
        "suppressed": made.suppressed_rows,
        "form": _form(made),
        "search": watch.ended["search"],
        "whole": whole,
        "verified": _verified(made, bundle=asked.title == WRITTEN),
    }


def _form(made: Release) -> str:
    forms = set(made.outcome.recoding(made.prepared.problem).forms)
    return "hierarchy" if forms <= {"levels"} else " and ".join(sorted(forms - {"levels"}))


def _verified(made: Release, *, bundle: bool) -> bool:
    with tempfile.TemporaryDirectory() as place:
        if not bundle:
            return made.checked(Path(place)).holds
        made.write(Path(place) / "out")
        return sf.verify(Path(place) / "out").holds


def _trial(one: Subject, each: Contender, asked: Requirement, share: float) -> dict[str, Any]:
    """The same algorithm once more with the target as the target."""
    if TARGET not in one.hierarchies:
        return {}
    made = sf.release(plan(one, each, asked, share, target=True), one.frame)
    trial = Trial(made.prepared.problem)
    first = _ORIGINAL.setdefault(asked.sensitive, trial)
    return {"accuracy": trial.released(made.outcome), "original": first.original, "majority": first.majority}


_ORIGINAL: dict[str | None, Trial] = {}
"""A trial for each set of quasi-identifiers: its figures of the original rows are found once."""
