"""``sfumato verify``: trust nothing but the bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table, watched
from sfumato.ground.errors import EXIT_REFUTED

if TYPE_CHECKING:
    from sfumato.verification.checks import Verification


def verify(
    folder: Annotated[Path, typer.Argument(help="The bundle, or the folder of the batches of a stream.")],
    signer: Annotated[
        Path | None, typer.Option("--signer", help="The card of whoever must have signed the bundle.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="The file of the rules that the bundle hides: opens its commitments.")
    ] = None,
    original: Annotated[
        Path | None, typer.Option("--original", help="For the steward: the table it was made from, with --plan.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="For the steward: the plan; the release is made again and compared.")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="With --plan: the changes that the release was made with.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List every check, not only what they come to.")] = False,
    as_json: Json = False,
) -> None:
    """Re-read a bundle's files, re-check every claim of its manifest, and make its report again."""
    from sfumato.ground.errors import PlanError
    from sfumato.workflow.checking import verify as check
    from sfumato.workflow.checking import verify_again
    from sfumato.workflow.plan.plan import Plan, with_input

    if plan is None:
        if original is not None or changes:
            raise PlanError("--original and --set go with --plan: the plan says how the table is read")
        found = check(folder, signer=signer, rules=rules)
    elif rules is not None:
        raise PlanError("--rules: the plan names the file of its rules; leave one of --rules and --plan out")
    else:
        loaded = Plan.load(plan, changes or [])
        loaded = loaded if original is None else with_input(loaded, original)
        with watched(quiet=as_json) as work:
            found = verify_again(folder, plan=loaded, signer=signer, work=work)
    if as_json:
        say_json(found.to_json())
    else:
        _tell(folder, found, every=every)
    if not found.holds:
        raise typer.Exit(EXIT_REFUTED)


def _tell(folder: Path, found: Verification, *, every: bool) -> None:
    """In sentences; the last line says whether the bundle holds."""
    from sfumato.verification.told_checks import sentences

    if every:
        table(["check", "holds", "found"], [[c.what, "yes" if c.holds else "NO", c.detail] for c in found.checks])
    for sentence in sentences(found.checks):
        say(f"- {sentence}")
    for one in found.remarks:
        say(f"- Beware: {one.detail}")
    for origin in dict.fromkeys(found.stated):
        say(f"- Not recomputed: {origin.path}, {origin.why}.")
    say(f"{folder}: {found.signature.told}")
    wrong = sum(not c.holds for c in found.checks)
    fine = "every claim holds" if found.claimed else "nothing is claimed, and what is stated holds"
    said = f"{wrong} of {len(found.checks)} checks FAIL" if wrong else fine
    say(f"{folder}: {said}{_remarked(len(found.remarks))}")


def _remarked(many: int) -> str:
    """What the last line must not leave out: claims can hold where columns single people out."""
    if not many:
        return ""
    return f"; no claim covers the {'warning' if many == 1 else f'{many} warnings'} above"
