"""A quasi-identifier that is sensitive too, as somebody sees it who does not know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from sfumato.attacks.frame.subject import Subject
from sfumato.describe.hierarchy import TOP


def guarded_view(subject: Subject, column: str) -> Subject:
    """The release as what the other quasi-identifiers tell about ``column``.

    A label says nothing about which of the values below it a row has: the row has each of them in part, as where a
    sensitive column is published apart by groups. The values are those of the declared tree, where a claim states it.
    """
    known = subject.coverage[column]
    tree = next((given["guarded"]["paths"] for _, given in subject.claims if _about(given, column)), None)
    pairs = []
    for row, label in enumerate(known.labels):
        below: Sequence[str] = [] if tree is None else [v for v, above in tree.items() if label in (v, *above, TOP)]
        below = below or [value for value, covered in zip(known.values, known.covers[row], strict=True) if covered]
        pairs += [(label, value) for value in below]
    name = next(n for n in ("label", *(f"label_{i}" for i in range(len(pairs) + 99))) if n not in subject.published)
    groups = pl.DataFrame(pairs, schema={name: pl.String, column: pl.String}, orient="row")
    return replace(
        subject,
        release=subject.release.rename({column: name}),
        quasi=tuple(one for one in subject.quasi if one != column),
        sensitive=(column,),
        beside=(),
        groups=groups.with_columns(pl.lit("1").alias(f"{name}, {column}: rows")),
        group=name,
    )


def _about(given: object, column: str) -> bool:
    stated = given.get("guarded") if isinstance(given, dict) else None
    return isinstance(stated, dict) and stated.get("column") == column
