"""What requests say: whatever no page of the studio would send is refused, and never a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.ground.errors import DataError
from sfumato.ground.limits import MOST_TOML
from sfumato.ground.strict_json import read_json

if TYPE_CHECKING:
    from starlette.requests import Request

Said = Mapping[str, Any]
MAX_BODY = 4 * MOST_TOML
"""How many bytes a request may have: those of the longest plan."""


async def said(request: Request) -> Said:
    """The JSON object of a request."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise DataError(
                f"the request has more than {MAX_BODY:,} bytes; a plan has at most {MOST_TOML:,} characters"
            )
    try:
        content = read_json(body.decode())
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise DataError("the request holds no JSON object")
    return content


def table(given: Said, key: str) -> dict[str, Any]:
    """A table among the things that are said.

    >>> table({"tree": {"kind": "flat"}}, "tree")
    {'kind': 'flat'}
    """
    found = given.get(key)
    if not isinstance(found, dict):
        raise DataError(f"{key} must be a table, not {found!r}")
    return found


def levels(given: Said) -> dict[str, int]:
    """The level of each column."""
    found = table(given, "levels")
    if not all(isinstance(one, int) for one in found.values()):
        raise DataError("levels must be whole numbers")
    return found


def changes(given: Said) -> list[tuple[list[str], Any]]:
    """Keys of the plan with their new values; None takes a key out.

    >>> changes({"changes": [[["privacy", "k_anonymity"], 5]]})
    [(['privacy', 'k_anonymity'], 5)]
    """
    found = given.get("changes")
    pairs = found if isinstance(found, list) else []
    whole = [one for one in pairs if isinstance(one, list) and len(one) == 2 and isinstance(one[0], list) and one[0]]
    if not isinstance(found, list) or len(whole) != len(found):
        raise DataError("changes must be pairs of a key's path and its value")
    return [([str(part) for part in path], value) for path, value in whole]


def number(request: Request, key: str, *, least: int, most: int, usual: int) -> int:
    """A whole number from the address, within limits."""
    text = request.query_params.get(key, "")
    return min(max(int(text), least), most) if text.isascii() and text.isdigit() and len(text) < 16 else usual
