"""Randomizers at the source: exact coins, randomized response, unary bits, noisy numbers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, log
from statistics import NormalDist
from typing import Any, ClassVar, Literal

from sfumato.collection.local_epsilon import LocalEpsilon, decimal, exact_number, ratio_within
from sfumato.core.arguments import one_of, text
from sfumato.core.errors import DataError, ParameterError, listed

# Exact draws from whole numbers of the operating system: coins with rational bias, and noise on a grid.
#
# Floating-point noise has holes: some sums are reached from one value and not from its neighbour, which breaks the
# promise of the Laplace mechanism (Mironov 2012). Nothing here uses floating point. A draw is a function of whole
# numbers below a bound, ``below(n)``; the default asks the operating system.
#
# Source: Canonne, Kamath and Steinke 2020 (exact discrete Laplace and Gaussian noise).


Below = Callable[[int], int]
"""From n to a whole number in [0, n), each with probability 1/n."""


def system(n: int) -> int:
    """A whole number below n from the operating system."""
    return secrets.randbelow(n)


def coin(chance: Fraction, below: Below = system) -> bool:
    """True with exactly this probability.

    >>> coin(Fraction(1)), coin(Fraction(0)), coin(Fraction(2, 3), lambda n: 1)
    (True, False, True)
    """
    return below(chance.denominator) < chance.numerator


def coin_exp(rate: Fraction, below: Below = system) -> bool:
    """True with probability exp(-rate), for any rate that is not negative."""
    while rate > 1:
        if not coin_exp(Fraction(1), below):
            return False
        rate -= 1
    tries = 1
    while coin(rate / tries, below):
        tries += 1
    return tries % 2 == 1


def uniform(reach: int, below: Below = system) -> int:
    """A whole number from -reach to reach, all alike."""
    return below(2 * reach + 1) - reach


def laplace(scale: Fraction, below: Below = system) -> int:
    """A whole number y with probability proportional to exp(-|y| / scale)."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        rest = below(top)
        if not coin_exp(Fraction(rest, top), below):
            continue
        turns = 0
        while coin_exp(Fraction(1), below):
            turns += 1
        size, negative = (rest + top * turns) // bottom, below(2) == 1
        if size or not negative:
            return -size if negative else size


def gaussian(deviation: Fraction, below: Below = system) -> int:
    """A whole number y with probability proportional to exp(-y^2 / (2 deviation^2))."""
    variance = deviation**2
    wide = isqrt(int(variance)) + 1
    while True:
        noise = laplace(Fraction(wide), below)
        if coin_exp((abs(noise) - variance / wide) ** 2 / (2 * variance), below):
            return noise


# Randomized response: an answer is kept with a known probability, else it becomes any other one (Warner 1965).


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
        answer = below(len(self.values) - 1)
        return answer + (answer >= code)

    def again(self, answer: int, below: Below = system) -> int:
        """What a repeated answer shows: the same."""
        return answer

    def write(self, answer: int) -> str:
        """A shown answer as text."""
        return self.values[answer]

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
    good = 2 <= len(values) <= MOST_VALUES and all(
        isinstance(value, str) and value.strip() == value != "" for value in values
    )
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


# Numbers with noise of a declared law on a declared grid: uniform, Gaussian or Laplace (document 000, 20.2).


Law = Literal["uniform", "gaussian", "laplace"]
MAX_STEP = 2**53
"""Answers further from the range are refused: their steps are no whole numbers of 64 bits, or not exact ones."""
LAWS = ("uniform", "gaussian", "laplace")
SIZES = {"uniform": "reach", "gaussian": "deviation", "laplace": "scale"}
"""What the size of each law is called."""
MOST_STEPS = 100_000
"""A range may have so many steps, and noise may reach so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyNumber:
    """A number in a declared range, rounded to the grid, plus noise that is a whole number of steps.

    Claim: Laplace noise keeps local epsilon = (high - low) / scale exactly. Uniform and Gaussian noise promise no
        epsilon; they state how wide an interval one must name to be right with a given probability.
    Source: document 000, section 20.2; Agrawal and Srikant 2000 (intervals); Canonne, Kamath and Steinke 2020 (draws).
    Does not protect against: prior knowledge. Uniform noise rules values out: a shown value at an end is one of few.

    >>> age = NoisyNumber.declared("age", "uniform", low=0, high=100, step=1, size=50)
    >>> age.width(0.95)
    95.95
    """

    kinds: ClassVar[tuple[str, ...]] = LAWS

    name: str
    """The question."""
    law: Law
    """Of the noise."""
    low: Fraction
    """The smallest number that can be answered."""
    high: Fraction
    """The largest."""
    step: Fraction
    """Answers and noise are multiples of this."""
    size: Fraction
    """How far uniform noise reaches, the deviation of Gaussian noise, or the scale of Laplace noise."""

    def __post_init__(self) -> None:
        text("name", self.name)
        one_of("law", self.law, LAWS)
        where, size = f"question {self.name!r}", SIZES[self.law]
        if self.high <= self.low:
            raise ParameterError(f"{where}: high must be above low ({self.low}), not {self.high}")
        if self.step <= 0 or ((self.high - self.low) / self.step).denominator != 1:
            raise ParameterError(
                f"{where}: step must divide the range of {self.high - self.low} into equal steps, not {self.step}"
            )
        if self.size <= 0 or (self.law == "uniform" and (self.size / self.step).denominator != 1):
            more = " and a multiple of step" if self.law == "uniform" else ""
            raise ParameterError(f"{where}: {size} must be above 0{more}, not {self.size}")
        if self.steps > MOST_STEPS or self.size / self.step > MOST_STEPS:
            raise ParameterError(
                f"{where}: range and {size} must have at most {MOST_STEPS:,} steps; take a larger step"
            )
        for value in (self.low, self.step):
            decimal(value)

    @classmethod
    def declared(cls, name: str, law: Law, *, low: Any, high: Any, step: Any, size: Any) -> NoisyNumber:
        """From numbers as people write them."""
        named = {"low": low, "high": high, "step": step, "size": size}
        given = {key: exact_number(f"question {name!r}: {key}", value) for key, value in named.items()}
        return cls(name=name, law=law, **given)

    @property
    def kind(self) -> str:
        """How a specification calls it."""
        return self.law

    @property
    def steps(self) -> int:
        """How many steps the range has; answers are coded 0 to this."""
        return int((self.high - self.low) / self.step)

    @property
    def spread(self) -> Fraction:
        """The size of the noise in steps."""
        return self.size / self.step

    @property
    def epsilon(self) -> LocalEpsilon | None:
        """What is promised of one answer; None where nothing is."""
        return LocalEpsilon(plain=(self.high - self.low) / self.size) if self.law == "laplace" else None

    @property
    def lasting(self) -> LocalEpsilon | None:
        """What is promised of all answers that stand on one remembered draw."""
        return self.epsilon

    def width(self, confidence: float) -> float:
        """How wide an interval around a shown value must be to hold the true one with this probability.

        Of the continuous law: 0.95 of all that uniform noise covers, 3.92 deviations, and so on.
        """
        if not 0 < confidence < 1:
            raise ParameterError(f"confidence must lie in (0, 1), not {confidence}")
        if self.law == "uniform":
            return round(confidence * float(2 * self.size + self.step), 12)
        each = NormalDist().inv_cdf((1 + confidence) / 2) if self.law == "gaussian" else log(1 / (1 - confidence))
        return 2 * each * float(self.size)

    def code(self, answer: Any) -> int:
        """The nearest step of an answer in the range; another is refused."""
        try:
            value = exact_number("answer", answer.strip() if isinstance(answer, str) else answer)
        except ParameterError:
            value = self.high + 1
        if not self.low <= value <= self.high:
            raise DataError(
                f"question {self.name!r}: {answer!r} is no number from {decimal(self.low)} to {self._end()}; "
                "ask again, or declare a wider range before anybody has answered"
            )
        return int((value - self.low) / self.step + Fraction(1, 2)) if value < self.high else self.steps

    def draw(self, code: int, below: Below = system) -> int:
        """The step that is shown, also outside the range."""
        if self.law == "uniform":
            return code + uniform(int(self.spread), below)
        return code + (laplace if self.law == "laplace" else gaussian)(self.spread, below)

    def again(self, answer: int, below: Below = system) -> int:
        """What a repeated answer shows: the same."""
        return answer

    def write(self, answer: int) -> str:
        """A shown step as a number."""
        return decimal(self.low + answer * self.step)

    def read(self, written: str) -> int:
        """The step of a shown number; what cannot have been shown is refused."""
        try:
            step = (exact_number("answer", written.strip()) - self.low) / self.step
        except ParameterError:
            step = Fraction(1, 2)
        far = self.law == "uniform" and not -self.spread <= step <= self.steps + self.spread
        if abs(step) > MAX_STEP:
            raise DataError(f"question {self.name!r}: {written[:40]!r} is too far from its range to be an answer")
        if step.denominator != 1 or far:
            raise DataError(
                f"question {self.name!r}: {written!r} was not shown by it; it shows {decimal(self.low)} plus "
                f"a multiple of {decimal(self.step)}"
                + (f", at most {decimal(self.size)} outside the range" if far else "")
            )
        return int(step)

    def to_json(self) -> dict[str, Any]:
        """As a specification has it."""
        bounds = {"low": decimal(self.low), "high": self._end(), "step": decimal(self.step)}
        return {"name": self.name, "kind": self.law, **bounds, SIZES[self.law]: str(self.size)}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> NoisyNumber:
        """The question that a specification states."""
        law: Law = tree["kind"]
        size = tree[SIZES[law]]
        return cls.declared(tree["name"], law, low=tree["low"], high=tree["high"], step=tree["step"], size=size)

    @classmethod
    def keys(cls, kind: str) -> tuple[str, ...]:
        """The keys of a question of this kind."""
        return "low", "high", "step", SIZES[kind]

    def _end(self) -> str:
        return decimal(self.high)


# Unary answers: one bit for each declared value, each randomized by itself (RAPPOR); also sets of items.


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
        places = {declared_place(self.name, item, self.values) for item in given}
        return tuple(place in places for place in range(len(self.values)))

    def draw(self, code: Bits, below: Below = system) -> Bits:
        """The bits that are remembered."""
        return tuple(coin(self.keep if bit else self.flip, below) for bit in code)

    def again(self, answer: Bits, below: Below = system) -> Bits:
        """What one report shows of the remembered bits."""
        if not self.twice:
            return answer
        return tuple(coin(self.one if bit else self.zero, below) for bit in answer)

    def write(self, answer: Bits) -> str:
        """Bits as zeros and ones, in the order of the values; a letter before them keeps them a text."""
        return "b" + "".join("01"[bit] for bit in answer)

    def read(self, written: str) -> Bits:
        """The bits of a shown answer."""
        bits = written.strip()
        if len(bits) != len(self.values) + 1 or bits[0] != "b" or set(bits[1:]) - {"0", "1"}:
            raise DataError(
                f"question {self.name!r}: {written!r} was not shown by it; it shows b and {len(self.values)} bits"
            )
        return tuple(bit == "1" for bit in bits[1:])

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
        return [item for item in answer.split(SEPARATOR) if item.strip()]
    if isinstance(answer, list | tuple | set | frozenset):
        return list(answer)
    raise DataError(f"question {name!r}: {answer!r} is no set; give a list of items, or a text with ; between them")
