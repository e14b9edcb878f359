"""Randomizes answers where they are given, and remembers what each person has answered.

Randomize answers where they are given: pure Python, no NumPy, all chance from the operating system.

>>> from sfumato.collection.mechanisms import KeptCategory
>>> from sfumato.collection.respondent import Respondent
>>> from sfumato.collection.specification import Specification
>>> spec = Specification(questions=(KeptCategory.warner("smokes", ("yes", "no"), truth="3/4"),))
>>> asked = Respondent(spec)
>>> first = asked.answer("ann", {"smokes": "yes"})
>>> first == asked.answer("ann", {"smokes": "yes"}), first["smokes"] in ("yes", "no")
(True, True)

A survey tool embeds this module and those that it imports (``sfumato.collection`` up to here and ``sfumato.ground``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.collection.specification import Question, Specification
from sfumato.core.errors import BudgetError, BundleError, DataError, listed
from sfumato.core.input_files import read_text
from sfumato.core.run_context import unstopped
from sfumato.core.scratch import scratch, sync
from sfumato.core.strict_parsing import read_json

# What people have shown before: kept so that nobody is asked twice and answers anew.
#
# A memory holds shown answers, never true ones, and belongs to one specification. It is as private as a list of who
# was asked: keep it where the answers are given, not with the collector.


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

    def keep(self, person: str, question: str, entry: Shown) -> None:
        """Remember it."""
        self.people.setdefault(person, {})[question] = entry

    def write(self) -> str:
        """The file."""
        held = {
            who: {q: [entry.answer, entry.times] for q, entry in answers.items()}
            for who, answers in self.people.items()
        }
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
    answers: dict[str, Shown] = {}
    for question, (answer, times) in tree.items():
        match = next((candidate for candidate in spec.questions if candidate.name == question), None)
        if not isinstance(answer, str) or isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise ValueError(f"question {question!r} has no answer and number")
        if match is not None:
            match.read(answer)
        answers[question] = Shown(answer, times)
    return answers


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


__all__ = ["Memory", "Respondent", "Shown", "Specification"]


class Respondent:
    """Turns true answers into shown ones, and keeps nothing else of them.

    Claim: a shown answer depends on the true one through one draw of the declared law alone. A person who is asked
        again shows the remembered draw (``memoize``), whatever they say now; or a new one that is charged, as often as
        the specification allows (``charge``). Nothing is drawn again in silence.
    Source: Erlingsson, Pihur and Korolova 2014 (permanent randomized response); document 000, section 20.2.
    Does not protect against: two memories, or two names, of one person.
    """

    def __init__(self, spec: Specification, memory: Memory | None = None) -> None:
        """Answers by a specification; without a memory, one that lasts as long as this object."""
        self.spec, self.memory = spec, Memory(spec=spec) if memory is None else memory
        if self.memory.spec != spec:
            raise DataError("the memory is that of another specification; take its own, or a new one")

    def answer(self, person: str | None, answers: Mapping[str, Any]) -> dict[str, str]:
        """What a person shows to every question. None stands for somebody who is never asked again.

        Every answer is looked at before any is drawn: a refusal leaves everything as it was.
        """
        if person is not None and (not isinstance(person, str) or not person):
            raise DataError(f"a person must have a name that is not empty, not {person!r}; or None")
        lacking = [question.name for question in self.spec.questions if question.name not in answers]
        if lacking:
            raise DataError(f"every question needs an answer; there is none to {listed(lacking)}")
        codes = [question.code(answers[question.name]) for question in self.spec.questions]
        if person is not None:
            self._refuse_spent(person)
        return {
            question.name: self._shown(person, question, code)
            for question, code in zip(self.spec.questions, codes, strict=True)
        }

    def spent(self, person: str) -> dict[str, int]:
        """How often a person has answered each question."""
        return {name: entry.times for name, entry in self.memory.people.get(person, {}).items()}

    def _refuse_spent(self, person: str) -> None:
        most = self.spec.most
        for question in self.spec.questions:
            before = self.memory.recall(person, question.name)
            if self.spec.repeats == "charge" and before is not None and before.times >= most:
                raise BudgetError(
                    f"question {question.name!r}: this person has answered {before.times} times, and {most} are "
                    "granted; "
                    "every further answer would tell more than was promised"
                )

    def _shown(self, person: str | None, question: Question, code: Any) -> str:
        any_question: Any = question
        before = None if person is None else self.memory.recall(person, question.name)
        anew = before is None or self.spec.repeats == "charge"
        drawn = any_question.draw(code) if anew or before is None else any_question.read(before.answer)
        if person is not None:
            times = 1 if before is None else before.times + 1
            self.memory.keep(person, question.name, Shown(any_question.write(drawn), times))
        return str(any_question.write(any_question.again(drawn)))
