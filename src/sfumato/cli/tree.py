"""``sfumato tree``: trees are shared instead of data, and models are learnt from the trees of several sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.output import Changes, Force, Input, Inside, Json, Sign, say, say_json, watched
from sfumato.core.errors import BundleError, DataError, PlanError


def publish(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file with [tree].")],
    data: Input = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle to write.")] = Path("tree"),
    changes: Changes = None,
    inside: Inside = None,
    no_inside: Annotated[bool, typer.Option("--no-inside", help="Write no report of what was pruned.")] = False,
    sign: Sign = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Publish a tree, a forest or rules that meet a requirement, as a verified bundle."""
    from sfumato.cli.release import released
    from sfumato.pipeline.plan.plan import Plan, with_input

    loaded = Plan.load(plan, changes or [])
    if loaded.tree is None:
        raise PlanError(f"{plan} has no [tree]; add the section, or make a release of rows with `sfumato release`")
    loaded = loaded if data is None else with_input(loaded, data)
    released(loaded, output, inside=inside, no_inside=no_inside, sign=sign, force=force, as_json=as_json)
    k = loaded.privacy.get("k_anonymity")
    if isinstance(k, int) and not as_json:
        from sfumato.cli.rules import say_looked
        from sfumato.pipeline.rules import channels

        try:
            say_looked(channels([output], k), top=20)
        except DataError as error:
            say(f"Groups of 1 to {k - 1} people: {error}.")


def learn(
    bundles: Annotated[list[Path], typer.Argument(help="Bundles of trees, one of each source.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder of the model to write.")] = Path("model"),
    learner: Annotated[
        str,
        typer.Option("--learner", help="tree, forest, logistic, naive-bayes, nearest, or such as sklearn.svm.SVC."),
    ] = "tree",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="An option of the learner, such as max_depth=5; may be repeated."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", help="How many pseudo-records to draw; by default as many as the trees count."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="json (of tree), skops, onnx or pickle; the first that runs no code if absent."),
    ] = None,
    pseudo: Annotated[
        Path | None, typer.Option("--pseudo", help="Write the pseudo-data too: .csv or .parquet. Do not publish it.")
    ] = None,
    signer: Annotated[
        Path | None, typer.Option("--signer", help="The card of whoever must have signed every bundle.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="For studies: to draw the same records again.")] = None,
    as_json: Json = False,
) -> None:
    """Verify bundles of trees, draw pseudo-data from all of them, and learn one model."""
    from sfumato.bundles.files import refuse_existing, refuse_file
    from sfumato.mining.saved_model import chosen_format
    from sfumato.pipeline.shared_models import learn as learnt
    from sfumato.pipeline.shared_models import write_learnt

    refuse_existing(output, force=False)
    if pseudo is not None:
        _refuse_format(pseudo)
        refuse_file(pseudo, force=False)
    if size is not None and size < 1:
        raise PlanError(f"--size must be at least 1, not {size}")
    options = _options(option or [])
    chosen_format(learner, form)
    with watched(quiet=as_json) as work:
        model, pool = learnt(bundles, learner=learner, options=options, size=size, seed=seed, signer=signer, work=work)
    how = write_learnt(model, output, how=form)
    if pseudo is not None:
        _write_table(pseudo, pool.frame())
    if as_json:
        say_json({"model": str(output), "format": how, **model.provenance})
        return
    _say_learnt(output, learner, pool.count, len(bundles), how)


def _say_learnt(output: Path, learner: str, records: int, bundles: int, how: str) -> None:
    sources = "1 bundle" if bundles == 1 else f"{bundles} bundles"
    say(f"{output}: {learner} learnt from {records:,} pseudo-records of {sources}, kept as {how}.")
    if how == "pickle":
        say("Beware: reading a pickle runs whatever code it holds. Whoever gets it must trust you.")


def predict(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    data: Annotated[Path, typer.Option("--input", help="Rows with the attributes of the model.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Rows with a predicted class: .csv or .parquet.")
    ] = Path("predicted.csv"),
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Load a model that is a pickle, and run the code that it holds.")
    ] = False,
    trust: Annotated[
        list[str] | None, typer.Option("--trust", help="A type that skops may load beside those it knows.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Classify rows by a model that was learnt; told how often rightly where the rows have a class."""
    import polars as pl

    from sfumato.bundles.files import refuse_file
    from sfumato.mining.prediction import share_right
    from sfumato.mining.saved_model import read_model_folder
    from sfumato.pipeline.inputs import whole_file

    _refuse_format(output)
    refuse_file(output, force=force, sources=(data,))
    loaded = read_model_folder(model, allow_pickle=allow_pickle, trusted=trust or ())
    table = whole_file(data)
    records = loaded.read(table.frame)
    codes = loaded.predicted(records)
    known = records.codes >= 0
    right = share_right(codes[known], records.take(known)) if known.any() else None
    predictions = pl.Series(
        f"predicted {loaded.target}", [loaded.classes[code] for code in codes.tolist()], dtype=pl.String
    )
    _write_table(output, table.frame.with_columns(predictions))
    if as_json:
        say_json({"file": str(output), "rows": table.rows, "accuracy": right})
        return
    note = "" if right is None else f" {right:.1%} of those with a known class are classified rightly."
    say(f"{output}: {table.rows:,} rows.{note}")


def experiment(
    full: Annotated[bool, typer.Option("--full", help="Ten folds, 1 to 10 sources: about an hour.")] = False,
    data: Annotated[Path | None, typer.Option("--data", help="The folder that holds adult and uci.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page with tables and plots.")] = Path(
        "tree-experiment.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    as_json: Json = False,
) -> None:
    """Measure accuracy, class match, path match and CM of shared trees: figures 10 to 16 of document 004."""
    import os

    from sfumato.cli.reproduce import measured_page

    if data is not None:
        if not data.is_dir():
            raise BundleError(f"--data: {data} is no folder")
        os.environ["SFUMATO_DATA"] = str(data)
    measured_page("models", (), output, full=full, force=force, as_json=as_json)


def _options(given: list[str]) -> dict[str, Any]:
    """Options of a learner: names with TOML values."""
    from sfumato.core.strict_parsing import read_toml

    options: dict[str, Any] = {}
    for option in given:
        name, mark, value = option.partition("=")
        if not mark or not name.strip().isidentifier():
            raise PlanError(f"--option {option}: must look like max_depth=5")
        try:
            options[name.strip()] = read_toml(f"value = {value}")["value"]
        except ValueError:
            options[name.strip()] = value
    return options


def _refuse_format(path: Path) -> None:
    if path.suffix not in (".csv", ".parquet"):
        raise BundleError(f"{path} must end in .csv or .parquet")


def _write_table(path: Path, frame: Any) -> None:
    from sfumato.core.staging import write_whole
    from sfumato.tables.files import rendered

    write_whole(path, rendered(frame, path.name))
