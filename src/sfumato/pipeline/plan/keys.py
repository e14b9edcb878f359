"""Free tables of a plan, such as those of models: read key by key with the words of the plan's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.errors import PlanError, listed, nearest
from sfumato.core.records import Number, decoded


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
        return self._read(key, str, default)  # type: ignore[no-any-return]

    def required_text(self, key: str) -> str:
        """A text that must be there."""
        if key not in self.table:
            raise PlanError(f"{self.at(key)} is missing")
        if not (value := self.text(key)):
            raise PlanError(f"{self.at(key)} must not be empty")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """A truth value."""
        return bool(self._read(key, bool, default))

    def whole(self, key: str, default: int | None = None) -> int | None:
        """A whole number, if the key is there."""
        return self._read(key, int, default)  # type: ignore[no-any-return]

    def number(self, key: str, default: float | None = None) -> float | None:
        """A number, if the key is there."""
        return self._read(key, Number, default)  # type: ignore[no-any-return]

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._read(key, tuple[str, ...], default))

    def numbers(self, key: str) -> tuple[float, ...]:
        """A list of numbers."""
        return tuple(self._read(key, tuple[Number, ...], ()))

    def one_of(self, key: str, choices: Sequence[str], default: str) -> str:
        """One of some texts."""
        value = self.table.get(key, default)
        if value not in choices:
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise PlanError(f"{self.at(key)} must be one of {listed(choices)}, not {value!r}{hint}")
        return str(value)

    def _read(self, key: str, kind: Any, default: Any) -> Any:
        value = self.table.get(key)
        return default if value is None else decoded(value, kind, self.at(key))
