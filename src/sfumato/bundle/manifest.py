"""The manifest: what a bundle claims, in a form that can be checked and cannot be changed unseen."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.ground.errors import BundleError
from sfumato.ground.opening import read_text
from sfumato.ground.strict_json import read_json

SCHEMA = 1
_SEAL = "sha256"


def plain(value: Any) -> Any:
    """A value as JSON has it: tuples become lists, infinite numbers become texts.

    >>> plain({"reached": float("inf"), "values": ("a", "b")})
    {'reached': 'inf', 'values': ['a', 'b']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with the digest of everything else in it."""
    body = plain({key: value for key, value in content.items() if key != _SEAL})
    return {**body, _SEAL: _digest(body)}


def seal_holds(content: Mapping[str, Any]) -> bool:
    """Whether the manifest is as it was sealed."""
    body = {key: value for key, value in content.items() if key != _SEAL}
    return bool(content.get(_SEAL) == _digest(body))


def dump(content: Mapping[str, Any]) -> str:
    """The manifest as text that a person can read."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def load(path: Path) -> dict[str, Any]:
    """Read a manifest, or refuse with what is wrong."""
    try:
        content = read_json(read_text(path))
    except FileNotFoundError:
        raise BundleError(f"{path.parent} is no bundle: it has no {path.name}") from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise BundleError(f"{path} must hold one JSON object, not a {type(content).__name__}")
    if content.get("schema") != SCHEMA:
        raise BundleError(f"{path}: schema version {content.get('schema')!r} is not known; this version reads {SCHEMA}")
    return content


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
