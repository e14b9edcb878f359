"""Verifies paths and sets: item order, covering labels, and every set of known items."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.provenance import Check, Remark, rounded
from sfumato.bundles.verify import DATA
from sfumato.core.claims import Claim
from sfumato.counts.near_unique import unchanged
from sfumato.counts.transactions import ItemPart, Secret, Transactions, assembled
from sfumato.models.item_models import ItemModel
from sfumato.tables.item_sets import Tokens, set_column, tokens
from sfumato.tables.labels import read_interval
from sfumato.tables.schema import Role
from sfumato.tables.table import TEXTS, Column, Table
from sfumato.tables.times import moment

# Labels that stand for other labels of the same file: a record never shows two of which one covers the other.


def labels_apart(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Where an item is shown differently in different records, what is stated of its labels is a forest.

    Every label that lies within another is shown, the wider one is shown and coarser, and no record shows both: an item
    beside what covers it would tell that the wider label stands for something else.
    """
    for column in manifest["data"]["columns"]:
        stated = manifest["recoding"]["columns"].get(column["name"], {})
        if column["role"] == "quasi" and "within" in stated:
            wrong = _wrong(stated["within"], frozenset(stated["coarser"]), table, column)
            yield Check(what=f"labels within labels of {column['name']}", holds=not wrong, detail=wrong or "apart")


def _wrong(within: Mapping[str, str], coarser: frozenset[str], table: Table, column: Mapping[str, Any]) -> str:
    if column["type"] != "set":
        return _unknown(within, coarser, frozenset(table.column(str(column["name"]), "text").values))
    items = set_column(table, str(column["name"]), separator=str(column["separator"]))
    wrong = _unknown(within, coarser, frozenset(items.labels))
    if wrong:
        return wrong
    code = {label: place for place, label in enumerate(items.labels)}
    rows = np.repeat(np.arange(len(items.starts) - 1, dtype=np.int64), np.diff(items.starts))
    keys = np.sort(rows * len(code) + items.codes)
    over = np.full(len(code), -1, np.int64)
    for label, wider in within.items():
        over[code[label]] = code[wider]
    above = over[items.codes]
    while (above >= 0).any():
        some = above >= 0
        wanted = rows[some] * len(code) + above[some]
        both = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        if both.any():
            return f"a record shows {items.labels[int(above[some][np.argmax(both)])]!r} beside what it covers"
        above[some] = over[above[some]]
    return ""


def _unknown(within: Mapping[str, str], coarser: frozenset[str], labels: frozenset[str]) -> str:
    """A label that is not shown, a wider one that is not coarser, or a ring of them."""
    for label, wider in within.items():
        if label not in labels or wider not in labels or wider not in coarser:
            return f"{label!r} within {wider!r}: both must be shown, and the wider one coarser"
        seen, up = {label}, wider
        while up in within and up not in seen:
            seen.add(up)
            up = within[up]
        if up in seen:
            return f"{label!r} lies within itself"
    return ""


# How released paths and sets are written: one order of items for all records, and no path goes back in time.
#
# Models see sets. A reader sees texts: two orders of the same items, a blank or an item twice would tell records apart
# that the models take for alike.


ITEM_TYPES = ("set", "trajectory")
_CLOCKED = ("intervals", "quantiles", "dates")
"""Hierarchies of times whose labels say when; what a node of a tree is called says nothing about its place in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """From when to when something happened; the end belongs to it only if it is closed."""

    kind: str
    low: Any
    high: Any
    closed: bool = True


def items_written(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Every column of paths or sets has one order of items; paths follow the clock, with one place at a time."""
    for column in manifest["data"]["columns"]:
        if column["role"] != "quasi" or column["type"] not in ITEM_TYPES:
            continue
        name = str(column["name"])
        item_tokens = tokens(table, name, str(column["separator"]))
        wrong = _blanks(table, name, item_tokens) or _disorder(item_tokens)
        if not wrong and column["type"] == "trajectory":
            tree = manifest["plan"]["columns"][name].get("time_hierarchy")
            coarser = frozenset(manifest["recoding"]["columns"][name]["coarser"])
            wrong = _against_the_clock(item_tokens, str(column["mark"]), tree, coarser)
        yield Check(what=f"items of {name} as they are written", holds=not wrong, detail=wrong or "in one order")


def _blanks(table: Table, name: str, tokens: Tokens) -> str:
    """A text that differs from its items by blanks alone."""
    cells = table.frame[name]
    texts = cells.cast(pl.String) if cells.dtype in TEXTS else None
    around = texts is not None and bool((texts != texts.str.strip_chars()).any())
    return "blanks around items" if around or tokens.texts.n_unique() < len(tokens.texts) else ""


def _disorder(tokens: Tokens) -> str:
    """Two records that write the same items in two orders, or one that has an item twice."""
    inside = np.ones(max(len(tokens.codes) - 1, 0), np.bool_)
    ends = tokens.starts[1:-1]
    inside[ends[(ends > 0) & (ends < len(tokens.codes))] - 1] = False
    pairs = np.unique(np.stack([tokens.codes[:-1], tokens.codes[1:]], axis=1)[inside], axis=0)
    waiting = np.bincount(pairs[:, 1], minlength=len(tokens.texts)) if len(pairs) else np.zeros(0, np.int64)
    after: dict[int, list[int]] = {}
    for first, then in pairs.tolist():
        after.setdefault(first, []).append(then)
    free = [code for code in range(len(waiting)) if not waiting[code]]
    while free:
        for then in after.pop(free.pop(), ()):
            waiting[then] -= 1
            if not waiting[then]:
                free.append(then)
    return f"no order of items fits all records: {tokens.texts[min(after)]!r} stands before and after" if after else ""


def _against_the_clock(tokens: Tokens, mark: str, tree: str | None, coarser: Collection[str]) -> str:
    """A reading that lies wholly before one that is written earlier, or a second place at the same moment."""
    texts = tokens.texts.to_list()
    read = [_when(text, mark, readable=tree in (None, *_CLOCKED) or text not in coarser) for text in texts]
    kind = next(iter(Counter(reading.kind for reading in read if reading is not None).most_common(1)), ("", 0))[0]
    known = [reading if reading is not None and reading.kind == kind else None for reading in read]
    lows = sorted({reading.low for reading in known if reading is not None})
    begins = np.array([0 if reading is None else bisect_left(lows, reading.low) + 1 for reading in known], np.int64)
    limits = np.array([len(lows) + 1 if reading is None else _limit(lows, reading) for reading in known], np.int64)
    rows = np.repeat(np.arange(len(tokens.starts) - 1), np.diff(tokens.starts))
    width = len(lows) + 2
    latest = np.maximum.accumulate(rows * width + begins[tokens.codes]) - rows * width if len(rows) else rows
    back = (rows[1:] == rows[:-1]) & (latest[:-1] >= limits[tokens.codes[1:]])
    if back.any():
        return f"{tokens.where(int(np.argmax(back)) + 1)} goes back in time"
    return _twice_at_once(tokens, rows, begins, _exact(texts, known, tree, coarser), width)


def _limit(lows: list[Any], reading: When) -> int:
    """From which rank of beginnings on a reading lies wholly before."""
    return (bisect_right(lows, reading.high) if reading.closed else bisect_left(lows, reading.high)) + 1


def _exact(texts: list[str], known: list[When | None], tree: str | None, coarser: Collection[str]) -> NDArray[np.bool_]:
    """Which readings tell the moment itself."""
    return np.array(
        [
            reading is not None and reading.low == reading.high and (tree is None or text not in coarser)
            for text, reading in zip(texts, known, strict=True)
        ],
        np.bool_,
    )


def _twice_at_once(
    tokens: Tokens, rows: NDArray[np.int64], begins: NDArray[np.int64], exact: NDArray[np.bool_], width: int
) -> str:
    """A person who is read at two places at the same moment."""
    places = np.flatnonzero(exact[tokens.codes]) if len(exact) else np.zeros(0, np.int64)
    keys = rows[places] * width + begins[tokens.codes[places]]
    again = np.flatnonzero(keys[1:] == keys[:-1])
    return f"{tokens.where(int(places[again[0] + 1]))} is a second place at the same time" if len(again) else ""


def _when(text: str, mark: str, *, readable: bool) -> When | None:
    """When a reading was, as far as its label tells."""
    time = text.rpartition(mark)[2].strip()
    instant = moment(time) if readable else None
    if instant is not None:
        return When(kind=instant[0], low=instant[1], high=instant[1])
    interval = read_interval(time) if readable else None
    if interval is None:
        return None
    return When(kind="number", low=interval.low, high=interval.high, closed=interval.closed)


# Verifying a release of paths and sets: every set of known items, counted again from the written bytes.


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
            items = set_column(table, name, separator=str(column["separator"]))
            parts.append(ItemPart(starts=items.starts, codes=items.codes, labels=items.labels))
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
    roles = {str(column["name"]): Role(column["role"]) for column in manifest["data"]["columns"]}
    rare = list(near_unique_remarks(manifest, table, unchanged(roles)))
    yield from rare
    yield marks_fit(manifest, [*(remark.detail for remark in rare), *_due(manifest["plan"])], Check)
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
    yield from cells_fit([column for column in columns if column["type"] not in ITEM_TYPES], table)
    records = released_records(table, columns)
    sensitive = tuple(str(column["name"]) for column in columns if column["role"] == "sensitive")
    for stated in manifest["claims"]:
        model = known.model(stated["model"], stated["parameters"])
        looked_at = records
        if model.columns:
            name = model.columns[0]
            if name not in sensitive:
                raise ValueError(f"claim about {name!r}, which is not a sensitive column of the release")
            looked_at = replace(records, secret=secret_of(table.column(name, "text")))
        actual = plain(item_claim(model, stated["parameters"], looked_at).to_json())
        same = rounded(actual) == rounded(stated)
        detail = f"required {actual['sense']} {actual['limit']:g}, reached {actual['reached']:.6g}"
        if not actual["holds"]:
            detail += f"; {actual['classes_failing']:,} sets of known items fail"
        elif not same:
            detail += f"; the manifest states {stated.get('reached')}, holds: {stated.get('holds')}"
        yield Check(what=f"claim {stated['model']}", holds=bool(actual["holds"]) and same, detail=detail)
    expected = plain(known.asked(plan, sensitive))
    mine = [[claim["model"], claim["parameters"]] for claim in manifest["claims"]]
    yield Check(what="claims are what the plan asks for", holds=expected == plain(mine), detail=f"{len(mine)} claims")
    yield from _counts(manifest, records, columns, table)
    yield from attacks_fit(manifest)
    yield from _attacked(manifest, records, sensitive)


def _attacked(manifest: Mapping[str, Any], records: Transactions, sensitive: Sequence[str]) -> Iterable[Check]:
    """Attackers who know one item to four, and as many as the claims allow, but no more than a released record has."""
    attack_plan = manifest["plan"]["attack"]
    if not attack_plan["run"] or (attack_plan["attacks"] and not {"all", SPARSE} & {*attack_plan["attacks"]}):
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
        stated_counts = {key: here[key] for key in seen}
        prefix = "" if column["type"] in ITEM_TYPES else f"{column['name']}="
        coarser = set(here["coarser"]) <= {label.removeprefix(prefix) for label in alone.labels}
        coarser = coarser and here["coarser"] == sorted(set(here["coarser"]))
        planned = manifest["plan"]["columns"][column["name"]]
        risen = coarser and (not here["coarser"] or "hierarchy" in planned or "time_hierarchy" in planned)
        kind = here["kind"] == (column["type"] if column["type"] in ITEM_TYPES else "table")
        yield Check(what=f"items of {column['name']}", holds=seen == stated_counts and risen and kind, detail=str(seen))
