"""`sfumato query` and `audit`: noisy or exact answers, and what exact answers disclosed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Input, Json, say, say_json, table
from sfumato.core.errors import EXIT_INFEASIBLE, EXIT_REFUTED, ParameterError

if TYPE_CHECKING:
    from sfumato.queries.answers import Answer
    from sfumato.queries.exact.hindsight import Compromise
    from sfumato.queries.exact.session import ExactAnswer
    from sfumato.queries.session import Session


# ``sfumato query``: noisy answers, paid for from a ledger, or exact ones under audit.


def query(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file: it declares what the columns can hold.")],
    sql: Annotated[str, typer.Argument(help="The question, such as: SELECT COUNT(*) WHERE age >= 40")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="What the answer may cost: 0.1 or 1/3.")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Answer without noise, or refuse: the plan's [audit] says about what.")
    ] = False,
    log: Annotated[
        Path | None, typer.Option("--log", help="The log of exact answers, where the plan names none.")
    ] = None,
    new_log: Annotated[
        bool, typer.Option("--new-log", help="Begin the log: no exact answer was given before.")
    ] = False,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="The ledger that it is paid from, where the plan names none.")
    ] = None,
    analyst: Annotated[str | None, typer.Option("--analyst", help="Who pays, instead of the plan's analyst.")] = None,
    data: Input = None,
    confidence: Annotated[float, typer.Option("--confidence", help="How sure the intervals are.")] = 0.95,
    as_json: Json = False,
) -> None:
    """Ask a table for noisy counts, sums, means, variances and quantiles, or for exact ones under audit."""
    if exact:
        _exact(plan, sql, (epsilon, ledger), log, analyst=analyst, data=data, new_log=new_log, as_json=as_json)
        return
    if epsilon is None:
        raise ParameterError(
            "--epsilon is missing: say what the answer may cost, or ask for it without noise (--exact)"
        )
    if log is not None or new_log:
        raise ParameterError("--log and --new-log go with --exact; a noisy answer is paid for from a ledger")
    from sfumato.pipeline.plan.plan import Plan, with_input
    from sfumato.pipeline.queries import refuse_columns, session
    from sfumato.queries.sql import parse_question

    loaded = Plan.load(plan)
    loaded = loaded if data is None else with_input(loaded, data)
    question = parse_question(sql)
    refuse_columns(question, loaded)
    query_session = session(loaded, ledger=ledger, analyst=analyst)
    answers = query_session.ask(question, epsilon=epsilon, confidence=confidence, what=sql)
    _told(query_session, answers, as_json=as_json)


def _told(query_session: Session, answers: list[Answer], *, as_json: bool) -> None:
    """Noisy answers, and what is left to who paid."""
    from sfumato.dp.events import written

    book, who = query_session.ledger, query_session.analyst
    mine = next(account for account in book.accounts() if account.analyst == who)
    if as_json:
        say_json(
            {
                "answers": [answer.to_json() for answer in answers],
                "analyst": who,
                "left": str(mine.left),
                "paid": book.head.to_json(),
            }
        )
        return
    for answer in answers:
        _show(answer)
    say(f"{who} has {written(mine.left)} of {written(mine.granted)} left.")


def _exact(
    plan: Path,
    sql: str,
    noisy: tuple[str | None, Path | None],
    log: Path | None,
    *,
    analyst: str | None,
    data: Path | None,
    new_log: bool,
    as_json: bool,
) -> None:
    """Exact answers; exit code 3 where something was refused."""
    from sfumato.pipeline.plan.plan import Plan, with_input
    from sfumato.pipeline.queries import exact_session, rules_of
    from sfumato.queries.sql import parse_exact

    if noisy != (None, None):
        raise ParameterError("--epsilon and --ledger go with noisy answers; --exact has a log instead")
    loaded = Plan.load(plan)
    loaded = loaded if data is None else with_input(loaded, data)
    question = parse_exact(sql)
    rules_of(loaded).refuse(question)
    query_session = exact_session(loaded, log=log, new_log=new_log)
    who = analyst if analyst is not None else str(loaded.privacy.get("analyst", "analyst"))
    answers = query_session.ask(sql, analyst=who)
    if as_json:
        say_json(
            {
                "answers": [answer.to_json() for answer in answers],
                "analyst": who,
                "noted": query_session.log.head.to_json(),
            }
        )
    else:
        rows = [[*answer.group, answer.name, answer.people, _number(answer)] for answer in answers]
        table([*question.by, "figure", "people", "exact value"], rows)
        for why in dict.fromkeys(answer.refused for answer in answers if answer.refused):
            say(f"refused: {why}.")
    if any(answer.refused for answer in answers):
        raise typer.Exit(EXIT_INFEASIBLE)


def _number(answer: ExactAnswer) -> str:
    from fractions import Fraction

    if answer.value is None:
        return "refused" if answer.refused else "none"
    short = f"{float(answer.value):.12g}"
    return short if Fraction(short) == answer.value else f"{answer.value} (about {short})"


def _show(answer: Answer) -> None:
    rows = [
        [*group, f"{value:.6g}", f"{low:.6g} to {high:.6g}"]
        for group, value, low, high in zip(answer.groups, answer.values, answer.low, answer.high, strict=True)
    ]
    table([*answer.by, answer.name, f"with {answer.confidence:.4g} confidence"], rows)
    noise = ", ".join(f"{what} {scale:.6g}" for what, scale in answer.scales.items())
    say(f"cost {float(answer.epsilon):.6g}; scale of the noise: {noise}")


# ``sfumato audit``: whom a history of exact answers compromised.


def audit(
    log: Annotated[
        Path, typer.Argument(help="The log of exact answers, or a text with one answered statement a line.")
    ],
    plan: Annotated[Path, typer.Argument(help="The plan: its [audit] says which columns are looked at, and k.")],
    data: Input = None,
    as_json: Json = False,
) -> None:
    """Tell whom a history of exact answers compromised, and from which question on; exit code 1 if anybody."""
    from dataclasses import asdict

    from sfumato.pipeline.plan.plan import Plan, with_input
    from sfumato.pipeline.queries import look_back

    loaded = Plan.load(plan)
    results = look_back(loaded if data is None else with_input(loaded, data), log)
    many = sum(len(result.found) for result in results)
    if as_json:
        say_json({"audited": [asdict(result) for result in results], "compromised": many})
    for result in () if as_json else results:
        whom = f" told to {', '.join(result.group)}" if result.group else ""
        say(f"{result.column}: {result.questions:,} questions{whom}, {len(result.found):,} compromises.")
        if result.found:
            rows = [[", ".join(map(str, each.rows)), _what(each), each.number, each.sql] for each in result.found]
            table(["row", "what is known", "from question", "which is"], rows)
        if result.undecided is not None:
            say(f"From question {result.undecided} on, more may be known: there are too many cases to try.")
    if many:
        raise typer.Exit(EXIT_REFUTED)


def _what(compromise: Compromise) -> str:
    return compromise.what if compromise.low is None else f"between {compromise.low:.6g} and {compromise.high:.6g}"
