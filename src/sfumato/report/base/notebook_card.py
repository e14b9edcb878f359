"""A release in a notebook: its claims and what was done, in one small table; no value of the original."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def card(
    title: str,
    claims: Sequence[tuple[str, bool, float]],
    heads: Sequence[str],
    cells: Sequence[Sequence[object]],
) -> str:
    """An HTML fragment.

    >>> card("Release", [("k-anonymity (k = 5)", True, 6.0)], ["column"], [["age"]]).count("<tr>")
    4
    """
    stated = [[name, "holds" if holds else "FAILS", f"{reached:g}"] for name, holds, reached in claims]
    parts = [f"<p><b>{escape(title)}</b></p>", _table(("claim", "", "reached"), stated)]
    return "<div>" + "".join([*parts, _table(heads, cells) if cells else ""]) + "</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
