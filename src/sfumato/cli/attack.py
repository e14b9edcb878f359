"""``sfumato attack``: what an adversary with stated knowledge can do with a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table, watched

if TYPE_CHECKING:
    from sfumato.workflow.audit import Audit

Original = Annotated[
    Path | None, typer.Option("--original", help="The table it was made from; collected answers have none.")
]
Names = Annotated[str | None, typer.Option("--attacks", help="Names, separated by commas; all by default.")]


def attack(
    bundle: Annotated[Path, typer.Argument(help="The bundle to attack.")],
    original: Original = None,
    known: Annotated[
        Path | None, typer.Option("--known", help="What others know: a register, row by row about the same people.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option("--control", help="People of the same kind who are not in the table.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="The plan, for its hierarchies and how files are read.")
    ] = None,
    attacks: Names = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option("--earlier", help="A bundle about the same people that is public already; may be repeated."),
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="How many people are attacked.")] = 2000,
    seed: Annotated[int | None, typer.Option("--seed", help="To repeat the same trials.")] = None,
    as_json: Json = False,
) -> None:
    """Attack a bundle, given the table it was made from; exit code 1 if a claim is refuted."""
    from sfumato.ground.errors import EXIT_REFUTED, PlanError
    from sfumato.workflow.attacking import attack as run
    from sfumato.workflow.plan.plan import Plan

    if trials < 20:
        raise PlanError(f"--trials must be at least 20, not {trials}; fewer show nothing")
    if seed is not None and seed < 0:
        raise PlanError(f"--seed must not be negative, not {seed}")
    loaded = None if plan is None else Plan.load(plan)
    names = tuple(name.strip() for name in (attacks or "").split(",") if name.strip())
    with watched(quiet=as_json) as work:
        found = run(
            bundle,
            original,
            known=known,
            control=control,
            plan=loaded,
            attacks=names or ("all",),
            trials=trials,
            earlier=earlier or (),
            seed=seed,
            work=work,
        )
    if as_json:
        said = {"bundle": str(bundle), "attacks": found.to_json(), "not_made": dict(found.skipped)}
        say_json({**said, "refuted": [one.attack for one in found.refuted]})
    else:
        show(found)
    if found.refuted:
        raise typer.Exit(EXIT_REFUTED)


def show(found: Audit) -> None:
    """What was found, for people."""
    from sfumato.report.base.figures import share
    from sfumato.report.base.findings import merged, verdicts, works_in

    chips = {one.attack: one.chip for one in verdicts(found.findings)}
    rows = []
    for one in merged(found.findings):
        low, high = one.risk_interval
        gain = f"{share(one.risk)} ({share(low)} to {share(high)})" if one.rate.carried_out else ""
        limit = "" if one.limit is None else share(one.limit.value)
        rows.append([one.attack, works_in(one.rate), share(one.baseline.value), gain, limit, chips[one.attack]])
    table(["attack", "works in", "without the release", "gain", "allowed", "outcome"], rows)
    for told in verdicts(found.findings):
        note = f" Note: {told.note}." if told.note else ""
        say(f"{told.attack}: {told.who} {told.verdict}{note}")
    for name, why in found.skipped.items():
        say(f"not made: {name} ({why})")
