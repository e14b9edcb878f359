"""The public specification of a collection, and its design from requested privacy or a TOML plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, log
from operator import add
from statistics import NormalDist
from typing import Any, Literal

from sfumato.collection.local_epsilon import LocalEpsilon, exact_number
from sfumato.collection.mechanisms import LAWS, SIZES, KeptCategory, Law, NoisyNumber, UnaryBits
from sfumato.core.arguments import at_least, between, one_of
from sfumato.core.errors import ParameterError, PlanError, listed, nearest
from sfumato.core.strict_parsing import read_json, read_toml

# The public specification of a collection: its questions, how each is randomized, and what that promises.


Question = NoisyNumber | KeptCategory | UnaryBits
FORM = 1
_TYPES: tuple[type[Question], ...] = (NoisyNumber, KeptCategory, UnaryBits)
KINDS = {kind: question_type for question_type in _TYPES for kind in question_type.kinds}
"""Which record each kind of question is."""
_OPTIONAL = {"one", "zero"}
_TOP = {"sfumato", "form", "repeats", "most", "questions", "promises"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Specification:
    """What everybody may know about a collection, and must know to learn anything from its answers.

    Claim: one answer of a person to every question keeps the sum of the questions' local epsilons, where each has one.
        With ``memoize`` that holds however often they are asked; with ``charge``, ``most`` times that.
    Source: document 000, section 20.2: the law of the noise is published with the answers.
    """

    questions: tuple[Question, ...]
    """In the order of the columns."""
    repeats: Literal["memoize", "charge"] = "memoize"
    """Whether a person who is asked again shows the remembered answer, or a new one that is charged."""
    most: int = 1
    """How many answers of a person to one question may be charged."""

    def __post_init__(self) -> None:
        if not self.questions:
            raise ParameterError("questions must be at least one; there is none")
        names = [question.name for question in self.questions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"question {twice!r} stands twice; give every question a name of its own")
        one_of("repeats", self.repeats, ("memoize", "charge"))
        at_least("most", self.most, 1)
        if self.repeats == "memoize" and self.most != 1:
            raise ParameterError(f"most must be 1 where answers are remembered, not {self.most}; it is for charge")
        free = next((question for question in self.questions if question.epsilon is None), None)
        if self.repeats == "charge" and free is not None:
            raise ParameterError(
                f"question {free.name!r}: {free.kind} noise has no local epsilon that could be charged, and the mean "
                "of repeated answers tells the true one; take memoize, or laplace"
            )

    def question(self, name: str) -> Question:
        """A question by its name."""
        for question in self.questions:
            if question.name == name:
                return question
        names = [question.name for question in self.questions]
        raise PlanError(f"there is no question {name!r}{nearest(name, names)} The specification has {listed(names)}")

    @property
    def epsilon(self) -> LocalEpsilon | None:
        """What all answers of a person give away together, as often as they may be asked; None without a promise."""
        each = [question.lasting if self.repeats == "memoize" else question.epsilon for question in self.questions]
        known = [
            amount.times(self._weight(q)) for amount, q in zip(each, self.questions, strict=True) if amount is not None
        ]
        return reduce(add, known).times(self.most) if len(known) == len(each) else None

    def _weight(self, question: Question) -> int:
        """Of a set, all of its items can change at once."""
        return len(question.values) if isinstance(question, UnaryBits) and question.kind == "items" else 1

    def to_json(self) -> dict[str, Any]:
        """Everything, with what it promises."""
        tree = {"sfumato": "collect", "form": FORM, "repeats": self.repeats}
        tree |= {} if self.repeats == "memoize" else {"most": self.most}
        whole = self.epsilon
        promises = {
            "epsilon": {
                question.name: None if question.epsilon is None else str(question.epsilon)
                for question in self.questions
            },
            "lasting": {
                question.name: None if question.lasting is None else str(question.lasting)
                for question in self.questions
            },
            "everything": None if whole is None else str(whole),
        }
        return {**tree, "questions": [question.to_json() for question in self.questions], "promises": promises}

    def write(self) -> str:
        """The file."""
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n"

    @property
    def digest(self) -> str:
        """By which a memory knows its specification."""
        return hashlib.sha256(self.write().encode()).hexdigest()

    @classmethod
    def parse(cls, text: str, *, where: str = "the specification") -> Specification:
        """The specification in a file; one that cannot be kept, or promises something else than it does, is refused."""
        try:
            tree = read_json(text)
        except ValueError as fault:
            raise PlanError(f"{where}: is not JSON: {fault}; `sfumato collect design` writes one that is") from None
        if not isinstance(tree, dict) or tree.get("sfumato") != "collect" or tree.get("form") != FORM:
            raise PlanError(f"{where}: is no specification of a collection (sfumato: collect, form: {FORM})")
        _refuse_keys(where, tree, needed={"questions"}, known=_TOP)
        if not isinstance(tree["questions"], list):
            raise PlanError(f"{where}: questions must be a list, not {tree['questions']!r}")
        try:
            questions = tuple(
                _question(entry, f"{where}: question {n + 1}") for n, entry in enumerate(tree["questions"])
            )
            most = tree.get("most", 1)
            specification = cls(questions=questions, repeats=tree.get("repeats", "memoize"), most=most)
        except ParameterError as fault:
            raise PlanError(f"{where}: {fault}") from None
        stated = tree.get("promises")
        if stated is not None and stated != specification.to_json()["promises"]:
            raise PlanError(
                f"{where}: promises are not what its probabilities give; they give "
                f"{specification.to_json()['promises']}, so "
                "leave them out or write it again with `sfumato collect design`"
            )
        return specification


def _question(tree: Any, where: str) -> Question:
    if not isinstance(tree, dict):
        raise PlanError(f"{where}: must be an object, not {tree!r}")
    _refuse_keys(where, tree, needed={"name", "kind"}, known=set(tree))
    kind, name = tree["kind"], tree["name"]
    if not isinstance(name, str) or not name:
        raise PlanError(f"{where}: name must be a text, not {name!r}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise PlanError(f"{where}: kind must be one of {', '.join(KINDS)}, not {kind!r}")
    needed = {"name", "kind", *KINDS[kind].keys(kind)}
    _refuse_keys(f"{where} ({name!r})", tree, needed=needed, known=needed | (_OPTIONAL if "flip" in needed else set()))
    return KINDS[kind].from_json(tree)


def _refuse_keys(where: str, tree: Mapping[str, Any], *, needed: set[str], known: set[str]) -> None:
    lacking, strange = sorted(needed - set(tree)), sorted(set(tree) - known)
    if lacking:
        raise PlanError(f"{where}: must have {listed(lacking)}; it has {listed(tree)}")
    if strange:
        raise PlanError(
            f"{where}: {strange[0]!r} is not known{nearest(strange[0], known)} Known are {listed(sorted(known))}"
        )


def share(value: Fraction) -> str:
    """A probability for people.

    >>> share(Fraction(3, 4)), share(Fraction(13591, 23591))
    ('3/4', '13591/23591 (0.576)')
    """
    return str(value) if value.denominator < 1000 else f"{value} ({float(value):.3f})"


# From the privacy that somebody wants to the noise that gives it: never less than was asked for.


_DIGITS = 10_000
"""Sizes are rounded up to so many parts of a step."""
CATEGORIES = ("warner", "generalized", "unary", "items")


def number_question(
    name: str,
    law: Law,
    *,
    low: Any,
    high: Any,
    step: Any = 1,
    privacy: Any = None,
    confidence: float = 0.95,
    epsilon: Any = None,
) -> NoisyNumber:
    """A number whose noise gives an interval of a width, as a share of the range, at a confidence; or a local epsilon.

    >>> age = number_question("age", "uniform", low=0, high=100, privacy=1)
    >>> str(age.size), age.width(0.95)
    ('53', 101.65)
    """
    where = f"question {name!r}"
    one_of(f"{where}: law", law, tuple(SIZES))
    between("confidence", confidence, 0.0, 0.999999, open_low=True)
    ends = [exact_number(f"{where}: {key}", value) for key, value in (("low", low), ("high", high), ("step", step))]
    span, each = ends[1] - ends[0], ends[2]
    if (privacy is None) == (epsilon is None):
        raise ParameterError(f"{where}: say either privacy, as a share of the range, or epsilon; not both, not neither")
    if epsilon is not None:
        if law != "laplace":
            raise ParameterError(f"{where}: {law} noise has no local epsilon; take laplace, or say privacy instead")
        promised = exact_number(f"{where}: epsilon", epsilon)
        if promised <= 0:
            raise ParameterError(f"{where}: epsilon must be above 0, not {promised}")
        return NoisyNumber.declared(name, law, low=low, high=high, step=step, size=span / promised)
    wanted = exact_number(f"{where}: privacy", privacy)
    if wanted <= 0 or each <= 0:
        raise ParameterError(f"{where}: privacy and step must be above 0, not {wanted} and {each}")
    width, sure = wanted * span, exact_number("confidence", confidence)
    if law == "uniform":
        size = max(ceil((width / (sure * each) - 1) / 2), 1) * each
    else:
        deviations = NormalDist().inv_cdf((1 + confidence) / 2) if law == "gaussian" else log(1 / (1 - confidence))
        parts = ceil(float(width / each) / (2 * deviations) * _DIGITS + 1e-6)
        size = Fraction(max(parts, 1), _DIGITS) * each
    return NoisyNumber.declared(name, law, low=low, high=high, step=step, size=size)


def category_question(
    name: str, kind: str, values: Sequence[str], *, epsilon: Any = None, keep: Any = None, flip: Any = None
) -> Question:
    """A question with declared answers: within a local epsilon, or with stated probabilities."""
    one_of(f"question {name!r}: kind", kind, CATEGORIES)
    if (epsilon is None) == (keep is None):
        raise ParameterError(f"question {name!r}: say either epsilon, or how often an answer is kept; not both")
    if kind in ("warner", "generalized"):
        if flip is not None:
            raise ParameterError(f"question {name!r}: flip is for unary and items, not for {kind}")
        if epsilon is not None:
            question = KeptCategory.within(name, values, epsilon=epsilon)
            if kind == "warner" and question.kind != "warner":
                raise ParameterError(f"question {name!r}: warner must have two values, not {len(values)}")
            return question
        make = KeptCategory.warner if kind == "warner" else KeptCategory.generalized
        return make(name, values, **{"truth" if kind == "warner" else "keep": keep})
    if epsilon is not None:
        made_of = UnaryBits.within if kind == "unary" else UnaryBits.items
        return made_of(name, values, epsilon=epsilon)
    kept = exact_number(f"question {name!r}: keep", keep)
    return UnaryBits.declared(name, values, keep=kept, flip=1 - kept if flip is None else flip, kind=kind)  # type: ignore[arg-type]


# What somebody wants to ask, as a TOML file says it: questions with the privacy that each shall give.


_NUMBER = ("kind", "low", "high", "step", "privacy", "confidence", "epsilon")
_CATEGORY = ("kind", "values", "epsilon", "keep", "flip")


def planned(text: str, *, where: str = "the questions") -> Specification:
    r"""The specification that a file asks for.

    >>> spec = planned('[questions.smokes]\nkind = "warner"\nvalues = ["yes", "no"]\nkeep = "3/4"')
    >>> str(spec.epsilon)
    'ln 3'
    """
    try:
        tree = read_toml(text)
    except ValueError as fault:
        raise PlanError(f"{where}: is not TOML: {fault}") from None
    _refuse_strange(where, tree, ("questions", "repeats", "most"))
    entries = tree.get("questions")
    if not isinstance(entries, Mapping) or not entries:
        raise PlanError(f"{where}: questions must have at least one, such as [questions.age]")
    questions = tuple(_planned_question(name, entry, where) for name, entry in entries.items())
    try:
        return Specification(questions=questions, repeats=tree.get("repeats", "memoize"), most=tree.get("most", 1))
    except ParameterError as fault:
        raise PlanError(f"{where}: {fault}") from None


def _planned_question(name: str, tree: Any, where: str) -> Question:
    path = f"{where}: questions.{name}"
    if not isinstance(tree, Mapping) or "kind" not in tree:
        raise PlanError(f"{path}: must have a kind: {', '.join((*LAWS, *CATEGORIES))}")
    kind = tree["kind"]
    if kind not in (*LAWS, *CATEGORIES):
        raise PlanError(f"{path}.kind: must be one of {', '.join((*LAWS, *CATEGORIES))}, not {kind!r}")
    _refuse_strange(path, tree, _NUMBER if kind in LAWS else _CATEGORY)
    options = {key: value for key, value in tree.items() if key != "kind"}
    try:
        if kind in LAWS:
            for key in ("low", "high"):
                if key not in options:
                    raise ParameterError(f"{key} is missing; a number needs its declared range")
            return number_question(name, kind, **options)
        values = options.pop("values", None)
        if not isinstance(values, list):
            raise ParameterError(f"values must be a list of texts, not {values!r}")
        return category_question(name, kind, values, **options)
    except ParameterError as fault:
        raise PlanError(f"{path}: {fault}") from None


def _refuse_strange(where: str, tree: Mapping[str, Any], known: tuple[str, ...]) -> None:
    strange = next((key for key in tree if key not in known), None)
    if strange is not None:
        raise PlanError(f"{where}: {strange!r} is not known{nearest(strange, known)} Known are {listed(known)}")
