"""Verifying pseudonymized rows: that nothing is claimed, that this is said, and that codes and aliases are such.

That they are the right ones shows only beside the secret and the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundle.attack_titles import is_named
from sfumato.bundle.published import Published
from sfumato.data.table import Table, as_text
from sfumato.describe.roles import Role
from sfumato.ground.errors import listed
from sfumato.verification.attack_figures import attacks_fit
from sfumato.verification.cell_checks import cells_fit
from sfumato.verification.checks import Check, Remark, same
from sfumato.verification.consistency import algorithm_fits, marks_fit
from sfumato.verification.missing_checks import missing_fits
from sfumato.verification.near_unique_remarks import near_unique_remarks
from sfumato.verification.released_file import formulas_escaped
from sfumato.verification.table_checks import identifiers_fit
from sfumato.verification.verifying import DATA, same_columns, shape

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
    yield marks_fit(manifest, [PSEUDONYMIZED, *(one.detail for one in rare)], Check)
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
        told = f"no {stated['form']}: {listed(strange, most=3)}" if strange else f"{stated['form']} alone"
        yield Check(what=f"pseudonyms of {name}", holds=not strange, detail=told)


def _strange(values: pl.Series, name: str, stated: Mapping[str, Any]) -> list[str]:
    if stated["form"] == "aliases":
        known = {f"{name}_{place}" for place in range(1, int(stated["aliases"]) + 1)}
        return [value for value in values.to_list() if value not in known]
    code = re.compile(rf"-?[0-9]+\.[0-9]{{{int(stated['digits'])}}}")
    return [value for value in values.to_list() if not code.fullmatch(value)]


def _attacked(manifest: Mapping[str, Any]) -> Check:
    """No column without its attack, where the plan does not leave attacks out."""
    asked = manifest["plan"]["attack"]
    if not asked["run"] or (asked["attacks"] and "all" not in asked["attacks"]):
        return Check(what="an attack for every column", holds=True, detail="the plan chose which are made")
    told = [*(str(one["attack"]) for one in manifest["attacks"]), *manifest["attacks_not_made"]]
    due = [f"{ATTACKS[one['form']]} of {name}" for name, one in manifest["recoding"]["columns"].items()]
    bare = [one for one in due if not any(is_named(title, one) for title in told)]
    bare += [title for title in told if not any(is_named(title, one) for one in due)]
    detail = f"not reported, or of no column: {listed(bare, most=3)}" if bare else f"{len(due)} columns"
    return Check(what="an attack for every column", holds=not bare, detail=detail)
