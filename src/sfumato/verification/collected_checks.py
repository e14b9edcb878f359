"""Verifying answers that were randomized at the source: promises, range and estimates, from the bytes and the coins.

Whether people really drew as the specification says is not in the bytes, and nobody can verify it; the bundle says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.bundle.published import Published
from sfumato.data.table import Table, as_text
from sfumato.describe.roles import Role
from sfumato.ground.errors import listed
from sfumato.verification.attack_figures import attacks_fit
from sfumato.verification.cell_checks import cells_fit
from sfumato.verification.checks import Check, Remark, same
from sfumato.verification.consistency import algorithm_fits, marks_fit
from sfumato.verification.missing_checks import missing_fits
from sfumato.verification.near_unique_remarks import near_unique_remarks
from sfumato.verification.released_file import formulas_escaped
from sfumato.verification.stated_coins import can_show, claims_of, false_promises
from sfumato.verification.verifying import DATA, same_columns, shape

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
    yield from formulas_escaped(manifest, [folder / str(data["file"])])
    yield from shape(folder, manifest, table)
    if not same_columns(manifest, table):
        return
    names = [str(one["name"]) for one in spec["questions"]]
    roles = {name: role for name, role in published.schema.roles.items() if name not in names}
    yield same("columns of the questions", list(table.names)[: len(names)], names)
    planned = {name: spec["role"] for name, spec in manifest["plan"]["columns"].items() if name in roles}
    yield same("roles of the other columns", {name: str(role) for name, role in roles.items()}, planned)
    yield same("other roles than keep and target", sorted({*roles.values()} - {Role.KEEP, Role.TARGET}), [])
    rare = list(near_unique_remarks(manifest, table, roles))
    yield from rare
    study = [STUDY] if manifest["plan"]["collection"]["study"] else []
    due = [AT_THE_SOURCE, *study, *([beside_mark(list(roles))] if roles else []), *(one.detail for one in rare)]
    yield marks_fit(manifest, due, Check)
    yield algorithm_fits(manifest, Check)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [])
    yield from cells_fit(data["columns"], table)
    yield from missing_fits(manifest, [(table, [*names, *published.schema.named(Role.TARGET)])])
    yield from _promised(manifest)
    answers = {name: as_text(table.frame[name]).fill_null("").to_list() for name in names if name in table.names}
    held = True
    for one in _shown(spec, answers):
        held = held and one.holds
        yield one
    if held:
        made = again(manifest, answers)
        yield from _estimates(manifest["reconstruction"], made["reconstruction"])
        yield from _attacks(manifest, made)
    yield from attacks_fit(manifest)


def _promised(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The specification promises what its numbers give, and the bundle claims that and nothing else."""
    spec = manifest["specification"]
    false = list(false_promises(spec))
    told = f"not what the coins give: {listed(false)}" if false else "as the coins give them"
    yield Check(what="promises of the specification", holds=not false, detail=told)
    due, stated = claims_of(spec), [dict(one) for one in manifest["claims"]]
    wrong = [one["parameters"].get("question") for one in stated if one not in due]
    absent = [one["parameters"]["question"] for one in due if one not in stated]
    fits = due == stated
    told = f"{len(due)} claims" if fits else f"not what the coins give: {listed([*wrong, *absent])}"
    yield Check(what="claims", holds=fits, detail=told)


def _shown(spec: Mapping[str, Any], answers: Answers) -> Iterable[Check]:
    """Every answer is one that its question can show."""
    for one in spec["questions"]:
        fits = can_show(one)
        bad = sorted(text for text in set(answers.get(one["name"], ())) if not fits(text))
        told = f"no coin shows {listed(bad, most=3)}" if bad else "each can be shown"
        yield Check(what=f"answers to {one['name']}", holds=not bad, detail=told)


def _estimates(stated: Mapping[str, Any], found: Mapping[str, Any]) -> Iterable[Check]:
    """Every figure is the one that the rows give."""
    mine = {one["question"]: one for one in found["questions"]}
    theirs = {one["question"]: one for one in stated["questions"]}
    yield same("questions that are reconstructed", [entry["question"] for entry in stated["questions"]], list(mine))
    for name, one in mine.items():
        if name in theirs:
            apart = _apart(one, theirs[name])
            told = f"the rows give another {apart}" if apart else f"{len(one['cells'])} cells, as stated"
            yield Check(what=f"reconstruction of {name}", holds=not apart, detail=told)
    wrong = len(found["pairs"]) != len(stated["pairs"])
    wrong = wrong or any(_apart(one, other) for one, other in zip(found["pairs"], stated["pairs"], strict=True))
    told = "the rows give others" if wrong else f"{len(stated['pairs'])} pairs, as stated"
    yield Check(what="pairs of questions", holds=not wrong, detail=told)


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Which entry of two records differs by more than rounding."""
    for key in {**one, **other}:
        if not (_rounds if key == "rounds" else _near)(one.get(key), other.get(key)):
            return str(key)
    return ""


def _rounds(one: Any, other: Any) -> bool:
    """Whether an iteration took as many rounds; rounding on another machine may end it a little sooner or later."""
    return isinstance(one, int) and isinstance(other, int) and abs(one - other) <= max(one, other) // 20


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_near, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= _SLACK * max(1.0, abs(one), abs(other))
    return bool(one == other)


def _attacks(manifest: Mapping[str, Any], made: Mapping[str, Any]) -> Iterable[Check]:
    """What attackers reach follows from the rows too, but for what only true answers show; none is left out."""
    found = {one["attack"]: one for one in made["attacks"]}
    told = {one["attack"]: one for one in manifest["attacks"] if not str(one["attack"]).endswith(MEASURED)}
    wrong = [name for name, one in told.items() if name not in found or not _alike(found[name], one)]
    wrong += [name for name in found if name not in told and name not in manifest["attacks_not_made"]]
    if not manifest["plan"]["collection"]["study"]:
        wrong += [one["attack"] for one in manifest["attacks"] if one["attack"] not in told]
    said = f"the rows give others: {listed(wrong)}" if wrong else "as the rows give them"
    yield Check(what="figures of the attacks", holds=not wrong, detail=said)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    keys = ("threat", "knows", "does", "note", "outcome")
    rates = all(
        _four(one[run]["rate"], other[run]["rate"])
        and all(one[run][key] == other[run][key] for key in ("trials", "failed", "confidence"))
        for run in ("target", "naive")
    )
    rates = rates and _four(one["worst"], other["worst"])
    rates = rates and (one["limit"] or {}).get("why") == (other["limit"] or {}).get("why")
    limits = [None if each["limit"] is None else each["limit"]["value"] for each in (one, other)]
    figures = one["figures"].keys() == other["figures"].keys() and all(
        _four(one["figures"][key], other["figures"][key]) for key in one["figures"]
    )
    return rates and figures and _four(*limits) and all(one[key] == other[key] for key in keys)


def _four(one: float | None, other: float | None) -> bool:
    """Equal to four digits, but for the last one."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 2e-3 * max(abs(one), abs(other), 1e-6)
