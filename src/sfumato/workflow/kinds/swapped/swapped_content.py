"""From a release of swapped rows to its files, manifest, report and summary, and to what attackers find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from sfumato.attacks.frame.subject import Coverage, Subject
from sfumato.attacks.frame.trials import Finding
from sfumato.data.table import Table
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, PlanError
from sfumato.ground.work import Work
from sfumato.report.swapped.swapped_page import SwappedFacts, render
from sfumato.workflow.apply.applying import no_rule
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.audit import Audit, over
from sfumato.workflow.bundling import as_written, versions
from sfumato.workflow.kinds.kind import Summary, warned
from sfumato.workflow.kinds.swapped.swapped_stages import SwappedRelease
from sfumato.workflow.plan.plan import Plan


def attack(made: SwappedRelease, work: Work) -> Audit:
    """Look for people by what is nearest to them; more than the plan allows is refused."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    subject, inner = swapped_subject(made), work.within(asked.seconds)
    findings, skipped = [], {}
    chosen = chosen_attacks(asked.attacks, "swapped")
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        one = part.make(asked.trials)
        if why := over(inner, asked.seconds) or one.fits(subject):
            skipped[name] = why
            continue
        findings.append(replace(one.run(subject, Chance(seed=made.plan.algorithm.seed), None), attack=name))
    work.advance("attack", 1, 1)
    found = Audit(findings=tuple(findings), skipped=skipped)
    found.refuse(asked.max_risk, asked.accept)
    return found


def swapped_subject(made: SwappedRelease) -> Subject:
    """The released rows and the people behind them; every value stands for itself."""
    prepared, schema = made.prepared, made.prepared.schema
    names = (*schema.quasi, *schema.sensitive)
    mark = next(iter(prepared.source.missing), "")
    people = pl.DataFrame([prepared.cells(name) for name in names]).select(pl.all().cast(pl.String).fill_null(mark))
    released = made.rows.select(pl.col(names).cast(pl.String).fill_null(mark))
    kinds = {name: prepared.source.column(name, made.plan.columns[name].type).kind for name in names}  # type: ignore[arg-type]
    return Subject(
        release=released,
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        coverage={name: Coverage.plain(people[name].unique().sort().to_list()) for name in schema.quasi},
        people=people,
        algorithm=made.algorithm,
        numeric=frozenset(name for name, kind in kinds.items() if kind in ("integer", "real")),
        own=made.own,
    )


def refuse_bundle(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle: afterwards nobody knows whose row is whose."""
    raise BundleError(
        f"{folder}: swapped rows are attacked when they are released, where it is known whose row is whose; the "
        "figures stand in its report"
    )


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: values are exchanged among the rows of one release."""
    raise no_rule(str(manifest["recoding"]["algorithm"]))


def refuse_frontier(plan: Plan) -> NoReturn:
    """Refuse a frontier: it draws privacy models against loss, and here is none."""
    raise PlanError("algorithm.name: a frontier compares models, and swapping meets none; make releases one by one")


def files(made: SwappedRelease) -> dict[str, pl.DataFrame]:
    """The released rows."""
    return {"data": as_written(made.rows, made.plan.output_format, made.published.missing)}


def manifest(made: SwappedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated; how many values really changed depends on the original, and is the steward's."""
    ((data, digest),) = files.items()
    swapping = made.swapping
    return {
        "data": {"file": data, "sha256": digest, **made.published.to_json()},
        "claims": [],
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            "rate": float(swapping.rate),
            "columns": list(made.outcome.sources),
            "within": dict(swapping.within),
            **({"left_out": made.prepared.dropped_rows} if made.prepared.dropped_rows else {}),
        },
        **made.audit.stated(),
        "versions": versions("numpy", "polars"),
    }


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the rows."""
    rows, stated = tables["data"].frame, manifest["recoding"]
    shown = [one["name"] for one in manifest["data"]["columns"] if one["name"] in stated["columns"]]
    facts = SwappedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=rows.height,
        rate=float(stated["rate"]),
        swapped=tuple(stated["columns"]),
        within=tuple((name, int(level)) for name, level in stated["within"].items()),
        left_out=int(stated.get("left_out", 0)),
        marks=tuple(manifest["marks"]),
        columns=tuple((name, _counted(rows[name])) for name in shown),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
    )
    return render(facts, work)


def _counted(cells: pl.Series) -> tuple[tuple[str, int], ...]:
    """Rows per value, the most frequent first."""
    counts = (
        cells.cast(pl.String)
        .fill_null("")
        .alias("value")
        .value_counts()
        .sort("count", "value", descending=[True, False])
    )
    return tuple((str(value), int(many)) for value, many in counts.iter_rows())


def summary(made: SwappedRelease) -> Summary:
    """What was exchanged, how often people are still found, and that nothing is claimed."""
    found = [one for one in made.audit.findings if one.rate.carried_out]
    risks = tuple(f"{one.attack}: {one.rate.value:.1%} of {one.rate.trials:,} people are found." for one in found)
    return Summary(
        lines=(f"Swapped, nothing is claimed: {made.rows.height:,} rows with {made.swapping.rate:.3g} exchanged.",),
        heads=("column", "rows that show another value"),
        cells=tuple((name.removeprefix("changed "), f"{share:.1%}") for name, share in made.utility.items()),
        after=(*risks, *warned(made.marks)),
        changes=(("rows", made.prepared.source.rows, made.rows.height),),
    )


def figures(made: SwappedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "algorithm": made.algorithm,
        "claims": [],
        "rate": float(made.swapping.rate),
        "changed": {name.removeprefix("changed "): share for name, share in made.utility.items()},
        "attacks": made.audit.to_json(),
    }
