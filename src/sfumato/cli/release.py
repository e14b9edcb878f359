"""`sfumato release`, `apply` and `key`: makes bundles, applies a learned recoding, keys for signing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sfumato.cli.output import Changes, Escape, Force, Input, Inside, Json, Sign, say, say_json, table, warn, watched
from sfumato.core.errors import BundleError, ClaimRefuted

if TYPE_CHECKING:
    from sfumato.bundles.provenance import Verification
    from sfumato.core.claims import Claim
    from sfumato.pipeline.apply import Outside
    from sfumato.pipeline.linked.release import LinkedRelease
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.release import Release


# ``sfumato key``: keys by which bundles are signed, and the cards by which others know them.


def new(
    name: Annotated[str, typer.Argument(help="Who signs, as it is to stand on the card.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file of the key; signer.key by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key to sign bundles with, and the card that others check signatures by."""
    from sfumato.bundles.signatures import Signer

    signer, path = Signer.new(name), output or Path("signer.key")
    card = signer.write(path)
    if as_json:
        say_json({"key": str(path), "card": str(card), "name": name, "fingerprint": signer.card.fingerprint})
        return
    say(f"{path} is the key of {name}: keep it secret, apart from releases, with a copy elsewhere.")
    say(f"{card} is the card: hand it out. Its fingerprint is {signer.card.fingerprint}; let others compare it.")
    say(f"Next: sfumato release PLAN --sign {path}; others: sfumato verify BUNDLE --signer {card}")


def card(
    path: Annotated[Path, typer.Argument(help="The card.")],
    as_json: Json = False,
) -> None:
    """Show who a card is about, and the fingerprint to compare."""
    from sfumato.bundles.signatures import Card

    signer_card = Card.load(path)
    if as_json:
        say_json({"name": signer_card.name, "fingerprint": signer_card.fingerprint})
    else:
        say(f"{signer_card.name}: {signer_card.fingerprint}")


# ``sfumato release`` for a plan of linked tables.


def released_linked(
    plan: Path, output: Path, *, sign: Path | None, force: bool, as_json: bool, other_options: Mapping[str, object]
) -> None:
    """Release all tables of a plan, verified, and show what was made."""
    from sfumato.bundles.files import refuse_existing
    from sfumato.bundles.signatures import Signer
    from sfumato.core.errors import PlanError
    from sfumato.pipeline.linked.plan import LinkedPlan
    from sfumato.pipeline.linked.release import release_linked

    odd = [name for name, value in other_options.items() if value is not None]
    if odd:
        raise PlanError(f"{odd[0]} is for the plan of one table; {plan} names several: change their own plans")
    loaded, signer = LinkedPlan.load(plan), None if sign is None else Signer.load(sign)
    refuse_existing(output, force=force)
    with watched(quiet=as_json) as work:
        linked_release = release_linked(loaded, work=work)
        checked = linked_release.write(output, force=force, signer=signer, work=work)
    if as_json:
        say_json({"bundle": str(output), **figures(linked_release), "verified": checked.holds})
        return
    table(
        ["table", "rows", "claims"],
        [
            [name, f"{table_release.height:,}", _claims(table_release.claims)]
            for name, table_release in linked_release.tables.items()
        ],
    )
    for name, many in linked_release.orphans.items():
        say(f"{many:,} rows of {name} named no row of the table above, and were left out.")
    say(
        f"{linked_release.people:,} people are in all tables; {linked_release.suppressed:,} were left out of all of "
        "them."
    )
    say(f"{output} is written and verified, every claim also on the join. Next: sfumato verify {output}")


def _claims(claims: Iterable[Claim]) -> str:
    from sfumato.core.claims import titled

    return ", ".join(titled(claim.model, claim.parameters) for claim in claims)


def figures(linked_release: LinkedRelease) -> dict[str, object]:
    """What was made, for programs."""
    tables = {
        name: {"rows": table_release.height, "utility": dict(table_release.utility)}
        for name, table_release in linked_release.tables.items()
    }
    return {
        "people": linked_release.people,
        "suppressed": linked_release.suppressed,
        "orphans": dict(linked_release.orphans),
        "tables": tables,
    }


# ``sfumato release``: the main job.


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
    from sfumato.pipeline.linked.plan import linked_tree
    from sfumato.pipeline.plan.plan import Plan, with_input

    if linked_tree(plan) is not None:
        other_options = {
            "--input": data,
            "--set": changes,
            "--inside": inside,
            "--escape-formulas": escape_formulas or None,
        }
        released_linked(plan, output, sign=sign, force=force, as_json=as_json, other_options=other_options)
        return
    loaded = Plan.load(plan, [*(changes or []), *(["output.escape_formulas=true"] if escape_formulas else [])])
    if data is not None:
        loaded = with_input(loaded, data)
    released(loaded, output, inside=inside, no_inside=no_inside, sign=sign, force=force, as_json=as_json)


def released(
    loaded: Plan, output: Path, *, inside: Path | None, no_inside: bool, sign: Path | None, force: bool, as_json: bool
) -> None:
    """The walk of a plan that was read: made, written, verified and told."""
    from sfumato.bundles.files import refuse_page
    from sfumato.bundles.signatures import Signer
    from sfumato.pipeline.methods import method_of
    from sfumato.pipeline.methods.method import warned
    from sfumato.pipeline.release import refuse_output
    from sfumato.pipeline.release import release as make

    signer = None if sign is None else Signer.load(sign)
    wanted = method_of(loaded).inside_page is not None and not no_inside
    page = (inside or output.with_name(f"{output.name}.inside.html")) if wanted else None
    refuse_output(output, page, force=force)
    if page is not None:
        refuse_page(page, force=force)
    with watched(quiet=as_json) as work:
        release = make(loaded, work=work)
        for line in warned(release.warnings):  # before anything is written
            typer.echo(line, err=True)
        checked = release.write(output, force=force, inside=page, signer=signer, work=work)
    if as_json:
        more = {"inside_report": None if page is None else str(page), "warnings": release.warnings}
        say_json({**summary(release, checked, output), **more})
    else:
        show(release, output, page)


def summary(release: Release, checked: Verification, output: Path) -> dict[str, object]:
    """What was made, for programs."""
    return {"bundle": str(output), **release.kind.figures(release), "verified": checked.holds}


def show(release: Release, output: Path, inside: Path | None) -> None:
    """What was made, for people."""
    summary = release.kind.summary(release)
    for line in summary.lines:
        say(line)
    if summary.cells:
        table(summary.heads, summary.cells)
    for line in summary.after:
        say(line)
    say(f"{output} is written and verified. Next: open {output / 'report.html'}, or: sfumato verify {output}")
    if inside is not None:
        say(f"{inside} shows before and after, with the original's figures: for you only, do not publish it.")


# ``sfumato apply``: an old recoding on new records.


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
    from sfumato.bundles.files import refuse_file
    from sfumato.bundles.manifest.document import plain
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.apply import apply as run
    from sfumato.tables.csv_files import escaped, formula_columns, told_formulas
    from sfumato.tables.files import rendered

    refuse_file(output, force=force, sources=(data,))
    if output.suffix not in (".csv", ".parquet"):
        raise BundleError(f"{output} must end in .csv or .parquet")
    if escape_formulas and output.suffix != ".csv":
        raise BundleError(f"{output}: --escape-formulas is for CSV; name a file that ends in .csv, or leave it out")
    result = run(folder, data, outside=cast("Outside", outside))
    if not result.holds and not force:
        broken = next(claim for claim in result.claims if not claim.holds)
        raise ClaimRefuted(
            f"{data}: under this recoding the records alone do not meet {broken.model} (required {broken.sense} "
            f"{broken.limit:g}, measured {broken.as_value:.6g}), so nothing was written; with --force they are, for "
            "testing what was learnt and not for publication"
        )
    guarded = output.suffix == ".csv" and (escape_formulas or result.escape_formulas)
    risky = formula_columns(result.rows) if output.suffix == ".csv" and not guarded else []
    if risky and not as_json:
        warn(told_formulas(risky))
    write_whole(output, rendered(escaped(result.rows) if guarded else result.rows, output.name))
    if as_json:
        claims = plain([claim.to_json() for claim in result.claims])
        content = {
            "file": str(output),
            "rows": result.rows.height,
            "left_out": result.left_out,
            "starred": result.starred,
        }
        say_json({**content, "claims": claims, "holds": result.holds})
        return
    say(f"{output}: {result.rows.height:,} records, {result.left_out:,} left out, {result.starred:,} cells starred.")
    rows = [
        [claim.model, "yes" if claim.holds else "NO", f"{claim.as_value:.6g}", claim.sense, claim.limit]
        for claim in result.claims
    ]
    if rows:
        table(["model", "holds here", "reached", "asked", "limit"], rows)
    if not result.holds:
        say("These records alone do not meet the requirement: use them to test what was learnt, do not publish them.")
