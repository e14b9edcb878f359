"""The file of a private release, what its manifest states, and new records under it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.budget.events import to_json
from sfumato.bundle.published import Published, PublishedColumn
from sfumato.describe.roles import Role
from sfumato.publish.cut import ColumnCut
from sfumato.verification.private_checks import COUNT
from sfumato.workflow.bundling import versions
from sfumato.workflow.kinds.private.private_release import PrivateRelease

if TYPE_CHECKING:
    from sfumato.workflow.apply.applying import Applied, Outside


def manifest(made: PrivateRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; ``files`` has the data file's name and digest."""
    ((data, digest),) = files.items()
    target = made.domains.get("target")
    noise = {one.column: dict(zip(one.labels, one.deviation.tolist(), strict=True)) for one in made.outcome.errors}
    roles = dict.fromkeys(made.outcome.columns, "quasi") | ({target["name"]: "target"} if target else {})
    columns = [{"name": n, "role": roles.get(n, COUNT), "type": _kind(made.rows, n)} for n in made.rows.columns]
    return {
        "data": {"file": data, "sha256": digest, "rows": made.rows.height, "columns": columns},
        "claims": [{"model": one.model, "parameters": dict(one.parameters)} for one in made.claims],
        "domains": made.domains,
        "ledger": to_json(made.event),
        "paid": None if made.paid is None else made.paid.to_json(),
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            "columns": _recoded(made, noise),
            "steps": list(made.outcome.steps),
        }
        | ({"classes": noise[target["name"]]} if target and target["name"] in noise else {}),
        "search": dict(made.outcome.effort),
        "attacks": [],
        "versions": versions("numpy", "polars", "opendp", *(() if made.session is None else ("cryptography",))),
        **({} if made.session is None else {"session": made.session}),
    }


def _kind(rows: pl.DataFrame, name: str) -> str:
    return "integer" if rows[name].dtype.is_integer() else "text"


def _recoded(made: PrivateRelease, noise: Mapping[str, dict[str, float]]) -> dict[str, Any]:
    """The labels of each column, how noisy their counts are and, where a value always reads alike, its rule."""
    found: dict[str, Any] = {}
    for place, (name, labels) in enumerate(zip(made.outcome.columns, made.outcome.labels, strict=True)):
        found[name] = {"labels": dict.fromkeys(labels, 0.0)}
        cut = made.outcome.cut[place] if made.outcome.cut else None
        if cut is not None:
            found[name]["labels"] |= dict.fromkeys(cut.labels, 0.0)
            found[name]["rule"] = _rule(made.domains["columns"][name], made.values[name], cut)
        if name in noise:
            found[name]["deviations"] = noise[name]
    return found


def _rule(domain: Mapping[str, Any], values: tuple[str, ...], cut: ColumnCut) -> dict[str, Any]:
    """How new records of a column are read; everything in it is public."""
    if domain["kind"] == "number":
        return {"type": "real", "intervals": True}
    return {"type": "text", "values": {value: cut.labels[cut.of_code[code]] for code, value in enumerate(values)}}


def apply_labels(manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
    """New records in the labels of a private release; no model judges them."""
    from sfumato.workflow.apply.applying import applied, read_records, stated_rules
    from sfumato.workflow.dating import stated_dates

    rules, table = stated_rules(manifest), stated_dates(read_records(records, ()), manifest)
    return applied(table, rules, _described(manifest), models=[], reading="strict", outside=outside)


def _described(manifest: Mapping[str, Any]) -> Published:
    """The columns of a private bundle's manifest, without its counts."""
    columns = [c for c in manifest["data"]["columns"] if c["role"] in ("quasi", "target")]
    told = tuple(PublishedColumn(name=c["name"], role=Role(c["role"]), kind="text") for c in columns)
    return Published(columns=told, rows=0)
