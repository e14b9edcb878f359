"""The files of a release of a table, and what its manifest states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from sfumato.workflow.bundling import as_written, versions
from sfumato.workflow.kinds.table.table_release import TableRelease


def files(made: TableRelease) -> dict[str, pl.DataFrame]:
    """The released rows, and the sensitive values where they are published apart."""
    tables = {"data": made.rows} | ({} if made.sensitive is None else {"sensitive": made.sensitive})
    return {stem: as_written(rows, made.plan.output_format, made.published.missing) for stem, rows in tables.items()}


def manifest(made: TableRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` are the data files' names and digests."""
    (data, digest), *apart = files.items()
    shown = {"file": data, "sha256": digest, **made.published.to_json()}
    if apart:
        shown["apart"] = {**shown["apart"], "file": apart[0][0], "sha256": apart[0][1]}
    removed = made.recoding.rows == "remove"
    return {
        "data": shown,
        "claims": [one.to_json() for one in made.claims],
        "smallest_class": made.smallest_class,
        "recoding": {"algorithm": made.algorithm, "why": made.why, "columns": _labels(made)},
        "suppression": {
            "rows": made.suppressed_rows,
            "of": made.prepared.rows if removed else made.published.rows,
            "how": made.recoding.rows,
            "limit": made.plan.algorithm.max_suppressed,
        },
        "utility": dict(made.utility),
        "risk": made.risk,
        "search": {**made.outcome.effort, "proven_optimal": made.outcome.proven},
        "trail": None if made.public_trail is None else asdict(made.public_trail),
        "attacks": made.audit.to_json(),
        "attacks_not_made": dict(made.audit.skipped),
        "versions": versions("numpy", "polars", "scipy"),
    }


def _labels(made: TableRelease) -> dict[str, Any]:
    """Per quasi-identifier, the labels that the release shows; their sizes where the domain is public anyway."""
    problem = made.prepared.problem
    found = made.outcome.recoding(problem)
    shown: dict[str, Any] = {}
    for place, (name, hierarchy) in enumerate(zip(problem.cells.quasi, problem.hierarchies, strict=True)):
        released = set(made.classes.labels[made.classes.quasi.index(name)])
        used = [i for i, label in enumerate(found.labels[place]) if label in released]
        ruler, labels = found.rulers[place], found.labels[place]
        here: dict[str, Any] = {"of": hierarchy.height, "labels": {labels[i]: float(ruler.steps[i]) for i in used}}
        if made.outcome.levels is not None:
            here["level"] = made.outcome.levels[place]
        if found.forms and found.forms[place] != "levels":
            here["form"] = found.forms[place]
        if made.rules is not None:
            here["rule"] = made.rules[name].to_json()
        if hierarchy.declared is not None:
            here["sizes"] = {labels[i]: float(ruler.sizes[i]) for i in used}
            here |= {"total": hierarchy.total, "continuous": hierarchy.continuous}
        shown[name] = here
    return shown
