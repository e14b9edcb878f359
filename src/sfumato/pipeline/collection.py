"""Collections from files: questions to a specification, true answers to shown ones, shown ones to distributions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load
from sfumato.collection.channels import Evidence, evidence
from sfumato.collection.joint_distribution import JointDistribution, reconstruct_joint
from sfumato.collection.mechanisms import NoisyNumber
from sfumato.collection.reconstruction import Distribution, Method, Stopping, reconstruct, with_intervals
from sfumato.collection.respondent import Memory, Respondent, stored
from sfumato.collection.specification import Question, Specification, planned
from sfumato.core.errors import BudgetError, DataError, ParameterError, PlanError
from sfumato.core.input_files import read_text
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.tables.files import read
from sfumato.tables.table import Table, as_text


def designed(path: Path) -> Specification:
    """The specification that a file of questions asks for."""
    return planned(_text(path), where=str(path))


def specified(path: Path) -> Specification:
    """The specification in a file, or of a bundle of collected answers."""
    if not path.is_dir():
        return Specification.parse(_text(path), where=str(path))
    manifest = load(path / MANIFEST)
    if "specification" not in manifest:
        raise PlanError(f"{path}: is no bundle of collected answers, and has no specification")
    return Specification.parse(json.dumps(manifest["specification"]), where=str(path))


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        raise PlanError(f"{path}: there is no such file; check the name and the folder {path.parent}") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise PlanError(f"{path}: cannot be read: {getattr(fault, 'strerror', None) or fault}") from None


def responded(
    spec: Specification,
    data: Path,
    *,
    person: str | None = None,
    memory: Path | None = None,
    other_columns: Sequence[str] = (),
    work: Work | None = None,
) -> pl.DataFrame:
    """What everybody in a file shows. The memory is on the disk before anything is given back.

    Columns ``other_columns`` are handed on as they are; nothing is promised about them. Without ``person`` every row is
    somebody who is never asked again.
    """
    if (person is None) != (memory is None):
        raise ParameterError("--person and --memory belong together: who was asked, and what they have shown")
    table, watch = read(data), work or Work()
    for name in (
        *(question.name for question in spec.questions),
        *other_columns,
        *([] if person is None else [person]),
    ):
        table.require(name, where=str(data))
    taken = next((name for name in other_columns if any(question.name == name for question in spec.questions)), None)
    if taken is not None:
        raise ParameterError(f"--beside {taken}: it is a question, and would be shown as it is")
    answers = [_texts(table, question.name) for question in spec.questions]
    people = [None] * table.rows if person is None else _texts(table, person)
    with ExitStack() as stack:
        kept = Memory(spec=spec) if memory is None else stack.enter_context(stored(memory, spec))
        respondent, responses = Respondent(spec, kept), list[dict[str, str]]()
        for row, given in enumerate(zip(*answers, strict=True)):
            watch.advance("answers", row, table.rows)
            named = dict(zip((question.name for question in spec.questions), given, strict=True))
            try:
                responses.append(respondent.answer(people[row], named))
            except (DataError, BudgetError) as fault:
                raise type(fault)(f"{data}, row {row + 1}: {fault}; nothing was handed out") from None
    frame = pl.DataFrame(responses, schema={question.name: pl.String for question in spec.questions})
    return frame.with_columns(table.frame[name] for name in other_columns)


def _texts(table: Table, name: str) -> list[Any]:
    return as_text(table.require(name)).to_list()


def shown_answers(spec: Specification, data: Path, names: Sequence[str], cells: int | None) -> list[Evidence]:
    """The shown answers to some questions, or to all that have a distribution."""
    table = read(data)
    questions: list[Question] = [spec.question(name) for name in names] or [
        question for question in spec.questions if question.kind != "items"
    ]
    if not questions:
        raise PlanError("every question is about items; see `sfumato.collection.baskets` for rules and supports")
    observations = []
    for question in questions:
        given = _texts(_known(table, question.name, data), question.name)
        if None in given or "" in given:
            row = next(n for n, text in enumerate(given) if not text)
            raise DataError(f"{data}, column {question.name!r}, row {row + 1}: there is no answer; leave the row out")
        observations.append(evidence(question, given, cells=cells if isinstance(question, NoisyNumber) else None))
    return observations


def _known(table: Table, name: str, data: Path) -> Table:
    table.require(name, where=str(data))
    return table


def reconstructed(
    seen: Sequence[Evidence],
    *,
    method: Method = "em",
    stopping: Stopping | None = None,
    confidence: float | None = None,
    resamples: int = 200,
    chance: Chance | None = None,
) -> list[Distribution]:
    """The distribution of the originals of every question, with intervals where a confidence is named."""
    distributions = []
    for observation in seen:
        mine: Method = "em" if method == "bayes" and observation.channel.densities is None else method
        if confidence is None:
            distributions.append(reconstruct(observation, method=mine, stopping=stopping))
        else:
            distributions.append(
                with_intervals(
                    observation,
                    method=mine,
                    stopping=stopping,
                    confidence=confidence,
                    resamples=resamples,
                    chance=chance,
                )
            )
    return distributions


def cells_table(distributions: Sequence[Distribution]) -> pl.DataFrame:
    """Every cell of every question with its share and its estimated count, as a table."""
    frames = []
    for distribution in distributions:
        ends = (
            {}
            if distribution.low is None or distribution.high is None
            else {"low": distribution.low, "high": distribution.high}
        )
        columns = {
            "cell": list(distribution.labels),
            "share": distribution.shares,
            "count": distribution.counts,
            **ends,
        }
        frames.append(pl.DataFrame({"question": [distribution.name] * len(distribution.labels), **columns}))
    return pl.concat(frames)


def joint_table(seen: Sequence[Evidence], stopping: Stopping | None = None) -> JointDistribution:
    """The joint distribution of the originals of several questions."""
    if len(seen) < 2:
        raise ParameterError("--joint needs at least two questions; name them with --question")
    return reconstruct_joint(seen, stopping=stopping)
