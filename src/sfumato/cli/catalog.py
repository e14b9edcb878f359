"""``sfumato models``, ``algorithms`` and ``metrics``: the catalog, read from the code."""

from __future__ import annotations

from sfumato.cli.show import Json, say_json, table


def models(as_json: Json = False) -> None:
    """List the privacy models, with how a plan asks for each."""
    from sfumato.workflow.catalog import catalog
    from sfumato.workflow.item_requirements import ITEM_PARTS

    parts = (*catalog().models.values(), *ITEM_PARTS)
    rows = [[part.make.name, _first(part.make), part.plan] for part in parts]
    _show(["model", "what holds", "in the plan's [privacy]"], rows, as_json)


def algorithms(as_json: Json = False) -> None:
    """List the algorithms."""
    from sfumato.workflow.catalog import catalog
    from sfumato.workflow.item_catalog import ITEM_ALGORITHMS
    from sfumato.workflow.private_catalog import PRIVATE

    every = {**catalog().algorithms, **ITEM_ALGORITHMS, **PRIVATE}
    rows = [["auto", "Choose by size, models and metric."]]
    rows += [[name, _first(run)] for name, run in every.items()]
    _show(["algorithm", "what it does"], rows, as_json)


def metrics(as_json: Json = False) -> None:
    """List the utility metrics, with direction and range."""
    from sfumato.workflow.catalog import catalog

    rows = [
        [name, _first(make), make.direction, f"{make.low:g} to {make.high:g}"]
        for name, make in catalog().metrics.items()
    ]
    _show(["metric", "what it measures", "better", "range"], rows, as_json)


def attacks(as_json: Json = False) -> None:
    """List the attacks on releases, with what each threatens."""
    from sfumato.workflow.attack_catalog import ATTACKS, QUICK

    made = {name: make(20) for name, make in ATTACKS.items()}
    rows = [[name, one.threat, _first(type(one)), "yes" if name in QUICK else ""] for name, one in made.items()]
    _show(["attack", "threat", "the adversary", "in every release"], rows, as_json)


def _show(headers: list[str], rows: list[list[str]], as_json: bool) -> None:
    if as_json:
        say_json([dict(zip(headers, row, strict=True)) for row in rows])
    else:
        table(headers, rows)


def _first(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0].replace("``", "")
