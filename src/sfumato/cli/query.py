"""``sfumato query``: noisy answers, paid for from a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.show import Json, say, say_json, table

if TYPE_CHECKING:
    from sfumato.queries.answers import Answer


def query(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file: it declares what the columns can hold.")],
    sql: Annotated[str, typer.Argument(help="The question, such as: SELECT COUNT(*) WHERE age >= 40")],
    epsilon: Annotated[str, typer.Option("--epsilon", help="What the answer may cost: 0.1 or 1/3.")],
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="The ledger that it is paid from, where the plan names none.")
    ] = None,
    analyst: Annotated[str | None, typer.Option("--analyst", help="Who pays, instead of the plan's analyst.")] = None,
    data: Annotated[Path | None, typer.Option("--input", help="The data file, instead of the plan's.")] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="How sure the intervals are.")] = 0.95,
    as_json: Json = False,
) -> None:
    """Ask a table for noisy counts, sums, means, variances and quantiles."""
    from sfumato.budget.events import written
    from sfumato.queries.sql import parse_question
    from sfumato.workflow.plan.plan import Plan, with_input
    from sfumato.workflow.querying import refuse_columns, session

    loaded = Plan.load(plan)
    loaded = loaded if data is None else with_input(loaded, data)
    question = parse_question(sql)
    refuse_columns(question, loaded)
    asked = session(loaded, ledger=ledger, analyst=analyst)
    answers = asked.ask(question, epsilon=epsilon, confidence=confidence, what=sql)
    book, who = asked.ledger, asked.analyst
    mine = next(account for account in book.accounts() if account.analyst == who)
    if as_json:
        say_json(
            {
                "answers": [one.to_json() for one in answers],
                "analyst": who,
                "left": str(mine.left),
                "paid": book.head.to_json(),
            }
        )
        return
    for one in answers:
        _show(one)
    say(f"{who} has {written(mine.left)} of {written(mine.granted)} left.")


def _show(answer: Answer) -> None:
    rows = [
        [*group, f"{value:.6g}", f"{low:.6g} to {high:.6g}"]
        for group, value, low, high in zip(answer.groups, answer.values, answer.low, answer.high, strict=True)
    ]
    table([*answer.by, answer.name, f"with {answer.confidence:.4g} confidence"], rows)
    noise = ", ".join(f"{what} {scale:.6g}" for what, scale in answer.scales.items())
    say(f"cost {float(answer.epsilon):.6g}; scale of the noise: {noise}")
