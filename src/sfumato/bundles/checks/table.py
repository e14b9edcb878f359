"""Verifies released rows of a table: every claim, risk and loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, consistent, evidence_fits, marks_fit
from sfumato.bundles.checks.evidence import all_stars, claim, counted_alike, evidence, groups_apart, required, smallest
from sfumato.bundles.checks.labels import distributions_fit
from sfumato.bundles.checks.losses import labels_fit, losses, trail_fits, trees_fit, within_range
from sfumato.bundles.columns import Published, count_column
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.provenance import Check, Remark, rounded, same, short_text
from sfumato.bundles.verify import DATA, SENSITIVE
from sfumato.core.fractions import rows_within
from sfumato.counts.classes import Classes
from sfumato.metrics.metric import Metric
from sfumato.models.model import Model
from sfumato.tables.schema import Role
from sfumato.tables.table import Table

if TYPE_CHECKING:
    from sfumato.counts.engine_source import EngineSource


# Verifying a release of a table: every claim, risk and loss, counted again from the written rows.


_COUNTED = (Role.QUASI, Role.SENSITIVE, Role.TARGET)
"""The columns that claims and figures count."""


class Known(Protocol):
    """Whoever turns the manifest's names into models and metrics, and its plan into models."""

    def model(self, name: str, parameters: Mapping[str, Any]) -> Model:
        """A model from its name and parameters."""

    def metric(self, name: str, *, k: int = 1) -> Metric:
        """A metric from its name."""

    def stated(self, *, target: bool) -> list[str]:
        """The metrics that every manifest states, where they can be computed from it."""

    def risk(self, classes: Classes) -> dict[str, Any]:
        """Re-identification risks of classes."""


Asked = Callable[[Mapping[str, Any], Published, list[Mapping[str, Any]]], list[tuple[str, dict[str, Any]]]]
"""The models, with parameters, that a manifest's plan asks for."""


def table_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Any], *, known: Known, requested_models: Asked
) -> Iterable[Check | Remark]:
    """The checks of a release of a table."""
    data = manifest["data"]
    published = Published.from_json(data)
    apart = [str(data["apart"]["file"])] if published.apart else []
    table: Table | EngineSource = tables[DATA]
    rare = list(near_unique_remarks(manifest, table, published.schema.roles))
    yield from rare
    yield marks_fit(manifest, [remark.detail for remark in rare], Check)
    yield algorithm_fits(manifest, Check)
    yield from consistent(manifest, published, Check)
    yield from identifiers_fit(manifest, published)
    yield from cells_fit(data["columns"], table)
    groups: Classes | None = None
    counted: list[tuple[Table | EngineSource, list[str]]] = [
        (table, [n for n in published.schema.named(*_COUNTED) if n in table.names])
    ]
    if published.apart is not None and isinstance(table, Table):
        yield same("bytes of the sensitive values", sha256(folder / apart[0]), data["apart"]["sha256"])
        values = tables[SENSITIVE]
        wanted = [published.apart.group, published.apart.column.name, count_column(published.apart.column.name)]
        yield same("columns of the sensitive values", list(values.names), wanted)
        if list(values.names) != wanted:
            return
        counted.append((values, [published.apart.column.name]))
        groups = groups_apart(table, values, published.apart)
        alike = counted_alike(groups, values, published.apart)
        yield same("groups have as many rows as sensitive values", alike, True)
    yield from missing_fits(manifest, counted)
    yield from _counts(manifest, table, published, (known, requested_models), groups)


def identifiers_fit(manifest: Mapping[str, Any], published: Published) -> Iterable[Check]:
    """Nobody is named openly, and every column has the role that the plan gives it."""
    keyed = {name for name, spec in manifest["plan"]["columns"].items() if spec.get("pseudonym") == "keyed"}
    open_names = [c.name for c in published.columns if c.role is Role.IDENTIFIER and c.name not in keyed]
    open_names += [c.name for c in published.columns if c.role is Role.UNIT and c.kind != "integer"]
    hidden = [c.name for c in published.columns if c.role is Role.DROP]
    yield same("identifiers that are published openly", open_names + hidden, [])
    group = published.apart.group if published.apart else None
    yield same("role of the groups", [c.role for c in published.columns if c.name == group], [Role.KEEP] * bool(group))
    both: dict[str, str | list[str]] = {name: ["quasi", "sensitive"] for name in published.schema.guarded}
    roles = {name: both.get(name, str(role)) for name, role in published.schema.roles.items() if name != published.unit}
    planned = {n: s["role"] for n, s in manifest["plan"]["columns"].items() if n in roles}
    yield same("roles of the columns", roles, planned)
    yield same("column that tells people apart", published.unit, manifest["plan"]["input"].get("unit"))


def _counts(
    manifest: Mapping[str, Any],
    table: Table | EngineSource,
    published: Published,
    names: tuple[Known, Asked],
    groups: Classes | None,
) -> Iterable[Check | Remark]:
    known, requested_models = names
    models = [known.model(c["model"], c["parameters"]) for c in manifest["claims"]]
    classes = evidence(table, published, counted=[name for model in models for name in model.columns])
    judged = required(classes, published)
    if classes.people is not None:
        yield same("nobody's number stands in two groups", classes.people.apart, True)
    reading = manifest["plan"]["privacy"].get("reading", "strict")
    for model, stated in zip(models, manifest["claims"], strict=True):
        actual = plain(claim(model, stated["parameters"], groups or judged, reading).to_json())
        yield _claim(actual, stated)
        if not getattr(model, "wished", True):
            yield Remark(
                what=f"claim {stated['model']}",
                detail=f"not recomputed: {actual['note']}; for the others the publisher's word stands",
            )
    stated_models = [(c["model"], c["parameters"]) for c in manifest["claims"]]
    yield same(
        "claims are what the plan asks for",
        plain(requested_models(manifest["plan"], published, manifest["claims"])),
        plain(stated_models),
    )
    yield same("smallest class under both readings", smallest(judged), manifest["smallest_class"])
    yield _suppression(manifest, classes, published)
    yield same("risk", rounded(known.risk(judged)), rounded(manifest["risk"]))
    yield from evidence_fits(published, classes, Check)
    yield from labels_fit(manifest, classes, Check)
    yield from distributions_fit(manifest, classes, Check)
    yield from trees_fit(manifest, published.schema.guarded, Check)
    yield from trail_fits(manifest, classes, known.metric(str(manifest["plan"]["utility"]["metric"])), Check)
    yield from _utility(manifest, classes, known)


def _suppression(manifest: Mapping[str, Any], classes: Classes, published: Published) -> Check:
    stated = manifest["suppression"]
    stars = int(classes.sizes[all_stars(classes)].sum())
    if stated["how"] == "remove":
        actual = {"rows": stated["of"] - published.rows, "of": stated["of"]}
    else:
        actual = {"rows": stars if stated["rows"] else 0, "of": published.rows}
    alike = same("suppressed rows", actual, {"rows": stated["rows"], "of": stated["of"]})
    within = 0 <= actual["rows"] <= rows_within(stated["limit"], stated["of"])
    if published.unit is not None:
        within = 0 <= stated["people"] <= rows_within(stated["limit"], stated["people_of"])
    if alike.holds and not within:
        return Check(
            what=alike.what, holds=False, detail=f"{actual['rows']} are not within the limit {stated['limit']}"
        )
    if published.exempt and stars not in (0, stated["rows"], published.rows):
        detail = f"{stars} rows of nothing but * are exempt from the requirement, but {stated['rows']} are stated"
        return Check(what=alike.what, holds=False, detail=detail)
    return alike


def _utility(manifest: Mapping[str, Any], classes: Classes, known: Known) -> Iterable[Check]:
    target = any(column["role"] == "target" for column in manifest["data"]["columns"])
    names = dict.fromkeys((*known.stated(target=target), *manifest["utility"]))
    figures = losses(manifest, classes, known, names)
    absent = [name for name in figures if name not in manifest["utility"]]
    yield same("metrics that are not stated", absent, [])
    unfounded = [name for name in manifest["utility"] if name not in figures]
    yield same("metrics that the rows cannot show", unfounded, [])
    beyond = [name for name, value in manifest["utility"].items() if not within_range(known.metric(name), value)]
    yield same("metrics beyond their range", beyond, [])
    yield from attacks_fit(manifest)
    for name, value in figures.items():
        if name in manifest["utility"]:
            yield same(f"utility: {name}", rounded(value), rounded(manifest["utility"][name]))


def _claim(actual: dict[str, Any], stated: Mapping[str, Any]) -> Check:
    """A claim holds here if it is met by the data and is stated exactly as found."""
    different = [key for key in sorted({*actual, *stated}) if rounded(actual.get(key)) != rounded(stated.get(key))]
    what = f"claim {stated.get('model')}"
    detail = f"required {actual['sense']} {short_text(actual['limit'])}, reached {short_text(actual['reached'])}"
    if not actual["holds"]:
        detail += f"; {actual['classes_failing']} classes fail"
    if different:
        detail += "; the manifest differs in " + ", ".join(
            f"{key} ({short_text(stated.get(key))})" for key in different
        )
    return Check(what=what, holds=bool(actual["holds"]) and not different, detail=detail)
