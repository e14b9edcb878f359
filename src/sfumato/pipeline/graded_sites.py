"""Graded grouping at several sites: their parts joined, and a miner's results translated back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.verify import tables_of, untouched
from sfumato.core.errors import BundleError, ClaimRefuted, DataError, ParameterError, PlanError, listed
from sfumato.core.input_files import read_text
from sfumato.core.strict_parsing import read_json, read_toml
from sfumato.mining.association_rules import SEPARATOR
from sfumato.mining.document_json import KIND as TREE
from sfumato.mining.document_json import tree_of
from sfumato.mining.rule_document import KIND as RULES
from sfumato.mining.rule_document import read_rules
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.verification import verify
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import AliasTable, GradedNumbers, GradedSecret, translated
from sfumato.tables.table import Table, as_text

# Graded grouping from file to file: a site's own plan, the parts of several sites joined, and what verifies both.


def new_secret(path: Path) -> GradedSecret:
    """A secret for the terms in a TOML file with [columns]."""
    try:
        tree = read_toml(read_text(path))
    except OSError as error:
        raise PlanError(f"the terms {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise PlanError(f"the terms {path} are not valid TOML: {error}") from error
    for key in tree:
        if key != "columns":
            raise PlanError(f"{path}: {key} is not known; terms have [columns] alone")
    try:
        return GradedSecret.new(read_terms(tree.get("columns")))
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from None


def plan_for(data: Path, secret: Path, *, drop: Sequence[str] = (), missing: Sequence[str] = ()) -> Plan:
    """The plan that transforms the agreed columns of a file, and shows the others as they are but for those dropped."""
    agreed, names = GradedSecret.load(secret).terms, read_file(data).names
    for name in drop:
        if name in agreed:
            raise PlanError(f"--drop {name}: the sites agreed on this column")
        if name not in names:
            raise PlanError(f"--drop {name}: {data} has no such column; it has {listed(names)}")
    roles = {name: "sensitive" if name in agreed else "drop" if name in drop else "keep" for name in names}
    return Plan.parse(
        {
            "input": {"path": str(data.resolve()), "missing": list(missing)},
            "columns": {name: {"role": role} for name, role in roles.items()},
            "algorithm": {"name": "graded", "secret": str(secret.resolve())},
        }
    )


def joined(folders: Sequence[Path]) -> pl.DataFrame:
    """The rows of several sites' bundles as one table: each verified, all of one agreement, none of them twice."""
    if len(folders) < 2:
        raise BundleError("name the bundles of at least two sites")
    parts = [(folder, *_part(folder)) for folder in folders]
    first, first_manifest, _ = parts[0]
    for place, (folder, manifest, _) in enumerate(parts[1:], 1):
        if manifest["recoding"]["agreement"] != first_manifest["recoding"]["agreement"]:
            raise BundleError(f"{folder} and {first} are of different agreements; their codes and aliases do not fit")
        for what in ("columns", "missing"):
            if manifest["data"][what] != first_manifest["data"][what]:
                raise BundleError(f"{folder} and {first} differ in data.{what}; sites must publish the same columns")
        for other, before, _ in parts[:place]:
            if before["data"]["sha256"] == manifest["data"]["sha256"]:
                raise BundleError(f"{folder} and {other} have the same rows, which would count twice")
    return pl.concat([frame.select(map(as_text, frame.iter_columns())) for _, _, frame in parts])


def _part(folder: Path) -> tuple[dict[str, Any], pl.DataFrame]:
    manifest = untouched(folder)
    if manifest["kind"] != "graded":
        raise BundleError(f"{folder} is a bundle of the kind {manifest['kind']!r}; those of graded grouping are joined")
    if (wrong := verify(folder).wrong) is not None:
        raise ClaimRefuted(f"{folder} does not hold: {wrong.what} ({wrong.detail}); nothing was joined")
    return dict(manifest), rows_of(folder, manifest).frame


def rows_of(folder: Path, manifest: Any) -> Table:
    """The rows of a bundle."""
    table: Table = tables_of(folder, manifest)["data"]
    return table


# A miner's results translated at a site: aliases become values again, codes numbers, in rules, trees, centres, tables.
#
# What is exact: aliases, items of rules, cells that are codes, and ends of intervals that are codes. Other numbers on
# the scale of codes, such as centres, become the number at the same place of the same range. Where ranges are uniform
# and their values follow each other, the codes are one straight line of the numbers, and so means are means again;
# elsewhere a mean of codes is not the code of a mean.


SIDES = ("antecedent", "consequent")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Interpreted:
    """A result in the words of the original."""

    what: str
    """What it is: "rules", "a tree", "centres", "rows"."""
    documents: tuple[Document, ...] = ()
    """JSON documents, where it is such."""
    frame: pl.DataFrame | None = None
    """A table, where it is one."""


def interpret(path: Path, secret: GradedSecret, *, missing: Iterable[str] = ()) -> Interpreted:
    """A file or bundle of a miner, translated; what is of another agreement, or of no known form, is refused."""
    if path.is_dir():
        return _bundle(path, secret)
    if path.suffix == ".json":
        return _documents(_lines(path), secret, str(path))
    return _table(read_file(path).frame, secret, tuple(missing), str(path))


def _bundle(folder: Path, secret: GradedSecret) -> Interpreted:
    manifest = untouched(folder)
    if manifest["kind"] == "graded":
        if manifest["recoding"]["agreement"] != secret.agreement:
            raise BundleError(f"{folder} is of another agreement than this secret")
        return _table(rows_of(folder, manifest).frame, secret, tuple(manifest["data"]["missing"]), str(folder))
    file = folder / str(manifest["data"]["file"])
    if file.suffix != ".json":
        raise BundleError(f"{folder}: a bundle of the kind {manifest['kind']!r} cannot be interpreted")
    return _documents(_lines(file), secret, str(folder))


def _lines(path: Path) -> list[Any]:
    """The document of a file, or several, one a line."""
    try:
        text = read_text(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    if not text.strip():
        raise DataError(f"{path} is empty")
    try:
        return [read_json(text)]
    except ValueError as error:
        try:
            return [read_json(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise DataError(f"{path} is not acceptable JSON: {error}") from None


def _documents(documents: list[Any], secret: GradedSecret, where: str) -> Interpreted:
    translations, what = [], ""
    for document in documents:
        form = next((form for form in FORMS if isinstance(document, dict) and form.fits(document)), None)
        if form is None:
            known = listed([form.what for form in FORMS])
            raise DataError(f"{where}: this document is none of those that can be interpreted: {known}, or a table")
        try:
            translations.append(form.read(document, secret))
        except ParameterError as error:
            raise DataError(f"{where}: {error}; is it of another agreement?") from None
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise DataError(f"{where}: the document is broken: {error!r}") from None
        what = form.what
    return Interpreted(what=what, documents=tuple(translations))


def _table(frame: pl.DataFrame, secret: GradedSecret, missing: tuple[str, ...], where: str) -> Interpreted:
    """Rules by their sides, other tables by the names of their columns."""
    if not frame.height:
        raise DataError(f"{where} has no rows")
    if set(SIDES) <= set(frame.columns):
        sides = [_side(frame[name], secret, where) for name in SIDES]
        return Interpreted(what="rules", frame=frame.with_columns(sides))
    agreed = [name for name in frame.columns if name in secret.columns]
    if not agreed:
        raise DataError(f"{where} has none of the agreed columns {listed(secret.columns)}")
    cells = [translated(frame[name], secret.columns[name].behind, (*missing, ""), where) for name in agreed]
    filled = [series.fill_null(missing[0] if missing else "") if series.null_count() else series for series in cells]
    return Interpreted(what="rows", frame=frame.with_columns(filled))


def _side(cells: pl.Series, secret: GradedSecret, where: str) -> pl.Series:
    """One side of rules: lists of items, or texts of them."""
    listed_ = cells.dtype == pl.List(pl.String)
    try:
        item_lists = [items_behind(cell if listed_ else str(cell).split(SEPARATOR), secret) for cell in cells.to_list()]
    except ParameterError as error:
        raise DataError(f"{where}, column {cells.name!r}: {error}; is it of another agreement?") from None
    if listed_:
        return pl.Series(cells.name, item_lists, dtype=pl.List(pl.String))
    return pl.Series(cells.name, [SEPARATOR.join(items) for items in item_lists], dtype=pl.String)


def items_behind(items: Iterable[str], secret: GradedSecret) -> list[str]:
    """The items of a rule or set in the words of the original."""
    return [_item(item, secret) for item in items]


def _item(item: str, secret: GradedSecret) -> str:
    """``column=alias`` as ``column=value``; items of other columns stay."""
    names = [name for name in secret.columns if item.startswith(f"{name}=")]
    if not names:
        return item
    name = max(names, key=len)
    return f"{name}={secret.columns[name].behind(item[len(name) + 1 :])}"


def _rule(rule: Mapping[str, Any], secret: GradedSecret) -> Document:
    return {**rule, **{side: items_behind(rule[side], secret) for side in SIDES}}


def _rules(document: Document, secret: GradedSecret) -> Document:
    """Association rules, as a session or ``sfumato rules --json`` has them, with their frequent sets."""
    key = "strongest" if "strongest" in document else "rules"
    translation = {**document, key: [_rule(rule, secret) for rule in document[key]]}
    if "sets" in document:
        translation["sets"] = [
            {**itemset, "items": items_behind(itemset["items"], secret)} for itemset in document["sets"]
        ]
    return translation


def _centres(document: Document, secret: GradedSecret) -> Document:
    """Centres of clusters, as a session has them: the columns, then how many records."""
    readers = [_real(secret.columns.get(name)) for name in document["columns"]]
    rows = [[read(x) for read, x in zip(readers, row, strict=True)] for row in document["clusters"]]
    translation = {**document, "clusters": rows}
    if "squared distances" in translation:
        translation["squared distances of codes"] = translation.pop("squared distances")
    return translation


def _real(column: object) -> Callable[[Any], Any]:
    if not isinstance(column, GradedNumbers):
        return lambda x: x
    return lambda x: float(column.grouping.behind(repr(x)))


def tree_behind(document: Document, secret: GradedSecret) -> Document:
    """A decision tree: domains, edges and classes."""
    tree_of(document)
    splits = [node.get("split") for node in document["nodes"]]
    nodes = []
    for node in document["nodes"]:
        translation = dict(node)
        if "edge" in node:
            translation["edge"] = _label(secret.columns.get(splits[node["parent"]]), node["edge"])
        nodes.append(_classed(translation, document, secret))
    translation = {**document, **_head(document, secret), "nodes": nodes}
    tree_of(translation)
    return translation


def _classifying(document: Document, secret: GradedSecret) -> Document:
    """Classification rules: conditions and classes."""
    read_rules(json.dumps(document))
    rules = []
    for rule in document["rules"]:
        conditions = {name: _label(secret.columns.get(name), label) for name, label in rule["if"].items()}
        rules.append(_classed({**rule, "if": conditions}, document, secret))
    translation = {**document, **_head(document, secret), "rules": rules}
    read_rules(json.dumps(translation))
    return translation


def _head(document: Document, secret: GradedSecret) -> Document:
    target = document["target"]
    classes = secret.columns.get(target["name"])
    values = target["values"] if classes is None else [classes.behind(value) for value in target["values"]]
    attributes = [_attribute(attribute, secret.columns.get(attribute["name"])) for attribute in document["attributes"]]
    return {"target": {**target, "values": values}, "attributes": attributes}


def _attribute(attribute: Document, column: object) -> Document:
    if isinstance(column, AliasTable):
        return {**attribute, "values": [column.behind(value) for value in attribute["values"]]}
    if isinstance(column, GradedNumbers):
        (low, high), rest = (
            _ends(column, [attribute["low"], attribute["high"]]),
            {k: v for k, v in attribute.items() if k != "grid"},
        )
        return {**rest, "low": low, "high": high}
    return attribute


def _classed(entry: Document, document: Document, secret: GradedSecret) -> Document:
    column = secret.columns.get(document["target"]["name"])
    return entry if column is None or "class" not in entry else {**entry, "class": column.behind(entry["class"])}


def _label(column: object, label: list[Any]) -> list[Any]:
    if isinstance(column, AliasTable):
        return [column.behind(value) for value in label]
    if isinstance(column, GradedNumbers):
        return [_ends(column, pair) for pair in label]
    return label


def _ends(column: GradedNumbers, pair: list[Any]) -> list[float]:
    """The ends of an interval of codes; beyond all codes they are the ends of the column."""
    grouping = column.grouping
    least, most = grouping.values[0], grouping.values[-1] + 1
    if pair[1] < least or pair[0] > most:
        raise ParameterError(f"{column.name}: nothing between {pair[0]} and {pair[1]} is a code")
    return [float(column.behind(repr(min(max(end, least), most)))) for end in pair]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A form of documents that can be translated."""

    what: str
    """What messages call it."""
    fits: Callable[[Document], bool]
    """Whether a document has it."""
    read: Callable[[Document, GradedSecret], Document]
    """The translation."""


FORMS = (
    Form(what="a tree", fits=lambda document: document.get("document") == TREE, read=tree_behind),
    Form(what="classification rules", fits=lambda document: document.get("document") == RULES, read=_classifying),
    Form(
        what="rules",
        fits=lambda document: "strongest" in document or isinstance(document.get("rules"), list),
        read=_rules,
    ),
    Form(what="centres", fits=lambda document: "clusters" in document and "columns" in document, read=_centres),
)
"""In the order in which they are tried."""
