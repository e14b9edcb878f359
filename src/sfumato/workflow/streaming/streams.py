"""Streams by their plan and their folder: run one, or look how far it is."""

from __future__ import annotations

from pathlib import Path

from sfumato.bundle.signatures import Signer
from sfumato.ground.errors import BundleError
from sfumato.ground.work import Work
from sfumato.stream.state_folder import CHECKPOINT, StateFolder, opened_state
from sfumato.stream.stream_sources import GrowingFile, StandardInput
from sfumato.stream.stream_state import StreamState
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.streaming.stream_asked import checked, stream_of
from sfumato.workflow.streaming.stream_keeping import StreamKeeper
from sfumato.workflow.streaming.stream_run import StreamRun, Told


def state_of(plan: Plan, output: Path) -> Path:
    """The private folder of a stream."""
    named = stream_of(plan).state
    return output.with_name(f"{output.name}.state") if named is None else plan.folder / named


def run_stream(
    plan: Plan,
    path: Path | None,
    output: Path,
    *,
    follow: bool = False,
    finish: bool = False,
    after: int = 0,
    sign: Path | None = None,
    work: Work | None = None,
) -> Told:
    """Read a stream from a file, or from standard input where none is named, and publish its batches in ``output``."""
    checked(plan)
    folder, signer = state_of(plan, output), None if sign is None else Signer.load(sign)
    if folder.resolve() == output.resolve() or output.resolve() in folder.resolve().parents:
        raise BundleError(f"the state {folder} must not lie inside {output}, which is published; set stream.state")
    source = StandardInput() if path is None else GrowingFile(path)
    kind = "standard input" if path is None else "a file"
    try:
        with opened_state(folder, output) as state:
            keeper = StreamKeeper(plan, state, source=kind, signer=signer, work=work or Work())
            return StreamRun(keeper, source).run(follow=follow, finish=finish, after=after)
    finally:
        source.close()


def stream_status(plan: Plan, output: Path) -> Told:
    """How far a stream is, by its last checkpoint; whoever runs it is not disturbed."""
    folder = state_of(plan, output)
    data = StateFolder(folder, output).load()
    if data is None:
        raise BundleError(f"{folder} has no checkpoint: no stream of this plan has begun with -o {output}")
    return Told.of(StreamState.loaded(data, where=str(folder / CHECKPOINT), condense=checked(plan)))
