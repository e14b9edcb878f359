"""The one walk of every release: read, describe, count, search, recode, judge, attack, write, report, verify.

Nowhere else do these stages follow each other. What each of them does for a table, for paths and sets, or under
differential privacy, the kind of release knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.bundle.pseudonyms import Pseudonyms
from sfumato.bundle.signatures import Signer, sign
from sfumato.bundle.staging import staged, write_private
from sfumato.ground.errors import ClaimRefuted, PlanError
from sfumato.ground.extras import require
from sfumato.ground.scratch import page_of
from sfumato.ground.work import Work
from sfumato.verification.checks import Verification
from sfumato.workflow.bundling import formula_notes, refuse_key_inside, write_data, write_manifest, write_report
from sfumato.workflow.checking import verify_written
from sfumato.workflow.kinds import kind_of
from sfumato.workflow.kinds.kind import Asked
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.released import Release

STAGES = ("read", "count", "search", "recode", "judge", "attack", "write", "report", "verify")
"""What a watcher hears of, in order; ``describe`` is a part of ``count``."""


def release(
    plan: Plan | object,
    frame: object = None,
    *,
    work: Work | None = None,
    population: object = None,
    quasi: Sequence[str] | None = None,
    search: Callable[[Asked, Any, Work], Any] | None = None,
    **said: Any,
) -> Release:
    """Make a release of a frame, or of the file that the plan names; it is judged and attacked, and not yet written.

    Without a plan, ``release(frame, quasi=[...], models=[...])`` describes one: see ``Plan.of_frame`` for what else can
    be said. ``search`` takes the place of the plan's algorithm, where several tables are searched together.
    """
    if not isinstance(plan, Plan):
        if quasi is None:
            raise PlanError("release needs a plan, or a frame with quasi=[...] and models=[...]")
        plan, frame = Plan.of_frame(plan, quasi=quasi, **said), plan
    elif quasi is not None or said:
        raise PlanError(f"release takes a plan or {', '.join(('quasi', *said))}, not both")
    work = work or Work()
    kind = kind_of(plan)
    for module, what in kind.needs:
        require(module, what)
    asked = kind.begin(Asked(plan=plan, keys=_keys(plan), like=frame, population=population))
    with work.stage("read"):
        rows = kind.read(asked)
    with work.stage("count"):
        prepared = kind.prepare(asked, rows)
    for note in kind.notes(prepared):
        work.notice(note)
    found = (search or kind.search)(asked, prepared, work)
    work.advance("search", 1, 1)
    with work.stage("recode"):
        recoded = kind.recode(asked, found)
    with work.stage("judge"):
        made = kind.judge(kind, asked, found, recoded)
    return replace(made, audit=kind.attack(made, work))


def write(
    made: Release,
    folder: str | Path,
    *,
    force: bool = False,
    inside: str | Path | None = None,
    signer: Signer | None = None,
    work: Work | None = None,
) -> Verification:
    """Go on with a release: write, report and verify it from its bytes; a bundle appears whole or not at all.

    With ``inside`` the steward's own report is written there, and appears together with the bundle. With a ``signer``
    the bundle is signed.
    """
    work, place = work or Work(), Path(folder)
    refuse_key_inside(made.plan, place)
    for note in formula_notes(made):
        work.notice(note)
    with staged(place, force=force, page=None if inside is None else Path(inside)) as inner:
        with work.stage("write"):
            body = write_data(made, inner)
        with work.stage("report"):
            read_back = write_report(made.kind, inner, body, work)
            write_manifest(inner, body)
            if signer is not None:
                sign(inner, signer)
            if inside is not None:
                write_private(page_of(inner), made.report(inside=True, work=work))
        with work.stage("verify"):
            checked = verify_written(inner, read_back, card=None if signer is None else signer.card)
        if (wrong := checked.wrong) is not None:
            raise ClaimRefuted(f"the release was not written: {wrong.what} does not hold ({wrong.detail})")
        made.about_to_appear(place)
    return replace(checked, folder=place.name)


def dimensions(plan: Plan, frame: object = None, *, order: Any = "greedy", work: Work | None = None) -> Any:
    """What every further quasi-identifier costs: added one by one, each step a release of its own."""
    return kind_of(plan).dimensions(plan, frame, order=order, work=work or Work())


def _keys(plan: Plan) -> dict[str, Pseudonyms]:
    """The keys of all pseudonymized columns, read before any work is done."""
    found = {}
    for name, column in plan.columns.items():
        if column.pseudonym is not None:
            said, where = column.pseudonym, f"columns.{name}.pseudonym.key_file"
            found[name] = Pseudonyms.load(plan.folder / said["key_file"], where=where, bound=said.get("name"))
    return found
