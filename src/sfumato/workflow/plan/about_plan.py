"""The plan's [about]: what a person who signs the report must find in it. All of it is published with the release."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from sfumato.ground.errors import PlanError
from sfumato.report.base.language import LANGUAGES
from sfumato.workflow.plan.plan_table import Keys

_LONGEST = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPlan:
    """What the data set is, for whom and why; what nobody says stays out of the report."""

    data_set: str | None = None
    """What the data set is called."""
    purpose: str | None = None
    """What the release is for."""
    recipient: str | None = None
    """Who gets it."""
    legal_basis: str | None = None
    """On what legal ground."""
    responsible: str | None = None
    """Who answers for it, and signs."""
    contact: str | None = None
    """Where questions go."""
    date: str | None = None
    """Its date, such as 2026-11-18; every report also tells the day on which it was made."""
    version: str | None = None
    """The version of the data set."""
    language: str = "en"
    """The language of the report."""

    @classmethod
    def of(cls, keys: Keys) -> AboutPlan:
        """Read the section."""
        keys.only(*(one.name for one in fields(cls)))
        said = {key: _text(keys, key, value) for key, value in keys.table.items() if key != "language"}
        return cls(**said, language=keys.one_of("language", tuple(LANGUAGES), "en"))

    def public(self) -> dict[str, str]:
        """What a manifest states; nothing for what nobody said."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {key: value for key, value in found.items() if value is not None and (key, value) != ("language", "en")}


def _text(keys: Keys, key: str, value: Any) -> str:
    """A text, a day or a number of a version, as a text."""
    if key == "date" and isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if key == "version" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise PlanError(f"{keys.at(key)} must be a text, not {value!r}")
    if len(value) > _LONGEST:
        raise PlanError(f"{keys.at(key)} has {len(value):,} characters; {_LONGEST:,} are the most")
    return value.strip()
