"""Differentially private tables as a kind of release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import polars as pl

from sfumato.ground.work import Work
from sfumato.verification.checks import Check
from sfumato.workflow.kinds.kind import Asked, Kind, Searched, Summary

if TYPE_CHECKING:
    from sfumato.attacks.frame.subject import Subject
    from sfumato.data.table import Table
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.audit import Audit
    from sfumato.workflow.frontier.comparison import Comparison
    from sfumato.workflow.kinds.private.private_release import PrivateRelease
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.released import Release


class PrivateKind(Kind):
    """Rows over declared domains, with noise that epsilon accounts for."""

    name: ClassVar[str] = "private"
    stated: ClassVar[str | None] = "differentially private"
    inside: ClassVar[bool] = False

    def owns(self, plan: Plan) -> bool:
        """Plans that ask for epsilon."""
        return "epsilon" in plan.privacy

    def check(self, plan: Plan) -> None:
        """Names, options and the budget."""
        from sfumato.workflow.kinds.private.private_plan import check

        check(plan)

    def begin(self, asked: Asked) -> Asked:
        """Reserve epsilon, before the data is touched."""
        from sfumato.workflow.kinds.private.private_stages import charged

        return charged(asked)

    def read(self, asked: Asked) -> Any:
        """The table, which may have no rows."""
        from sfumato.workflow.kinds.private.private_stages import read

        return read(asked)

    def prepare(self, asked: Asked, rows: Any) -> Any:
        """Rows over the domains that the plan declares."""
        from sfumato.workflow.kinds.private.declared import declared_table

        return declared_table(asked.plan, rows)

    def search(self, asked: Asked, prepared: Any, work: Work) -> Searched:
        """Choose and count with noise, and settle what that cost."""
        from sfumato.workflow.kinds.private.private_stages import search

        return search(asked, prepared, work)

    def recode(self, asked: Asked, found: Searched) -> Any:
        """Noisy records, or groups with noisy counts."""
        from sfumato.workflow.kinds.private.private_stages import recode

        return recode(asked, found)

    def judge(self, asked: Asked, found: Searched, recoded: Any) -> Release:
        """State what was accounted for."""
        from sfumato.workflow.kinds.private.private_stages import judge

        return judge(self, asked, found, recoded)

    def attack(self, made: Release, work: Work) -> Audit:
        """None is made: what attackers find would be read off the private table, and no epsilon covers that."""
        from sfumato.workflow.audit import Audit

        return Audit()

    def files(self, made: Release) -> dict[str, pl.DataFrame]:
        """The noisy rows."""
        return {"data": made.rows}

    def manifest(self, made: Release, files: Mapping[str, str]) -> dict[str, Any]:
        """Domains, ledger, claims, recoding."""
        from sfumato.workflow.kinds.private.private_manifest import manifest

        return manifest(_private(made), files)

    def checks(self, folder: Path, manifest: Mapping[str, Any], data: Path) -> Iterable[Check]:
        """The ledger adds up, and every label lies in its domain."""
        from sfumato.verification.private_checks import private_checks

        return private_checks(folder, manifest, data)

    def subject(
        self, folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
    ) -> Subject:
        """Noisy rows with what their labels cover by the declared trees."""
        from sfumato.workflow.kinds.private.private_subject import private_subject

        return private_subject(folder, manifest, original, control)

    def apply(self, manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
        """New records in the labels of the release."""
        from sfumato.workflow.kinds.private.private_manifest import apply_labels

        return apply_labels(manifest, records, outside)

    def page(self, made: Release, *, inside: bool, work: Work) -> str:
        """The report; there is no inside one."""
        from sfumato.report.private.private_page import render
        from sfumato.workflow.kinds.private.private_content import private_facts

        return render(private_facts(_private(made)), work)

    def summary(self, made: Release) -> Summary:
        """Epsilon, and where it went."""
        from sfumato.workflow.kinds.private.private_content import summary

        return summary(_private(made))

    def figures(self, made: Release) -> dict[str, Any]:
        """Epsilon and the ledger."""
        from sfumato.workflow.kinds.private.private_content import figures

        return figures(_private(made))

    def comparison(self, plan: Plan) -> Comparison:
        """Releases are compared by epsilon and by what a classifier learns."""
        from sfumato.workflow.kinds.private.private_comparison import PrivateComparison

        return PrivateComparison()


def _private(made: Release) -> PrivateRelease:
    return cast("PrivateRelease", made)
