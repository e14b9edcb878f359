"""``sfumato release``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Changes, Escape, Force, Input, Inside, Json, Sign, say, say_json, table, watched

if TYPE_CHECKING:
    from sfumato.verification.checks import Verification
    from sfumato.workflow.plan.plan import Plan
    from sfumato.workflow.released import Release


def release(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    data: Input = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle to write.")] = Path("release"),
    changes: Changes = None,
    inside: Inside = None,
    no_inside: Annotated[
        bool, typer.Option("--no-inside", help="Write no report with the original's figures.")
    ] = False,
    sign: Sign = None,
    force: Force = False,
    escape_formulas: Escape = False,
    as_json: Json = False,
) -> None:
    """Make a verified release bundle from a plan; from a plan of linked tables, a folder with a bundle for each."""
    from sfumato.workflow.linked.linked_plan import linked_tree
    from sfumato.workflow.plan.plan import Plan, with_input

    if linked_tree(plan) is not None:
        from sfumato.cli.linked_tables import released_linked

        beside = {"--input": data, "--set": changes, "--inside": inside, "--escape-formulas": escape_formulas or None}
        released_linked(plan, output, sign=sign, force=force, as_json=as_json, beside=beside)
        return
    loaded = Plan.load(plan, [*(changes or []), *(["output.escape_formulas=true"] if escape_formulas else [])])
    if data is not None:
        loaded = with_input(loaded, data)
    released(loaded, output, inside=inside, no_inside=no_inside, sign=sign, force=force, as_json=as_json)


def released(
    loaded: Plan, output: Path, *, inside: Path | None, no_inside: bool, sign: Path | None, force: bool, as_json: bool
) -> None:
    """The walk of a plan that was read: made, written, verified and told."""
    from sfumato.bundle.bundle_files import refuse_page
    from sfumato.bundle.signatures import Signer
    from sfumato.workflow.bundling import refuse_output
    from sfumato.workflow.kinds import kind_of
    from sfumato.workflow.kinds.kind import warned
    from sfumato.workflow.walk import release as make

    signer = None if sign is None else Signer.load(sign)
    wanted = kind_of(loaded).inside_page is not None and not no_inside
    page = (inside or output.with_name(f"{output.name}.inside.html")) if wanted else None
    refuse_output(output, page, force=force)
    if page is not None:
        refuse_page(page, force=force)
    with watched(quiet=as_json) as work:
        made = make(loaded, work=work)
        for line in warned(made.warnings):  # before anything is written
            typer.echo(line, err=True)
        checked = made.write(output, force=force, inside=page, signer=signer, work=work)
    if as_json:
        more = {"inside_report": None if page is None else str(page), "warnings": made.warnings}
        say_json({**summary(made, checked, output), **more})
    else:
        show(made, output, page)


def summary(made: Release, checked: Verification, output: Path) -> dict[str, object]:
    """What was made, for programs."""
    return {"bundle": str(output), **made.kind.figures(made), "verified": checked.holds}


def show(made: Release, output: Path, inside: Path | None) -> None:
    """What was made, for people."""
    told = made.kind.summary(made)
    for line in told.lines:
        say(line)
    if told.cells:
        table(told.heads, told.cells)
    for line in told.after:
        say(line)
    say(f"{output} is written and verified. Next: open {output / 'report.html'}, or: sfumato verify {output}")
    if inside is not None:
        say(f"{inside} shows before and after, with the original's figures: for you only, do not publish it.")
