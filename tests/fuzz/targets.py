"""What is fed to what: for each target how an input is made, and the entry points that must stand it.

An input is a folder of files. Running it either ends well or raises a ``SfumatoError``; anything else is a fault.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.bundles.manifest.document import seal
from sfumato.core.randomness import Chance
from sfumato.mining.document_json import read_tree, tree_of, write_tree
from sfumato.mining.federation import pseudo_data
from sfumato.mining.leaf_privacy import TreeRecursiveDiversity
from sfumato.mining.prediction import predicted
from sfumato.mining.rule_document import read_rules, rules_of, write_rules
from sfumato.mining.tree_document import TreeDocument
from sfumato.mining.tree_pruning import anonymized
from tests.fuzz import commands, every_command, seeds
from tests.fuzz.mutators import changed_bytes, changed_lines, changed_tree
from tests.fuzz.odd_files import changed_ledger, odd_frame
from tests.fuzz.toml_text import toml_text
from tests.tables.made_workbooks import zipped

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of input."""

    weight: int
    make: Callable[[Random, Stock], Files]
    run: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Stock:
    """The valid inputs that take time to make."""

    bundles: dict[str, Files]
    ledger: bytes


def stocked(folder: Path) -> Stock:
    """The stock, made in the folder or found there."""
    kept = folder / "stock"
    if not kept.exists():
        made = folder / "making"
        shutil.rmtree(made, ignore_errors=True)
        seeds.bundles(made)
        seeds.ledger(made / "ledger")
        made.rename(kept)
    found = {n: {p.name: p.read_bytes() for p in sorted((kept / f"bundle-{n}").iterdir())} for n in seeds.BUNDLES}
    return Stock(found, (kept / "ledger").read_bytes())


def base() -> Files:
    """What every plan needs beside it."""
    return {**seeds.FILES, "t.csv": seeds.TABLE.write_csv().encode(), "i.csv": seeds.ITEMS.write_csv().encode()}


def _plan(draw: Random, stock: Stock) -> Files:
    tree = draw.choice(list(seeds.TREES.values()))
    if draw.random() < 0.3:
        return {"plan.toml": changed_bytes(toml_text(tree).encode(), draw)}
    return {"plan.toml": toml_text(changed_tree(tree, draw)).encode("utf-8", "replace")}


def _run_plan(folder: Path) -> None:
    plan = sf.Plan.load(_beside(folder) / "plan.toml")
    if plan.privacy.get("ledger") is None and plan.input.path in ("t.csv", "i.csv"):
        sf.release(plan)


def _beside(folder: Path) -> Path:
    """The folder, with the valid files that the input did not bring."""
    for name, data in base().items():
        if not (folder / name).exists():
            (folder / name).write_bytes(data)
    return folder


def _table(draw: Random, stock: Stock) -> Files:
    name = draw.choice(("table", "table", "dates", "closeness", "private", "items", "sets", "items"))
    file = seeds.TREES[name]["input"]["path"]
    data = changed_lines(base()[file], draw)
    if draw.random() < 0.1:
        data = gzip.compress(data) if draw.random() < 0.5 else changed_bytes(gzip.compress(data), draw)
    return {file: data, "plan.toml": toml_text(seeds.TREES[name]).encode()}


def _run_table(folder: Path) -> None:
    here = next(name for name in ("t.csv", "i.csv") if (folder / name).exists())
    _either(lambda: sf.profile(folder / here), lambda: _run_plan(folder))


def _typed(draw: Random, stock: Stock) -> Files:
    kind = draw.choice(("parquet", "arrow", "lz4"))
    frame = draw.choice((seeds.TABLE, seeds.ITEMS, seeds.TABLE.with_columns(x=pl.lit([1, 2]))))
    name = f"t.{'parquet' if kind == 'parquet' else 'arrow'}"
    if draw.random() < 0.5:
        return {name: changed_bytes(seeds.typed(frame, kind), draw)}
    return {name: seeds.typed(odd_frame(draw), kind)}


def _run_typed(folder: Path) -> None:
    """Profile the file, and release it by plans that are about its columns."""
    path = next(folder.glob("t.*"))
    plans = [seeds.TREES[name] for name in ("table", "dates", "private", "items", "sets")]
    trees = [{**tree, "input": {"path": path.name}} for tree in plans]
    _beside(folder)
    runs = [(lambda tree=tree: sf.release(sf.Plan.parse(tree, folder=folder))) for tree in trees]
    _either(lambda: sf.profile(path), Random(path.stat().st_size).choice(runs))


def _foreign(draw: Random, stock: Stock) -> Files:
    name = draw.choice(("t.xlsx", "t.ods", "t.jsonl", "t.sav", "t.dta", "t.xpt"))
    data = seeds.foreign(name)
    if name in ("t.xlsx", "t.ods") and draw.random() < 0.8:
        with zipfile.ZipFile(io.BytesIO(data)) as folder:
            parts = {one: folder.read(one) for one in folder.namelist()}
        part = draw.choice(list(parts))
        return {name: zipped({**parts, part: changed_bytes(parts[part], draw)})}
    return {name: changed_bytes(data, draw)}


def _run_foreign(folder: Path) -> None:
    sf.profile(next(folder.glob("t.*")))


def _hierarchy(draw: Random, stock: Stock) -> Files:
    name = draw.choice(("zip.csv", "zip.json", "zip.toml", "both.hchy", "costs.csv", "key"))
    data = seeds.FILES[name]
    if name == "zip.json" and draw.random() < 0.7:
        return {name: json.dumps(changed_tree(seeds.ZIPS, draw)).encode()}
    return {name: changed_lines(data, draw, b";" if name == "zip.csv" else b",")}


def _run_hierarchy(folder: Path) -> None:
    name = next(path.name for path in folder.iterdir() if not path.name.startswith("plan"))
    columns: dict[str, Any] = {**seeds.COLUMNS}
    privacy: dict[str, Any] = {"k_anonymity": 2}
    if name == "costs.csv":
        privacy["t_closeness"] = {"t": 0.9, "distance": "emd-matrix", "file": name}
    elif name == "key":
        columns["born"] = {"role": "identifier", "pseudonym": {"key_file": name}}
    elif name == "both.hchy":
        columns["zip"] = {"role": "quasi", "hierarchy": {"file": name, "attribute": "zip"}}
    else:
        columns["zip"] = {"role": "quasi", "hierarchy": {"file": name}}
    tree = {**seeds.TREES["table"], "columns": columns, "privacy": privacy}
    sf.release(sf.Plan.parse(tree, folder=_beside(folder)))


def _bundle(draw: Random, stock: Stock) -> Files:
    files = dict(stock.bundles[draw.choice(seeds.BUNDLES)])
    manifest = json.loads(files["manifest.json"])
    way = draw.randrange(10)
    if way == 0:
        return {**files, "manifest.json": changed_bytes(files["manifest.json"], draw)}
    if way < 4:
        name = draw.choice([name for name in files if name.endswith(".csv")])
        files[name] = changed_lines(files[name], draw)
        manifest["data"]["sha256"] = hashlib.sha256(files["data.csv"]).hexdigest()
        if "sensitive.csv" in files:
            manifest["data"]["apart"]["sha256"] = hashlib.sha256(files["sensitive.csv"]).hexdigest()
    if way >= 3:
        manifest = changed_tree(manifest, draw)
    return {**files, "manifest.json": _sealed(manifest)}


def _sealed(manifest: Any) -> bytes:
    """The manifest with a seal that holds, where it can have one: strangers can seal too."""
    with contextlib.suppress(TypeError, ValueError, AttributeError, RecursionError):
        manifest = seal(manifest)
    return json.dumps(manifest, ensure_ascii=True).encode()


def _run_bundle(folder: Path) -> None:
    sf.verify(folder)


def _run_outside(folder: Path) -> None:
    """Apply and attack, which read manifests too."""
    frame = seeds.ITEMS if b"itemized" in (folder / "manifest.json").read_bytes() else seeds.TABLE
    _either(lambda: sf.apply(folder, frame), lambda: sf.attack(folder, frame, trials=20, seed=1, seconds=5))


def _sql(draw: Random, stock: Stock) -> Files:
    return {"q.sql": changed_bytes(draw.choice(seeds.SQL).encode(), draw), "ledger": stock.ledger}


def _run_sql(folder: Path) -> None:
    from sfumato.pipeline.queries import query

    text = (folder / "q.sql").read_bytes().decode("utf-8", "surrogateescape")
    plan = sf.Plan.parse(seeds.TREES["private"], folder=_beside(folder))
    query(plan, text, epsilon=0.01, ledger=folder / "ledger", analyst="ann", frame=seeds.TABLE)


def _ledger(draw: Random, stock: Stock) -> Files:
    if draw.random() < 0.3:
        return {"ledger": changed_bytes(stock.ledger, draw)}
    return {"ledger": changed_ledger(stock.ledger, draw)}


def _run_ledger(folder: Path) -> None:
    from sfumato.dp.events import Pure

    made = sf.Ledger(folder / "ledger")
    _either(made.accounts, made.history, lambda: made.reserve("ann", Pure(epsilon="0.01")))


def _point(draw: Random, stock: Stock) -> Files:
    return {"p.json": changed_bytes(json.dumps({"name": "p", "record": {"loss": 0.5, "k": [1, 2]}}).encode(), draw)}


def _run_point(folder: Path) -> None:
    from sfumato.pipeline.frontier.points import Store

    (folder / "points").mkdir(exist_ok=True)
    shutil.copy(folder / "p.json", folder / "points")
    Store(folder=folder, data="", sources=folder).load("p")


def _either(*runs: Callable[[], Any]) -> None:
    """All of them; the first refusal is told when all have run."""
    told: list[sf.SfumatoError] = []
    for run in runs:
        try:
            run()
        except sf.SfumatoError as refusal:
            told.append(refusal)
    if told:
        raise told[0]


def _model(draw: Random, stock: Stock) -> Files:
    tree = json.loads(seeds.TREE)
    name, document = draw.choice(
        (("tree.json", tree), ("rules.json", json.loads(write_rules(rules_of(tree_of(tree))))))
    )
    if draw.random() < 0.3:
        return {name: changed_bytes(json.dumps(document).encode(), draw)}
    return {name: json.dumps(changed_tree(document, draw)).encode("utf-8", "replace")}


def _run_model(folder: Path) -> None:
    """Read a tree or rules, and do with them what a miner does."""
    path = next(folder.glob("*.json"))
    text = path.read_bytes().decode("utf-8", "replace")
    model = read_tree(text) if path.name == "tree.json" else read_rules(text)
    drawn = pseudo_data(model, chance=Chance(seed=1), size=50)
    if isinstance(model, TreeDocument):
        predicted(model, drawn)
        write_tree(anonymized(model, TreeRecursiveDiversity(c=3, l=3)).tree)
    else:
        model.leaf_figures()


TARGETS: dict[str, Target] = {
    "plan": Target(16, _plan, _run_plan),
    "table": Target(12, _table, _run_table),
    "typed": Target(12, _typed, _run_typed),
    "foreign": Target(4, _foreign, _run_foreign),
    "sas": Target(1, lambda draw, stock: {"t.sas7bdat": changed_bytes(seeds.SAS, draw)}, _run_foreign),
    "hierarchy": Target(10, _hierarchy, _run_hierarchy),
    "bundle": Target(24, _bundle, _run_bundle),
    "outside": Target(4, _bundle, _run_outside),
    "sql": Target(14, _sql, _run_sql),
    "ledger": Target(8, _ledger, _run_ledger),
    "model": Target(6, _model, _run_model),
    "point": Target(2, _point, _run_point),
    "command": Target(1, _bundle, commands.run_bundle),
    "every": Target(3, lambda draw, stock: every_command.make(draw), every_command.run),
}


def chosen(draw: Random) -> str:
    """A target, by weight."""
    return draw.choices(list(TARGETS), [one.weight for one in TARGETS.values()])[0]
