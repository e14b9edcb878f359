"""Records with much in them, shown in few words: sizes in place of contents, so that no value of a table is told."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import fields
from typing import Any


class Brief:
    """A base of records whose ``repr`` is short.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Pair(Brief):
    ...     rows: int
    ...     names: tuple[str, ...]
    >>> Pair(3, ("Ann", "Bob"))
    Pair(rows=3, names=<2>)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        parts = [f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self) if field.repr]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    return f"<{len(value)}>" if isinstance(value, Sized) else f"<{type(value).__name__}>"
