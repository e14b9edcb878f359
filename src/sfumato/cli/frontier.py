"""``sfumato frontier``: many releases of one table, compared."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import Changes, Input, Json, say, say_json, table, watched
from sfumato.cli.release import show, summary
from sfumato.core.errors import PlanError

if TYPE_CHECKING:
    from sfumato.pipeline.frontier.frontier import Frontier
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.pipeline.release import Release


def frontier(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file; its [frontier] says what is compared.")],
    data: Input = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder for chart and tables; a run that was stopped goes on.")
    ] = Path("frontier"),
    changes: Changes = None,
    algorithms: Annotated[
        str | None, typer.Option("--algorithms", help="Names, instead of the plan's: --algorithms optimal,mondrian")
    ] = None,
    grid: Annotated[
        list[str] | None, typer.Option("--grid", help="Values of a key: --grid privacy.k_anonymity=2,5,10")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", help="Begin no point after this time.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="How many processes work at once.")] = None,
    number: Annotated[
        int | None, typer.Option("--pick", help="Make the release of this point again, as a bundle.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option("--bundle", help="The bundle that --pick writes; point-N by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Let --pick replace an existing bundle.")] = False,
    as_json: Json = False,
) -> None:
    """Compare algorithms and parameters by privacy and utility."""
    from sfumato.pipeline.frontier.frontier import content
    from sfumato.pipeline.frontier.frontier import frontier as compare

    loaded = _loaded(plan, data, changes, algorithms=algorithms, grid=grid or (), seconds=seconds, jobs=jobs)
    if number is not None:
        _pick(loaded, number, output, bundle or Path(f"point-{number}"), force=force, as_json=as_json)
        return
    with watched(quiet=as_json) as work:
        result = compare(loaded, folder=output, work=work)
    if as_json:
        say_json({"folder": str(output), **content(result)})
    else:
        _show(result, _again(plan, output, data, changes, algorithms, grid))
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _again(
    plan: Path,
    output: Path,
    data: Path | None,
    changes: list[str] | None,
    algorithms: str | None,
    grid: list[str] | None,
) -> str:
    """The command that numbers points in the same way."""
    command = ["sfumato", "frontier", str(plan), "-o", str(output)]
    command += [] if data is None else ["--input", str(data)]
    command += [] if algorithms is None else ["--algorithms", algorithms]
    command += [word for change in changes or [] for word in ("--set", change)]
    command += [word for line in grid or [] for word in ("--grid", line)]
    return shlex.join(command)


def _loaded(plan: Path, data: Path | None, changes: list[str] | None, **options: Any) -> Plan:
    """The plan, with what the command line says instead."""
    from dataclasses import replace

    from sfumato.pipeline.plan.plan import Plan, with_input

    loaded = Plan.load(plan, changes or [])
    loaded = replace(loaded, frontier=loaded.frontier.changed(**options))
    return loaded if data is None else with_input(loaded, data)


def _pick(plan: Plan, number: int, folder: Path, bundle: Path, *, force: bool, as_json: bool) -> None:
    """Make one point again, write its bundle, and say whether it is what the frontier had."""
    from sfumato.pipeline.frontier.frontier import pick, recorded
    from sfumato.pipeline.methods import method_of

    method_of(plan).comparison(plan).refuse_pick()
    known = recorded(plan, number, folder)
    if known is None and (folder / "points.json").exists():
        raise PlanError(
            f"--pick {number}: {folder} has no such point of this plan; give --input, --set, --grid and --algorithms "
            "as in the run that made it, or -o another folder"
        )
    with watched(quiet=as_json) as work:
        release, checked = pick(plan, number, bundle, force=force, work=work)
    same = None if known is None else _same(release, known)
    if as_json:
        say_json({**summary(release, checked, bundle), "point": number, "same_utility": same})
        return
    show(release, bundle, None)
    outcome = {None: f"was not made in {folder} before", True: "loses what it lost there", False: "DIFFERS from it"}[
        same
    ]
    say(
        f"Point {number} of {folder} {outcome}. Publish one point only: two releases of the same rows tell more "
        "together."
    )


def _same(release: Release, known: Any) -> bool:
    """Whether a release has the utility of a recorded point; a search that stops by the clock may find another."""
    from sfumato.bundles.manifest.document import plain

    return bool(plain(dict(release.utility)) == known.get("utility"))


def _show(result: Frontier, again: str) -> None:
    """The table, and where the chart is."""
    from sfumato.pipeline.frontier.frontier import facts
    from sfumato.reports.frontier import verdict, written

    comparison = facts(result)
    axes = [*comparison.privacy[:2], *comparison.utility]
    rows: list[list[object]] = []
    for point in comparison.points:
        values = zip((*point.privacy[:2], *point.utility), axes, strict=True)
        figures = ["" if value is None else written(value, axis.how) for value, axis in values]
        mark = "*" if point.number in comparison.front else ""
        rows.append(
            [f"{point.number}{mark}", comparison.series[point.series], *point.parameters, *figures, point.status]
        )
    table(["point", "algorithm", *comparison.keys, *(axis.name for axis in axes), "status"], rows)
    reasons = dict.fromkeys(point.reason for point in comparison.points if point.reason and point.status != "not run")
    for reason in reasons:
        numbers = ", ".join(str(point.number) for point in comparison.points if point.reason == reason)
        say(f"  {numbers}: {reason}")
    say(
        f"{verdict(comparison)} A star marks points that no other beats on {axes[0].name} and "
        f"{comparison.utility[0].name}."
    )
    if comparison.ended("not run"):
        say("The time was up. The same command goes on where this one stopped.")
    say(f"{result.folder / 'frontier.html'} shows them: for you only, do not publish it.")
    if comparison.front:
        say(f"Next: {again} --pick {comparison.front[0]} --bundle OUT")
