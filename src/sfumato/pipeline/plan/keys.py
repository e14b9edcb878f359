"""Reading tables of a plan: every key is known, every value has its type, every refusal names the key's path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sfumato.core.errors import PlanError, listed, nearest

T = TypeVar("T")
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    dict: "a table",
    list: "a list",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """One table of a plan, with its path."""

    table: Mapping[str, Any]
    """The table's content."""
    path: str
    """Where it stands, for messages."""

    @classmethod
    def of(cls, value: Any, path: str) -> Keys:
        """The table at a path, or a refusal."""
        if not isinstance(value, Mapping):
            raise PlanError(f"{path} must be a table, not {value!r}")
        return cls(table=value, path=path)

    def at(self, key: str) -> str:
        """The path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def only(self, *known: str) -> None:
        """Refuse keys that are not known."""
        for key in self.table:
            if key not in known:
                raise PlanError(
                    f"{self.at(key)}: unknown key{nearest(key, known)} Known here: {listed(known, most=30)}"
                )

    def text(self, key: str, default: str | None = None) -> str | None:
        """A text, if the key is there."""
        return self._typed(key, str, default)

    def required_text(self, key: str) -> str:
        """A text that must be there."""
        if key not in self.table:
            raise PlanError(f"{self.at(key)} is missing")
        value = self._typed(key, str, None)
        if not value:
            raise PlanError(f"{self.at(key)} must not be empty")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """A truth value."""
        return bool(self._typed(key, bool, default))

    def whole(self, key: str, default: int | None = None) -> int | None:
        """A whole number, if the key is there."""
        return self._typed(key, int, default)

    def number(self, key: str, default: float | None = None) -> float | None:
        """A number, if the key is there."""
        value = self.table.get(key, default)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise PlanError(f"{self.at(key)} must be a number, not {value!r}")

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts."""
        value = self.table.get(key, default)
        if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(v, str) for v in value):
            raise PlanError(f"{self.at(key)} must be a list of texts, not {value!r}")
        return tuple(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers."""
        value = self.table.get(key, ())
        good = isinstance(value, Sequence) and not isinstance(value, str)
        if not good or any(isinstance(v, bool) or not isinstance(v, int | float) for v in value):
            raise PlanError(f"{self.at(key)} must be a list of numbers, not {value!r}")
        return tuple(value)

    def one_of(self, key: str, choices: Sequence[str], default: str) -> str:
        """One of some texts."""
        value = self.table.get(key, default)
        if value not in choices:
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise PlanError(f"{self.at(key)} must be one of {listed(choices)}, not {value!r}{hint}")
        return str(value)

    def _typed(self, key: str, kind: type[T], default: T | None) -> T | None:
        value = self.table.get(key, default)
        if value is None:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise PlanError(f"{self.at(key)} must be {_NAMES[kind]}, not {value!r}")
        return value
