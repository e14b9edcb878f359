"""``sfumato release``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table, watched

if TYPE_CHECKING:
    from sfumato.verification.checks import Verification
    from sfumato.workflow.item_release import ItemRelease
    from sfumato.workflow.private import PrivateRelease
    from sfumato.workflow.release import Release


def release(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    data: Annotated[Path | None, typer.Option("--input", help="The data file, instead of the plan's.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle to write.")] = Path("release"),
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a key of the plan: --set privacy.k_anonymity=10")
    ] = None,
    inside: Annotated[
        Path | None, typer.Option("--inside", help="Where the steward's own report goes; beside the bundle by default.")
    ] = None,
    no_inside: Annotated[
        bool, typer.Option("--no-inside", help="Write no report with the original's figures.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing bundle.")] = False,
    as_json: Json = False,
) -> None:
    """Make a verified release bundle from a plan."""
    from sfumato.workflow.item_release import ItemRelease
    from sfumato.workflow.making import check_output
    from sfumato.workflow.plan import Plan, with_input
    from sfumato.workflow.private import PrivateRelease
    from sfumato.workflow.releasing import release as make

    loaded = Plan.load(plan, changes or [])
    if data is not None:
        loaded = with_input(loaded, data)
    private = "epsilon" in loaded.privacy
    page = None if no_inside or private else inside or output.with_name(f"{output.name}.inside.html")
    check_output(output, page, force=force)
    with watched(quiet=as_json) as work:
        made = make(loaded, work=work)
        checked = made.write(output, force=force)
        work.advance("write and verify", 1, 1)
        if page is not None and not isinstance(made, PrivateRelease):
            made.write_inside(page)
    if isinstance(made, PrivateRelease):
        show_private(made, checked, output, as_json=as_json)
    elif isinstance(made, ItemRelease):
        show_items(made, checked, output, page, as_json=as_json)
    elif as_json:
        say_json({**summary(made, checked, output), "inside_report": None if page is None else str(page)})
    else:
        show(made, output, page)


def show_private(made: PrivateRelease, checked: Verification, output: Path, *, as_json: bool) -> None:
    """What was made under differential privacy, for programs or for people."""
    from sfumato.budget.events import to_json
    from sfumato.report.private.private_page import ledger_lines

    if as_json:
        found = {"bundle": str(output), "rows": made.rows.height, "epsilon": str(made.epsilon)}
        say_json({**found, "algorithm": made.algorithm, "ledger": to_json(made.event), "verified": checked.holds})
        return
    say(f"Differentially private with epsilon = {made.epsilon}, by {made.algorithm}: {made.rows.height:,} noisy rows.")
    rows = [["  " * line.depth + line.what, str(line.epsilon)] for line in ledger_lines(made.event) if line.depth < 2]
    table(["where epsilon went", "epsilon"], rows)
    for mark in made.marks:
        say(f"Beware: {mark}.")
    say(f"{output} is written and verified. Next: open {output / 'report.html'}, or: sfumato verify {output}")


def show_items(made: ItemRelease, checked: Verification, output: Path, inside: Path | None, *, as_json: bool) -> None:
    """What was made of paths and sets, for programs or for people."""
    from sfumato.bundle.manifest import plain
    from sfumato.models.verdict import titled

    if as_json:
        found = {
            "bundle": str(output),
            "rows": made.rows.height,
            "algorithm": made.algorithm,
            "verified": checked.holds,
        }
        claims = plain([claim.to_json() for claim in made.claims])
        page = {"inside_report": None if inside is None else str(inside)}
        say_json(
            {**found, "claims": claims, "utility": plain(made.utility), "search": dict(made.outcome.effort), **page}
        )
        return
    say(f"{made.rows.height:,} records, by {made.algorithm}.")
    for claim in made.claims:
        say(f"Holds: {titled(claim.model, claim.parameters)}; {claim.note or f'reached {claim.reached:g}'}.")
    table(
        ["column", "items before", "shown", "entries before", "entries shown", "shown coarser"],
        [[c.name, c.items, c.shown, c.entries_before, c.entries, len(c.coarser)] for c in made.recoded],
    )
    lost, sets = made.utility["lost_frequent_sets"], made.frequent.sets.count
    say(f"Of {sets:,} maximal frequent sets (from {made.frequent.support:,} records on) {lost:.1%} are lost.")
    for mark in made.marks:
        say(f"Beware: {mark}.")
    say(f"{output} is written and verified. Next: open {output / 'report.html'}, or: sfumato verify {output}")
    if inside is not None:
        say(f"{inside} shows before and after, with the original's figures: for you only, do not publish it.")


def summary(made: Release, checked: Verification, output: Path) -> dict[str, object]:
    """What was made, for programs."""
    from sfumato.bundle.manifest import plain

    return {
        "bundle": str(output),
        "rows": made.rows.height,
        "suppressed_rows": made.suppressed_rows,
        "claims": plain([claim.to_json() for claim in made.claims]),
        "smallest_class": made.smallest_class,
        "utility": plain(made.utility),
        "risk": made.risk,
        "levels": made.levels,
        "search": dict(made.outcome.effort),
        "verified": checked.holds,
    }


def show(made: Release, output: Path, inside: Path | None) -> None:
    """What was made, for people."""
    from sfumato.report.table.summary_text import summary as told
    from sfumato.workflow.facts import facts

    say(told(facts(made, inside=False)))
    if made.levels is not None:
        heights = [hierarchy.height for hierarchy in made.prepared.problem.hierarchies]
        rows = [[name, level, height] for (name, level), height in zip(made.levels.items(), heights, strict=True)]
        table(["column", "level", "of"], rows)
    say(f"{output} is written and verified. Next: open {output / 'report.html'}, or: sfumato verify {output}")
    if inside is not None:
        say(f"{inside} shows before and after, with the original's figures: for you only, do not publish it.")
