"""Requests to the studio: who may send them, and what they may contain."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from sfumato.core.errors import DataError
from sfumato.core.input_files import MOST_TOML
from sfumato.core.strict_parsing import read_json

if TYPE_CHECKING:
    from starlette.requests import Request


# Who may talk to the studio: the steward's own browser, by a token link, and nobody's page in it.
#
# * The server listens on the loopback address only.
# * ``Host`` must be that address: a page whose name was turned to 127.0.0.1 (DNS rebinding) is refused.
# * The token of the link becomes a cookie that scripts cannot read and that other sites' requests do not carry.
# * Whatever changes something must come from our own origin and carry a header that only our pages know.
# * Pages load and run nothing that is not ours (Content-Security-Policy).


COOKIE, HEADER = "sfumato_studio", "x-sfumato"
ENTER = "/enter"
_SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; sandbox"
"""For reports: they bring their own styles, and may do nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What a steward's browser must know."""

    token: str = field(default_factory=lambda: token_urlsafe(32))
    """In the link, and then in the cookie."""

    @property
    def header(self) -> str:
        """In the header of whatever changes something."""
        return hmac.new(self.token.encode(), b"changes", hashlib.sha256).hexdigest()


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: Any, *, keys: Keys, port: int) -> None:
        """Guard an application that listens on a port."""
        self.app, self.keys = app, keys
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request through, or answer it with a refusal."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self.hosts:
            await _refuse(send, 421, "This address is not the studio's. Open the link that the terminal shows.")
        elif scope["path"] == ENTER:
            await self._enter(scope, send)
        elif not self._known(headers):
            await _refuse(send, 401, "Open the link that the terminal shows: it holds the token of this studio.")
        elif scope["method"] not in _SAFE and not self._ours(headers):
            await _refuse(send, 403, "This request does not come from a page of the studio.")
        else:
            await self.app(scope, receive, _with_headers(send))

    async def _enter(self, scope: Any, send: Any) -> None:
        """Turn the token of the link into a cookie."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self.keys.token.encode()):
            await _refuse(send, 401, "This link is not the one that the terminal shows.")
            return
        cookie = f"{COOKIE}={self.keys.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _known(self, headers: dict[str, str]) -> bool:
        given = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        return given is not None and hmac.compare_digest(given.value.encode(), self.keys.token.encode())

    def _ours(self, headers: dict[str, str]) -> bool:
        origin = headers.get("origin", "")
        known = hmac.compare_digest(headers.get(HEADER, "").encode(), self.keys.header.encode())
        return known and origin == f"http://{headers['host']}"


def _with_headers(send: Any) -> Any:
    """Answers carry the policy, unless they have one of their own."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            wanted = {
                b"content-security-policy": POLICY.encode(),
                b"x-content-type-options": b"nosniff",
                b"referrer-policy": b"no-referrer",
                b"cross-origin-opener-policy": b"same-origin",
                b"cross-origin-resource-policy": b"same-origin",
                b"cache-control": b"no-store",
            }
            more = [(name, value) for name, value in wanted.items() if name not in given]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sent


async def _refuse(send: Any, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why.encode()})


# What requests say: whatever no page of the studio would send is refused, and never a fault.


Said = Mapping[str, Any]
MAX_BODY = 4 * MOST_TOML
"""How many bytes a request may have: those of the longest plan."""


async def json_body(request: Request) -> Said:
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
    value = given.get(key)
    if not isinstance(value, dict):
        raise DataError(f"{key} must be a table, not {value!r}")
    return value


def levels(given: Said) -> dict[str, int]:
    """The level of each column."""
    chosen_levels = table(given, "levels")
    if not all(isinstance(level, int) for level in chosen_levels.values()):
        raise DataError("levels must be whole numbers")
    return chosen_levels


def changes(given: Said) -> list[tuple[list[str], Any]]:
    """Keys of the plan with their new values; None takes a key out.

    >>> changes({"changes": [[["privacy", "k_anonymity"], 5]]})
    [(['privacy', 'k_anonymity'], 5)]
    """
    edits = given.get("changes")
    pairs = edits if isinstance(edits, list) else []
    whole = [
        pair for pair in pairs if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], list) and pair[0]
    ]
    if not isinstance(edits, list) or len(whole) != len(edits):
        raise DataError("changes must be pairs of a key's path and its value")
    return [([str(part) for part in path], value) for path, value in whole]


def number(request: Request, key: str, *, least: int, most: int, usual: int) -> int:
    """A whole number from the address, within limits."""
    text = request.query_params.get(key, "")
    return min(max(int(text), least), most) if text.isascii() and text.isdigit() and len(text) < 16 else usual
