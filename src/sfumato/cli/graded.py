"""``sfumato graded``: codes and aliases for an untrusted miner, whose results the sites read back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import Force, Json, Sign, say, say_json, table

Secret = Annotated[Path, typer.Option("--secret", help="The secret of the sites.")]
Missing = Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing value.")]


def new(
    terms: Annotated[Path, typer.Argument(help="A TOML file with [columns]: ranges and values.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file of the secret.")] = Path("graded.secret"),
    as_json: Json = False,
) -> None:
    """Make the secret of one site alone; several sites agree on one by sfumato party run."""
    from sfumato.pipeline.graded_sites import new_secret

    secret = new_secret(terms)
    secret.write(output)
    if as_json:
        say_json({"secret": str(output), "agreement": secret.agreement, "columns": list(secret.terms)})
        return
    say(
        f"{output}: the secret for {', '.join(secret.terms)}, readable by you only. Keep a copy, and hand it to nobody."
    )
    say(f"Next: sfumato graded apply DATA --secret {output} -o part")


def show(
    secret: Annotated[Path, typer.Argument(help="The file of the secret.")],
    as_json: Json = False,
) -> None:
    """Show the commitment of a secret, and its tables of codes and aliases. For the sites' own eyes."""
    from sfumato.tables.graded_secret import AliasTable, GradedSecret

    graded_secret = GradedSecret.load(secret)
    rows: list[list[str]] = []
    for name, column in graded_secret.columns.items():
        if isinstance(column, AliasTable):
            rows += [[name, value, alias] for value, alias in column.aliases.items()]
            continue
        limits, values = column.grouping.limits, column.grouping.values
        rows += [
            [name, f"{float(low):g} to {float(high):g}", f"{value} to {value + 1}"]
            for low, high, value in zip(limits, limits[1:], values, strict=False)
        ]
    if as_json:
        say_json({"agreement": graded_secret.agreement, "table": rows})
        return
    table(["column", "original", "what a miner sees"], rows)
    say(f"The agreement is {graded_secret.agreement}.")


def apply(
    data: Annotated[Path, typer.Argument(help="Your own data file.")],
    secret: Secret,
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle to write.")] = Path("part"),
    drop: Annotated[list[str] | None, typer.Option("--drop", help="A column that the miner must not see.")] = None,
    missing: Missing = None,
    sign: Sign = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Transform a table with the secret, attack it, and write a pseudonymized bundle; nothing is claimed about it."""
    from sfumato.cli.release import released
    from sfumato.pipeline.graded_sites import plan_for

    plan = plan_for(data, secret, drop=drop or (), missing=missing or ())
    released(plan, output, inside=None, no_inside=True, sign=sign, force=force, as_json=as_json)


def join(
    bundles: Annotated[list[Path], typer.Argument(help="The bundles of the sites.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="All rows: .csv or .parquet.")] = Path("joined.csv"),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Verify the bundles of several sites, check that they are of one agreement, and write their rows as one table."""
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.graded_sites import joined
    from sfumato.tables.files import rendered

    _refuse_table(output, force=force, sources=())
    rows = joined(bundles)
    write_whole(output, rendered(rows, output.name))
    if as_json:
        say_json({"file": str(output), "rows": rows.height, "bundles": len(bundles)})
        return
    say(f"{output}: {rows.height:,} rows of {len(bundles)} sites. They are pseudonymized, not anonymous.")


def interpret(
    result: Annotated[Path, typer.Argument(help="Rules, a tree, centres or rows: .json, .csv, .parquet or a bundle.")],
    secret: Secret,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The translation; NAME-interpreted beside it by default.")
    ] = None,
    missing: Missing = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Translate a miner's results back: aliases into values, codes into numbers. Only a site can."""
    import json

    from sfumato.bundles.files import refuse_file
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.graded_sites import interpret as translate
    from sfumato.tables.files import rendered
    from sfumato.tables.graded_secret import GradedSecret

    translation = translate(result, GradedSecret.load(secret), missing=missing or ())
    ending = ".json" if translation.frame is None else result.suffix or ".csv"
    place = output or result.with_name(f"{result.stem}-interpreted{ending}")
    if translation.frame is None:
        refuse_file(place, force=force, sources=(result, secret))
        lines = [json.dumps(document, ensure_ascii=False) for document in translation.documents]
        write_whole(place, "\n".join([*lines, ""]), private=True)
        count = len(lines)
    else:
        _refuse_table(place, force=force, sources=(result, secret))
        write_whole(place, rendered(translation.frame, place.name), private=True)
        count = translation.frame.height
    if as_json:
        say_json({"file": str(place), "what": translation.what, "count": count})
        return
    say(f"{place}: {translation.what} in the words of the original ({count:,}). For the sites only.")


def _refuse_table(path: Path, *, force: bool, sources: tuple[Path, ...]) -> None:
    from sfumato.bundles.files import refuse_file
    from sfumato.core.errors import BundleError

    if path.suffix not in (".csv", ".parquet"):
        raise BundleError(f"{path} must end in .csv or .parquet")
    refuse_file(path, force=force, sources=sources)
