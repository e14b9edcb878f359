"""``sfumato dimensions``: what every further quasi-identifier costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from sfumato.cli.show import Input, Json, say, say_json, table, watched


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
    from sfumato.bundle.bundle_files import refuse_file
    from sfumato.ground.errors import PlanError
    from sfumato.report.base.figures import number, share
    from sfumato.workflow.kinds.table.dimension_study import Order
    from sfumato.workflow.plan.plan import Plan, with_input
    from sfumato.workflow.walk import dimensions as analyse

    if order not in ("greedy", "given"):
        raise PlanError(f"--order must be greedy or given, not {order!r}")
    loaded = Plan.load(plan)
    loaded = loaded if data is None else with_input(loaded, data)
    if output is not None:
        read = () if loaded.input.path is None else (loaded.folder / loaded.input.path,)
        refuse_file(output, force=force, sources=(plan, *read))
    with watched(quiet=as_json) as work:
        found = analyse(loaded, order=cast("Order", order), work=work)
    if output is not None:
        found.write(output)
    if as_json:
        say_json({**found.to_json(), "page": None if output is None else str(output)})
        return
    rows = [
        [one.columns[-1], f"{one.classes:,}", share(one.unique), share(one.below_k), number(one.loss or 0.0)]
        for one in found.steps
    ]
    table(["column added", "groups", "unique", f"below {found.k}", found.metric], rows)
    say(found.advice)
    if output is not None:
        say(f"{output} shows it; it tells about the original and is not to be published.")
