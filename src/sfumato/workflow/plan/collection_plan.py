"""The plan's [collection]: the public specification by which answers were randomized at the source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.plan_table import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionPlan:
    """How the answers of a table came about."""

    spec: str
    """The file of the specification, as ``sfumato collect design`` wrote it."""
    truth: str | None = None
    """For studies: a file with the true answers, row by row as the input; a collector does not have it."""

    def refuse_files(self, folder: Path) -> None:
        """Refuse files that are not there, before any work is done."""
        for key, name in (("spec", self.spec), ("truth", self.truth)):
            if name is not None and not (folder / name).is_file():
                raise PlanError(f"collection.{key}: {folder / name} does not exist")

    def public(self) -> dict[str, bool]:
        """As the manifest shows it: the specification stands there as a whole."""
        return {"study": self.truth is not None}

    @classmethod
    def of(cls, keys: Keys) -> CollectionPlan:
        """Read the section."""
        keys.only("spec", "truth")
        return cls(spec=keys.required_text("spec"), truth=keys.text("truth"))
