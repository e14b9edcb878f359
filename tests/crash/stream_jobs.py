"""What the children of a warm process do with a stream: as the command does it, with a page that takes no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.cli import main as command
from sfumato.stream import state_folder
from sfumato.verification import stream_checks
from sfumato.workflow.bundling import versions
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds.condensed import condensed_content, condensed_kind
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.streaming import streams

LOADED = (stream_checks, condensed_kind, catalog(), versions("numpy", "polars"))
"""What a child finds done already."""


def _page(facts: Any, work: Any = None) -> str:
    return '<meta name="generator" content="sfumato test">'


def stream() -> None:
    """A stream to its end; refusals and requests to stop are told like a command tells them."""

    def work(standalone_mode: bool) -> None:
        streams.run_stream(Plan.load("plan.toml"), Path("in.csv"), Path("out"), finish=True)

    condensed_content.render = _page  # type: ignore[assignment]
    command.app = work  # type: ignore[assignment]
    command.main()


def careless() -> None:
    """The known-bad twin: a batch appears first, and then the checkpoint that counts it is written."""

    def publish(self: Any, state: Any, write: Any) -> None:
        place = self.public / state_folder.batch_name(state.progress.batches + 1)
        place.mkdir(exist_ok=True)
        for path in place.iterdir():
            path.unlink()
        state.progress.seal = write(place)
        state.progress.batches += 1
        self.save(state)

    state_folder.StateFolder.publish = publish  # type: ignore[method-assign]
    state_folder.StateFolder.complete = lambda self, progress: None  # type: ignore[method-assign]
    stream()
