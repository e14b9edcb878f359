"""A differentially private release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.budget.chain import Head
from sfumato.budget.events import Event
from sfumato.budget.ledger import Ledger
from sfumato.budget.promise import Promise
from sfumato.bundle.bundle_files import MANIFEST
from sfumato.publish.noisy_table import NoisyTable
from sfumato.workflow.paying import refuse_rolled_back
from sfumato.workflow.released import Release

if TYPE_CHECKING:
    from sfumato.workflow.apply.applying import Applied, Outside


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateRelease(Release):
    """Noisy rows with what they cost: single records, or groups with counts."""

    domains: Mapping[str, Any]
    """What was declared about every published column."""
    values: Mapping[str, tuple[str, ...]]
    """The declared leaves of every column, or the cells of its grid, by code."""
    outcome: NoisyTable
    """What the algorithm gave."""
    charge: tuple[Ledger, int] | None = None
    """The ledger that paid for it and the number of the charge, if one did."""
    session: Mapping[str, Any] | None = None
    """Who made it together, and what each of them learnt, where several parties did."""

    @property
    def promise(self) -> Promise:
        """What is promised: exactly what the plan asked for."""
        return Promise.of(self.plan.privacy)

    @property
    def event(self) -> Event:
        """Where every part of the budget went."""
        return self.outcome.event

    @property
    def paid(self) -> Head | None:
        """The event of the ledger that paid for it: what the manifest cites."""
        return None if self.charge is None else self.charge[0].receipt(self.charge[1])

    def about_to_appear(self, folder: Path) -> None:
        """The ledger must hold what a bundle cites that is replaced here; and it notes where this one lies."""
        if self.charge is not None:
            ledger, charge = self.charge
            refuse_rolled_back(ledger, [folder] if (folder / MANIFEST).exists() else [])
            ledger.note_bundle(folder, charge)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records in the labels of the release; values outside the domain are refused, starred or left out."""
        from sfumato.workflow.kinds.private.private_manifest import apply_labels, manifest

        return apply_labels(manifest(self, {"": ""}), records, outside)
