"""Verifies a sanitized release: commitments to hidden rules, and supports from the bytes."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.checks.items import items_written
from sfumato.bundles.provenance import Check, Remark, same
from sfumato.bundles.verify import DATA
from sfumato.core.errors import ParameterError, PlanError
from sfumato.core.input_files import read_text
from sfumato.core.strict_parsing import read_toml
from sfumato.counts.near_unique import unchanged
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Holders, Transactions
from sfumato.tables.item_sets import set_column
from sfumato.tables.schema import Role
from sfumato.tables.table import Table

# Sensitive sets and rules in a file of the steward, and commitments to them that tell nobody else which they are.
#
# The manifest of a release holds one commitment for each: an HMAC-SHA-256 under the steward's key, bound to the bytes
# of the data file. Without the key nobody can try rules out; with key and rule anybody can compute it again, and no
# other rule gives the same. Two releases share no commitment, so nobody sees that they hide the same rule.


KEY = "hidden_rules"
"""The plan's key under [privacy]."""
_DIGITS = re.compile(r"[0-9a-f]{64}")
_SALT = b"sfumato hidden rule 1\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRules:
    """What a steward wants to hide."""

    patterns: tuple[Pattern, ...]
    """Sets and rules."""
    key: str
    """The secret under which they are committed to: 64 hexadecimal digits."""

    def __repr__(self) -> str:
        return f"HiddenRules({len(self.patterns)} patterns)"

    @classmethod
    def load(cls, path: Path, *, where: str) -> HiddenRules:
        """From a TOML file with ``key``, ``sets`` (lists of items) and ``rules`` (tables with ``if`` and ``then``)."""
        try:
            tree = read_toml(read_text(path))
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise PlanError(f"{where}: the file {path} cannot be read ({reason})") from error
        except ValueError as error:
            raise PlanError(f"{where}: the file {path} is not valid TOML: {error}") from error
        strange = [name for name in tree if name not in ("key", "sets", "rules")]
        if strange:
            raise PlanError(f"{where}: {path} has the unknown key {strange[0]!r}; known are 'key', 'sets', 'rules'")
        key = tree.get("key")
        if not isinstance(key, str) or not _DIGITS.fullmatch(key):
            raise PlanError(
                f"{where}: key in {path} must be 64 hexadecimal digits that nobody can guess; make some with "
                "`openssl rand -hex 32`, and keep the file apart from the release"
            )
        patterns = [
            _pattern({"then": entry}, f"{where}: sets[{n}]") for n, entry in enumerate(_list(tree, "sets", where))
        ]
        patterns += [
            _pattern(entry, f"{where}: rules[{n}]", rule=True) for n, entry in enumerate(_list(tree, "rules", where))
        ]
        if not patterns:
            raise PlanError(f"{where}: {path} names nothing to hide; list sets or rules")
        if len(set(patterns)) < len(patterns):
            again = next(pattern for place, pattern in enumerate(patterns) if pattern in patterns[:place])
            raise PlanError(f"{where}: {path} names {again.words} twice")
        return cls(patterns=tuple(patterns), key=key)

    def commitments(self, digest: str) -> dict[str, Pattern]:
        """The commitment of each pattern, for a release whose data file has this SHA-256 digest; sorted."""
        return dict(sorted((self._commitment(pattern, digest), pattern) for pattern in self.patterns))

    def _commitment(self, pattern: Pattern, digest: str) -> str:
        content = json.dumps([pattern.left, pattern.right], ensure_ascii=True, separators=(",", ":"))
        return hmac.new(bytes.fromhex(self.key), _SALT + f"{digest}\0{content}".encode(), hashlib.sha256).hexdigest()


def _list(tree: Mapping[str, Any], name: str, where: str) -> list[Any]:
    entries = tree.get(name, [])
    if not isinstance(entries, list):
        raise PlanError(f"{where}: {name} must be a list, not {entries!r}")
    return entries


def _pattern(entry: Any, where: str, *, rule: bool = False) -> Pattern:
    if not isinstance(entry, Mapping) or set(entry) != ({"if", "then"} if rule else {"then"}):
        raise PlanError(f'{where} must look like {{ if = ["bread"], then = ["milk"] }}, not {entry!r}')
    for side in entry.values():
        if not isinstance(side, list) or not side or not all(isinstance(item, str) and item for item in side):
            raise PlanError(f'{where} must list items, such as ["bread", "milk"], not {side!r}')
    try:
        return Pattern.of(entry["then"], entry.get("if", ()))
    except ParameterError as error:
        raise PlanError(f"{where}: {error}") from error


# Verifying a sanitized release: all but what is hidden from its bytes alone, and that too for who has the rules.


HIDES_ONLY = (
    "rules that the steward named are hidden, and no privacy model was verified: these records are not anonymous, and "
    "whoever mines below the stated thresholds may find what was hidden"
)
BLOCKED = "an item with a question mark is unknown: the record may have it or not"
"""Warnings that belong to a release by how it was made."""
UNKNOWN = "?"
"""What stands behind an item of which a release does not tell whether the record has it."""
UNKNOWNS = "hide-unknowns"
"""The algorithm that shows items as unknown."""
_THRESHOLDS = ("min_support", "min_confidence", "margin")
UNOPENED = "hidden rules"
"""What a remark is about where nobody opened the commitments."""


def sanitized_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]
) -> Iterable[Check | Remark]:
    """The checks of a sanitized release that need no rules."""
    table, data = tables[DATA], manifest["data"]
    roles = {str(column["name"]): Role(column["role"]) for column in data["columns"]}
    rare = list(near_unique_remarks(manifest, table, unchanged(roles)))
    yield from rare
    blocks = manifest["recoding"]["algorithm"] == UNKNOWNS
    yield marks_fit(manifest, [HIDES_ONLY, *[BLOCKED] * blocks, *(remark.detail for remark in rare)], Check)
    yield algorithm_fits(manifest, Check)
    yield from _columns(manifest, table)
    yield from cells_fit([column for column in data["columns"] if column["type"] != "set"], table)
    itemized = [str(column["name"]) for column in data["columns"] if column["type"] == "set"]
    yield from missing_fits(manifest, [(table, itemized)], itemized)
    yield from items_written(manifest, table)
    yield from _unknowns(manifest, table, itemized[0])
    yield from _hiding(manifest)
    yield from attacks_fit(manifest)
    many = len(manifest["hiding"]["commitments"])
    detail = f"{many:,} sets and rules are said to be hidden; `verify --rules FILE` opens what the manifest commits to"
    yield Remark(what=UNOPENED, detail=detail)


def _columns(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """One column of sets is published, nobody is named openly, and roles are the plan's."""
    columns, planned = manifest["data"]["columns"], manifest["plan"]["columns"]
    yield same("columns of sets", len([column for column in columns if column["type"] == "set"]), 1)
    keyed = [name for name, spec in planned.items() if spec.get("pseudonym") == "keyed"]
    wrong = [
        column["name"]
        for column in columns
        if column["role"] not in ("quasi", "keep", "identifier")
        or (column["role"] == "identifier" and column["name"] not in keyed)
        or (column["role"] == "quasi") != (column["type"] == "set")
        or column["role"] != planned.get(column["name"], {}).get("role")
        or column.get("separator") != planned[column["name"]].get("separator")
    ]
    yield same("columns with another role than planned", wrong, [])


def _unknowns(manifest: Mapping[str, Any], table: Table, name: str) -> Iterable[Check]:
    """Items are unknown only where the algorithm makes them so, and none is both had and unknown in a record."""
    stated = manifest["recoding"].get("unknown")
    blocks = manifest["recoding"]["algorithm"] == UNKNOWNS
    yield same("mark of unknown items", stated, UNKNOWN if blocks else None)
    if blocks:
        _, possible = released_sets(manifest, table)
        column = set_column(table, name, separator=_separator(manifest, name))
        twice = len(column.codes) - len(possible.codes)
        yield same("items that a record has and that are unknown in it", twice, 0)


def _hiding(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """Thresholds are the plan's, and every commitment stands there once, in an order that tells nothing."""
    stated, options = manifest["hiding"], manifest["plan"]["privacy"].get(KEY, {})
    yield same("models that the plan asks for", sorted(manifest["plan"]["privacy"]), [KEY])
    yield same("unknown keys of the hidden rules", sorted(options.keys() - {*_THRESHOLDS, "longest"}), [])
    for name in _THRESHOLDS:
        yield same(f"{name} of the hidden rules", stated[name], float(options.get(name, 0.0)))
    listed = list(stated["commitments"])
    fits = bool(listed) and listed == sorted(set(listed))
    yield Check(what="commitments", holds=fits, detail=f"{len(listed):,}" if fits else "not ascending, or none")


def thresholds_of(manifest: Mapping[str, Any]) -> Thresholds:
    """At which thresholds a manifest says that rules are hidden."""
    stated = manifest["hiding"]
    return Thresholds(
        min_support=stated["min_support"], min_confidence=stated["min_confidence"], margin=stated["margin"]
    )


def _separator(manifest: Mapping[str, Any], name: str) -> str:
    return next(str(column["separator"]) for column in manifest["data"]["columns"] if column["name"] == name)


def released_sets(manifest: Mapping[str, Any], table: Table) -> tuple[Transactions, Transactions]:
    """What the written records surely have, and what they have if every unknown item is had."""
    name = next(str(column["name"]) for column in manifest["data"]["columns"] if column["type"] == "set")
    column = set_column(table, name, separator=_separator(manifest, name))
    whole = Transactions(starts=column.starts, codes=column.codes, labels=column.labels)
    if "unknown" not in manifest["recoding"]:
        return whole, whole
    open_ = np.array([label.endswith(UNKNOWN) for label in column.labels], np.bool_)
    sure = whole.only(~open_[whole.codes])
    plain = [label.removesuffix(UNKNOWN) for label in column.labels]
    labels = tuple(sorted(set(plain)))
    place = {label: code for code, label in enumerate(labels)}
    to = np.array([place[label] for label in plain], np.int32)
    return sure, _merged(whole, to, labels)


def _merged(whole: Transactions, to: Any, labels: tuple[str, ...]) -> Transactions:
    """The records with renamed items, each once and ascending."""
    many = np.int64(max(len(labels), 1))
    keys = np.unique(whole.row_of.astype(np.int64) * many + to[whole.codes]) if len(whole.codes) else np.empty(0, int)
    owner, codes = np.divmod(keys, many)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=whole.rows), dtype=np.int64)))
    return Transactions(starts=starts, codes=codes.astype(np.int32), labels=labels)


def opened(manifest: Mapping[str, Any], table: Table, rules: HiddenRules) -> Iterable[Check]:
    """The commitments are those to the rules of a file, and none of these is found in the written records."""
    mine = rules.commitments(str(manifest["data"]["sha256"]))
    stated = list(manifest["hiding"]["commitments"])
    fits = list(mine) == stated
    detail = f"{len(stated):,} open to the sets and rules of the file" if fits else _differing(mine, stated)
    yield Check(what="commitments to the rules", holds=fits, detail=detail)
    sure, possible = released_sets(manifest, table)
    yield from hidden_checks(sure, possible, rules.patterns, thresholds_of(manifest))


def _differing(mine: Mapping[str, Pattern], stated: list[str]) -> str:
    absent = [pattern.words for commitment, pattern in mine.items() if commitment not in stated]
    more = len([commitment for commitment in stated if commitment not in mine])
    first = f"the manifest does not commit to {absent[0]}" if absent else "each rule of the file is committed to"
    return f"{first}; {more:,} commitments open to no rule of the file (is it the file and key of this release?)"


def hidden_checks(
    sure: Transactions, possible: Transactions, patterns: Iterable[Pattern], limits: Thresholds
) -> Iterable[Check]:
    """Whether each pattern is hidden among what records surely have; unknown items may be had on the left side."""
    mine, theirs = (_Counted(records) for records in (sure, possible))
    for pattern in patterns:
        whole = mine.rows(pattern.whole)
        left = theirs.rows(pattern.left) if pattern.left else None
        share = f"support {whole / max(sure.rows, 1):.4g}"
        detail = share if left is None else f"{share}, confidence {whole / max(left, 1):.4g}"
        yield Check(what=f"hidden: {pattern.words}", holds=limits.hidden(whole, left, sure.rows), detail=detail)


class _Counted:
    """Records whose items are looked up by name."""

    def __init__(self, records: Transactions) -> None:
        self.holders = Holders(records)
        self.place = {label: code for code, label in enumerate(records.labels)}

    def rows(self, items: tuple[str, ...]) -> int:
        """The records that have all of some items."""
        if any(item not in self.place for item in items):
            return 0
        return len(self.holders.of_all([self.place[item] for item in items]))
