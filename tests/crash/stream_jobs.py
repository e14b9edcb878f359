"""What the children of a warm process do with a stream: as the command does it, with a page that takes no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.bundles.checks import condensed
from sfumato.cli import main as command
from sfumato.pipeline import streams
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods.condensed import method
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.release import versions
from sfumato.streaming import state as state_folder

LOADED = (condensed, method, catalog(), versions("numpy", "polars"))
"""What a child finds done already."""


def _page(facts: Any, work: Any = None) -> str:
    return '<meta name="generator" content="sfumato test">'


def stream() -> None:
    """A stream to its end; refusals and requests to stop are told like a command tells them."""

    def work(standalone_mode: bool) -> None:
        streams.run_stream(Plan.load("plan.toml"), Path("in.csv"), Path("out"), finish=True)

    method.render = _page  # type: ignore[assignment]
    command._whole = lambda: work  # type: ignore[assignment]
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
