"""Verifying a differentially private bundle: noise cannot be seen, but everything around it can be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import isclose, isfinite
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.checks.consistency import algorithm_fits
from sfumato.bundles.checks.labels import rule_faults
from sfumato.bundles.checks.losses import misruled
from sfumato.bundles.checks.mechanisms import domains_known, mechanism_faults, noise_fits, overlapping, split
from sfumato.bundles.provenance import Check
from sfumato.bundles.verify import DATA
from sfumato.dp.accounting import Promise, delta_of
from sfumato.dp.events import Event, Grouped, from_json
from sfumato.tables.labels import Ends, read_interval
from sfumato.tables.table import Table
from sfumato.tables.taxonomy import TOP

DIFFERENTIAL = "differential-privacy"
NEIGHBOURS = "one record added or removed"
PEOPLE = "all rows of one {unit} added or removed, at most {most} of which are used"
"""Whom two tables differ by: by a record, or by a person."""
OBSERVED_KIND = "observed"
"""The kind of release whose domains are read off the rows."""
OBSERVED = "domains were read off the private table: this release is NOT differentially private, for studies only"
"""The warning of a release whose domains are not declared."""
COUNT = "count"
"""The role of the column that counts."""
_FOR_COUNTS = ("epsilon of the counts", "epsilon of one marginal")
_FOR_GAUSSIAN = "rho of the counts"
_SCALE = "scale of the noise of a count"
_PUBLISHED = ("quasi", "target")
_ROLES = {*_PUBLISHED, COUNT}
_PRIVACY = {"epsilon", "delta", "rho", "domains", "discovery"}


def private_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check]:
    """The checks of a differentially private release."""
    table = tables[DATA]
    yield from _stated(manifest, table, Check)


def _stated(manifest: Mapping[str, Any], table: Table, check: Callable[..., Any]) -> Iterable[Any]:
    """The budget adds up, domains are declared, and every released label lies in them."""
    plan = manifest["plan"]
    promise = Promise.of(plan["privacy"])
    event = from_json(manifest["ledger"])
    rows = from_json(split(manifest["ledger"])[1])
    spent = (
        promise.kept_by(event)
        and promise.spent_by(event) == promise.amount(delta_of(event))
        and _grouped(rows, rows_of_one(plan["input"]))
    )
    detail = f"{promise.spent_by(event)} of {promise.amount(delta_of(event))}"
    yield check(what="the ledger adds up to what is promised", holds=spent, detail=detail)
    yield _claims(manifest, promise, check)
    strange = sorted(plan["privacy"].keys() - _PRIVACY)
    yield check(what="keys of [privacy]", holds=not strange, detail=", ".join(strange) or "those of a promise")
    seeded = "seed" in plan["algorithm"] or "seed" in manifest
    yield check(what="no seed is published", holds=not seeded, detail="seed" if seeded else "none")
    observed = plan["privacy"].get("domains") == "observed"
    marked = manifest["marks"] == [OBSERVED] * observed and observed != claimed(manifest)
    yield check(what="domains are declared, or marked", holds=marked, detail="observed" if observed else "declared")
    roles = {column["name"]: column["role"] for column in manifest["data"]["columns"]}
    strange = sorted({str(role) for role in roles.values()} - _ROLES)
    yield check(what="no column is published unchanged", holds=not strange, detail=", ".join(strange) or "none")
    kinds = {column["name"]: column["type"] for column in manifest["data"]["columns"]}
    odd = [name for name, kind in kinds.items() if kind != ("integer" if roles[name] == COUNT else "text")]
    yield check(what="types of the columns", holds=not odd, detail=", ".join(odd) or "labels and counts")
    yield algorithm_fits(manifest, check)
    yield _searched(manifest, check)
    quasi = [name for name, role in roles.items() if role == "quasi"]
    faults = mechanism_faults(manifest, split(manifest["ledger"])[1], table.frame.select(quasi).n_unique())
    yield check(what="account of the mechanism", holds=not faults, detail="; ".join(faults[:3]) or "fits its ledger")
    yield noise_fits(manifest, list(_parts(manifest["ledger"])), check)
    yield from _planned(manifest, roles, check)
    yield _output(manifest, check)
    yield from _labels(manifest, table, roles, check)
    counts = counts_of(manifest)
    if counts is not None:
        yield _counts(table.frame[counts], check)


def claimed(manifest: Mapping[str, Any]) -> bool:
    """Whether a bundle claims differential privacy: noisy rows over observed domains do not."""
    return bool(manifest["kind"] != OBSERVED_KIND)


def _claims(manifest: Mapping[str, Any], promise: Promise, check: Callable[..., Any]) -> Any:
    if not claimed(manifest):
        stated = manifest["claims"]
        return check(what="no differential privacy is claimed", holds=not stated, detail=f"{len(stated)} claims")
    source = manifest["plan"]["input"]
    claims = [{"model": DIFFERENTIAL, "parameters": {**promise.to_json(), "neighbours": neighbours(source)}}]
    return check(what="claims are what the plan asks for", holds=manifest["claims"] == claims, detail=str(promise))


def _grouped(event: Event, rows: int) -> bool:
    """Whether an event counts all rows that a person can have."""
    return (event.rows if isinstance(event, Grouped) else 1) == rows


def _searched(manifest: Mapping[str, Any], check: Callable[..., Any]) -> Any:
    """The mechanism's stated choices fit its ledger: amounts, the scale of the noise, the steps taken."""
    search, steps = manifest["search"], manifest["recoding"]["steps"]
    parts = list(_parts(manifest["ledger"]))
    amounts = {str(part.get(unit)) for part in parts for unit in ("epsilon", "rho")}
    wrong = [name for name in (*_FOR_COUNTS, _FOR_GAUSSIAN) if search.get(name, "0") not in {"0", *amounts}]
    counted = next((search[name] for name in _FOR_COUNTS if name in search), None)
    scale = search.get(_SCALE)
    if counted is not None and scale is not None and not wrong:
        wrong += [_SCALE] * (not isclose(float(scale), float(1 / Fraction(counted)), rel_tol=1e-9))
    if _FOR_GAUSSIAN in search and scale is not None and not wrong:
        wide = float(1 / (2 * Fraction(search[_FOR_GAUSSIAN]))) ** 0.5
        wrong += [_SCALE] * (not isclose(float(scale), wide, rel_tol=1e-9))
    numbered = {f"specialization {number}: {step}" for number, step in enumerate(steps, start=1)}
    named = {str(part["what"]) for part in parts if str(part["what"]).startswith("specialization ")}
    wrong += ["steps"] * (not named <= numbered)
    wrong += ["specializations"] * (search.get("specializations", len(steps)) != len(steps))
    detail = f"not those of the ledger: {', '.join(wrong)}" if wrong else f"{len(steps)} steps"
    return check(what="choices of the mechanism", holds=not wrong, detail=detail)


def _parts(event: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """An event of a ledger, and every one that it is made of."""
    yield event
    for part in (*event.get("parts", ()), *([event["part"]] if "part" in event else [])):
        yield from _parts(part)


def counts_of(manifest: Mapping[str, Any]) -> str | None:
    """The column that counts, where rows stand for several records."""
    return next((str(column["name"]) for column in manifest["data"]["columns"] if column["role"] == COUNT), None)


def rows_of_one(source: Mapping[str, Any]) -> int:
    """How many rows of one person a mechanism is given: what it spends for a row, a person costs so many times."""
    return int(source.get("rows_per_unit", 1)) if source.get("unit") is not None else 1


def neighbours(source: Mapping[str, Any]) -> str:
    """What two neighbouring tables differ by, by the plan's [input]."""
    unit = source.get("unit")
    return NEIGHBOURS if unit is None else PEOPLE.format(unit=unit, most=rows_of_one(source))


def _planned(manifest: Mapping[str, Any], roles: Mapping[str, str], check: Callable[..., Any]) -> Iterable[Any]:
    """Every published column has the role that the plan gives it, and a domain that the plan declares."""
    columns = manifest["plan"].get("columns")
    if not columns:
        yield check(what="roles of the columns", holds=False, detail="the plan has no columns")
        return
    planned = {name: spec["role"] for name, spec in columns.items() if spec["role"] in _PUBLISHED}
    odd = [name for name, role in roles.items() if role != planned.get(name, COUNT)]
    odd += [name for name, role in roles.items() if role == COUNT][1:]
    detail = "as planned" if not odd else f"not as planned: {', '.join(odd)}"
    yield check(what="roles of the columns", holds=not odd, detail=detail)
    if claimed(manifest):
        yield from domains_known(manifest, check)


def _output(manifest: Mapping[str, Any], check: Callable[..., Any]) -> Any:
    """Rows are counted where the plan asks for counts, deviations are of labels, and the target's values differ."""
    form = manifest["plan"]["algorithm"].get("output", "records")
    wrong = ["output"] * (form != ("records" if counts_of(manifest) is None else "counts"))
    for name, stated in manifest["recoding"]["columns"].items():
        wrong += [f"deviations of {name}"] * _negative(stated.get("deviations", {}))
    target = manifest["domains"].get("target")
    if target is not None:
        planned = [name for name, spec in manifest["plan"]["columns"].items() if spec["role"] == "target"]
        wrong += ["class column"] * (planned != [target["name"]])
        wrong += ["classes"] * (len(set(target["values"])) < len(target["values"]))
        wrong += ["deviations of classes"] * _negative(manifest["recoding"].get("classes", {}))
    detail = f"not as planned: {', '.join(wrong)}" if wrong else form
    return check(what="form of the rows", holds=not wrong, detail=detail)


def _negative(deviations: Mapping[str, Any]) -> bool:
    return any(not value >= 0 for value in deviations.values())


def _counts(counts: pl.Series, check: Callable[..., Any]) -> Any:
    """Every count is a whole number that is not negative."""
    cells = counts.cast(pl.String).fill_null("nothing")
    wrong = cells.filter(~cells.str.contains(r"^[0-9]{1,18}$")).head(3).to_list()
    detail = f"no count: {', '.join(wrong)}" if wrong else f"{len(cells)} counts"
    return check(what="no count is negative", holds=not wrong, detail=detail)


def _labels(
    manifest: Mapping[str, Any], table: Table, roles: Mapping[str, str], check: Callable[..., Any]
) -> Iterable[Any]:
    """Every label is a node, a set of nodes or an interval of the declared domain; every class is declared."""
    domains = manifest["domains"]
    for name, role in roles.items():
        if role == COUNT:
            continue
        cells = table.frame[name].cast(pl.String)
        labels = set(cells.drop_nulls().unique().to_list())
        if role == "target":
            beyond = sorted((labels | set(manifest["recoding"].get("classes", {}))) - set(domains["target"]["values"]))
        else:
            stated = manifest["recoding"]["columns"][name]
            known = allowed(domains["columns"][name])
            beyond = sorted(label for label in labels if label not in stated["labels"])
            beyond += [label for label in stated["labels"] if not known(label)] + misruled(stated)
            beyond += _misread(stated, domains["columns"][name])
            beyond += overlapping(stated["labels"], domains["columns"][name])
            beyond += [label for label in stated.get("deviations", {}) if label not in stated["labels"]]
            beyond += [str(x) for x in stated.get("rule", {}).get("values", {}).values() if x not in stated["labels"]]
        beyond += ["no label"] * bool(cells.null_count())
        detail = f"{len(labels)} labels" if not beyond else f"labels outside the domain: {beyond[:5]}"
        yield check(what=f"domain of {name}", holds=not beyond, detail=detail)


def _misread(stated: Mapping[str, Any], domain: Mapping[str, Any]) -> list[str]:
    """What a rule gets wrong: values that are not below their label in the declared tree, or a rule of another form."""
    wrong = [f"{label} has a height" for label, steps in stated["labels"].items() if steps != 0]
    if "rule" not in stated:
        return wrong
    rule = stated["rule"]
    wrong += ["type"] * (rule["type"] != ("real" if domain["kind"] == "number" else "text"))
    wrong += rule_faults(rule, [label for label in stated["labels"] if label != TOP])
    if wrong or domain["kind"] != "tree" or "values" not in rule:
        return wrong
    nodes: Sequence[tuple[str, int]] = domain["nodes"]
    above = {above for _, above in nodes}
    leaves = {nodes[place][0]: place for place in range(len(nodes)) if place not in above}
    wrong += [f"{value} is no value" for value in rule["values"].keys() ^ leaves.keys()]
    return wrong + [
        f"{v} as {x}" for v, x in rule["values"].items() if v in leaves and x not in _over(nodes, leaves[v])
    ]


def _over(nodes: Sequence[tuple[str, int]], place: int) -> set[str]:
    """What a leaf and the nodes above it may be called."""
    names = {TOP}
    while place >= 0:
        name, above = nodes[place]
        names |= {name, f"{name} ({nodes[max(above, 0)][0]})"}
        place = above
    return names


def fits(label: str, domain: Mapping[str, Any]) -> bool:
    """Whether a label can be made from a declared domain."""
    return allowed(domain)(label)


def allowed(domain: Mapping[str, Any]) -> Callable[[str], bool]:
    """Which labels can be made from a declared domain."""
    if domain["kind"] == "number":
        low, high, grid = float(domain["low"]), float(domain["high"]), float(domain["grid"])
        if not (low < high and grid > 0 and isfinite(high - low) and isfinite(grid)):
            raise ValueError(f"a range from {low} to {high} with a grid of {grid}")
        return lambda label: label == TOP or _on_grid(label, low, high, grid)
    _refuse_no_tree(domain["nodes"])
    names = _names(domain["nodes"])
    if domain["kind"] == "tree":
        return names.__contains__
    if domain["kind"] != "set":
        raise ValueError(f"a domain of kind {domain['kind']!r}")
    return lambda label: label == "" or _all_different(label.split("|"), names)


def _refuse_no_tree(nodes: Sequence[tuple[str, int]]) -> None:
    """Refuse nodes that are no tree under ``*``, each once and after the one above it."""
    if len(set(map(tuple, nodes))) < len(nodes):
        raise ValueError("a node that is listed twice")
    below = [0 <= above < place for place, (_, above) in enumerate(nodes)][1:]
    if not nodes or list(nodes[0]) != [TOP, -1] or not all(below):
        raise ValueError("nodes that are no tree")


def _all_different(parts: list[str], names: set[str]) -> bool:
    return set(parts) <= names and len(set(parts)) == len(parts)


def _names(nodes: Sequence[tuple[str, int]]) -> set[str]:
    """What the nodes of a tree may be called: by their names, or by their parents too where two have one name."""
    times = Counter(name for name, _ in nodes)
    both = {f"{name} ({nodes[max(above, 0)][0]})" for name, above in nodes if times[name] > 1}
    return {TOP, *times} | both


def _on_grid(label: str, low: float, high: float, grid: float) -> bool:
    """Whether a label is an interval, as releases write it, from one place of the grid to another or to the end."""
    interval = read_interval(label)
    if interval is None or not (isfinite(interval.low) and isfinite(interval.high)):
        return False
    ends = Ends(low=low, high=high, low_known=True, high_known=True)
    places = [round((x - low) / grid) for x in (interval.low, interval.high)]
    placed = all(
        n >= 0 and x <= high and x in (low + n * grid, high)
        for n, x in zip(places, (interval.low, interval.high), strict=True)
    )
    wide = interval.low < interval.high or (interval.closed and interval.low == high)
    last = interval.closed == (interval.high == high) or (not interval.closed and low + places[1] * grid == high)
    written = ends.named((interval.low, interval.high), first=False, last=interval.closed)
    return placed and wide and last and label == written and not (interval.closed and interval.low == low)
