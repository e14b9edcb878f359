"""Reads, writes and seals manifests; refuses a manifest of another form."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from sfumato.bundles.manifest.releases import error_of
from sfumato.bundles.manifest.sections import SCHEMA
from sfumato.core.errors import BundleError, SfumatoError
from sfumato.core.input_files import read_text
from sfumato.core.strict_parsing import read_json

# The manifest: what a bundle claims, in a form that can be checked and cannot be changed unseen.


_SEAL = "sha256"

__all__ = ["SCHEMA", "dump", "load", "plain", "read_manifest", "seal", "seal_holds"]


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


def load(path: Path, *, sealed: bool = True) -> dict[str, Any]:
    """Read a manifest that may be anybody's: of the form of this version and sealed, or refused with what is wrong.

    Whoever tells of the seal themselves asks for ``sealed=False``.
    """
    content = read_manifest(path)
    fault = error_of(content)
    if fault is not None:
        raise BundleError(f"{path}: {fault}")
    if sealed and not seal_holds(content):
        raise BundleError(f"{path} was changed after it was sealed; `sfumato verify` tells more")
    return content


def read_manifest(path: Path) -> dict[str, Any]:
    """The JSON object in a manifest, of whatever form."""
    try:
        content = read_json(read_text(path, follow=False))
    except FileNotFoundError:
        raise BundleError(f"{path.parent} is no bundle: it has no {path.name}") from None
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BundleError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise BundleError(f"{path} must hold one JSON object, not a {type(content).__name__}")
    version = content.get("schema")
    if isinstance(version, bool) or version != SCHEMA:
        raise BundleError(f"{path}: schema version {version!r} is not known; this version reads {SCHEMA}")
    return content


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


# A manifest from a stranger may lack anything, or hold it in another form: one refusal says so.


FAULTS = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, OSError, RecursionError, PolarsError)
"""What reading a value of another form ends in."""


@contextmanager
def stated_form(folder: Path) -> Iterator[None]:
    """While a manifest is read: whatever is not of the form that this version writes is refused."""
    try:
        yield
    except SfumatoError:
        raise
    except FAULTS as error:
        raise BundleError(f"{folder}: the manifest is not of the form that this version writes: {error!r}") from error
