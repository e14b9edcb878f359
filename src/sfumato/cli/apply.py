"""``sfumato apply``: an old recoding on new records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sfumato.cli.show import Escape, Json, say, say_json, table, warn
from sfumato.ground.errors import BundleError, ClaimRefuted

if TYPE_CHECKING:
    from sfumato.workflow.apply.applying import Outside


def apply(
    folder: Annotated[Path, typer.Argument(help="The bundle whose recoding is applied.")],
    data: Annotated[Path, typer.Argument(help="The new records.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write: .csv or .parquet.")] = Path(
        "applied.csv"
    ),
    outside: Annotated[
        str,
        typer.Option("--outside", help="A value that no label covers: refuse, top (show *) or suppress (leave out)."),
    ] = "refuse",
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file, and write records that break the claims.")
    ] = False,
    escape_formulas: Escape = False,
    as_json: Json = False,
) -> None:
    """Recode new records as a bundle's were: a test set, next month's file."""
    from sfumato.bundle.bundle_files import refuse_file
    from sfumato.bundle.manifest import plain
    from sfumato.bundle.staging import write_whole
    from sfumato.data.files import rendered
    from sfumato.data.formulas import escaped, formula_columns, told_formulas
    from sfumato.workflow.apply.applying import apply as run

    refuse_file(output, force=force, sources=(data,))
    if output.suffix not in (".csv", ".parquet"):
        raise BundleError(f"{output} must end in .csv or .parquet")
    if escape_formulas and output.suffix != ".csv":
        raise BundleError(f"{output}: --escape-formulas is for CSV; name a file that ends in .csv, or leave it out")
    made = run(folder, data, outside=cast("Outside", outside))
    if not made.holds and not force:
        broken = next(claim for claim in made.claims if not claim.holds)
        raise ClaimRefuted(
            f"{data}: under this recoding the records alone do not meet {broken.model} (required {broken.sense} "
            f"{broken.limit:g}, measured {broken.as_value:.6g}), so nothing was written; with --force they are, for "
            "testing what was learnt and not for publication"
        )
    guarded = output.suffix == ".csv" and (escape_formulas or made.escape_formulas)
    risky = formula_columns(made.rows) if output.suffix == ".csv" and not guarded else []
    if risky and not as_json:
        warn(told_formulas(risky))
    write_whole(output, rendered(escaped(made.rows) if guarded else made.rows, output.name))
    if as_json:
        claims = plain([one.to_json() for one in made.claims])
        found = {"file": str(output), "rows": made.rows.height, "left_out": made.left_out, "starred": made.starred}
        say_json({**found, "claims": claims, "holds": made.holds})
        return
    say(f"{output}: {made.rows.height:,} records, {made.left_out:,} left out, {made.starred:,} cells starred.")
    rows = [
        [one.model, "yes" if one.holds else "NO", f"{one.as_value:.6g}", one.sense, one.limit] for one in made.claims
    ]
    if rows:
        table(["model", "holds here", "reached", "asked", "limit"], rows)
    if not made.holds:
        say("These records alone do not meet the requirement: use them to test what was learnt, do not publish them.")
