"""What a manifest says about its plan, held against what this program plans: known options, and no attack untold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sfumato.bundles.manifest.sections import is_named
from sfumato.bundles.provenance import Check
from sfumato.core.errors import PlanError, SfumatoError, listed
from sfumato.core.records import decoded
from sfumato.pipeline.catalog.catalog import catalog, named
from sfumato.pipeline.catalog.parts import COMMON, AlgorithmPart, configured, option_names
from sfumato.pipeline.methods import method_stated
from sfumato.pipeline.plan.evaluation import AttackPlan
from sfumato.pipeline.plan.hierarchies import HIERARCHIES, builder
from sfumato.pipeline.plan.keys import Keys
from sfumato.pipeline.plan.sections import AlgorithmPlan

_BESIDE = ("sensitive", "target", "keep")
_TRIALS = 20
TABLES = "table"
"""The attacks on tables are made for every sensitive column; those on other releases have checks of their own."""


def plan_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The algorithm has the options of the plan, and the manifest reports every attack that the plan asks for."""
    kind = method_stated(manifest)
    if not kind.planned:
        return
    options, used = manifest["plan"]["algorithm"], manifest["recoding"]["algorithm"]
    part = catalog().algorithms.get(used)
    known = (*COMMON, *kind.options, *(() if part is None else option_names(part)))
    strange = [key for key in options if key not in known]
    fits = part is not None and part.solves == kind.solves
    detail = f"unknown: {listed(strange)}" if strange else "known" if fits else f"{used!r} makes no such release"
    yield Check(what="options of the algorithm", holds=fits and not strange, detail=detail)
    if part is not None and not strange:
        yield _values(manifest, part, kind.options)
    yield from _attacks(manifest)


def _values(manifest: Mapping[str, Any], part: AlgorithmPart, extra: Sequence[str]) -> Check:
    """Every value of the plan is one that a plan can have: the records that read plans read it again."""
    what, plan = "values of the plan", manifest["plan"]
    try:
        options = AlgorithmPlan.of(plan["algorithm"]).options
        _refuse_options(part, {key: value for key, value in options.items() if key not in extra}, manifest)
        attack = {key: value for key, value in plan["attack"].items() if key != "earlier" and value is not None}
        decoded(attack, AttackPlan, "attack")
        named(plan["utility"]["metric"], catalog().metrics, "metric")
        for name, column in plan["columns"].items():
            for key in ("hierarchy", "time_hierarchy"):
                if column.get(key, "flat") not in HIERARCHIES:
                    raise PlanError(f"columns.{name}.{key}: {column[key]!r} is no kind of hierarchy")
        for name, above in _rules_above(manifest):
            _refuse_rule(above, f"recoding.columns.{name}.rule.above")
    except SfumatoError as error:
        return Check(what=what, holds=False, detail=str(error))
    return Check(what=what, holds=True, detail="a plan can have them")


def _refuse_options(part: AlgorithmPart, options: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Refuse options that the algorithm cannot have; what a plan states elsewhere (its budget) or hides is made up."""
    if not isinstance(part.found, type):
        return
    promised = {key: manifest["plan"]["privacy"].get(key) for key in ("epsilon", "rho")}
    needed = {
        field.name for field in fields(part.found) if field.default is MISSING and field.default_factory is MISSING
    }
    if needed - options.keys() - promised.keys():
        return  # the secret of a graded release, and the like: the rest cannot be tried without it
    fixed = {key: value for key, value in promised.items() if key in option_names(part)}
    configured(part, options, fixed=fixed)


def _refuse_rule(above: Mapping[str, Any], where: str) -> None:
    """Refuse what describes no hierarchy; of kept values, a level may have none left."""
    keys = Keys.of(above, where)
    if above.get("kind") != "common":
        builder(above, where, Path())
        return
    keys.only("kind", "keep")
    if not all(isinstance(level, list) and all(isinstance(x, str) for x in level) for level in above.get("keep", [])):
        raise PlanError(f"{keys.at('keep')} must be lists of texts")


def _rules_above(manifest: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """The hierarchies by which new records are recoded, by column."""
    columns = manifest["recoding"].get("columns")
    for name, stated in columns.items() if isinstance(columns, dict) else ():
        if isinstance(stated, dict) and "above" in stated.get("rule", {}):
            yield name, stated["rule"]["above"]


def _attacks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The manifest reports every attack that this program makes on such a release, as made or as not made."""
    settings = manifest["plan"]["attack"]
    if not settings["run"]:
        return
    titles = [*(attack["attack"] for attack in manifest["attacks"]), *manifest.get("attacks_not_made", ())]
    absent = [name for name, is_title in _due(manifest, settings["attacks"]) if not any(map(is_title, titles))]
    absent += _incomplete(manifest, titles)
    yield Check(
        what="attacks that are reported",
        holds=not absent,
        detail=f"not reported: {listed(absent)}" if absent else "all",
    )


def _incomplete(manifest: Mapping[str, Any], titles: Sequence[str]) -> Iterable[str]:
    """Attacks that are made for every sensitive column, or by two ways of choosing, and reported for fewer."""
    sensitive = [str(column["name"]) for column in manifest["data"]["columns"] if column["role"] == "sensitive"]
    by_column = [part.name for part in catalog().built_in.all_attacks if part.attacks == manifest["kind"] == TABLES]
    for name in by_column:
        reported = [column for column in sensitive if any(is_named(title, f"{name} of {column}") for title in titles)]
        if reported:
            yield from (f"{name} of {column}" for column in sensitive if column not in reported)
    for title in titles:
        for way, other in ((", worst", ", random"), (", random", ", worst")):
            twin = title.removesuffix(way) + other
            if title.endswith(way) and twin not in titles:
                yield twin


def _due(manifest: Mapping[str, Any], names: list[str]) -> Iterable[tuple[str, Callable[[str], bool]]]:
    """The attacks of this program that a plan asks for, each with how its title is known.

    Where other columns are published beside the quasi-identifiers, some attacks are made by both knowledges; on kinds
    that treat all columns alike there is one.
    """
    data = manifest["data"]
    hidden = data.get("apart", {}).get("group")
    others = [column for column in data["columns"] if column["role"] in _BESIDE and column["name"] != hidden]
    has_other_columns = bool(others) and data["file"].endswith(
        ".csv"
    )  # no attack reads lists, which only typed files can have
    for part in catalog().built_in.all_attacks:
        wanted = (part.name in names or "all" in names) if names else part.always(manifest["kind"])
        if not part.on(manifest["kind"]) or not wanted:
            continue
        by = f"{part.name} by "
        yield part.name, lambda title, name=part.name, by=by: is_named(title, name) and not title.startswith(by)  # type: ignore[misc]
        if has_other_columns and part.attacks == manifest["kind"] and hasattr(part.make(_TRIALS), "about"):
            yield f"{by}other columns", lambda title, by=by: title.startswith(by)  # type: ignore[misc]
