"""``sfumato models``, ``algorithms``, ``metrics`` and ``attacks``: the catalog, read from the code."""

from __future__ import annotations

from sfumato.cli.show import Json, say_json, table


def models(as_json: Json = False) -> None:
    """List the privacy models, with how a plan asks for each."""
    from sfumato.workflow.catalog.listing import model_rows

    _show(["model", "what holds", "in the plan's [privacy]"], model_rows(), as_json)


def algorithms(as_json: Json = False) -> None:
    """List the algorithms."""
    from sfumato.workflow.catalog.listing import algorithm_rows

    rows = [["auto", "Choose by size, models and metric."], *algorithm_rows()]
    _show(["algorithm", "what it does"], rows, as_json)


def metrics(as_json: Json = False) -> None:
    """List the utility metrics, with direction and range."""
    from sfumato.workflow.catalog.listing import metric_rows

    _show(["metric", "what it measures", "better", "range"], metric_rows(), as_json)


def attacks(as_json: Json = False) -> None:
    """List the attacks on releases, with what each threatens."""
    from sfumato.workflow.catalog.listing import attack_rows

    _show(["attack", "threat", "the adversary", "in every release"], attack_rows(), as_json)


def _show(headers: list[str], rows: list[list[str]], as_json: bool) -> None:
    if as_json:
        say_json([dict(zip(headers, row, strict=True)) for row in rows])
    else:
        table(headers, rows)
