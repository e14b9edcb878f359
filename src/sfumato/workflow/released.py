"""A release: data that every kind has in common. What the kinds differ in, ``release.kind`` knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.bundle.claims import Claim, titled
from sfumato.bundle.staging import write_whole
from sfumato.data.frames import to_native
from sfumato.ground.work import BY_TIME, Work
from sfumato.verification.checks import Verification
from sfumato.verification.consistency import CUT_SHORT, SEEDED
from sfumato.workflow.audit import Audit

if TYPE_CHECKING:
    from sfumato.bundle.signatures import Signer
    from sfumato.workflow.apply.applying import Applied, Outside
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.pages import Form
    from sfumato.workflow.plan.plan import Plan


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """Released rows with what they were found to meet; writing it makes a bundle."""

    kind: Kind
    """What kind of release it is."""
    plan: Plan
    """The plan it was made by."""
    rows: pl.DataFrame
    """The released rows."""
    claims: tuple[Claim, ...]
    """What they meet."""
    utility: Mapping[str, float]
    """What they lost."""
    algorithm: str
    """The algorithm that found them."""
    why: str
    """Why that algorithm."""
    audit: Audit = field(default_factory=Audit)
    """What attacks found."""
    like: object = None
    """The frame that came in."""

    @property
    def height(self) -> int:
        """How many released rows there are."""
        return self.rows.height

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in."""
        return self.rows if self.like is None else to_native(self._with_nulls(), self.like)

    def _with_nulls(self) -> pl.DataFrame:
        """The released rows with nulls for missing values, where nulls came in and only files need a text for them."""
        published = getattr(self, "published", None)
        if published is None or self.plan.input.missing or not published.missing:
            return self.rows
        texts = [self.rows[name] for name in self.rows.columns if self.rows[name].dtype in (pl.String, pl.Categorical)]
        mark = published.missing[0]
        return self.rows.with_columns(one.cast(pl.String).replace(mark, None).cast(one.dtype) for one in texts)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        seeded = [SEEDED] if self.plan.algorithm.seed is not None else []
        return [*seeded, *([CUT_SHORT] if self.effort.get("stopped") == BY_TIME else [])]

    @property
    def warnings(self) -> list[str]:
        """What the steward must know before the release is written; it may depend on values that the release hides."""
        return []

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did, where it tells."""
        return {}

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        inside: str | Path | None = None,
        signer: Signer | None = None,
        work: Work | None = None,
    ) -> Verification:
        """Write the bundle: complete and verified from its bytes, or not at all; with ``inside``, that report too.

        A ``signer`` signs it.
        """
        from sfumato.workflow.walk import write

        return write(self, folder, force=force, inside=inside, signer=signer, work=work)

    def parts_into(self, folder: Path) -> dict[str, Any] | None:
        """Put the rows into a bundle where they are many files; what its manifest states about them, or None."""
        return None

    def about_to_appear(self, folder: Path) -> None:
        """Whatever must be noted elsewhere before the verified bundle appears at its place."""

    def checked(self, folder: Path) -> Verification:
        """Put the bundle's files but for the report into an empty folder, and verify them from their bytes.

        This is a trial: as strict as a bundle that is handed out, and sooner done.
        """
        from sfumato.workflow.bundling import write_data, write_manifest
        from sfumato.workflow.checking import verify_written

        write_manifest(folder, write_data(self, folder))
        return verify_written(folder, None)

    def report(self, *, inside: bool = False, form: Form = "html", work: Work | None = None) -> str:
        """The report as one HTML page, as text or as JSON.

        The inside one shows the original's figures and must not be published.
        """
        from sfumato.workflow.bundling import unwritten
        from sfumato.workflow.pages import in_form, inside_page, public_page

        work, (manifest, tables) = work or Work(), unwritten(self)
        page = inside_page(self, manifest, work) if inside else public_page(self.kind, manifest, tables, work)
        return in_form(page, form)

    def write_inside(self, path: str | Path, *, work: Work | None = None) -> None:
        """Write the steward's own report; it shows the original's figures and must not be published."""
        write_whole(Path(path), self.report(inside=True, work=work), private=True)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records under the same recoding; values outside the domain are refused, starred or left out."""
        from sfumato.workflow.apply.applying import no_rule

        raise no_rule(self.algorithm)

    def __repr__(self) -> str:
        claims = ", ".join(titled(one.model, one.parameters) for one in self.claims)
        shape = f"{self.height:,} rows, {self.rows.width} columns"
        return f"{type(self).__name__}({shape}, by {self.algorithm}: {claims})"

    def _repr_html_(self) -> str:
        """Claims, and what was done to the columns, for a notebook; no value of the original."""
        from sfumato.report.base.notebook_card import card

        told = self.kind.summary(self)
        claims = [(titled(one.model, one.parameters), one.holds, one.reached) for one in self.claims]
        return card(repr(self), claims, told.changes, self.marks)
