"""`sfumato demo`, `studio`, `schema`, and the catalog: `models`, `algorithms`, `metrics`, `attacks`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sfumato.cli.output import Json, say, say_json, table, watched

# ``sfumato demo``: the tour.


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to put the tour's files.")] = Path(
        "sfumato-demo"
    ),
    as_json: Json = False,
) -> None:
    """Take the tour on bundled data: release, verify, attack, report."""
    from sfumato.pipeline.demo import tour

    with watched(quiet=as_json) as work:
        result = tour(output, work)
    if as_json:
        say_json(result.to_json())
        return
    say(f"1  {output / 'patients.csv'} holds {result.rows:,} patients who do not exist: names, birth dates, diagnoses.")
    say(f"2  {output / 'plan.toml'} asks for: {', '.join(result.promised)}.")
    say(f"3  {output / 'release'} is the release; {result.checks} checks of the written file hold.")
    table(
        ["4  an adversary with a register of names, birth dates, postal codes and sex", "original", "release"],
        [
            ["patients found with certainty", f"{result.found_before:,}", f"{result.found_after:,}"],
            ["best chance for any one patient", f"{result.chance_before:.0%}", f"{result.chance_after:.0%}"],
        ],
    )
    say(
        f"   Knowing all of that they tell a diagnosis in {result.told:.0%} of cases; by guessing {result.guessed:.0%}."
    )
    say(f"5  open {output / 'release' / 'report.html'} in a browser: what was promised, reached and lost.")
    say(f"   {output / 'inside.html'} is for the steward only: it shows the original's figures.")
    say("")
    say("next:")
    say(f"   sfumato verify {output / 'release'}")
    say(f"   sfumato attack {output / 'release'} --original {output / 'patients.csv'} --plan {output / 'plan.toml'}")
    say(f"   sfumato release {output / 'plan.toml'} --set privacy.k_anonymity=20 -o {output / 'stricter'}")
    say("   sfumato studio --demo     the same patients in a browser, with a hint at every step")
    say("   sfumato profile YOUR.csv -o plan.toml     then     sfumato release plan.toml")


# ``sfumato studio``: the whole way in a browser.


def studio(
    folder: Annotated[
        Path, typer.Argument(help="The folder that holds your tables; projects are kept in it.")
    ] = Path(),
    port: Annotated[int, typer.Option("--port", help="The port on this machine; a free one by default.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Begin with the tour's patients, in the folder sfumato-demo.")
    ] = False,
    most_upload: Annotated[int, typer.Option("--most-upload", help="The largest upload, in bytes.")] = 4 * 1024**3,
) -> None:
    """Go from a table to a verified release in a browser, on this machine alone."""
    from sfumato.studio.server import begin_demo, serve

    place = begin_demo(folder) if demo else folder
    serve(place, port=port, say=say, open_browser=not no_open, most_bytes=most_upload)


# ``sfumato models``, ``algorithms``, ``metrics`` and ``attacks``: the catalog, read from the code.


def models(as_json: Json = False) -> None:
    """List the privacy models, with how a plan asks for each."""
    from sfumato.pipeline.catalog.catalog import model_rows

    _show(["model", "what holds", "in the plan's [privacy]"], model_rows(), as_json)


def schema(
    of: Annotated[Literal["plan", "manifest"], typer.Argument(help="What it describes: plan or manifest.")],
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of plans or of manifests, by which editors complete and check them."""
    if of == "plan":
        from sfumato.pipeline.plan_schema import json_schema
    else:
        from sfumato.bundles.manifest.releases import json_schema
    say_json(json_schema())


def algorithms(as_json: Json = False) -> None:
    """List the algorithms."""
    from sfumato.pipeline.catalog.catalog import algorithm_rows

    rows = [["auto", "Choose by size, models and metric."], *algorithm_rows()]
    _show(["algorithm", "what it does"], rows, as_json)


def metrics(as_json: Json = False) -> None:
    """List the utility metrics, with direction and range."""
    from sfumato.pipeline.catalog.catalog import metric_rows

    _show(["metric", "what it measures", "better", "range"], metric_rows(), as_json)


def attacks(as_json: Json = False) -> None:
    """List the attacks on releases, with what each threatens."""
    from sfumato.pipeline.catalog.catalog import attack_rows

    _show(["attack", "threat", "the adversary", "in every release"], attack_rows(), as_json)


def _show(headers: list[str], rows: list[list[str]], as_json: bool) -> None:
    if as_json:
        say_json([dict(zip(headers, row, strict=True)) for row in rows])
    else:
        table(headers, rows)
