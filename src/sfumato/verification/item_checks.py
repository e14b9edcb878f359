"""Verifying a release of paths and sets: every set of known items, counted again from the written bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sfumato.bundle.claims import Claim
from sfumato.bundle.manifest import plain
from sfumato.data.itemized import set_column
from sfumato.data.table import Column, Table
from sfumato.describe.roles import Role
from sfumato.group.assembled import ItemPart, assembled
from sfumato.group.near_unique import unchanged
from sfumato.group.transactions import Secret, Transactions
from sfumato.models.item_model import ItemModel
from sfumato.verification.attack_figures import attacks_fit
from sfumato.verification.cell_checks import cells_fit
from sfumato.verification.checks import Check, Remark, rounded
from sfumato.verification.consistency import algorithm_fits, marks_fit
from sfumato.verification.missing_checks import missing_fits
from sfumato.verification.near_unique_remarks import near_unique_remarks
from sfumato.verification.released_file import formulas_escaped
from sfumato.verification.verifying import DATA, same_columns, shape
from sfumato.verification.within_labels import labels_apart
from sfumato.verification.written_items import ITEM_TYPES, items_written


class KnownItems(Protocol):
    """Whoever turns the manifest's names into models, and its plan into models."""

    def model(self, name: str, parameters: Mapping[str, Any]) -> ItemModel:
        """A model from its name and parameters."""

    def asked(self, plan: Mapping[str, Any], sensitive: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
        """The models, with parameters, that a manifest's plan asks for."""


def item_claim(model: ItemModel, parameters: Mapping[str, Any], records: Transactions) -> Claim:
    """A model judged on released records."""
    verdict = model.check_items(records)
    return Claim(
        model=model.name,
        parameters=parameters,
        holds=verdict.holds,
        sense=verdict.sense,
        limit=verdict.limit,
        reading="value",
        as_value=verdict.reached,
        as_wildcard=verdict.reached,
        classes_failing=len(verdict.failing),
        note=verdict.note,
    )


def released_records(table: Table, columns: Iterable[Mapping[str, Any]]) -> Transactions:
    """Released rows as sets of items: what stands in the quasi-identifiers, and nothing else."""
    parts = []
    for column in columns:
        if column["role"] != "quasi":
            continue
        name = str(column["name"])
        if column["type"] in ITEM_TYPES:
            found = set_column(table, name, separator=str(column["separator"]))
            parts.append(ItemPart(starts=found.starts, codes=found.codes, labels=found.labels))
        else:
            cells = table.column(name, "text")
            parts.append(ItemPart.of_cells(cells.codes, tuple(f"{name}={value}" for value in cells.values)))
    return assembled(parts)


def secret_of(column: Column) -> Secret:
    """A sensitive column; a missing value tells nothing."""
    codes = column.codes if column.missing is None else np.where(column.codes == column.missing, -1, column.codes)
    return Secret(name=column.name, codes=codes.astype(np.int32), values=column.present)


def item_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table], *, known: KnownItems
) -> Iterable[Check | Remark]:
    """The checks of a release of paths, sets and mixed records."""
    table = tables[DATA]
    yield from formulas_escaped(manifest, [folder / str(manifest["data"]["file"])])
    yield from shape(folder, manifest, table)
    if same_columns(manifest, table):
        roles = {str(one["name"]): Role(one["role"]) for one in manifest["data"]["columns"]}
        rare = list(near_unique_remarks(manifest, table, unchanged(roles)))
        yield from rare
        yield marks_fit(manifest, [*(one.detail for one in rare), *_due(manifest["plan"])], Check)
        yield algorithm_fits(manifest, Check)
        counted = [name for name, role in roles.items() if role in (Role.QUASI, Role.SENSITIVE, Role.TARGET)]
        itemized = [str(c["name"]) for c in manifest["data"]["columns"] if c["type"] in ITEM_TYPES]
        yield from missing_fits(manifest, [(table, counted)], itemized)
        yield from _claims(manifest, table, known)
        yield from items_written(manifest, table)
        yield from labels_apart(manifest, table)


def _claims(manifest: Mapping[str, Any], table: Table, known: KnownItems) -> Iterable[Check]:
    """Claims are recomputed and are what the plan asks for; roles, counts and figures fit together."""
    columns, plan = manifest["data"]["columns"], manifest["plan"]
    yield from _roles(columns, plan)
    yield from cells_fit([one for one in columns if one["type"] not in ITEM_TYPES], table)
    records = released_records(table, columns)
    sensitive = tuple(str(one["name"]) for one in columns if one["role"] == "sensitive")
    for stated in manifest["claims"]:
        model = known.model(stated["model"], stated["parameters"])
        looked_at = records
        if model.columns:
            name = model.columns[0]
            if name not in sensitive:
                raise ValueError(f"claim about {name!r}, which is not a sensitive column of the release")
            looked_at = replace(records, secret=secret_of(table.column(name, "text")))
        found = plain(item_claim(model, stated["parameters"], looked_at).to_json())
        same = rounded(found) == rounded(stated)
        detail = f"required {found['sense']} {found['limit']:g}, reached {found['reached']:.6g}"
        if not found["holds"]:
            detail += f"; {found['classes_failing']:,} sets of known items fail"
        elif not same:
            detail += f"; the manifest states {stated.get('reached')}, holds: {stated.get('holds')}"
        yield Check(what=f"claim {stated['model']}", holds=bool(found["holds"]) and same, detail=detail)
    asked = plain(known.asked(plan, sensitive))
    mine = [[one["model"], one["parameters"]] for one in manifest["claims"]]
    yield Check(what="claims are what the plan asks for", holds=asked == plain(mine), detail=f"{len(mine)} claims")
    yield from _counts(manifest, records, columns, table)
    yield from attacks_fit(manifest)
    yield from _attacked(manifest, records, sensitive)


def _attacked(manifest: Mapping[str, Any], records: Transactions, sensitive: Sequence[str]) -> Iterable[Check]:
    """Attackers who know one item to four, and as many as the claims allow, but no more than a released record has."""
    asked = manifest["plan"]["attack"]
    if not asked["run"] or (asked["attacks"] and not {"all", SPARSE} & {*asked["attacks"]}):
        return
    longest = max(int(np.diff(records.starts).max(initial=0)), 1)
    promised = {int(claim["parameters"].get(key, 0)) for claim in manifest["claims"] for key in ("l", "m")}
    sizes = {n for n in {1, 2, 3, 4} | {n for n in promised if 0 < n <= MAX_KNOWN} if n <= longest}
    titles = {*(str(attack["attack"]) for attack in manifest["attacks"]), *manifest["attacks_not_made"]}
    due = {f"{SPARSE}, {n} known" for n in sizes}
    due |= {
        f"{SPARSE}, {n} known, {c}"
        for n in sizes
        for c in sensitive
        if f"{SPARSE}, {n} known" not in manifest["attacks_not_made"]
    }
    beyond = {title for title in titles if (size := _KNOWN.match(title)) and int(size[1]) not in sizes}
    detail = f"not reported, or of items that no record has: {sorted((due - titles) | beyond)[:3]}"
    fits = due <= titles and not beyond
    yield Check(what="attackers who know items", holds=fits, detail=f"{len(sizes)} of them" if fits else detail)


SPARSE = "sparse"
"""The attack that looks for a record by known items."""
MAX_KNOWN = 20
"""A promise about more known items than this is not tried."""
_KNOWN = re.compile(rf"{SPARSE}, (\d+) known")
LOCAL = "items may be left out of single records: supports of sets and sequences are not those of the original"
SPLIT = "a record is one window of somebody's path, and one person can have several: the requirement counts records"
RECODED = (
    "an item may stand as itself in one record and as something coarser in another: count every label that covers it"
)
"""Warnings that belong to a release by how it was made."""
LOCAL_SETS = "local-sets"
"""The algorithm that shows an item differently in different records."""


def _due(plan: Mapping[str, Any]) -> list[str]:
    """The warnings that follow from a plan."""
    local = plan["algorithm"].get("scope") == "local"
    recoded = plan["algorithm"]["name"] == LOCAL_SETS
    split = any(spec.get("record") == "window" for spec in plan["columns"].values())
    return [mark for mark, due in ((LOCAL, local), (RECODED, recoded), (SPLIT, split)) if due]


def _roles(columns: list[Mapping[str, Any]], plan: Mapping[str, Any]) -> Iterable[Check]:
    planned = plan["columns"]
    keyed = {name for name, spec in planned.items() if spec.get("pseudonym") == "keyed"}
    open_names = [c["name"] for c in columns if c["role"] in ("identifier", "drop") and c["name"] not in keyed]
    yield Check(what="identifiers that are published openly", holds=not open_names, detail=str(open_names or "none"))
    keys = ("role", "type", "separator", "mark")
    wrong = [
        c["name"]
        for c in columns
        if c["type"] not in (*ITEM_TYPES, "text")
        or any(
            planned[c["name"]].get(k) not in (None, c.get(k)) for k in (keys if c["type"] in ITEM_TYPES else keys[:1])
        )
    ]
    yield Check(what="roles of the columns", holds=not wrong, detail=str(wrong or "as planned"))


def _counts(
    manifest: Mapping[str, Any], records: Transactions, columns: list[Mapping[str, Any]], table: Table
) -> Iterable[Check]:
    """The stated numbers of items and entries are those of the file."""
    stated = manifest["recoding"]["columns"]
    names = [c["name"] for c in columns if c["role"] == "quasi"]
    yield Check(what="columns that are recoded", holds=sorted(stated) == sorted(names), detail=f"{len(names)} columns")
    for column in columns:
        if column["role"] != "quasi" or column["name"] not in stated:
            continue
        alone = released_records(table, [column])
        here, supports = stated[column["name"]], alone.supports()
        seen = {"shown": int((supports > 0).sum()), "entries": len(alone.codes)}
        told = {key: here[key] for key in seen}
        prefix = "" if column["type"] in ITEM_TYPES else f"{column['name']}="
        coarser = set(here["coarser"]) <= {label.removeprefix(prefix) for label in alone.labels}
        coarser = coarser and here["coarser"] == sorted(set(here["coarser"]))
        planned = manifest["plan"]["columns"][column["name"]]
        risen = coarser and (not here["coarser"] or "hierarchy" in planned or "time_hierarchy" in planned)
        kind = here["kind"] == (column["type"] if column["type"] in ITEM_TYPES else "table")
        yield Check(what=f"items of {column['name']}", holds=seen == told and risen and kind, detail=str(seen))
