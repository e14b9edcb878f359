"""The plan's [tree]: a tree is published instead of rows, and what its leaves tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from sfumato.workflow.plan.plan_table import Keys

TOLD = ("counts", "hits")
FORMS = ("tree", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreePlan:
    """How a tree is published in place of the rows that it was learnt from."""

    told: Literal["counts", "hits"] = "counts"
    """What a leaf tells: the records of every class, or hit and miss alone."""
    form: Literal["tree", "rules"] = "tree"
    """Whether trees are published, or their paths as rules."""
    structure: str | None = None
    """The file of a tree whose splits are taken over; needed where counts are noisy, unless algorithm.split_by is."""

    def public(self) -> dict[str, Any]:
        """As the manifest shows it."""
        return {"told": self.told, "form": self.form, "structure": self.structure is not None}

    @classmethod
    def of(cls, keys: Keys) -> TreePlan:
        """Read the section."""
        keys.only("told", "form", "structure")
        return cls(
            told=cast("Any", keys.one_of("told", TOLD, "counts")),
            form=cast("Any", keys.one_of("form", FORMS, "tree")),
            structure=keys.text("structure"),
        )
