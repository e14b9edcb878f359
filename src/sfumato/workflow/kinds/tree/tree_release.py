"""A release of trees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.budget.chain import Head
from sfumato.budget.ledger import Ledger
from sfumato.bundle.bundle_files import MANIFEST
from sfumato.mine.noisy_leaves import NoisyTree
from sfumato.mine.tree_document import TreeDocument
from sfumato.mine.tree_publishing import Forest
from sfumato.verification.tree_bundle_checks import DECLARED, SPREAD, observed_mark
from sfumato.workflow.released import Release

if TYPE_CHECKING:
    from sfumato.workflow.kinds.tree.tree_stages import TreePrepared


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TreeRelease(Release):
    """Trees with what they claim; the rows are their documents, one in each."""

    prepared: TreePrepared
    """The records that they were learnt from, or counted with."""
    found: Forest | NoisyTree
    """What the algorithm gave."""
    shown: tuple[TreeDocument, ...]
    """The trees as they are published."""
    earlier: tuple[TreeDocument, ...] = ()
    """Trees about the same people that are public already."""
    advice: tuple[str, ...] = ()
    """What the steward should know of another algorithm."""
    charge: tuple[Ledger, int] | None = None
    """The ledger that paid for noisy counts and the number of the charge, if one did."""

    @property
    def paid(self) -> Head | None:
        """The event of the ledger that paid for it."""
        return None if self.charge is None else self.charge[0].receipt(self.charge[1])

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        asked = self.plan.privacy.get("l_diversity", {})
        observed = [one.name for one in self.shown[0].attributes if not one.declared]
        told = [SPREAD] if asked.get("basis") == "hits" else []
        told += [observed_mark(observed)] if observed else []
        return [*told, *([DECLARED] if isinstance(self.found, NoisyTree) else []), *super().marks]

    def about_to_appear(self, folder: Path) -> None:
        """The ledger must hold what a bundle cites that is replaced here; and it notes where this one lies."""
        if self.charge is not None:
            from sfumato.workflow.paying import refuse_rolled_back

            ledger, charge = self.charge
            refuse_rolled_back(ledger, [folder] if (folder / MANIFEST).exists() else [])
            ledger.note_bundle(folder, charge)
