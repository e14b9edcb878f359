"""Which recogniser fits a column: by its name in the larger European languages, and by its values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from sfumato.data.bundled import hierarchy_leaves
from sfumato.data.table import Column
from sfumato.describe.roles import Role
from sfumato.ground.strict_toml import read_toml
from sfumato.workflow.profile.value_checks import CHECKS

Hierarchy = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recogniser:
    """One sort of column: ``recognisers.toml`` says what each field means."""

    name: str
    """What drafts call it."""
    role: Role
    """The role that is proposed."""
    why: str
    """The reason, for a comment."""
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of columns by language."""
    values: str | None = None
    """What every value looks like."""
    check: str | None = None
    """The test that all values pass."""
    known: Sequence[str] = ()
    """Bundled hierarchies, one of which has all values."""
    numbers: Sequence[float] = ()
    """The range of the values."""
    kinds: Sequence[str] = ()
    """How the values may read."""
    alone: bool = False
    """Whether values are enough."""
    least: int = 1
    """How many different values are needed where they are enough."""
    lenient: bool = False
    """Whether a name is enough where values do not fit."""
    type: str | None = None
    """How the values are to be read."""
    hierarchy: Hierarchy | str | None = None
    """What is proposed, or how it is fitted to the values."""
    pattern: re.Pattern[str] | None = None
    """All its words as one pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """What a column was recognised as."""

    by: Recogniser
    """The record that fits."""
    hierarchy: Hierarchy | str | None
    """What is proposed for it."""


@cache
def recognisers() -> tuple[Recogniser, ...]:
    """All records, in the order in which they are tried."""
    text = files("sfumato.workflow.profile").joinpath("recognisers.toml").read_text("utf-8")
    return tuple(
        Recogniser(**{**one, "role": Role(one["role"]), "pattern": _pattern(one.get("words", {}))})
        for one in read_toml(text)["recogniser"]
    )


def recognised(column: Column, kind: str) -> Recognised | None:
    """The first record that fits a column whose values read as ``kind``."""
    plain = plain_name(column.name)
    for one in recognisers():
        if one.kinds and kind not in one.kinds:
            continue
        named = one.pattern is not None and one.pattern.search(plain) is not None
        if not named and not (one.alone and len(column.present) >= one.least):
            continue
        fits, tree = _fits(one, column, kind)
        if fits or (named and one.lenient):
            return Recognised(by=one, hierarchy=tree if fits else None)
    return None


def plain_name(name: str) -> str:
    """A column's name in small letters without accents, its parts split by ``_``.

    >>> plain_name("Größe (cm)"), plain_name("dateOfBirth"), plain_name("Płeć"), plain_name("ICD9_CODE")
    ('grosse_cm', 'date_of_birth', 'plec', 'icd9_code')
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    folded = unicodedata.normalize("NFKD", parted.casefold().replace("ł", "l"))
    letters = "".join(one for one in folded if not unicodedata.combining(one))
    return re.sub(r"[^a-z0-9]+", "_", letters).strip("_")


def _pattern(words: Mapping[str, Sequence[str]]) -> re.Pattern[str] | None:
    """All words as one pattern; digits may follow a word."""
    every = sorted({word for language in words.values() for word in language})
    parts = [re.escape(word).replace(r"\*", "[a-z0-9]*").replace(r"\$", "$") for word in every]
    return re.compile(rf"(?:^|_)(?:{'|'.join(parts)})\d*(?:_|$)") if parts else None


def _fits(one: Recogniser, column: Column, kind: str) -> tuple[bool, Hierarchy | str | None]:
    """Whether all values fit a record, and the hierarchy that is then proposed."""
    texts = column.present
    if not texts:
        return not (one.values or one.check or one.known or one.numbers), one.hierarchy
    if one.numbers and not _within(column, kind, one.numbers):
        return False, None
    if one.values and not all(re.fullmatch(one.values, text.strip()) for text in texts):
        return False, None
    if one.check and not CHECKS[one.check](texts):
        return False, None
    if not one.known:
        return True, one.hierarchy
    covering = next((name for name in one.known if hierarchy_leaves(name).issuperset(texts)), None)
    return covering is not None, None if covering is None else {"bundled": covering}


def _within(column: Column, kind: str, ends: Sequence[float]) -> bool:
    if kind not in ("integer", "real"):
        return False
    numbers = column.numbers[: len(column.present)]
    return bool(numbers.min() >= ends[0] and numbers.max() <= ends[1])
