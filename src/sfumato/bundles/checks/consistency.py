"""Consistency of a manifest's parts: warnings, algorithm, counts, and attack figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import sqrt
from typing import Any

from sfumato.bundles.columns import Published
from sfumato.bundles.manifest.sections import is_named
from sfumato.bundles.provenance import Check, same
from sfumato.counts.classes import Classes

# What the parts of a manifest must say about each other, and what stated counts must be beside released ones.


Checks = Callable[..., Any]
SEEDED = "made with a fixed seed: for studies only, not for publication"
"""The warning of a release that can be made again; nothing else in a bundle tells of a seed."""
CUT_SHORT = "the search was cut short by its time limit; with more algorithm.seconds the release may lose less"
"""The warning of a release whose search was stopped before its end; how fast a computer is no verifier can know."""
UNASKED = (SEEDED, CUT_SHORT)
"""Warnings that nothing else in a bundle tells of."""
NAMED = "Named in the plan."
"""Why an algorithm was used that the plan names; ``auto`` gives reasons of its own."""
AUTO = "auto"


def marks_fit(manifest: Mapping[str, Any], due: Iterable[str], check: Checks) -> Any:
    """The warnings are those that rows and plan ask for, each once; only of those in ``UNASKED`` nothing else tells."""
    stated = [mark for mark in manifest["marks"] if mark not in UNASKED]
    absent = sorted(set(due) - set(stated))
    strange = sorted(set(stated) - set(due)) or ["one twice"] * (len(set(manifest["marks"])) < len(manifest["marks"]))
    detail = f"missing: {absent[0]}" if absent else f"nothing asks for: {strange[0]}" if strange else "as they must be"
    return check(what="warnings", holds=not absent and not strange, detail=detail)


def algorithm_fits(manifest: Mapping[str, Any], check: Checks) -> Any:
    """The algorithm is the one that the plan names, or was chosen for a reason that the manifest states."""
    name, recoding = manifest["plan"]["algorithm"]["name"], manifest["recoding"]
    named = name == recoding["algorithm"] and recoding["why"] == NAMED
    chosen = name == AUTO and recoding["algorithm"] != AUTO and recoding["why"] not in (NAMED, "")
    detail = f"{recoding['algorithm']}, where the plan says {name}: {recoding['why']}"
    return check(what="algorithm", holds=named or chosen, detail=detail)


def consistent(manifest: Mapping[str, Any], published: Published, check: Checks) -> Iterable[Any]:
    """The description of the data and the figures of suppression are those that the plan asks for."""
    options = manifest["plan"]["algorithm"]
    stated = manifest["suppression"]
    pairs = {
        "exemption of suppressed rows": (published.exempt, options["exempt_suppressed"]),
        "limit of suppression": (stated["limit"], options["max_suppressed"]),
        "way of suppression": (stated["how"], options["suppressed"]),
    }
    for what, (actual, expected) in pairs.items():
        detail = f"{actual}" if actual == expected else f"found {actual}, planned {expected}"
        yield check(what=what, holds=actual == expected, detail=detail)


def evidence_fits(published: Published, classes: Classes, check: Checks) -> Iterable[Any]:
    """The population's counts, which cannot be recomputed, must at least be possible."""
    if published.population:
        yield check(what="population counts", **_population(published, classes))


def _population(published: Published, classes: Classes) -> dict[str, Any]:
    """Every line names labels once and somebody; nobody is released who is not in it."""
    lines = [labels for labels, _ in published.population]
    inside, _ = classes.population_sizes()
    twice = len(set(lines)) < len(lines)
    empty = any(rows < 1 for _, rows in published.population)
    fits = (
        not twice
        and not empty
        and all(len(labels) == len(classes.quasi) for labels in lines)
        and bool((inside >= classes.sizes).all())
    )
    return {"holds": fits, "detail": "at least the released rows of each class" if fits else "impossible counts"}


# The attacks that a manifest tells of: they need the original, but what they state must follow from what was counted.
#
# Trials, hits and the limit are taken as stated; intervals, excess and outcome are computed again from them. Where no
# trial could be carried out there is no rate, and the attack was not tried.


FEWEST = 20
"""Fewer trials than this show nothing."""
_Z = {0.95: 1.959963984540054, 0.999: 3.2905267314919255}
"""Of intervals that hold the true rate in 95 of 100 cases, or in 999 of 1,000 (Wilson 1927)."""
_KEYS = {"attack", "knows", "does", "target", "naive", "control", "risk", "limit", "outcome"}
_SLACK = 1e-6


def attacks_fit(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """Intervals, excess and outcome follow from the counts, and no attack refutes what the release claims.

    Some attacks were made, or could not be, if and only if the plan asks for them. An attack may
    refute a claim only where the plan accepts this attack; the check then says so.
    """
    attacks: list[Mapping[str, Any]] = manifest["attacks"]
    attack_plan = manifest["plan"]["attack"]
    there = bool(attacks or manifest["attacks_not_made"]) == bool(attack_plan["run"])
    limit = attack_plan["max_risk"]
    judged = [attack for attack in attacks if not attack.get("beyond")]
    if not there or (limit is not None and any(attack["risk"]["low"] > limit + _SLACK for attack in judged)):
        bare = "the plan asks for attacks, and none is reported" if attack_plan["run"] else "the plan asks for none"
        detail = f"one is above max_risk = {limit}" if there else bare
        yield Check(what="attacks that were asked for", holds=False, detail=detail)
    titles = [str(attack["attack"]) for attack in attacks]
    repeated = sorted(
        {title for title in titles if titles.count(title) > 1} | {*titles} & {*manifest["attacks_not_made"]}
    )
    yield same("attacks that are reported twice", repeated, [])
    accepted = tuple(map(str, attack_plan.get("accept", ())))
    wrong = [
        str(attack.get("attack")) for attack in attacks if not attack.keys() >= _KEYS or not _follows(attack, accepted)
    ]
    listing = ", ".join(str(attack.get("attack")) for attack in attacks) or "none"
    yield Check(what="attacks", holds=not wrong, detail=f"impossible: {', '.join(wrong)}" if wrong else listing)
    refuted = [
        f"{attack['attack']} refutes the {attack['limit']['why']}"
        for attack in attacks
        if not wrong and _broken(attack)
    ]
    if refuted:
        yield Check(
            what="claims that an attack refutes", holds=True, detail=f"{'; '.join(refuted)}: the plan accepts it"
        )


def _follows(attack: Mapping[str, Any], accepted: tuple[str, ...]) -> bool:
    """Whether what is stated can be computed from the rates."""
    runs = [attack["target"], attack["naive"], *([attack["control"]] if attack["control"] is not None else [])]
    if not _interval(attack["target"]) or not all(_interval(run) or _exact(run) for run in runs[1:]):
        return False
    if attack.get("beyond") and attack["limit"] is not None:
        return False
    base = max(runs[1:], key=lambda run: float(run["rate"] or 0))
    worst = attack["worst"]
    return (
        _excess(attack, base)
        and (worst is None or 0 <= worst <= 1)
        and attack["outcome"] == _outcome(attack, base)
        and (not _broken(attack) or any(is_named(str(attack["attack"]), name) for name in accepted))
    )


def _interval(run: Mapping[str, Any]) -> bool:
    trials, failed = int(run["trials"]), int(run["failed"])
    z = _Z.get(float(run.get("confidence", 0.95)))
    if z is None or not 0 <= failed <= trials or (run["rate"] is None) != (failed == trials):
        return False
    if run["rate"] is None:
        return (float(run["low"]), float(run["high"])) == (0.0, 1.0)
    rate = float(run["rate"])
    if not 0 <= rate <= 1 - failed / trials + _SLACK:
        return False
    low, high = _wilson(rate, trials, z)
    return abs(float(run["low"]) - low) < _SLACK and abs(float(run["high"]) - high) < _SLACK


def _exact(run: Mapping[str, Any]) -> bool:
    """A chance that is known and not estimated."""
    if run["rate"] is None:
        return False
    return 0 <= float(run["rate"]) <= 1 and float(run["low"]) == float(run["rate"]) == float(run["high"])


def _wilson(rate: float, trials: int, z: float) -> tuple[float, float]:
    middle = rate + z * z / (2 * trials)
    spread = z * sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max((middle - spread) / scale, 0.0), min((middle + spread) / scale, 1.0)


def _excess(attack: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    if attack["target"]["rate"] is None:
        return attack["risk"]["value"] is None
    target, risk = attack["target"], attack["risk"]
    excess = {
        "value": _over(float(target["rate"]), float(base["rate"] or 0)),
        "low": _over(float(target["low"]), float(base["high"])),
        "high": _over(float(target["high"]), float(base["low"])),
    }
    return all(abs(float(risk[key]) - value) < _SLACK for key, value in excess.items())


def _over(rate: float, without: float) -> float:
    """The share of what the baseline leaves open that an attack gains."""
    return max((rate - without) / (1 - without), 0.0) if without < 1 else 0.0


def _outcome(attack: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    target = attack["target"]
    limit = float(base["high"]) if attack["limit"] is None else float(attack["limit"]["value"])
    if target["rate"] is None:
        return "not tried"
    if target["trials"] >= FEWEST and target["low"] > limit:
        return "refuted"
    few = target["trials"] - target["failed"] < FEWEST
    return "inconclusive" if few or target["low"] <= base["high"] or target["high"] > limit else "not refuted"


def _broken(attack: Mapping[str, Any]) -> bool:
    return attack["limit"] is not None and attack["outcome"] == "refuted"
