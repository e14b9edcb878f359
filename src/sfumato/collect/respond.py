"""Randomize answers where they are given: pure Python, no NumPy, all chance from the operating system.

>>> from sfumato.collect.kept_categories import KeptCategory
>>> from sfumato.collect.respond import Respondent
>>> from sfumato.collect.specification import Specification
>>> spec = Specification(questions=(KeptCategory.warner("smokes", ("yes", "no"), truth="3/4"),))
>>> asked = Respondent(spec)
>>> first = asked.answer("ann", {"smokes": "yes"})
>>> first == asked.answer("ann", {"smokes": "yes"}), first["smokes"] in ("yes", "no")
(True, True)

A survey tool embeds this module and those that it imports (``sfumato.collect`` up to here and ``sfumato.ground``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.collect.memories import Memory, Shown
from sfumato.collect.specification import Question, Specification
from sfumato.ground.errors import BudgetError, DataError, listed

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
        lacking = [one.name for one in self.spec.questions if one.name not in answers]
        if lacking:
            raise DataError(f"every question needs an answer; there is none to {listed(lacking)}")
        codes = [one.code(answers[one.name]) for one in self.spec.questions]
        if person is not None:
            self._refuse_spent(person)
        return {one.name: self._shown(person, one, code) for one, code in zip(self.spec.questions, codes, strict=True)}

    def spent(self, person: str) -> dict[str, int]:
        """How often a person has answered each question."""
        return {name: one.times for name, one in self.memory.people.get(person, {}).items()}

    def _refuse_spent(self, person: str) -> None:
        most = self.spec.most
        for one in self.spec.questions:
            before = self.memory.recall(person, one.name)
            if self.spec.repeats == "charge" and before is not None and before.times >= most:
                raise BudgetError(
                    f"question {one.name!r}: this person has answered {before.times} times, and {most} are granted; "
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
