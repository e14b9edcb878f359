"""Paths, sets and mixed records as a kind of release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import polars as pl

from sfumato.ground.errors import BundleError
from sfumato.ground.work import Work
from sfumato.verification.checks import Check
from sfumato.workflow.kinds.kind import Asked, Kind, Searched, Summary

if TYPE_CHECKING:
    from sfumato.attacks.frame.subject import Subject
    from sfumato.data.table import Table
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.kinds.items.item_release import ItemRelease
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.profile.profiling import Profile
    from sfumato.workflow.released import Release


class ItemKind(Kind):
    """Records that hold several items; models judge what few of them tell."""

    name: ClassVar[str] = "items"
    stated: ClassVar[str | None] = "itemized"

    def owns(self, plan: Plan) -> bool:
        """Plans with a published column of paths or sets."""
        return bool(plan.itemized)

    def check(self, plan: Plan) -> None:
        """Names, options and parameters that need no table."""
        from sfumato.workflow.kinds.items.item_plan import check

        check(plan)

    def begin(self, asked: Asked) -> Asked:
        """Nothing is left to refuse."""
        return asked

    def read(self, asked: Asked) -> Any:
        """The table, with long tables gathered."""
        from sfumato.workflow.kinds.items.item_stages import read

        return read(asked)

    def prepare(self, asked: Asked, rows: Any) -> Any:
        """Every record a set of items, with the trees above them."""
        from sfumato.workflow.kinds.items.item_preparing import prepare_items

        return prepare_items(asked.plan, rows)

    def search(self, asked: Asked, prepared: Any, work: Work) -> Searched:
        """Find what is left out or shown coarser."""
        from sfumato.workflow.kinds.items.item_stages import search

        return search(asked.plan, prepared, work)

    def recode(self, asked: Asked, found: Searched) -> Any:
        """The records as they are shown."""
        from sfumato.workflow.kinds.items.item_stages import recode

        return recode(asked, found)

    def judge(self, asked: Asked, found: Searched, recoded: Any) -> Release:
        """Judge the records, and measure frequent sets and queries."""
        from sfumato.workflow.kinds.items.item_stages import judge

        return judge(self, asked, found, recoded)

    def attack(self, made: Release, work: Work) -> Audit:
        """Look for people by a few items."""
        from sfumato.workflow.kinds.items.item_attack import attack_records

        return attack_records(_items(made), work)

    def files(self, made: Release) -> dict[str, pl.DataFrame]:
        """The released records."""
        from sfumato.workflow.kinds.items.item_manifest import files

        return files(_items(made))

    def manifest(self, made: Release, files: Mapping[str, str]) -> dict[str, Any]:
        """Columns, claims, recoding, losses, search, attacks."""
        from sfumato.workflow.kinds.items.item_manifest import manifest

        return manifest(_items(made), files)

    def checks(self, folder: Path, manifest: Mapping[str, Any], data: Path) -> Iterable[Check]:
        """Every set of known items is counted again."""
        from sfumato.verification.item_checks import item_checks
        from sfumato.workflow.kinds.items.item_plan import ItemModels

        return item_checks(folder, manifest, data, known=ItemModels())

    def subject(
        self, folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
    ) -> Subject:
        """Refused: afterwards nobody knows whose record is whose."""
        raise BundleError(
            f"{folder}: paths and sets are attacked when they are released, where it is known whose record is whose; "
            "the figures stand in its report"
        )

    def apply(self, manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
        """Refused: what an item reads as depends on the records it was released with."""
        from sfumato.workflow.apply.applying import no_rule

        raise no_rule(str(manifest["recoding"]["algorithm"]))

    def page(self, made: Release, *, inside: bool, work: Work) -> str:
        """The report."""
        from sfumato.report.items.item_page import render
        from sfumato.workflow.kinds.items.item_content import item_facts

        return render(item_facts(_items(made), inside=inside), work)

    def summary(self, made: Release) -> Summary:
        """Claims, columns, lost sets."""
        from sfumato.workflow.kinds.items.item_content import summary

        return summary(_items(made))

    def figures(self, made: Release) -> dict[str, Any]:
        """Claims, losses and effort."""
        from sfumato.workflow.kinds.items.item_content import figures

        return figures(_items(made))

    def draft(self, found: Profile) -> list[str]:
        """Whoever knows two items finds five records."""
        from sfumato.workflow.kinds.items.item_plan import draft

        return draft(found)

    def comparison(self, plan: Plan) -> Comparison:
        """Refused: a frontier compares tables."""
        self.cannot(
            f"{plan.itemized[0]}: a frontier compares tables; make releases of paths and sets one by one with "
            "`sfumato release`, whose reports tell what each of them loses"
        )


def _items(made: Release) -> ItemRelease:
    return cast("ItemRelease", made)
