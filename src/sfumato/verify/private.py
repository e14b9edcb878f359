"""Verifying a differentially private bundle: noise cannot be seen, but everything around it can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import polars as pl

from sfumato.budget.accountants import epsilon_of
from sfumato.budget.events import from_json
from sfumato.data.table import Table
from sfumato.describe.spans import read_interval
from sfumato.describe.taxonomy import TOP

KIND = "differentially private"
DIFFERENTIAL = "differential-privacy"
NEIGHBOURS = "one record added or removed"
_ROLES = {"quasi", "target", "count"}


def private_checks(manifest: Mapping[str, Any], table: Table, check: Callable[..., Any]) -> Iterable[Any]:
    """The budget adds up, domains are declared, and every released label lies in them."""
    plan = manifest["plan"]
    asked = Fraction(str(plan["privacy"]["epsilon"]))
    spent = epsilon_of(from_json(manifest["ledger"]))
    yield check(what="the ledger adds up to epsilon", holds=spent == asked, detail=f"{spent} of {asked}")
    claims = [{"model": DIFFERENTIAL, "parameters": {"epsilon": str(asked), "neighbours": NEIGHBOURS}}]
    yield check(
        what="claims are what the plan asks for", holds=manifest["claims"] == claims, detail=f"epsilon = {asked}"
    )
    seeded = "seed" in plan["algorithm"] or "seed" in manifest
    yield check(what="no seed is told", holds=not seeded, detail="seed" if seeded else "none")
    observed = plan["privacy"].get("domains") == "observed"
    marked = bool(manifest["marks"]) == observed
    yield check(what="domains are declared, or marked", holds=marked, detail="observed" if observed else "declared")
    roles = {column["name"]: column["role"] for column in manifest["data"]["columns"]}
    strange = sorted(set(roles.values()) - _ROLES)
    yield check(what="no column is published unchanged", holds=not strange, detail=", ".join(strange) or "none")
    yield from _labels(manifest, table, roles, check)
    if "count" in table.names and roles.get("count") == "count":
        low = int(table.frame["count"].cast(pl.Int64).to_numpy().min(initial=0))
        yield check(what="no count is negative", holds=low >= 0, detail=f"least {low}")


def _labels(
    manifest: Mapping[str, Any], table: Table, roles: Mapping[str, str], check: Callable[..., Any]
) -> Iterable[Any]:
    """Every label is a node, a set of nodes or an interval of the declared domain; every class is declared."""
    domains = manifest["domains"]
    for name, role in roles.items():
        if role == "count":
            continue
        found = set(table.frame[name].cast(pl.String).drop_nulls().unique().to_list())
        if role == "target":
            beyond = sorted(found - set(domains["target"]["values"]))
        else:
            domain = domains["columns"][name]
            stated = set(manifest["recoding"]["columns"][name]["labels"])
            beyond = sorted(label for label in found if label not in stated or not fits(label, domain))
        detail = f"{len(found)} labels" if not beyond else f"labels outside the domain: {beyond[:5]}"
        yield check(what=f"domain of {name}", holds=not beyond, detail=detail)


def fits(label: str, domain: Mapping[str, Any]) -> bool:
    """Whether a label can be made from a declared domain."""
    if label == TOP:
        return True
    if domain["kind"] == "number":
        interval = read_interval(label)
        return interval is not None and domain["low"] <= interval.low <= interval.high <= domain["high"]
    names = {node[0] for node in domain["nodes"]}
    parts = label.split("|") if domain["kind"] == "set" else [label]
    return all(part in names or part.rsplit(" (", 1)[0] in names or part == "" for part in parts)
