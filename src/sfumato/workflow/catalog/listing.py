"""The catalog as tables: for the command line and for the reference pages."""

from __future__ import annotations

from sfumato.workflow.catalog.lookup import catalog


def model_rows() -> list[list[str]]:
    """Model, what holds, how a plan asks for it."""
    return [[part.make.name, first_line(part.make), part.plan] for part in catalog().models.values()]


def algorithm_rows() -> list[list[str]]:
    """Algorithm, what it does."""
    return [[name, first_line(part.found)] for name, part in catalog().algorithms.items()]


def metric_rows() -> list[list[str]]:
    """Metric, what it measures, which side is better, its range."""
    return [
        [name, first_line(part.make), part.make.direction, f"{part.make.low:g} to {part.make.high:g}"]
        for name, part in catalog().metrics.items()
    ]


def attack_rows() -> list[list[str]]:
    """Attack, threat, the adversary, whether every release is put through it."""
    made = {name: (part.make(20), part) for name, part in catalog().attacks.items()}
    return [
        [name, one.threat, first_line(type(one)), "yes" if part.quick else ", ".join(part.also)]
        for name, (one, part) in made.items()
    ]


def first_line(thing: object) -> str:
    """The first line of a docstring; nothing where there is none."""
    return (thing.__doc__ or "").strip().partition("\n")[0].replace("``", "")
