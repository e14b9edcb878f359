"""What a JSON value may look like, as data: whatever a form does not name is a fault, told with its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

SHORT, LONG = 1_000, 4_000
"""Characters of a name or label, and of a sentence that a person wrote or reads."""
MANY = 10_000_000
"""Entries of a list or a table."""


class Form(Protocol):
    """Something that knows what a value may look like."""

    def fault(self, value: Any, path: str) -> str | None:
        """The first fault of a value, with its path; None where there is none."""


def _wrong(path: str, wanted: str, value: Any) -> str:
    found = {dict: "a table", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)
    return f"{path or 'the manifest'} must be {wanted}, not {found if len(found) < 60 else found[:57] + '...'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text."""

    most: int = SHORT
    """Its length at most."""
    like: str = r"(?s).*"
    """A pattern for all of it."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if not isinstance(value, str):
            return _wrong(path, "a text", value)
        if len(value) > self.most:
            return f"{path} has {len(value):,} characters; at most {self.most:,} are read"
        return None if re.fullmatch(self.like, value) else _wrong(path, f"of the form {self.like}", value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some texts."""

    texts: tuple[str, ...]
    """The texts."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        known = isinstance(value, str) and value in self.texts
        return None if known else _wrong(path, f"one of {', '.join(map(repr, self.texts))}", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number."""

    low: int = 0
    """At least."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value < 2**63:
            return _wrong(path, f"a whole number from {self.low} on", value)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A number."""

    infinite: bool = False
    """Whether it may be infinite or no number, which JSON writes as a text."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if self.infinite and value in ("inf", "-inf", "nan"):
            return None
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return None if good else _wrong(path, "a number", value)


@dataclass(frozen=True, slots=True)
class Exactly:
    """One value and no other, of the same type."""

    only: Any
    """The value."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        same = type(value) is type(self.only) and value == self.only
        return None if same else _wrong(path, repr(self.only), value)


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        return None if isinstance(value, bool) else _wrong(path, "true or false", value)


@dataclass(frozen=True, slots=True)
class Maybe:
    """Nothing, or something of a form."""

    inner: Form
    """The form."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        return None if value is None else self.inner.fault(value, path)


@dataclass(frozen=True, slots=True)
class Either:
    """One form or another; the fault is that of the last."""

    forms: tuple[Form, ...]
    """The forms."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        fault = None
        for form in self.forms:
            fault = form.fault(value, path)
            if fault is None:
                return None
        return fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list of values of one form."""

    of: Form
    """The form."""
    most: int = MANY
    """How many at most."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if not isinstance(value, list):
            return _wrong(path, "a list", value)
        if len(value) > self.most:
            return f"{path} has {len(value):,} entries; at most {self.most:,} are read"
        faults = (self.of.fault(one, f"{path}/{place}") for place, one in enumerate(value))
        return next((fault for fault in faults if fault), None)


@dataclass(frozen=True, slots=True)
class Row:
    """A list of so many values, each of a form of its own."""

    forms: tuple[Form, ...]
    """The forms, in order."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if not isinstance(value, list) or len(value) != len(self.forms):
            return _wrong(path, f"a list of {len(self.forms)}", value)
        pairs = enumerate(zip(self.forms, value, strict=True))
        return next((fault for place, (form, one) in pairs if (fault := form.fault(one, f"{path}/{place}"))), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A table with free keys and values of one form."""

    of: Form
    """The form."""
    key: Form = field(default_factory=Text)
    """The form of the keys."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if not isinstance(value, dict):
            return _wrong(path, "a table", value)
        for name, one in value.items():
            fault = self.key.fault(name, f"a key of {path}") or self.of.fault(one, f"{path}/{name}")
            if fault:
                return fault
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A table with known keys, and no others."""

    needed: Mapping[str, Form]
    """The keys that must be there."""
    optional: Mapping[str, Form] = field(default_factory=dict)
    """The keys that may be there."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if not isinstance(value, dict):
            return _wrong(path, "a table", value)
        absent = [key for key in self.needed if key not in value]
        if absent:
            return f"{path or 'the manifest'} has no {absent[0]!r}"
        known = {**self.needed, **self.optional}
        for key, one in value.items():
            if key not in known:
                return f"{path or 'the manifest'} has an unknown key {key[:60]!r}"
            fault = known[key].fault(one, f"{path}/{key}" if path else key)
            if fault:
                return fault
        return None


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter: a number, a text, yes or no, nothing, or lists and tables of these."""

    depth: int = 5
    """How deep lists and tables are nested at most."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if isinstance(value, list | dict) and not self.depth:
            return f"{path} is nested too deep"
        if isinstance(value, list):
            return Listed(of=Value(self.depth - 1)).fault(value, path)
        if isinstance(value, dict):
            return Mapped(of=Value(self.depth - 1)).fault(value, path)
        if isinstance(value, str):
            return Text(most=LONG).fault(value, path)
        return None if value is None or isinstance(value, bool | int | float) else _wrong(path, "a value", value)
