"""What all parties of a session must agree on, key by key, so that a difference can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.ground.errors import SessionError, listed
from sfumato.ground.strict_json import read_json

_ABOUT = b"sfumato session terms 1\n"
MOST_TERMS = 1_000_000
"""How many bytes the digests of all keys may have."""

Terms = Mapping[str, str]
"""The key of every term, and the digest of its value."""


def terms_of(tree: Mapping[str, Any]) -> dict[str, str]:
    """The digest of every leaf of a tree, by the path that a person would write.

    >>> sorted(terms_of({"protocol": "counts", "parameters": {"columns": {"ward": ["A", "B"]}}}))
    ['parameters.columns.ward', 'protocol']
    """
    return {path: _digest([path, value]) for path, value in _leaves(tree, "")}


def digest_of(terms: Terms) -> bytes:
    """One digest of all terms, 32 bytes: equal for equal terms, whatever their order."""
    return hashlib.sha256(_ABOUT + _canonical(dict(terms))).digest()


def terms_bytes(terms: Terms) -> bytes:
    """The terms as they are sent: keys and digests, no values."""
    return _canonical(dict(terms))


def read_terms(content: bytes) -> dict[str, str]:
    """Another party's terms, or a refusal."""
    try:
        found = read_json(content.decode())
    except ValueError as error:
        raise SessionError(f"sent terms that are not valid JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise SessionError("sent terms that are no digests by key")
    return found


def difference(mine: Terms, theirs: Terms, *, me: str, peer: str) -> str:
    """In words that both parties can be told, what differs between their session files."""
    changed = sorted(key for key in mine.keys() & theirs.keys() if mine[key] != theirs[key])
    parts = [f"they differ at {listed(changed)}"] if changed else []
    if only := sorted(mine.keys() - theirs.keys()):
        parts.append(f"only that of {me} has {listed(only)}")
    if only := sorted(theirs.keys() - mine.keys()):
        parts.append(f"only that of {peer} has {listed(only)}")
    return f"the sessions of {me} and {peer} are not the same: {'; '.join(parts)}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _digest(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: Any) -> bytes:
    """JSON with sorted keys and no blanks: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
