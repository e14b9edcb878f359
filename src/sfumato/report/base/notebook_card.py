"""A release in a notebook: its claims, and a small before and after; no value of the original."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sfumato.report.base.figures import seen


def card(
    title: str,
    claims: Sequence[tuple[str, bool, float]],
    changes: Sequence[tuple[str, object, object]],
    marks: Sequence[str] = (),
) -> str:
    """An HTML fragment.

    >>> card("Release", [("k-anonymity (k = 5)", True, 6.0)], [("rows", 9, 8)]).count("<tr>")
    4
    """
    stated = [[name, "holds" if holds else "FAILS", f"{reached:g}"] for name, holds, reached in claims]
    warned = [f"<p>⚠ {escape(seen(mark))}</p>" for mark in marks]
    parts = [f"<p><b>{escape(seen(title))}</b></p>", *warned, _table(("claim", "", "reached"), stated)]
    return "<div>" + "".join([*parts, _table(("", "before", "after"), changes)]) + "</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f"<th>{escape(seen(head))}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(seen(str(cell)))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"
