"""Publishing patterns without inference channels, and finding channels in published documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from sfumato.ground.arguments import one_of
from sfumato.ground.errors import DataError, ParameterError
from sfumato.ground.opening import read_text
from sfumato.ground.strict_json import read_json
from sfumato.ground.work import Work
from sfumato.mine import rule_document, tree_json
from sfumato.mine.association_rules import Rules, association_rules
from sfumato.mine.channels import pattern_document
from sfumato.mine.channels.channel_finding import REACHES, find_channels, group_text
from sfumato.mine.channels.channel_repair import Repaired, raise_supports, withhold
from sfumato.mine.channels.document_channels import Document, ToldGroup, told_groups
from sfumato.mine.channels.pattern_document import PatternDocument
from sfumato.mine.channels.told_sets import of_frequent
from sfumato.verification.verifying import untouched
from sfumato.workflow.shared_models import models_in

Repair = Literal["withhold", "raise"]
"""How channels are broken: sets are withheld, or supports are raised by records that nobody is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What published documents tell about groups of few people."""

    k: int
    """Groups of 1 to k - 1 people were looked for."""
    documents: int
    """How many documents were looked at together."""
    many: int
    """How many groups follow."""
    groups: tuple[ToldGroup, ...]
    """Those that the others follow with, the smallest first."""
    reach: str
    """What was looked at, in words."""


def publishable(found: Rules, k: int, *, repair: str = "withhold", work: Work | None = None) -> Repaired:
    """The frequent sets of some rules, without a group of 1 to ``k`` - 1 people whose number follows."""
    one_of("repair", repair, get_args(Repair))
    told = of_frequent(found.itemsets)
    return withhold(told, k, work=work) if repair == "withhold" else raise_supports(told, k, work=work)


def published_rules(repaired: Repaired, min_confidence: float) -> Rules:
    """The rules of which both sides and the whole are told."""
    return association_rules(repaired.told.family, min_confidence)


def channels(places: Sequence[str | Path], k: int | None = None, *, classes: bool = False) -> Looked:
    """Groups of 1 to ``k`` - 1 people that follow from documents of patterns, or of trees and rules, all together.

    Without ``k`` it is what documents of patterns claim; ``classes`` also looks for people of one class in trees.
    """
    if not places:
        raise ParameterError("no document was named; name files that were published")
    found = [one for place in places for one in _read(Path(place))]
    patterns = [one for one in found if isinstance(one, PatternDocument)]
    others = [one for one in found if not isinstance(one, PatternDocument)]
    if patterns and others:
        raise DataError(
            "patterns and trees were named; what both tell together is not decided: look at each kind alone"
        )
    if k is None:
        if not patterns:
            raise ParameterError("k is missing; trees and rules do not claim one: say from how many people on (--k)")
        k = max(one.k for one in patterns)
    if others:
        groups = told_groups(others, k, classes=classes)
        told = "every node and rule was decided, and what two of them have in common"
        return Looked(k=k, documents=len(others), many=len(groups), groups=_ordered(groups), reach=told)
    told_sets = pattern_document.joined(patterns)
    seen = find_channels(told_sets, k)
    groups = [ToldGroup(group=group_text(told_sets, one.channel), people=one.channel.people) for one in seen.listed]
    return Looked(k=k, documents=len(patterns), many=seen.many, groups=_ordered(groups), reach=REACHES[seen.reach])


def _ordered(groups: Sequence[ToldGroup]) -> tuple[ToldGroup, ...]:
    return tuple(sorted(groups, key=lambda one: (one.people, one.group)))


def _read(place: Path) -> Sequence[PatternDocument | Document]:
    """The documents in a file, or in a bundle of trees."""
    if place.is_dir():
        return models_in(place, untouched(place))
    try:
        text = read_text(place)
        said = read_json(text)
    except OSError as error:
        raise DataError(f"{place} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place} is no published document: {error}") from None
    kind = said.get("document") if isinstance(said, dict) else None
    readers: dict[str, Callable[[str], PatternDocument | Document]] = {
        pattern_document.KIND: pattern_document.read_patterns,
        tree_json.KIND: tree_json.read_tree,
        rule_document.KIND: rule_document.read_rules,
    }
    if kind not in readers:
        raise DataError(f"{place} is no document of patterns, of a tree or of rules: its 'document' says {kind!r}")
    try:
        return [readers[kind](text)]
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
