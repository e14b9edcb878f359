"""Sensitive sets and rules in a file of the steward, and commitments to them that tell nobody else which they are.

The manifest of a release holds one commitment for each: an HMAC-SHA-256 under the steward's key, bound to the bytes of
the data file. Without the key nobody can try rules out; with key and rule anybody can compute it again, and no other
rule gives the same. Two releases share no commitment, so nobody sees that they hide the same rule.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError
from sfumato.ground.opening import read_text
from sfumato.ground.strict_toml import read_toml
from sfumato.group.sensitive_patterns import Pattern

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
            told = getattr(error, "strerror", None) or "it is not UTF-8"
            raise PlanError(f"{where}: the file {path} cannot be read ({told})") from error
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
        found = [_pattern({"then": one}, f"{where}: sets[{n}]") for n, one in enumerate(_list(tree, "sets", where))]
        found += [_pattern(one, f"{where}: rules[{n}]", rule=True) for n, one in enumerate(_list(tree, "rules", where))]
        if not found:
            raise PlanError(f"{where}: {path} names nothing to hide; list sets or rules")
        if len(set(found)) < len(found):
            again = next(one for place, one in enumerate(found) if one in found[:place])
            raise PlanError(f"{where}: {path} names {again.words} twice")
        return cls(patterns=tuple(found), key=key)

    def commitments(self, digest: str) -> dict[str, Pattern]:
        """The commitment of each pattern, for a release whose data file has this SHA-256 digest; sorted."""
        return dict(sorted((self._commitment(one, digest), one) for one in self.patterns))

    def _commitment(self, pattern: Pattern, digest: str) -> str:
        said = json.dumps([pattern.left, pattern.right], ensure_ascii=True, separators=(",", ":"))
        return hmac.new(bytes.fromhex(self.key), _SALT + f"{digest}\0{said}".encode(), hashlib.sha256).hexdigest()


def _list(tree: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = tree.get(name, [])
    if not isinstance(found, list):
        raise PlanError(f"{where}: {name} must be a list, not {found!r}")
    return found


def _pattern(one: Any, where: str, *, rule: bool = False) -> Pattern:
    if not isinstance(one, Mapping) or set(one) != ({"if", "then"} if rule else {"then"}):
        raise PlanError(f'{where} must look like {{ if = ["bread"], then = ["milk"] }}, not {one!r}')
    for side in one.values():
        if not isinstance(side, list) or not side or not all(isinstance(item, str) and item for item in side):
            raise PlanError(f'{where} must list items, such as ["bread", "milk"], not {side!r}')
    try:
        return Pattern.of(one["then"], one.get("if", ()))
    except ParameterError as error:
        raise PlanError(f"{where}: {error}") from error
