"""How a valid input becomes a strange one: bytes, texts and trees are changed at random, from a seed."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

TOKENS = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b'""', b"'", b"\\", b",", b";", b"\t", b"|", b"@", b"*",
    b"?", b"{", b"}", b"[", b"]", b"[[", b"#", b"=", b".", b"-", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"0x",
    b"9" * 400,
    b"9" * 5000, b"1e-400", b"count", b"true", b"null", b"[" * 200, b"{" * 200, b"(" * 200, b"\x1b[2J", b"\xe2\x80\xae",
    b"2024-02-30", b"0000-00-00", b"99:99", b"a@", b"@1", b"a@b@c", b"9999999999999999999", b"\xc3",
    b"../../etc/passwd",
    b"/dev/zero", b"PAR1", b"ARROW1", b"\x1f\x8b\x08\x00", b"SELECT ", b" OR ", b"--", b"/*", b"$$", b"1_000", b"1.5.5",
)  # fmt: skip
"""Bytes that readers stumble over."""

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 10**6, 10**12, 10**18, 10**30, 2**63, -(2**63), 0.0, -0.0, 0.5, 1e-300, 1e308,
    "", " ", "*", "?", "0", "-1", "inf", "nan", "NaN", "1e999", "9" * 60, "count", "rows", "\x00", "\x1b[2J", "\ud800",
    "a" * 2000, "../x", "/dev/zero", "manifest.json", "report.html", "data.csv", "[1,2]", "[0, 10)", "10-5", "1/0",
    "quasi", "sensitive", "target", "identifier", "keep", "text", "integer", "real", "date", "set", "trajectory",
    [], {}, [[]], [{}], {"": {}}, [None], ["a", "a"], ["a"] * 50, [0] * 50, [1, "a"], [[1, 2], [3]], {"a": 1},
    {"kind": "flat"}, {"kind": "intervals", "widths": [0]},
    {"kind": "intervals", "widths": [1e-9], "low": 0, "high": 1},
    {"tree": {"a": ["b"]}}, {"tree": {}}, {"file": "absent.csv"}, {"name": "optimal"}, {"l": 3}, {"k": 2, "l": 2},
)  # fmt: skip
"""Values where another was expected."""


def changed_bytes(data: bytes, draw: Random) -> bytes:
    """The bytes with one to six changes."""
    made = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        at = draw.randrange(len(made) + 1)
        to = min(len(made), at + draw.choice((0, 1, 1, 2, 4, 8, 64)))
        kind = draw.randrange(7)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and at < len(made):
            made[at] = draw.randrange(256)
        elif kind == 2:
            made[at:to] = b""
        elif kind == 3:
            made[at:at] = made[at:to] * draw.choice((1, 2, 30))
        elif kind == 4:
            made[at:to] = draw.choice(TOKENS)
        elif kind == 5:
            made = made[:at]
        else:
            other = draw.randrange(len(made) + 1)
            made[at:to] = made[other : other + draw.randrange(32)]
    return bytes(made)


def changed_lines(text: bytes, draw: Random, mark: bytes = b",") -> bytes:
    """A text of lines and cells with a few cells or lines changed, or changed as bytes."""
    if draw.random() < 0.4:
        return changed_bytes(text, draw)
    rows = [line.split(mark) for line in text.split(b"\n")]
    for _ in range(draw.choice((1, 1, 2, 4))):
        row = draw.choice(rows)
        kind = draw.randrange(6)
        if kind < 3:
            row[draw.randrange(len(row))] = draw.choice(TOKENS)
        elif kind == 3:
            row += [draw.choice(TOKENS)]
        elif kind == 4:
            rows.insert(draw.randrange(len(rows)), list(draw.choice(rows)))
        else:
            del row[draw.randrange(len(row)) :]
            row += [b""] * (not row)
    return b"\n".join(mark.join(row) for row in rows)


def changed_tree(tree: Any, draw: Random) -> Any:
    """A copy of nested tables and lists with one to four changes."""
    made = copy.deepcopy(tree)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        places = list(_places(made))
        if not places:
            return draw.choice(ODD)
        inside, key = draw.choice(places)
        _change(inside, key, places, draw)
    return made


def _change(inside: Any, key: Any, places: list[tuple[Any, Any]], draw: Random) -> None:
    kind = draw.randrange(10)
    if kind < 4:
        inside[key] = copy.deepcopy(draw.choice(ODD))
    elif kind < 6:
        del inside[key]
    elif kind == 6:
        other, place = draw.choice(places)
        inside[key] = copy.deepcopy(other[place])
    elif kind == 7 and isinstance(inside, dict):
        inside[str(draw.choice(ODD))[:60]] = inside.pop(key)
    elif kind == 8:
        inside[key] = _near(inside[key], draw)
    else:
        wrapped = inside[key]
        for _ in range(draw.choice((1, 2, 40, 100))):
            wrapped = [wrapped] if draw.random() < 0.5 else {"a": wrapped}
        inside[key] = wrapped


def _near(value: Any, draw: Random) -> Any:
    """A value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draw.choice((value + 1, value - 1, -value, value * 1000, value / 3))
    if isinstance(value, str):
        return changed_bytes(value.encode("utf-8", "replace"), draw).decode("utf-8", "replace")
    return value[: len(value) // 2] if isinstance(value, list) else value


def _places(tree: Any) -> Any:
    """Every place of the tree: what it is in, and under which key."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            yield node, key
            waiting.append(node[key])
