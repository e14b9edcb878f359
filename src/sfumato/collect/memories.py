"""What people have shown before: kept so that nobody is asked twice and answers anew.

A memory holds shown answers, never true ones, and belongs to one specification. It is as private as a list of who was
asked: keep it where the answers are given, not with the collector.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.collect.specification import Specification
from sfumato.ground.deferring import unstopped
from sfumato.ground.errors import BundleError, DataError
from sfumato.ground.opening import read_text
from sfumato.ground.scratch import scratch, sync
from sfumato.ground.strict_json import read_json


@dataclass(slots=True)
class Shown:
    """What a person has shown to one question."""

    answer: str
    """The remembered draw."""
    times: int = 1
    """How often they have answered."""


@dataclass(slots=True)
class Memory:
    """Who has shown what, in memory; ``stored`` keeps one in a file."""

    spec: Specification
    """Whose answers they are."""
    people: dict[str, dict[str, Shown]] = field(default_factory=dict)
    """By person, then by question."""

    def recall(self, person: str, question: str) -> Shown | None:
        """What a person has shown before."""
        return self.people.get(person, {}).get(question)

    def keep(self, person: str, question: str, shown: Shown) -> None:
        """Remember it."""
        self.people.setdefault(person, {})[question] = shown

    def write(self) -> str:
        """The file."""
        held = {who: {q: [one.answer, one.times] for q, one in answers.items()} for who, answers in self.people.items()}
        return json.dumps({"sfumato": "memory", "spec": self.spec.digest, "people": held}, ensure_ascii=False) + "\n"

    @classmethod
    def parse(cls, text: str, spec: Specification, *, where: str) -> Memory:
        """The memory in a file; that of another specification is refused."""
        try:
            tree = read_json(text)
            if tree["sfumato"] != "memory":
                raise ValueError("it is no memory of shown answers")
            people = {str(who): _answers(answers, spec) for who, answers in tree["people"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, DataError) as fault:
            raise DataError(f"{where}: cannot be read as a memory ({fault}); name the file that was kept") from None
        if tree.get("spec") != spec.digest:
            raise DataError(
                f"{where}: remembers answers to another specification; name its own memory, or a new file for a new one"
            )
        return cls(spec=spec, people=people)


def _answers(tree: Any, spec: Specification) -> dict[str, Shown]:
    found: dict[str, Shown] = {}
    for question, (answer, times) in tree.items():
        one = next((one for one in spec.questions if one.name == question), None)
        if not isinstance(answer, str) or isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"question {question!r} has no answer and number")
        if one is not None:
            one.read(answer)
        found[question] = Shown(answer, times)
    return found


@contextmanager
def stored(path: str | os.PathLike[str], spec: Specification) -> Iterator[Memory]:
    """The memory in a file; what was added is on the disk when the block ends, whole or not at all.

    Hand answers out after the block: an answer that was seen and not remembered could be drawn again.
    """
    place = Path(path)
    before = _text(place)
    memory = Memory(spec=spec) if before is None else Memory.parse(before, spec, where=str(place))
    yield memory
    if _text(place) != before:
        raise DataError(f"{place}: somebody else has added to it meanwhile; nothing was handed out, so run it again")
    try:
        with scratch(place.parent, place.name) as folder:
            folder.new.touch(mode=0o600)
            folder.new.write_text(memory.write(), encoding="utf-8")
            sync(folder.new)
            with unstopped():
                folder.new.replace(place)
    except OSError as fault:
        raise BundleError(f"{place} cannot be written: {fault.strerror or fault}") from fault


def _text(place: Path) -> str | None:
    try:
        return read_text(place) if place.exists() else None
    except (OSError, UnicodeDecodeError) as fault:
        raise DataError(f"{place}: cannot be read: {getattr(fault, 'strerror', None) or fault}") from None
