"""What a manifest says about its plan, held against what this program plans: known options, and no attack untold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.bundle.attack_titles import is_named
from sfumato.ground.errors import listed
from sfumato.verification.checks import Check
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.catalog.options import COMMON, option_names
from sfumato.workflow.kinds import kind_stated

_BESIDE = ("sensitive", "target", "keep")
_TRIALS = 20


def plan_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The algorithm has the options of the plan, and the manifest reports every attack that the plan asks for."""
    kind = kind_stated(manifest)
    if not kind.planned:
        return
    asked, used = manifest["plan"]["algorithm"], manifest["recoding"]["algorithm"]
    part = catalog().algorithms.get(used)
    known = (*COMMON, *kind.options, *(() if part is None else option_names(part)))
    strange = [key for key in asked if key not in known]
    fits = part is not None and part.solves == kind.solves
    told = f"unknown: {listed(strange)}" if strange else "known" if fits else f"{used!r} makes no such release"
    yield Check(what="options of the algorithm", holds=fits and not strange, detail=told)
    yield from _attacks(manifest)


def _attacks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The manifest reports every attack that this program makes on such a release, as made or as not made."""
    asked = manifest["plan"]["attack"]
    if not asked["run"]:
        return
    titles = [*(one["attack"] for one in manifest["attacks"]), *manifest.get("attacks_not_made", ())]
    absent = [name for name, told in _due(manifest, asked["attacks"]) if not any(map(told, titles))]
    yield Check(
        what="attacks that are reported",
        holds=not absent,
        detail=f"not reported: {listed(absent)}" if absent else "all",
    )


def _due(manifest: Mapping[str, Any], names: list[str]) -> Iterable[tuple[str, Callable[[str], bool]]]:
    """The attacks of this program that a plan asks for, each with how its title is known.

    Where other columns are published beside the quasi-identifiers, some attacks are made by both knowledges; on kinds
    that treat all columns alike there is one.
    """
    from sfumato.workflow.catalog.built_in import ATTACKS

    data = manifest["data"]
    hidden = data.get("apart", {}).get("group")
    others = [column for column in data["columns"] if column["role"] in _BESIDE and column["name"] != hidden]
    beside = bool(others) and data["file"].endswith(".csv")  # no attack reads lists, which only typed files can have
    for part in ATTACKS:
        wanted = (part.name in names or "all" in names) if names else part.always(manifest["kind"])
        if not part.on(manifest["kind"]) or not wanted:
            continue
        by = f"{part.name} by "
        yield part.name, lambda title, name=part.name, by=by: is_named(title, name) and not title.startswith(by)  # type: ignore[misc]
        if beside and part.attacks == manifest["kind"] and hasattr(part.make(_TRIALS), "about"):
            yield f"{by}other columns", lambda title, by=by: title.startswith(by)  # type: ignore[misc]
