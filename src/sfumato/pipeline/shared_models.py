"""Trees and rules in bundles: read from their bytes, pooled, and learned from together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.bundles.checks.trees import DOCUMENT
from sfumato.bundles.signatures import Card
from sfumato.bundles.staging import staged
from sfumato.bundles.verify import DATA, tables_of, untouched
from sfumato.core.errors import BundleError, ClaimRefuted
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.core.short_repr import Brief
from sfumato.mining.document_json import read_tree
from sfumato.mining.federation import Model, PathGenerator, Within, pooled_pseudo_data
from sfumato.mining.records import Records
from sfumato.mining.rule_document import KIND as RULES
from sfumato.mining.rule_document import read_rules
from sfumato.mining.saved_model import LearntModel, chosen_format, classifier_of, learnt_model, write_model
from sfumato.pipeline.verification import verify
from sfumato.version import __version__

# Trees and rules in bundles: read from their bytes, for attackers and for whoever learns from several sources.


def read_model(text: str) -> Model:
    """The tree or the rules in a text from anybody."""
    try:
        rules = json.loads(text).get("document") == RULES
    except (ValueError, AttributeError, RecursionError):
        rules = False
    return read_rules(text) if rules else read_tree(text)


def models_in(folder: Path, manifest: Mapping[str, Any]) -> tuple[Model, ...]:
    """The trees or rules of a bundle; a bundle of another kind is refused."""
    columns = [str(column["name"]) for column in manifest["data"]["columns"]]
    if columns != [DOCUMENT] or not str(manifest["data"]["file"]).endswith(".json"):
        raise BundleError(f"{folder} holds no tree; `sfumato tree publish` makes such bundles")
    return tuple(read_model(str(text)) for text in tables_of(folder, manifest)[DATA].frame[DOCUMENT].to_list())


# Learning from the bundles of several sources: verified, drawn from, pooled, and one model of all.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Source(Brief):
    """One bundle that was verified."""

    folder: Path
    """Where it lies."""
    models: tuple[Model, ...]
    """Its trees or rules."""
    told: Mapping[str, Any]
    """What is kept about it: its seal, its claims, and who signed."""


def sources_of(folders: Sequence[Path], signer: Card | Path | None = None) -> tuple[Source, ...]:
    """Bundles of trees, each verified from its bytes; one that does not hold is refused."""
    if not folders:
        raise BundleError("no bundle was named; name those that `sfumato tree publish` made")
    sources = []
    for folder in folders:
        manifest = untouched(folder)
        models = models_in(folder, manifest)
        checked = verify(folder, signer=signer)
        if (wrong := checked.wrong) is not None:
            raise ClaimRefuted(f"{folder} does not hold: {wrong.what} ({wrong.detail}); nothing was learnt from it")
        description = {
            "bundle": folder.name,
            "seal": manifest["sha256"],
            "data": manifest["data"]["sha256"],
            "claims": [{"model": claim["model"], "parameters": claim["parameters"]} for claim in manifest["claims"]],
            "trees": manifest["trees"],
            "signature": checked.signature.to_json(),
        }
        sources.append(Source(folder=folder, models=models, told=description))
    seals = [source.told["seal"] for source in sources]
    if len(set(seals)) < len(seals):
        raise BundleError("a bundle was named twice; its records would count twice")
    return tuple(sources)


def learn(
    folders: Sequence[str | Path],
    *,
    learner: str = "tree",
    options: Mapping[str, Any] | None = None,
    size: int | None = None,
    within: Within = "uniform",
    seed: int | None = None,
    signer: Card | Path | None = None,
    work: Work | None = None,
) -> tuple[LearntModel, Records]:
    """One model from the trees of several sources, and the pseudo-data that it was learnt from.

    Source: document 004, section 2.2.2. Of a forest every tree gives its share of the records of its source.
    """
    watch = work or Work()
    classifier_of(learner, options)
    with watch.stage("read"):
        sources = sources_of([Path(folder) for folder in folders], signer)
    with watch.stage("draw"):
        pool = pseudo_records(sources, size=size, within=within, chance=Chance(seed=seed))
    provenance = {
        "sfumato": __version__,
        "made": datetime.now(UTC).date().isoformat(),
        "sources": [dict(source.told) for source in sources],
        "pseudo_records": pool.count,
        "within": within,
        "options": dict(options or {}),
        "seed": seed,
    }
    with watch.stage("learn"):
        return learnt_model(pool, learner, options or {}, provenance), pool


def pseudo_records(sources: Sequence[Source], *, size: int | None, within: Within, chance: Chance) -> Records:
    """Pseudo-data of all sources; a source counts by its records, however many trees it published."""
    records = [int((source.models[0].hit + source.models[0].miss).sum()) for source in sources]
    models = [
        (model, many / len(source.models))
        for source, many in zip(sources, records, strict=True)
        for model in source.models
    ]
    whole = sum(records)
    if not whole:
        raise BundleError("the trees hold no records; there is nothing to draw")
    if size is None and all(len(source.models) == 1 for source in sources):
        return pooled_pseudo_data([model for model, _ in models], chance=chance, how=PathGenerator(within=within))
    from sfumato.mining.federation import pooled

    wanted = whole if size is None else size
    seeds = chance.generator().integers(0, 2**62, len(models)).tolist()
    drawn = [
        PathGenerator(size=max(round(wanted * many / whole), 1), within=within)(model, Chance(seed=seed))
        for (model, many), seed in zip(models, seeds, strict=True)
        if many
    ]
    return pooled(drawn)


def write_learnt(model: LearntModel, folder: Path, *, how: str | None = None) -> str:
    """Write a model with its provenance: the folder appears whole or not at all; gives the format."""
    chosen = chosen_format(model.learner, how)
    with staged(folder, force=False) as inner:
        write_model(inner, model, chosen)
    return chosen
