"""From a pseudonymized release to its attacks, files, manifest, report and summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from sfumato.attacks.answers.plaintext import KnownPlaintext
from sfumato.attacks.frame.pseudonymized import PseudonymizedColumn
from sfumato.attacks.frame.trials import Finding
from sfumato.bundle.graded_secret import AliasTable, GradedColumn, GradedNumbers
from sfumato.data.table import Table, as_text
from sfumato.ground.chance import Chance
from sfumato.ground.errors import BundleError, PlanError
from sfumato.ground.work import Work
from sfumato.report.graded.graded_page import GradedFacts, render
from sfumato.workflow.attacking import chosen_attacks
from sfumato.workflow.audit import Audit, over
from sfumato.workflow.bundling import as_written, versions
from sfumato.workflow.kinds.graded import GRADED
from sfumato.workflow.kinds.graded.graded_stages import GradedRelease
from sfumato.workflow.kinds.kind import Summary, warned
from sfumato.workflow.plan.plan import Plan


def attack(made: GradedRelease, work: Work) -> Audit:
    """Known pairs on numbers, frequencies on categories; more than the plan allows is refused."""
    asked = made.plan.attack
    if not asked.run:
        return Audit()
    inner, chance = work.within(asked.seconds), Chance(seed=made.plan.algorithm.seed)
    findings, skipped = list[Finding](), dict[str, str]()
    chosen, columns = chosen_attacks(asked.attacks, GRADED), _found(made)
    for place, (name, part) in enumerate(chosen.items()):
        work.advance("attack", place, len(chosen))
        one, told = part.make(asked.trials), len(findings) + len(skipped)
        for column in columns:
            if column.codes is not isinstance(one, KnownPlaintext):
                continue
            if why := over(inner, asked.seconds) or one.fits(column):
                skipped[f"{name} of {column.name}"] = why
            else:
                findings.append(replace(one.run(column, chance), attack=f"{name} of {column.name}"))
        if told == len(findings) + len(skipped):
            skipped[name] = "no column has codes" if isinstance(one, KnownPlaintext) else "no column has aliases"
    work.advance("attack", 1, 1)
    found = Audit(findings=tuple(findings), skipped=skipped)
    found.refuse(asked.max_risk, asked.accept)
    return found


def _found(made: GradedRelease) -> list[PseudonymizedColumn]:
    """The transformed columns as an attacker finds them, person by person, without missing values."""
    found = []
    for name, column in made.prepared.secret.columns.items():
        was = as_text(made.prepared.table.frame[name])
        pairs = pl.DataFrame({"shown": made.shown[name], "was": was}).drop_nulls()
        shown, true = (tuple(pairs[side].to_list()) for side in pairs.columns)
        codes = isinstance(column, GradedNumbers)
        found.append(PseudonymizedColumn(name=name, shown=shown, true=true, codes=codes))
    return found


def refuse_bundle(folder: Path, *_: object, **__: object) -> NoReturn:
    """Refuse to attack a bundle: afterwards nobody knows whose row is whose."""
    raise BundleError(
        f"{folder}: pseudonyms are attacked when they are released, where it is known whose row is whose; the "
        "figures stand in its report"
    )


def refuse_records(manifest: Mapping[str, Any], records: object, outside: object) -> NoReturn:
    """Refuse new records: they need the secret, which no manifest holds."""
    raise BundleError(
        "new records need the secret of the sites, which no bundle holds; use `sfumato graded apply DATA --secret FILE`"
    )


def refuse_frontier(plan: Plan) -> NoReturn:
    """Refuse a frontier: it draws privacy models against loss, and here is neither."""
    raise PlanError("algorithm.name: a frontier compares models, and graded grouping meets none and loses nothing")


def files(made: GradedRelease) -> dict[str, pl.DataFrame]:
    """The released rows."""
    return {"data": as_written(made.rows, made.plan.output_format, made.published.missing)}


def manifest(made: GradedRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: nothing of ranges, values or key, but a commitment to all of them."""
    ((data, digest),) = files.items()
    secret = made.prepared.secret
    return {
        "data": {"file": data, "sha256": digest, **made.published.to_json()},
        "claims": [],
        "recoding": {
            "algorithm": made.algorithm,
            "why": made.why,
            "agreement": secret.agreement,
            "columns": {name: _stated(secret.columns[name]) for name in made.rows.columns if name in secret.columns},
        },
        **made.audit.stated(),
        "versions": versions("numpy", "polars", "cryptography"),
    }


def _stated(column: GradedColumn) -> dict[str, Any]:
    if isinstance(column, AliasTable):
        return {"form": "aliases", "aliases": len(column.aliases)}
    return {"form": "codes", "digits": column.grouping.digits}


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the rows."""
    rows, stated = tables["data"].frame, manifest["recoding"]
    missing = set(manifest["data"]["missing"])
    facts = GradedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        rows=rows.height,
        agreement=str(stated["agreement"]),
        columns=tuple(
            (name, str(one["form"]), _counted(rows[name], str(one["form"]), missing))
            for name, one in stated["columns"].items()
        ),
        beside=tuple(one["name"] for one in manifest["data"]["columns"] if one["name"] not in stated["columns"]),
        marks=tuple(manifest["marks"]),
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
    )
    return render(facts, work)


def _counted(cells: pl.Series, form: str, missing: set[str]) -> tuple[tuple[str, int], ...]:
    """Rows per alias, the most frequent first; of codes per whole part, in order."""
    texts = as_text(cells).drop_nulls()
    texts = texts.filter(~texts.is_in(list(missing))).alias("value")
    if form == "aliases":
        counts = texts.value_counts().sort("count", "value", descending=[True, False])
    else:
        counts = texts.str.split(".").list.first().cast(pl.Int64).value_counts().sort("value")
    return tuple((str(value), int(many)) for value, many in counts.iter_rows())


def summary(made: GradedRelease) -> Summary:
    """What was transformed, how often attackers read it back, and that nothing is claimed."""
    found = [one for one in made.audit.findings if one.rate.carried_out]
    risks = tuple(
        f"{one.attack}: {one.rate.value:.1%} of {one.rate.trials:,} values are read back, "
        f"{one.naive.value:.1%} by a guesser."
        for one in found
    )
    told = {"codes": "numbers have codes", "aliases": "values have aliases"}
    columns = {name: _stated(one)["form"] for name, one in made.prepared.secret.columns.items()}
    return Summary(
        lines=(f"Pseudonymized, nothing is claimed: {made.rows.height:,} rows.",),
        heads=("column", "what was done"),
        cells=tuple((name, told[form]) for name, form in columns.items()),
        after=(
            *risks,
            *warned(made.marks),
            f"The agreement is {made.prepared.secret.agreement[:16]}.",
        ),
        changes=(("rows", made.prepared.table.rows, made.rows.height),),
    )


def figures(made: GradedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": made.rows.height,
        "algorithm": made.algorithm,
        "claims": [],
        "agreement": made.prepared.secret.agreement,
        "columns": {name: _stated(one) for name, one in made.prepared.secret.columns.items()},
        "attacks": made.audit.to_json(),
    }
