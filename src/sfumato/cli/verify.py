"""`sfumato verify` and `report`: re-checks a bundle, shows its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Json, say, say_json, table, watched
from sfumato.core.errors import EXIT_REFUTED

if TYPE_CHECKING:
    from sfumato.bundles.provenance import Verification
    from sfumato.pipeline.release import Form


# ``sfumato verify``: trust nothing but the bytes.


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
    from sfumato.core.errors import PlanError
    from sfumato.pipeline.plan.plan import Plan, with_input
    from sfumato.pipeline.verification import verify as check
    from sfumato.pipeline.verification import verify_again

    if plan is None:
        if original is not None or changes:
            raise PlanError("--original and --set go with --plan: the plan says how the table is read")
        verification = check(folder, signer=signer, rules=rules)
    elif rules is not None:
        raise PlanError("--rules: the plan names the file of its rules; leave one of --rules and --plan out")
    else:
        loaded = Plan.load(plan, changes or [])
        loaded = loaded if original is None else with_input(loaded, original)
        with watched(quiet=as_json) as work:
            verification = verify_again(folder, plan=loaded, signer=signer, work=work)
    if as_json:
        say_json(verification.to_json())
    else:
        _tell(folder, verification, every=every)
    if not verification.holds:
        raise typer.Exit(EXIT_REFUTED)


def _tell(folder: Path, verification: Verification, *, every: bool) -> None:
    """In sentences; the last line says whether the bundle holds."""
    from sfumato.bundles.summary import sentences

    if every:
        table(
            ["check", "holds", "found"], [[c.what, "yes" if c.holds else "NO", c.detail] for c in verification.checks]
        )
    for sentence in sentences(verification.checks):
        say(f"- {sentence}")
    for remark in verification.remarks:
        say(f"- Beware: {remark.detail}")
    for origin in dict.fromkeys(verification.stated):
        say(f"- Not recomputed: {origin.path}, {origin.why}.")
    say(f"{folder}: {verification.signature.told}")
    wrong = sum(not c.holds for c in verification.checks)
    fine = "every claim holds" if verification.claimed else "nothing is claimed, and what is stated holds"
    outcome = f"{wrong} of {len(verification.checks)} checks FAIL" if wrong else fine
    say(f"{folder}: {outcome}{_remarked(len(verification.remarks))}")


def _remarked(many: int) -> str:
    """What the last line must not leave out: claims can hold where columns single people out."""
    if not many:
        return ""
    return f"; no claim covers the {'warning' if many == 1 else f'{many} warnings'} above"


# ``sfumato report``: a bundle's report as text, as JSON or as a page, in the language of the reader.


def report(
    folder: Annotated[Path, typer.Argument(help="The bundle.")],
    language: Annotated[str | None, typer.Option("--language", help="The language: en or de.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write it here: a page (.html), a text (.txt) or .json.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Show the report of a bundle that verifies, made again from its bytes."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.verification import report_of

    form = _form(output, as_json=as_json)
    if output is not None:
        refuse_file(output, force=force, sources=())
    text = report_of(folder, language=language, form=form)
    if output is None:
        typer.echo(text)
    else:
        write_whole(output, text)
        say(f"{output} is written.")


def _form(output: Path | None, *, as_json: bool) -> Form:
    """By the option, or by how the file's name ends."""
    from sfumato.core.errors import PlanError

    if output is None or as_json:
        return "json" if as_json else "text"
    forms: dict[str, Form] = {".html": "html", ".txt": "text", ".json": "json"}
    if output.suffix.lower() not in forms:
        raise PlanError(f"--output {output}: the name must end in .html, .txt or .json, so that the form is clear")
    return forms[output.suffix.lower()]
