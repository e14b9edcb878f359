"""The files of a release of a table, and what its manifest states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from sfumato.workflow.bundling import as_written, versions
from sfumato.workflow.kinds.table.public_figures import stated_counts
from sfumato.workflow.kinds.table.table_release import TableRelease


def files(made: TableRelease) -> dict[str, pl.DataFrame]:
    """The released rows, and the sensitive values where they are published apart."""
    tables = {"data": made.rows} | ({} if made.sensitive is None else {"sensitive": made.sensitive})
    return {stem: as_written(rows, made.plan.output_format, made.published.missing) for stem, rows in tables.items()}


def manifest(made: TableRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` are the data files' names and digests.

    Every figure follows from the data file and from declared facts, or is one of the few that
    ``verification.provenance`` names.
    """
    (data, digest), *apart = files.items()
    shown = {"file": data, "sha256": digest, **made.published.to_json()}
    if apart:
        shown["apart"] = {**shown["apart"], "file": apart[0][0], "sha256": apart[0][1]}
    return {
        "data": shown,
        "claims": [one.to_json() for one in made.claims],
        "smallest_class": made.smallest_class,
        "recoding": {"algorithm": made.algorithm, "why": made.why, "columns": made.stated_columns},
        "suppression": stated_counts(made),
        "utility": dict(made.public_utility),
        "risk": made.risk,
        "search": {"proven_optimal": made.outcome.proven},
        "trail": None if made.public_trail is None else asdict(made.public_trail),
        **made.audit.stated(),
        "versions": versions("numpy", "polars", *(() if made.session is None else ("cryptography",))),
        **({} if made.session is None else {"session": made.session}),
    }
