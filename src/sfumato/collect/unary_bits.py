"""Unary answers: one bit for each declared value, each randomized by itself (RAPPOR); also sets of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.collect.amounts_of_privacy import LocalEpsilon, exact_number, ratio_within
from sfumato.collect.coins import Below, coin, system
from sfumato.collect.kept_categories import declared_place, refuse_values, stated_values
from sfumato.ground.arguments import one_of, text
from sfumato.ground.errors import DataError, ParameterError

Bits = tuple[bool, ...]
SEPARATOR = ";"
"""Between the items of a set, where it is written as one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryBits:
    """A bit for each value: a set one is shown as 1 with probability ``keep``, another one with probability ``flip``.

    With ``one`` and ``zero`` the shown bits are drawn anew for every report from the remembered ones, as in RAPPOR:
    a remembered 1 is shown as 1 with probability ``one``, a remembered 0 with probability ``zero``.

    Claim: of a single value ("unary"), local epsilon = ln(keep (1 - flip) / (flip (1 - keep))), exactly: two bits
        differ. Of a set ("items"), the larger of ln(keep / flip) and ln((1 - flip) / (1 - keep)) for each item.
    Source: Erlingsson, Pihur and Korolova 2014; Wang, Blocki, Li and Jha 2017; Rizvi and Haritsa 2002 (sets).
    Does not protect against: somebody who watches reports for years learns the remembered bits; ``lasting`` says what
        these give away.

    >>> str(UnaryBits.declared("site", ("a", "b", "c"), keep="3/4", flip="1/4").epsilon)
    'ln 9'
    """

    kinds: ClassVar[tuple[str, ...]] = ("unary", "items")

    name: str
    """The question."""
    kind: Literal["unary", "items"]
    """Whether an answer is one value, or a set of them."""
    values: tuple[str, ...]
    """The declared values."""
    keep: Fraction
    """How often a set bit is remembered as 1."""
    flip: Fraction
    """How often another bit is remembered as 1."""
    one: Fraction = Fraction(1)
    """How often a remembered 1 is shown as 1."""
    zero: Fraction = Fraction(0)
    """How often a remembered 0 is shown as 1."""

    def __post_init__(self) -> None:
        text("name", self.name)
        one_of("kind", self.kind, self.kinds)
        where = f"question {self.name!r}"
        refuse_values(where, self.values)
        if self.kind == "items" and any(SEPARATOR in value for value in self.values):
            raise ParameterError(f"{where}: values must not have {SEPARATOR!r} in them: it stands between items")
        if not 0 < self.flip < self.keep < 1:
            raise ParameterError(
                f"{where}: flip and keep must be probabilities, 0 < flip < keep < 1, not {self.flip} and {self.keep}"
            )
        if not 0 <= self.zero < self.one <= 1:
            raise ParameterError(
                f"{where}: zero and one must be probabilities, 0 <= zero < one <= 1, not {self.zero} and {self.one}"
            )

    @classmethod
    def declared(
        cls,
        name: str,
        values: Sequence[str],
        *,
        keep: Any,
        flip: Any,
        one: Any = 1,
        zero: Any = 0,
        kind: Literal["unary", "items"] = "unary",
    ) -> UnaryBits:
        """From probabilities as people write them."""
        named = {"keep": keep, "flip": flip, "one": one, "zero": zero}
        given = {key: exact_number(f"question {name!r}: {key}", value) for key, value in named.items()}
        return cls(name=name, kind=kind, values=tuple(values), **given)

    @classmethod
    def within(cls, name: str, values: Sequence[str], *, epsilon: Any) -> UnaryBits:
        """Optimized unary encoding: the smallest variance of rare values within a local epsilon (keep = 1/2)."""
        ratio = ratio_within(exact_number("epsilon", epsilon))
        return cls(name=name, kind="unary", values=tuple(values), keep=Fraction(1, 2), flip=1 / (ratio + 1))

    @classmethod
    def items(cls, name: str, values: Sequence[str], *, epsilon: Any) -> UnaryBits:
        """Sets, with a local epsilon for every item: each bit is told truly or not, alike."""
        ratio = ratio_within(exact_number("epsilon", epsilon))
        return cls(name=name, kind="items", values=tuple(values), keep=ratio / (ratio + 1), flip=1 / (ratio + 1))

    @property
    def twice(self) -> bool:
        """Whether every report is drawn anew from the remembered bits."""
        return self.one != 1 or self.zero != 0

    @property
    def shown(self) -> tuple[Fraction, Fraction]:
        """How often a set bit, and another one, are shown as 1 in one report."""
        return tuple(p * self.one + (1 - p) * self.zero for p in (self.keep, self.flip))  # type: ignore[return-value]

    @property
    def epsilon(self) -> LocalEpsilon:
        """What is promised of one report; of a set, for each item."""
        return self._promised(*self.shown)

    @property
    def lasting(self) -> LocalEpsilon:
        """What is promised of all reports that stand on one remembered draw."""
        return self._promised(self.keep, self.flip)

    def _promised(self, keep: Fraction, flip: Fraction) -> LocalEpsilon:
        ones, zeros = keep / flip, (1 - flip) / (1 - keep)
        return LocalEpsilon.log(ones * zeros if self.kind == "unary" else max(ones, zeros))

    def code(self, answer: Any) -> Bits:
        """The bits of an answer; one that is not declared is refused."""
        given = [answer] if self.kind == "unary" else _items(self.name, answer)
        places = {declared_place(self.name, one, self.values) for one in given}
        return tuple(place in places for place in range(len(self.values)))

    def draw(self, code: Bits, below: Below = system) -> Bits:
        """The bits that are remembered."""
        return tuple(coin(self.keep if bit else self.flip, below) for bit in code)

    def again(self, shown: Bits, below: Below = system) -> Bits:
        """What one report shows of the remembered bits."""
        if not self.twice:
            return shown
        return tuple(coin(self.one if bit else self.zero, below) for bit in shown)

    def write(self, shown: Bits) -> str:
        """Bits as zeros and ones, in the order of the values; a letter before them keeps them a text."""
        return "b" + "".join("01"[bit] for bit in shown)

    def read(self, written: str) -> Bits:
        """The bits of a shown answer."""
        found = written.strip()
        if len(found) != len(self.values) + 1 or found[0] != "b" or set(found[1:]) - {"0", "1"}:
            raise DataError(
                f"question {self.name!r}: {written!r} was not shown by it; it shows b and {len(self.values)} bits"
            )
        return tuple(bit == "1" for bit in found[1:])

    def to_json(self) -> dict[str, Any]:
        """As a specification has it."""
        tree: dict[str, Any] = {"name": self.name, "kind": self.kind, "values": list(self.values)}
        tree |= {"keep": str(self.keep), "flip": str(self.flip)}
        return tree | ({} if not self.twice else {"one": str(self.one), "zero": str(self.zero)})

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> UnaryBits:
        """The question that a specification states."""
        chances = {key: tree[key] for key in ("keep", "flip", "one", "zero") if key in tree}
        return cls.declared(tree["name"], stated_values(tree), kind=tree["kind"], **chances)

    @classmethod
    def keys(cls, kind: str) -> tuple[str, ...]:
        """The keys of a question of this kind."""
        return "values", "keep", "flip"


def _items(name: str, answer: Any) -> list[Any]:
    if isinstance(answer, str):
        return [one for one in answer.split(SEPARATOR) if one.strip()]
    if isinstance(answer, list | tuple | set | frozenset):
        return list(answer)
    raise DataError(f"question {name!r}: {answer!r} is no set; give a list of items, or a text with ; between them")
