"""``sfumato collect``: answers that are randomized where they are given, and what can be learnt from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sfumato.cli.output import Json, say, say_json, table, watched
from sfumato.core.errors import BundleError

if TYPE_CHECKING:
    from sfumato.collection.privacy_measures import PrivacyGiven
    from sfumato.collection.reconstruction import Distribution, Method, Rule
    from sfumato.collection.specification import Specification

Spec = Annotated[Path, typer.Argument(help="The specification that `design` wrote, or a bundle.", metavar="SPEC")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
_MOST = 40
"""So many cells are printed."""


def design(
    questions: Annotated[Path, typer.Argument(help="A TOML file: the questions and the privacy that each shall give.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The specification to write.")] = Path("collect.json"),
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write the public specification of a collection: how every question is randomized, and what that promises."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.collection import designed

    refuse_file(output, force=force, sources=(questions,))
    spec = designed(questions)
    given = _given(spec)
    write_whole(output, spec.write())
    if as_json:
        say_json({"file": str(output), **_told(spec, given)})
        return
    say(f"{output}: {len(spec.questions)} questions. Publish it with the answers.")
    _show(spec, given)


def privacy(spec: Spec, as_json: Json = False) -> None:
    """Show the privacy that every question of a specification gives."""
    from sfumato.pipeline.collection import specified

    loaded = specified(spec)
    given = _given(loaded)
    if as_json:
        say_json(_told(loaded, given))
        return
    _show(loaded, given)


def respond(
    spec: Spec,
    data: Annotated[Path, typer.Option("--input", help="True answers: a column for every question.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Shown answers: .csv or .parquet.")] = Path(
        "shown.csv"
    ),
    person: Annotated[str | None, typer.Option("--person", help="The column that tells people apart.")] = None,
    memory: Annotated[
        Path | None, typer.Option("--memory", help="What people have shown before; it is made where there is none.")
    ] = None,
    other_columns: Annotated[
        list[str] | None, typer.Option("--beside", help="A column that is handed on as it is; may be repeated.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Randomize answers by a specification, with chance from the operating system; nobody's answer is drawn twice."""
    from sfumato.bundles.files import refuse_file
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.collection import responded, specified
    from sfumato.tables.files import rendered

    if output.suffix not in (".csv", ".parquet"):
        raise BundleError(f"{output} must end in .csv or .parquet")
    refuse_file(output, force=force, sources=(data, spec, *([] if memory is None else [memory])))
    loaded = specified(spec)
    with watched(quiet=as_json) as work:
        answers = responded(loaded, data, person=person, memory=memory, other_columns=other_columns or (), work=work)
    write_whole(output, rendered(answers, output.name))
    if as_json:
        say_json({"file": str(output), "rows": answers.height, "columns": answers.columns})
        return
    say(f"{output}: {answers.height:,} shown answers to {len(loaded.questions)} questions.")
    if other_columns:
        say(f"As they are, without any promise: {', '.join(other_columns)}.")


def reconstruct(
    spec: Spec,
    data: Annotated[Path, typer.Option("--input", help="Shown answers.")],
    questions: Annotated[
        list[str] | None, typer.Option("--question", help="A question; may be repeated. Without it, all of them.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A table to write: .csv or .parquet.")] = None,
    cells: Annotated[int | None, typer.Option("--cells", help="Into how many cells ranges are divided.")] = None,
    method: Annotated[str, typer.Option("--method", help="em, bayes (numbers) or inversion (categories).")] = "em",
    rule: Annotated[
        str | None, typer.Option("--stop", help="When rounds end: chi-square, mean-change or likelihood.")
    ] = None,
    limit: Annotated[float | None, typer.Option("--limit", help="Of this rule.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="Of bootstrap intervals, if any.")] = None,
    joint: Annotated[bool, typer.Option("--joint", help="The joint distribution of the questions.")] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Reconstruct the distribution of true answers from shown ones."""
    from sfumato.bundles.files import refuse_file
    from sfumato.collection.reconstruction import Stopping
    from sfumato.core.staging import write_whole
    from sfumato.pipeline.collection import cells_table, joint_table, reconstructed, shown_answers, specified
    from sfumato.tables.files import rendered

    if output is not None:
        if output.suffix not in (".csv", ".parquet"):
            raise BundleError(f"{output} must end in .csv or .parquet")
        refuse_file(output, force=force, sources=(data, spec))
    stopping = (
        None if rule is None and limit is None else Stopping(rule=cast("Rule", rule or "chi-square"), limit=limit)
    )
    seen = shown_answers(specified(spec), data, questions or [], cells)
    distributions: list[Distribution] = []
    if joint:
        frame = joint_table(seen, stopping).table()
    else:
        distributions = reconstructed(seen, method=cast("Method", method), stopping=stopping, confidence=confidence)
        frame = cells_table(distributions)
    if output is not None:
        write_whole(output, rendered(frame, output.name))
    if as_json:
        rounds = {distribution.name: distribution.rounds for distribution in distributions}
        say_json({"answers": seen[0].answers, "rounds": rounds, "cells": frame.to_dicts()})
        return
    rows = [[f"{cell:.5g}" if isinstance(cell, float) else cell for cell in row] for row in frame.head(_MOST).rows()]
    table(frame.columns, rows)
    more = f" The first {_MOST} of {frame.height:,} cells." if frame.height > _MOST else ""
    say(f"{seen[0].answers:,} answers.{more} Estimates: nobody's own answer is known.")


def _given(spec: Specification) -> list[PrivacyGiven]:
    from sfumato.collection.privacy_measures import privacy_given

    return [privacy_given(question) for question in spec.questions]


def _told(spec: Specification, given: list[PrivacyGiven]) -> dict[str, Any]:
    whole = spec.epsilon
    all_of = None if whole is None else {"exact": str(whole), "about": float(whole)}
    return {"repeats": spec.repeats, "epsilon": all_of, "questions": [measure.to_json() for measure in given]}


def _show(spec: Specification, given: list[PrivacyGiven]) -> None:
    rows = [
        [
            measure.name,
            measure.kind,
            "none"
            if measure.epsilon is None
            else f"{float(measure.epsilon):.4g}" + " an item" * (measure.kind == "items"),
            " ".join(f"{100 * share:.3g} % at {confidence:g}" for confidence, share in measure.shares.items()) or "-",
            f"{measure.information:.3g} of {measure.entropy:.3g} bits",
        ]
        for measure in given
    ]
    table(["question", "noise", "local epsilon", "interval, of the range", "an answer tells"], rows)
    whole = spec.epsilon
    if whole is None:
        say("No local epsilon is promised for all answers together: uniform and Gaussian noise have none.")
    else:
        say(f"All answers of a person together: local epsilon {float(whole):.4g}.")
    again = "show the remembered answer" if spec.repeats == "memoize" else f"are charged, at most {spec.most} times"
    say(f"People who are asked again {again}.")
