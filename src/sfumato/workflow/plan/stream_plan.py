"""The plan's [stream]: how a stream is cut into blocks and batches, and where its state is kept."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.ground.errors import PlanError
from sfumato.workflow.plan.plan_table import Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """How records that keep coming are condensed; a release does not read it."""

    batch: int = 50_000
    """After so many records a batch is published."""
    block: int = 2_000
    """So many records are put into groups together."""
    checkpoint: int | None = None
    """After so many records what was done is kept for good; about five times a batch when absent."""
    anchors: int | None = None
    """How many groups stay when they are empty; a batch over 2k when absent."""
    state: str | None = None
    """The private folder; beside the output when absent."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit each other."""
        for key, value, least in (("batch", self.batch, 1), ("block", self.block, 1), ("anchors", self.anchors, 1)):
            if value is not None and value < least:
                raise PlanError(f"stream.{key} must be at least {least}, not {value}")
        for key, value in (("batch", self.batch), ("checkpoint", self.checkpoint)):
            if value is not None and (value < 1 or value % self.block):
                near = max(round(value / self.block), 1) * self.block
                raise PlanError(
                    f"stream.{key} must be a multiple of stream.block = {self.block}, not {value}; {near} is"
                )

    @property
    def kept_every(self) -> int:
        """After how many records a checkpoint is made."""
        return self.checkpoint or max(self.batch // 5 // self.block, 1) * self.block

    @classmethod
    def of(cls, keys: Keys) -> StreamPlan:
        """Read the section."""
        keys.only("batch", "block", "checkpoint", "anchors", "state")
        whole = {name: keys.whole(name) for name in ("batch", "block", "checkpoint", "anchors") if name in keys.table}
        return cls(**whole, state=keys.text("state"))  # type: ignore[arg-type]
