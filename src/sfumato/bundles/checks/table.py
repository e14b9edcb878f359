"""Verifies released rows of a table: every claim, risk and loss; swapped and pseudonymized rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, consistent, evidence_fits, marks_fit
from sfumato.bundles.checks.evidence import all_stars, claim, counted_alike, evidence, groups_apart, required, smallest
from sfumato.bundles.checks.labels import distributions_fit
from sfumato.bundles.checks.losses import labels_fit, losses, trail_fits, trees_fit, within_range
from sfumato.bundles.columns import Published, count_column
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.manifest.sections import is_named
from sfumato.bundles.provenance import Check, Remark, rounded, same, short_text
from sfumato.bundles.verify import DATA, SENSITIVE, formulas_escaped, same_columns, shape
from sfumato.core.errors import listed
from sfumato.core.fractions import rows_within
from sfumato.counts.classes import Classes
from sfumato.metrics.metric import Metric
from sfumato.models.model import Model
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_text

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
    yield from formulas_escaped(manifest, [folder / str(data["file"]), *(folder / name for name in apart)])
    yield from shape(folder, manifest, table, apart)
    if not same_columns(manifest, table):
        return
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


# Verifying rows with exchanged values: that nothing is claimed, that this is said, and what the plan says was done.
#
# That values were exchanged and not invented shows only beside the original: ``kept_exactly`` compares the two.


NOT_ANONYMOUS = (
    "values were exchanged between records and no privacy model was verified: these rows are not anonymous, and rows "
    "whose values were not exchanged are true"
)
"""The warning of every such release."""


def swapped_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    """The checks of a release of swapped rows."""
    table, data = tables[DATA], manifest["data"]
    published = Published.from_json(data)
    yield from formulas_escaped(manifest, [folder / str(data["file"])])
    yield from shape(folder, manifest, table)
    if not same_columns(manifest, table):
        return
    rare = list(near_unique_remarks(manifest, table, published.schema.roles))
    yield from rare
    yield marks_fit(manifest, [NOT_ANONYMOUS, *(remark.detail for remark in rare)], Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from identifiers_fit(manifest, published)
    yield from cells_fit(data["columns"], table)
    counted = published.schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET)
    yield from missing_fits(manifest, [(table, counted)])
    yield from _swapping(manifest, published)
    yield from attacks_fit(manifest)


def _swapping(manifest: Mapping[str, Any], published: Published) -> Iterable[Check]:
    """What is stated about the exchange is what the plan asks for, about columns that are there."""
    options, stated = manifest["plan"]["algorithm"], manifest["recoding"]
    yield same("share of rows that exchange values", stated["rate"], options["rate"])
    yield same("columns in which partners agree", dict(stated["within"]), dict(options.get("within", {})))
    every = [name for name in published.schema.quasi if stated["within"].get(name) != 0]
    yield same("columns that are exchanged", stated["columns"], list(options.get("columns") or every))
    names = [column.name for column in published.columns]
    strange = [name for name in (*stated["columns"], *stated["within"]) if name not in names]
    yield same("exchanged columns that are not published", strange, [])


def kept_exactly(
    before: pl.DataFrame, after: pl.DataFrame, swapped: Sequence[str], groups: pl.Series | None = None
) -> Iterable[Check]:
    """Whether rows hold the values of the original and no others: what is exchanged column by column, the rest whole.

    ``before`` and ``after`` have the same columns as texts, in any order of rows. ``groups`` numbers the groups of
    similar rows of ``before``; then ``after`` must have its rows in the same order, and every group keeps its values.
    """
    for name in swapped:
        yield _same_values(f"values of {name}", before.select(name), after.select(name))
        if groups is not None:
            original, other = (frame.select(name, pl.Series("\0group", groups)) for frame in (before, after))
            yield _same_values(f"values of {name} in every group", original, other)
    rest = [name for name in before.columns if name not in swapped]
    if rest:
        yield _same_values("columns that are not exchanged", before.select(rest), after.select(rest))


def _same_values(what: str, before: pl.DataFrame, after: pl.DataFrame) -> Check:
    names = before.columns
    counts = [frame.group_by(names).len("\0rows").sort(names, nulls_last=True) for frame in (before, after)]
    alike = counts[0].equals(counts[1])
    return Check(what=what, holds=alike, detail="those of the original" if alike else "others than in the original")


# Verifying pseudonymized rows: that nothing is claimed, that this is said, and that codes and aliases are such.
#
# That they are the right ones shows only beside the secret and the original.


PSEUDONYMIZED = (
    "values have codes and aliases, and no privacy model was verified: these rows are pseudonymized, not anonymous; "
    "order and frequencies stay, and the attacks below tell how much is read back by whoever knows a little"
)
"""The warning of every such release."""
ATTACKS = {"codes": "known-plaintext", "aliases": "frequency"}
"""The attack that every column of a form is put through."""


def graded_checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
    """The checks of a pseudonymized release."""
    table, data = tables[DATA], manifest["data"]
    published = Published.from_json(data)
    yield from formulas_escaped(manifest, [folder / str(data["file"])])
    yield from shape(folder, manifest, table)
    if not same_columns(manifest, table):
        return
    rare = list(near_unique_remarks(manifest, table, published.schema.roles))
    yield from rare
    yield marks_fit(manifest, [PSEUDONYMIZED, *(remark.detail for remark in rare)], Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from identifiers_fit(manifest, published)
    yield from cells_fit(data["columns"], table)
    counted = published.schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET)
    yield from missing_fits(manifest, [(table, counted)])
    yield from _pseudonyms(manifest, table)
    yield from attacks_fit(manifest)
    yield _attacked(manifest)


def _pseudonyms(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Every cell of a transformed column reads like a code, or like one of its aliases."""
    missing = list(manifest["data"]["missing"])
    for name, stated in manifest["recoding"]["columns"].items():
        if name not in table.names:
            yield Check(what=f"pseudonyms of {name}", holds=False, detail="the column is not published")
            continue
        texts = as_text(table.frame[name]).drop_nulls()
        strange = _strange(texts.filter(~texts.is_in(missing)).unique().sort(), name, stated)
        detail = f"no {stated['form']}: {listed(strange, most=3)}" if strange else f"{stated['form']} alone"
        yield Check(what=f"pseudonyms of {name}", holds=not strange, detail=detail)


def _strange(values: pl.Series, name: str, stated: Mapping[str, Any]) -> list[str]:
    if stated["form"] == "aliases":
        known = {f"{name}_{place}" for place in range(1, int(stated["aliases"]) + 1)}
        return [value for value in values.to_list() if value not in known]
    code = re.compile(rf"-?[0-9]+\.[0-9]{{{int(stated['digits'])}}}")
    return [value for value in values.to_list() if not code.fullmatch(value)]


def _attacked(manifest: Mapping[str, Any]) -> Check:
    """No column without its attack, where the plan does not leave attacks out."""
    attack_plan = manifest["plan"]["attack"]
    if not attack_plan["run"] or (attack_plan["attacks"] and "all" not in attack_plan["attacks"]):
        return Check(what="an attack for every column", holds=True, detail="the plan chose which are made")
    titles = [*(str(attack["attack"]) for attack in manifest["attacks"]), *manifest["attacks_not_made"]]
    due = [f"{ATTACKS[column['form']]} of {name}" for name, column in manifest["recoding"]["columns"].items()]
    bare = [attack for attack in due if not any(is_named(title, attack) for title in titles)]
    bare += [title for title in titles if not any(is_named(title, attack) for attack in due)]
    detail = f"not reported, or of no column: {listed(bare, most=3)}" if bare else f"{len(due)} columns"
    return Check(what="an attack for every column", holds=not bare, detail=detail)
