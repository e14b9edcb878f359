"""The differentially private algorithms by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.work import Work
from sfumato.publish.diffgen import DiffGen
from sfumato.publish.marginals import Marginals
from sfumato.publish.noisy_table import NoisyTable, PrivateTable

PrivateAlgorithm = Callable[[PrivateTable, Work], NoisyTable]
PRIVATE: Mapping[str, type[Any]] = {"diffgen": DiffGen, "marginals": Marginals}
"""Records of options that can be called; each has ``epsilon``."""
OUTPUTS = ("records", "counts")


def private_algorithm(
    name: str, epsilon: Fraction, options: Mapping[str, Any], *, sets: bool
) -> tuple[str, PrivateAlgorithm, str]:
    """The algorithm that a name stands for, with its options, and why."""
    why = "Named in the plan."
    if name == "auto":
        name, why = ("diffgen", _SETS) if sets else ("marginals", _MARGINALS)
    if name not in PRIVATE:
        raise PlanError(
            f"algorithm.name: {name!r} is not differentially private{nearest(name, PRIVATE)} With privacy.epsilon "
            f"there are auto, {listed(PRIVATE)}"
        )
    part = PRIVATE[name]
    known = [one.name for one in fields(part) if one.name != "epsilon"]
    chosen = {key: value for key, value in options.items() if key != "output"}
    for key in chosen:
        if key not in known:
            raise PlanError(
                f"algorithm.{key}: unknown key{nearest(key, known)} Known here, with {name}: "
                f"{listed([*known, 'output'], most=20)}"
            )
    if options.get("output", "records") not in OUTPUTS:
        raise PlanError(f"algorithm.output must be one of {listed(OUTPUTS)}, not {options['output']!r}")
    try:
        return name, part(epsilon=epsilon, **chosen), why
    except ParameterError as error:
        raise PlanError(f"algorithm.{error}") from error


_SETS = "Chosen by auto: a column has sets, which diffgen specializes along their tree."
_MARGINALS = "Chosen by auto: no column has sets, and noisy marginals keep most about the class at every epsilon."
