"""`sfumato profile` and `dimensions`: a table's risk, a draft plan, the curse of dimensionality."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sfumato.cli.output import WIDTH, Input, Json, json_text, say, say_json, table, watched

if TYPE_CHECKING:
    from sfumato.pipeline.profile.profile import Profile


# ``sfumato profile``: look at a table and draft a plan.


Engine = Annotated[
    str | None, typer.Option("--engine", help="The engine that counts the rows: duckdb, postgresql or spark.")
]
Place = Annotated[str | None, typer.Option("--table", metavar="NAME", help="The table in the engine.")]
Database = Annotated[Path | None, typer.Option("--database", help="With duckdb and --table or --query: its file.")]
Connection = Annotated[
    str | None,
    typer.Option("--connection", metavar="NAME", help="The environment variable that holds the engine's address."),
]


def profile(
    data: Annotated[str | None, typer.Argument(help="The data file, a folder or a pattern.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write a draft plan here.")] = None,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing value.")] = None,
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="The separator of a text file.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="The encoding of a text file.")] = None,
    names: Annotated[
        str | None, typer.Option("--names", help="The columns' names, separated by commas, of a file without a header.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; found out when absent."),
    ] = None,
    trim: Annotated[bool, typer.Option("--trim", help="Cut blanks around cells.")] = False,
    sheet: Annotated[str | None, typer.Option("--sheet", help="The sheet of a workbook, by name or number.")] = None,
    codes: Annotated[bool, typer.Option("--codes", help="Show codes of SPSS and Stata, not their labels.")] = False,
    engine: Engine = None,
    place: Place = None,
    query: Annotated[str | None, typer.Option("--query", help="A SELECT in place of a table.")] = None,
    database: Database = None,
    connection: Connection = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan.")] = False,
    as_json: Json = False,
) -> None:
    """Look at a table: types, uniqueness, suggested roles and hierarchies, risk as it stands."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.profile.draft import draft
    from sfumato.pipeline.profile.profile import profile as look

    if output is not None:
        sources = tuple(Path(source) for source in (data, database) if source is not None)
        refuse_file(output, force=force, sources=sources)
        if not _is_schema(output.with_suffix(".schema.json")):
            refuse_file(output.with_suffix(".schema.json"), force=force, sources=sources)
    stays = {"engine": engine, "connection": connection, "table": place, "query": query}
    stays["database"] = None if database is None else str(database)
    cells: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "trim": trim or None, "header": header}
    cells |= {"sheet": int(sheet) if sheet and sheet.isdecimal() else sheet, "labels": False if codes else None}
    reading = _reading(stays, cells, names)
    markers = tuple(missing or ())
    table_profile = look(data, missing=markers, reading=reading)
    if output is not None:
        settings = {**reading, **({} if database is None else {"database": _relative(str(database), output)})}
        path = None if data is None else _relative(data, output)
        from sfumato.pipeline.plan_schema import json_schema

        schema = output.with_suffix(".schema.json")
        text = draft(table_profile, path=path, missing=markers, reading=settings, schema=schema.name)
        write_whole(schema, json_text(json_schema(), indent=2) + "\n")
        write_whole(output, text, private=True)
    if as_json:
        say_json({**table_profile.to_json(), "plan": None if output is None else str(output)})
    else:
        _show(table_profile, data, output)


def _is_schema(path: Path) -> bool:
    """Whether an earlier draft wrote this file, which then needs no --force to be written again."""
    try:
        return path.is_file() and '"title": "sfumato plan"' in path.read_text(encoding="utf-8")[:300]
    except (OSError, UnicodeDecodeError):
        return False


def _reading(stays: dict[str, Any], cells: dict[str, Any], names: str | None) -> dict[str, Any]:
    """What was said about the input, as keys of a plan."""
    called = None if names is None else [name.strip() for name in names.split(",")]
    options = {**stays, **cells, "names": called} | ({} if called is None else {"header": False})
    return {key: value for key, value in options.items() if value is not None}


def _relative(path: str, output: Path) -> str:
    """A path as a plan names it, from its own folder; an address stays as it is."""
    return path if "://" in path else os.path.relpath(Path(path).resolve(), output.resolve().parent)


def _show(table_profile: Profile, data: str | None, output: Path | None) -> None:
    for note in table_profile.notes:
        say(f"note: {note}")
    say(f"{table_profile.source}: {table_profile.rows:,} rows, {len(table_profile.columns)} columns")
    _show_reading(table_profile)
    table(
        ["column", "type", "values", "missing", "suggested", "why"],
        [
            [c.name, c.kind, f"{c.distinct:,}", f"{c.missing:,}", c.suggestion.role, c.suggestion.why]
            for c in table_profile.columns
        ],
    )
    _show_notes(table_profile)
    if table_profile.unit is not None:
        people = next(c.distinct for c in table_profile.columns if c.name == table_profile.unit)
        say(
            f"{table_profile.unit} repeats: {table_profile.rows:,} rows of {people:,}. A group of 5 rows may hold "
            "one person; with"
        )
        say(f'[input] unit = "{table_profile.unit}" people are counted, not rows{_where(table_profile)}.')
    for column in table_profile.columns:
        if column.near_unique is not None:
            say(f"warning: {column.near_unique.told}")
    if table_profile.itemized:
        say(
            f"{', '.join(table_profile.itemized)}: several items in a cell; what few of them tell is judged by km or "
            "lkc."
        )
    if table_profile.quasi:
        _show_risk(table_profile)
    elif not table_profile.itemized:
        say("No quasi-identifier was recognized, so no risk is shown. Decide which columns others may know")
        say("about a person, and give them the role 'quasi' in the plan.")
        return
    numbers = [c.name for c in table_profile.columns if c.name.replace(".", "").isdigit()]
    if numbers:
        say(f"note: columns are called {', '.join(numbers[:4])}; if the file has no header, name them with --names")
    if output is None:
        say(f"next: sfumato profile {data or '...'} -o plan.toml")
    else:
        say(f"next: read {output}, then sfumato release {output}")


def _show_reading(table_profile: Profile) -> None:
    """What was found out about the file, and how to say otherwise."""
    if table_profile.reading.get("header") is False:
        _paragraph(
            "The first line looks like data, so columns are called column_1, column_2 and so on. Name them with "
            "--names; if the line is a header, say --header."
        )
    if table_profile.reading.get("trim"):
        _paragraph("Blanks follow every delimiter and are cut, as --trim says.")
    if table_profile.missing:
        _paragraph(
            f"Taken for missing values: {', '.join(map(repr, table_profile.missing))}. Name others with --missing."
        )


def _show_notes(table_profile: Profile) -> None:
    """What only a person can decide, once for all columns that it is about."""
    about: dict[str, list[str]] = {}
    for column in table_profile.columns:
        for note in column.suggestion.notes:
            about.setdefault(note, []).append(column.name)
    for note, names in about.items():
        _paragraph(f"check {', '.join(names)}: {note}")


def _paragraph(text: str) -> None:
    say(fill(text, WIDTH, break_on_hyphens=False))


def _where(table_profile: Profile) -> str:
    return (
        "" if table_profile.engine is None else f", of a file that fits in memory; {table_profile.engine} counts rows"
    )


def _show_risk(table_profile: Profile) -> None:
    singled = [
        [" + ".join(combination.columns), f"{combination.unique:.1%}"] for combination in table_profile.combinations[:6]
    ]
    if singled:
        table(["columns together", "rows singled out"], singled)
    risk = table_profile.risk
    table(
        [f"risk by {len(table_profile.quasi)} quasi-identifiers, as the table stands", ""],
        [
            ["prosecutor: highest chance to find a known member", f"{risk.prosecutor:.1%}"],
            ["journalist: highest chance (this table stands in for the population)", f"{risk.journalist:.1%}"],
            ["marketer: expected share of rows matched", f"{risk.marketer:.1%}"],
            ["rows that are alone", f"{risk.unique:.1%}"],
            ["rows in groups of fewer than five", f"{risk.at_risk:.1%}"],
        ],
    )


# ``sfumato dimensions``: what every further quasi-identifier costs.


def dimensions(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.")],
    data: Input = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write a page with the picture here.")] = None,
    order: Annotated[
        str, typer.Option("--order", help="greedy: the most telling column next; given: as the table has them.")
    ] = "greedy",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    as_json: Json = False,
) -> None:
    """Add a plan's quasi-identifiers one by one: how risk and loss grow, and what that suggests."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.errors import PlanError
    from sfumato.pipeline.methods.table.studies import Order
    from sfumato.pipeline.plan.plan import Plan, with_input
    from sfumato.pipeline.release import dimensions as analyse
    from sfumato.reports.language import number, share

    if order not in ("greedy", "given"):
        raise PlanError(f"--order must be greedy or given, not {order!r}")
    loaded = Plan.load(plan)
    loaded = loaded if data is None else with_input(loaded, data)
    if output is not None:
        read = () if loaded.input.path is None else (loaded.folder / loaded.input.path,)
        refuse_file(output, force=force, sources=(plan, *read))
    with watched(quiet=as_json) as work:
        analysis = analyse(loaded, order=cast("Order", order), work=work)
    if output is not None:
        analysis.write(output)
    if as_json:
        say_json({**analysis.to_json(), "page": None if output is None else str(output)})
        return
    rows = [
        [step.columns[-1], f"{step.classes:,}", share(step.unique), share(step.below_k), number(step.loss or 0.0)]
        for step in analysis.steps
    ]
    table(["column added", "groups", "unique", f"below {analysis.k}", analysis.metric], rows)
    say(analysis.advice)
    if output is not None:
        say(f"{output} shows it; it tells about the original and is not to be published.")
