"""Tables with quasi-identifiers as a kind of release."""

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
    from sfumato.workflow.kinds.table.table_release import TableRelease
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.profile.profiling import Profile
    from sfumato.workflow.released import Release


class TableKind(Kind):
    """A table in which rows with equal quasi-identifiers form groups, and models judge the groups."""

    name: ClassVar[str] = "table"
    stated: ClassVar[str | None] = None

    def owns(self, plan: Plan) -> bool:
        """Every plan that no other kind claims."""
        return True

    def check(self, plan: Plan) -> None:
        """Names, options and parameters that need no table."""
        from sfumato.workflow.kinds.table.table_plan import check

        check(plan)

    def begin(self, asked: Asked) -> Asked:
        """Refuse a control file that is not there."""
        asked.plan.attack.refuse_files(asked.plan.folder)
        return asked

    def read(self, asked: Asked) -> Any:
        """The table, and its population where there is one."""
        from sfumato.workflow.kinds.table.table_stages import read

        return read(asked)

    def prepare(self, asked: Asked, rows: Any) -> Any:
        """Describe the columns, count the cells, build the requirement."""
        from sfumato.workflow.catalog.lookup import catalog
        from sfumato.workflow.kinds.table.preparing import prepare

        table, population = rows
        return prepare(asked.plan, table, population, catalog())

    def search(self, asked: Asked, prepared: Any, work: Work) -> Searched:
        """Run the plan's algorithm on the cells."""
        from sfumato.workflow.kinds.table.table_stages import search

        return search(asked.plan, prepared, work)

    def recode(self, asked: Asked, found: Searched) -> Any:
        """The rows under the mapping that was found."""
        from sfumato.workflow.kinds.table.table_stages import recode

        return recode(asked, found)

    def judge(self, asked: Asked, found: Searched, recoded: Any) -> Release:
        """Judge the rows in the same way as a verifier would."""
        from sfumato.workflow.kinds.table.table_stages import judge

        return judge(self, asked, found, recoded)

    def attack(self, made: Release, work: Work) -> Audit:
        """Attack the released rows, with the people behind them."""
        from sfumato.workflow.kinds.table.table_subject import attack_release

        return attack_release(_table(made), work)

    def files(self, made: Release) -> dict[str, pl.DataFrame]:
        """The released rows, and the sensitive values where they are published apart."""
        from sfumato.workflow.kinds.table.table_manifest import files

        return files(_table(made))

    def manifest(self, made: Release, files: Mapping[str, str]) -> dict[str, Any]:
        """Columns, claims, recoding, suppression, losses, risk, search, attacks."""
        from sfumato.workflow.kinds.table.table_manifest import manifest

        return manifest(_table(made), files)

    def checks(self, folder: Path, manifest: Mapping[str, Any], data: Path) -> Iterable[Check]:
        """Everything is counted again."""
        from sfumato.verification.table_checks import table_checks
        from sfumato.workflow.catalog.lookup import catalog
        from sfumato.workflow.kinds.table.table_plan import asked

        return table_checks(folder, manifest, data, known=catalog(), asked=asked)

    def subject(
        self, folder: Path, manifest: Mapping[str, Any], original: Table, *, control: Table | None, plan: Plan | None
    ) -> Subject:
        """A bundle with its original; the plan's hierarchies tell what labels cover, where those do not tell it."""
        from sfumato.workflow.kinds.table.table_subject import bundle_subject

        return bundle_subject(folder, manifest, original, control=control, plan=plan)

    def apply(self, manifest: Mapping[str, Any], records: object, outside: Outside) -> Applied:
        """New records under the rules of a manifest, judged by its models."""
        from sfumato.workflow.apply.applying import apply_rules

        return apply_rules(manifest, records, outside)

    def page(self, made: Release, *, inside: bool, work: Work) -> str:
        """The report."""
        from sfumato.report.table.table_page import render
        from sfumato.workflow.kinds.table.table_content import facts

        return render(facts(_table(made), inside=inside), work)

    def summary(self, made: Release) -> Summary:
        """Verdict, risk and loss in lines; the level of each column in a table."""
        from sfumato.workflow.kinds.table.table_content import summary

        return summary(_table(made))

    def figures(self, made: Release) -> dict[str, Any]:
        """Claims, losses, risk, levels and effort."""
        from sfumato.workflow.kinds.table.table_content import figures

        return figures(_table(made))

    def draft(self, found: Profile) -> list[str]:
        """K = 5, and two different sensitive values where there are some; up to 5 % of the rows may go."""
        from sfumato.workflow.kinds.table.table_plan import draft

        return draft(found)

    def comparison(self, plan: Plan) -> Comparison:
        """Releases are compared by risk, class sizes and claims, and by the metrics."""
        from sfumato.workflow.kinds.table.table_comparison import TableComparison

        return TableComparison()

    def dimensions(self, plan: Plan, frame: object, *, order: Any, work: Work) -> Any:
        """Quasi-identifiers are added one by one."""
        from sfumato.workflow.kinds.table.dimension_study import study_dimensions

        return study_dimensions(plan, frame, order=order, work=work)


def _table(made: Release) -> TableRelease:
    return cast("TableRelease", made)
