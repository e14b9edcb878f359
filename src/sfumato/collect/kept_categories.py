"""Randomized response: an answer is kept with a known probability, else it becomes any other one (Warner 1965)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.collect.amounts_of_privacy import LocalEpsilon, exact_number, ratio_within
from sfumato.collect.coins import Below, coin, system
from sfumato.ground.arguments import text
from sfumato.ground.errors import DataError, ParameterError, listed

KEPT = {"warner": ("truth", "lie"), "generalized": ("keep", "other")}
"""What the two probabilities of each kind are called."""
MOST_VALUES = 10_000
"""A question may have so many answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCategory:
    """One of some declared answers, kept with probability ``keep``; each other is shown with probability ``other``.

    Claim: local epsilon = ln(keep / other), exactly: the coin is drawn from whole numbers.
    Source: Warner 1965; Kairouz, Bonawitz and Ramage 2016 (several answers); document 000, section 20.2.
    Does not protect against: what everybody's answers say together, and answers to other questions.

    >>> str(KeptCategory.within("drug", ("a", "b", "c"), epsilon="1").keep)
    '13591/23591'
    """

    kinds: ClassVar[tuple[str, ...]] = tuple(KEPT)

    name: str
    """The question."""
    kind: Literal["warner", "generalized"]
    """Warner's coin has two answers; generalized, any number of them."""
    values: tuple[str, ...]
    """The declared answers."""
    keep: Fraction
    """How often a true answer is shown."""
    other: Fraction
    """How often each of the others is shown instead."""

    def __post_init__(self) -> None:
        text("name", self.name)
        keep, other = KEPT[self.kind]
        where, many = f"question {self.name!r}", len(self.values) - 1
        refuse_values(where, self.values)
        if self.kind == "warner" and many != 1:
            raise ParameterError(f"{where}: warner must have two values, not {many + 1}; take generalized")
        if self.keep + many * self.other != 1:
            raise ParameterError(
                f"{where}: {keep} and {many} times {other} must add up to 1; {self.keep} + {many} * {self.other} is "
                f"{self.keep + many * self.other}; {other} = {(1 - self.keep) / many} would do"
            )
        if not 0 < self.other < self.keep:
            raise ParameterError(
                f"{where}: {keep} must be above {other}, and both above 0; not {self.keep}, {self.other}"
            )

    @classmethod
    def warner(cls, name: str, values: Sequence[str], *, truth: Any) -> KeptCategory:
        """Two answers, of which the true one is given with a stated probability."""
        keep = exact_number(f"question {name!r}: truth", truth)
        return cls(name=name, kind="warner", values=tuple(values), keep=keep, other=1 - keep)

    @classmethod
    def generalized(cls, name: str, values: Sequence[str], *, keep: Any) -> KeptCategory:
        """Any number of answers, of which the true one is given with a stated probability."""
        kept = exact_number(f"question {name!r}: keep", keep)
        refuse_values(f"question {name!r}", tuple(values))
        return cls(name=name, kind="generalized", values=tuple(values), keep=kept, other=(1 - kept) / (len(values) - 1))

    @classmethod
    def within(cls, name: str, values: Sequence[str], *, epsilon: Any) -> KeptCategory:
        """The coin that keeps the most answers within a local epsilon."""
        refuse_values(f"question {name!r}", tuple(values))
        ratio, others = ratio_within(exact_number("epsilon", epsilon)), len(values) - 1
        keep, kind = ratio / (ratio + others), "warner" if others == 1 else "generalized"
        return cls(name=name, kind=kind, values=tuple(values), keep=keep, other=1 / (ratio + others))  # type: ignore[arg-type]

    @property
    def epsilon(self) -> LocalEpsilon:
        """What is promised of one answer."""
        return LocalEpsilon.log(self.keep / self.other)

    @property
    def lasting(self) -> LocalEpsilon:
        """What is promised of all answers that stand on one remembered draw."""
        return self.epsilon

    def code(self, answer: Any) -> int:
        """The place of an answer among the declared ones; another is refused."""
        return declared_place(self.name, answer, self.values)

    def draw(self, code: int, below: Below = system) -> int:
        """The answer that is shown."""
        if coin(self.keep, below):
            return code
        found = below(len(self.values) - 1)
        return found + (found >= code)

    def again(self, shown: int, below: Below = system) -> int:
        """What a repeated answer shows: the same."""
        return shown

    def write(self, shown: int) -> str:
        """A shown answer as text."""
        return self.values[shown]

    def read(self, written: str) -> int:
        """The place of a shown answer."""
        return declared_place(self.name, written, self.values)

    def to_json(self) -> dict[str, Any]:
        """As a specification has it."""
        keep, other = KEPT[self.kind]
        kept = {keep: str(self.keep), other: str(self.other)}
        return {"name": self.name, "kind": self.kind, "values": list(self.values), **kept}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> KeptCategory:
        """The question that a specification states."""
        name, kind = tree["name"], tree["kind"]
        keep, other = (exact_number(f"question {name!r}: {key}", tree[key]) for key in KEPT[kind])
        return cls(name=name, kind=kind, values=stated_values(tree), keep=keep, other=other)

    @classmethod
    def keys(cls, kind: str) -> tuple[str, ...]:
        """The keys of a question of this kind."""
        return "values", *KEPT[kind]


def refuse_values(where: str, values: tuple[str, ...]) -> None:
    """Refuse a list of answers that is none: fewer than two, one twice, one empty."""
    good = 2 <= len(values) <= MOST_VALUES and all(isinstance(one, str) and one.strip() == one != "" for one in values)
    if not good or len(set(values)) < len(values):
        raise ParameterError(
            f"{where}: values must be 2 to {MOST_VALUES:,} different texts without blanks around them, not "
            f"{listed(values)}"
        )


def declared_place(name: str, answer: Any, values: tuple[str, ...]) -> int:
    """The place of an answer among those declared, or a refusal."""
    try:
        return values.index(answer.strip() if isinstance(answer, str) else answer)
    except ValueError:
        raise DataError(
            f"question {name!r}: {answer!r} is none of its answers {listed(values)}; ask again, or declare it before "
            "anybody has answered"
        ) from None


def stated_values(tree: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers that a specification states."""
    if not isinstance(tree["values"], list):
        raise ParameterError(f"question {tree['name']!r}: values must be a list of texts, not {tree['values']!r}")
    return tuple(tree["values"])
