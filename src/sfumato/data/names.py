"""What columns may be called: a text that is not blank, and no two alike."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.ground.errors import DataError


def checked_names(names: Sequence[object], *, where: str) -> list[str]:
    """The names as they are, or a refusal that says which are no good and at which positions."""
    texts = [name for name in names if isinstance(name, str)]
    if len(texts) != len(names):
        odd = next(name for name in names if not isinstance(name, str))
        raise DataError(
            f"{where}: the column name {odd!r} is {type(odd).__name__}, not text; rename the column to {str(odd)!r}"
        )
    blank = [at for at, name in enumerate(texts, 1) if not name.strip()]
    if blank:
        raise DataError(f"{where}: column {blank[0]} has a blank name; name every column (names=[...] would do)")
    _refuse_repeated(texts, where=where)
    return texts


def _refuse_repeated(names: Sequence[str], *, where: str) -> None:
    if len(set(names)) == len(names):
        return
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    told = [f"{name!r} (columns {_positions(name, names)})" for name in repeated[:5]]
    raise DataError(
        f"{where}: column names occur more than once: {', '.join(told)}; "
        "every column needs a name of its own (names=[...] would do)"
    )


def _positions(name: str, names: Sequence[str]) -> str:
    return ", ".join(str(at) for at, other in enumerate(names, 1) if other == name)
