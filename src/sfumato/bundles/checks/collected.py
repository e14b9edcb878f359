"""Verifies randomized answers: promises of the coins, range and estimates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log
from pathlib import Path
from statistics import NormalDist
from typing import Any

from sfumato.bundles.checks.cells import cells_fit, missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.columns import Published
from sfumato.bundles.provenance import Check, Remark, same
from sfumato.bundles.verify import DATA
from sfumato.core.errors import listed
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_text

# What a specification of randomized answers gives, computed from its numbers alone; shares no code with ``collect``.
#
# The verifier reads fractions as they stand in the specification and derives from them what is promised and what can
# be shown. A specification that promises more privacy than its coins give, and answers that no coin shows, are found
# so.


Tree = Mapping[str, Any]
CONFIDENCE = 0.95
"""Of the interval that is claimed where there is no epsilon."""
_DIGITS = re.compile(r"-?\d{1,1000}(\.\d{1,1000})?|-?\d{1,1000}/0*[1-9]\d{0,1000}")
_CELL = re.compile(r"-?\d{1,40}(\.\d{0,40})?([eE][+-]?\d{1,3})?")


def exact(text: str) -> Fraction:
    """A number or fraction that is written with digits alone; a text from a stranger must not cost a gigabyte.

    >>> exact("-0.5"), exact("13591/5000")
    (Fraction(-1, 2), Fraction(13591, 5000))
    """
    if not _DIGITS.fullmatch(text):
        raise ValueError(f"{text[:60]!r} is no number such as 3/4 or 0.5")
    return Fraction(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number plus logarithms of ratios, exactly."""

    plain: Fraction = Fraction(0)
    """The number."""
    logs: Mapping[Fraction, int] = field(default_factory=dict)
    """Ratios with how often the logarithm of each counts."""

    @classmethod
    def read(cls, text: str) -> Amount:
        """An amount as a specification writes it.

        >>> float(Amount.read("2 ln 3 + 1")) == 2 * log(3) + 1
        True
        """
        plain, logs = Fraction(0), Counter[Fraction]()
        for part in text.split(" + "):
            many, mark, ratio = part.rpartition("ln ")
            if mark:
                logs[exact(ratio)] += int(many) if many.strip() else 1
            else:
                plain += exact(part)
        return cls(plain=plain, logs=dict(logs))

    def __add__(self, other: Amount) -> Amount:
        return Amount(plain=self.plain + other.plain, logs=dict(Counter(self.logs) + Counter(other.logs)))

    def times(self, many: int) -> Amount:
        """So many of it."""
        return Amount(plain=self.plain * many, logs={ratio: each * many for ratio, each in self.logs.items()})

    def __float__(self) -> float:
        return float(self.plain) + sum(many * log(ratio) for ratio, many in self.logs.items())


def _ratio(value: Fraction) -> Amount:
    return Amount(logs={value: 1}) if value != 1 else Amount()


def epsilon_of(question: Tree, *, lasting: bool = False) -> Amount | None:
    """The local epsilon of one answer, or of all that stand on one remembered draw; None where there is none.

    Of a set, that of one item.
    """
    kind = question["kind"]
    if kind in ("uniform", "gaussian"):
        return None
    if kind == "laplace":
        return Amount(plain=(exact(question["high"]) - exact(question["low"])) / exact(question["scale"]))
    if kind in ("warner", "generalized"):
        keys = ("truth", "lie") if kind == "warner" else ("keep", "other")
        return _ratio(exact(question[keys[0]]) / exact(question[keys[1]]))
    keep, flip = exact(question["keep"]), exact(question["flip"])
    if not lasting:
        one, zero = exact(question.get("one", "1")), exact(question.get("zero", "0"))
        keep, flip = (p * one + (1 - p) * zero for p in (keep, flip))
    ones, zeros = keep / flip, (1 - flip) / (1 - keep)
    return _ratio(ones * zeros if kind == "unary" else max(ones, zeros))


def everything_of(spec: Tree) -> Amount | None:
    """What all answers of a person give away together, as often as they may be asked; None without a promise."""
    whole, memoized = Amount(), spec["repeats"] == "memoize"
    for question in spec["questions"]:
        each = epsilon_of(question, lasting=memoized)
        if each is None:
            return None
        whole = whole + each.times(len(question["values"]) if question["kind"] == "items" else 1)
    return whole.times(1 if memoized else int(spec["most"]))


def width_of(question: Tree) -> float:
    """How wide an interval around a shown number must be to hold the true one, of the continuous law."""
    kind = question["kind"]
    if kind == "uniform":
        return CONFIDENCE * float(2 * exact(question["reach"]) + exact(question["step"]))
    if kind == "gaussian":
        return 2 * NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(exact(question["deviation"]))
    return 2 * log(1 / (1 - CONFIDENCE)) * float(exact(question["scale"]))


def false_promises(spec: Tree) -> Iterable[str]:
    """The promises of a specification that its numbers do not give."""
    promises = spec["promises"]
    names = [question["name"] for question in spec["questions"]]
    for key in ("epsilon", "lasting"):
        given = {question["name"]: epsilon_of(question, lasting=key == "lasting") for question in spec["questions"]}
        stated = {name: _read(text) for name, text in promises[key].items()}
        yield from (f"{key} of {name}" for name in names if name not in stated or stated[name] != given[name])
        yield from (f"{key} of {name}" for name in stated if name not in given)
    if _read(promises["everything"]) != everything_of(spec):
        yield "epsilon of everything"


def _read(text: str | None) -> Amount | None:
    return None if text is None else Amount.read(text)


def claims_of(spec: Tree) -> list[dict[str, Any]]:
    """What a bundle of a specification claims: of every question an exact epsilon, or the width of an interval."""
    claims: list[dict[str, Any]] = []
    for question in spec["questions"]:
        if epsilon_of(question) is None:
            parameters: dict[str, Any] = {
                "question": question["name"],
                "confidence": CONFIDENCE,
                "width": _six(width_of(question)),
            }
            claims.append({"model": "interval-privacy", "parameters": parameters})
        else:
            parameters = {"question": question["name"], "epsilon": spec["promises"]["epsilon"][question["name"]]}
            parameters |= {"of": "each item"} if question["kind"] == "items" else {}
            claims.append({"model": "local-privacy", "parameters": parameters})
    if everything_of(spec) is not None:
        parameters = {"question": "*", "epsilon": spec["promises"]["everything"], "of": "all answers of a person"}
        claims.append({"model": "local-privacy", "parameters": parameters})
    return claims


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def can_show(question: Tree) -> Callable[[str], bool]:
    """Whether a text is an answer that a question can show."""
    kind = question["kind"]
    if kind in ("warner", "generalized"):
        return frozenset(question["values"]).__contains__
    if kind in ("unary", "items"):
        many = len(question["values"]) + 1
        return lambda text: len(text) == many and text[0] == "b" and not set(text[1:]) - {"0", "1"}
    low, high, step = (exact(question[key]) for key in ("low", "high", "step"))
    far = exact(question["reach"]) if kind == "uniform" else None

    def fits(text: str) -> bool:
        if not _CELL.fullmatch(text):
            return False
        value = Fraction(text)
        on_grid = ((value - low) / step).denominator == 1
        return on_grid and (far is None or low - far <= value <= high + far)

    return fits


# Verifying answers that were randomized at the source: promises, range and estimates, from the bytes and the coins.
#
# Whether people really drew as the specification says is not in the bytes, and nobody can verify it; the bundle says
# so.


AT_THE_SOURCE = (
    "answers were randomized before they were collected, so the specification says; the rows cannot show whether "
    "people used the coins that it names"
)
"""The warning of every such release."""
STUDY = "made with the true answers at hand: for studies only, people were not protected from whoever made it"
"""The warning of a release whose collector has the truth."""
MEASURED = ", measured"
"""Behind the name of an attack that was made on true answers."""
_SLACK = 1e-5
Answers = Mapping[str, Sequence[str]]
Estimated = Callable[[Mapping[str, Any], Answers], Mapping[str, Any]]
"""The estimates and the attacks of a manifest's specification and plan, made again from shown answers."""


def beside_mark(names: Sequence[str]) -> str:
    """The warning about columns that no coin was thrown for."""
    return f"what stands beside the answers ({listed(names, most=20)}) is published as collected, without any promise"


def collected_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table], again: Estimated
) -> Iterable[Check | Remark]:
    """The checks of a release of collected answers; ``again`` makes estimates and attacks from the bytes."""
    table, data, spec = tables[DATA], manifest["data"], manifest["specification"]
    published = Published.from_json(data)
    names = [str(question["name"]) for question in spec["questions"]]
    roles = {name: role for name, role in published.schema.roles.items() if name not in names}
    yield same("columns of the questions", list(table.names)[: len(names)], names)
    planned = {name: spec["role"] for name, spec in manifest["plan"]["columns"].items() if name in roles}
    yield same("roles of the other columns", {name: str(role) for name, role in roles.items()}, planned)
    yield same("other roles than keep and target", sorted({*roles.values()} - {Role.KEEP, Role.TARGET}), [])
    rare = list(near_unique_remarks(manifest, table, roles))
    yield from rare
    study = [STUDY] if manifest["plan"]["collection"]["study"] else []
    due = [AT_THE_SOURCE, *study, *([beside_mark(list(roles))] if roles else []), *(remark.detail for remark in rare)]
    yield marks_fit(manifest, due, Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from cells_fit(data["columns"], table)
    yield from missing_fits(manifest, [(table, [*names, *published.schema.named(Role.TARGET)])])
    yield from _promised(manifest)
    answers = {name: as_text(table.frame[name]).fill_null("").to_list() for name in names if name in table.names}
    held = True
    for check in _shown(spec, answers):
        held = held and check.holds
        yield check
    if held:
        actual = again(manifest, answers)
        yield from _estimates(manifest["reconstruction"], actual["reconstruction"])
        yield from _attacks(manifest, actual)
    yield from attacks_fit(manifest)


def _promised(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The specification promises what its numbers give, and the bundle claims that and nothing else."""
    spec = manifest["specification"]
    false = list(false_promises(spec))
    detail = f"not what the coins give: {listed(false)}" if false else "as the coins give them"
    yield Check(what="promises of the specification", holds=not false, detail=detail)
    due, stated = claims_of(spec), [dict(claim) for claim in manifest["claims"]]
    wrong = [claim["parameters"].get("question") for claim in stated if claim not in due]
    absent = [claim["parameters"]["question"] for claim in due if claim not in stated]
    fits = due == stated
    detail = f"{len(due)} claims" if fits else f"not what the coins give: {listed([*wrong, *absent])}"
    yield Check(what="claims", holds=fits, detail=detail)


def _shown(spec: Mapping[str, Any], answers: Answers) -> Iterable[Check]:
    """Every answer is one that its question can show."""
    for question in spec["questions"]:
        fits = can_show(question)
        bad = sorted(text for text in set(answers.get(question["name"], ())) if not fits(text))
        detail = f"no coin shows {listed(bad, most=3)}" if bad else "each can be shown"
        yield Check(what=f"answers to {question['name']}", holds=not bad, detail=detail)


def _estimates(stated: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterable[Check]:
    """Every figure is the one that the rows give."""
    mine = {estimate["question"]: estimate for estimate in actual["questions"]}
    theirs = {estimate["question"]: estimate for estimate in stated["questions"]}
    yield same("questions that are reconstructed", [entry["question"] for entry in stated["questions"]], list(mine))
    for name, estimate in mine.items():
        if name in theirs:
            apart = _apart(estimate, theirs[name])
            detail = f"the rows give another {apart}" if apart else f"{len(estimate['cells'])} cells, as stated"
            yield Check(what=f"reconstruction of {name}", holds=not apart, detail=detail)
    wrong = len(actual["pairs"]) != len(stated["pairs"])
    wrong = wrong or any(_apart(pair, other) for pair, other in zip(actual["pairs"], stated["pairs"], strict=True))
    detail = "the rows give others" if wrong else f"{len(stated['pairs'])} pairs, as stated"
    yield Check(what="pairs of questions", holds=not wrong, detail=detail)


def _apart(record: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Which entry of two records differs by more than rounding."""
    for key in {**record, **other}:
        if not (_rounds if key == "rounds" else _near)(record.get(key), other.get(key)):
            return str(key)
    return ""


def _rounds(value: Any, other: Any) -> bool:
    """Whether an iteration took as many rounds; rounding on another machine may end it a little sooner or later."""
    return isinstance(value, int) and isinstance(other, int) and abs(value - other) <= max(value, other) // 20


def _near(value: Any, other: Any) -> bool:
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_near, value, other))
    if isinstance(value, int | float) and isinstance(other, int | float):
        return abs(value - other) <= _SLACK * max(1.0, abs(value), abs(other))
    return bool(value == other)


def _attacks(manifest: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterable[Check]:
    """What attackers reach follows from the rows too, but for what only true answers show; none is left out."""
    actual_attacks = {attack["attack"]: attack for attack in actual["attacks"]}
    stated_attacks = {
        attack["attack"]: attack for attack in manifest["attacks"] if not str(attack["attack"]).endswith(MEASURED)
    }
    wrong = [
        name
        for name, attack in stated_attacks.items()
        if name not in actual_attacks or not _alike(actual_attacks[name], attack)
    ]
    wrong += [
        name for name in actual_attacks if name not in stated_attacks and name not in manifest["attacks_not_made"]
    ]
    if not manifest["plan"]["collection"]["study"]:
        wrong += [attack["attack"] for attack in manifest["attacks"] if attack["attack"] not in stated_attacks]
    detail = f"the rows give others: {listed(wrong)}" if wrong else "as the rows give them"
    yield Check(what="figures of the attacks", holds=not wrong, detail=detail)


def _alike(attack: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    keys = ("threat", "knows", "does", "note", "outcome")
    rates = all(
        _four(attack[run]["rate"], other[run]["rate"])
        and all(attack[run][key] == other[run][key] for key in ("trials", "failed", "confidence"))
        for run in ("target", "naive")
    )
    rates = rates and _four(attack["worst"], other["worst"])
    rates = rates and (attack["limit"] or {}).get("why") == (other["limit"] or {}).get("why")
    limits = [None if each["limit"] is None else each["limit"]["value"] for each in (attack, other)]
    figures = attack["figures"].keys() == other["figures"].keys() and all(
        _four(attack["figures"][key], other["figures"][key]) for key in attack["figures"]
    )
    return rates and figures and _four(*limits) and all(attack[key] == other[key] for key in keys)


def _four(rate: float | None, other: float | None) -> bool:
    """Equal to four digits, but for the last one."""
    if rate is None or other is None:
        return rate is other
    return abs(rate - other) <= 2e-3 * max(abs(rate), abs(other), 1e-6)
