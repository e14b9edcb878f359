"""Verifies rows about which nothing is claimed: that this is said, and that they are what the plan asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.checks.table import identifiers_fit
from sfumato.bundles.columns import Published
from sfumato.bundles.manifest.sections import is_named
from sfumato.bundles.provenance import Check, Remark, same
from sfumato.bundles.verify import DATA
from sfumato.core.errors import listed
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_text


def unclaimed_checks(
    folder: Path,
    manifest: Mapping[str, Any],
    tables: Mapping[str, Table],
    warning: str,
    own: Callable[[Mapping[str, Any], Table], Iterable[Check]],
) -> Iterable[Check | Remark]:
    """The checks of every such release, with its own; ``warning`` is what it must say first."""
    table, data = tables[DATA], manifest["data"]
    published = Published.from_json(data)
    rare = list(near_unique_remarks(manifest, table, published.schema.roles))
    yield from rare
    yield marks_fit(manifest, [warning, *(remark.detail for remark in rare)], Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from identifiers_fit(manifest, published)
    yield from cells_fit(data["columns"], table)
    counted = published.schema.named(Role.QUASI, Role.SENSITIVE, Role.TARGET)
    yield from missing_fits(manifest, [(table, counted)])
    yield from attacks_fit(manifest)
    yield from own(manifest, table)


# Exchanged values. That they were exchanged and not invented shows only beside the original: ``kept_exactly`` compares
# the two.


NOT_ANONYMOUS = (
    "values were exchanged between records and no privacy model was verified: these rows are not anonymous, and rows "
    "whose values were not exchanged are true"
)
"""The warning of every such release."""


def swap_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """What is stated about the exchange is what the plan asks for, about columns that are there."""
    published = Published.from_json(manifest["data"])
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


# Pseudonymized rows. That codes and aliases are the right ones shows only beside the secret and the original.


PSEUDONYMIZED = (
    "values have codes and aliases, and no privacy model was verified: these rows are pseudonymized, not anonymous; "
    "order and frequencies stay, and the attacks below tell how much is read back by whoever knows a little"
)
"""The warning of every such release."""
ATTACKS = {"codes": "known-plaintext", "aliases": "frequency"}
"""The attack that every column of a form is put through."""


def pseudonym_checks(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Every cell of a transformed column reads like a code, or like one of its aliases; and each is attacked."""
    missing = list(manifest["data"]["missing"])
    for name, stated in manifest["recoding"]["columns"].items():
        if name not in table.names:
            yield Check(what=f"pseudonyms of {name}", holds=False, detail="the column is not published")
            continue
        texts = as_text(table.frame[name]).drop_nulls()
        strange = _strange(texts.filter(~texts.is_in(missing)).unique().sort(), name, stated)
        detail = f"no {stated['form']}: {listed(strange, most=3)}" if strange else f"{stated['form']} alone"
        yield Check(what=f"pseudonyms of {name}", holds=not strange, detail=detail)
    yield _attacked(manifest)


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
