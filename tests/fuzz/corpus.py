"""Inputs that once gave a traceback, hung or took all memory: each is made anew, and must end as it says here.

Every case is a function that lays an input into a folder and reads it. The big ones are generators, so that no big file
lies in the repository.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.bundles.manifest.document import seal
from sfumato.queries.sql import parse_question
from sfumato.tables.files import read
from sfumato.tables.hierarchy_files import read_hierarchy
from tests.fuzz import seeds
from tests.fuzz.odd_files import ENDLESS

Case = Callable[[Path], Any]
CASES: dict[str, tuple[Case, str]] = {}
"""By name: what is done, and what the refusal says; empty where it must end well."""


def case(name: str, said: str) -> Callable[[Case], Case]:
    """Add a case to the corpus."""

    def add(run: Case) -> Case:
        CASES[name] = run, said
        return run

    return add


def _file(folder: Path, name: str, data: bytes | str) -> Path:
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder / name


def _reads(name: str, data: Callable[[], bytes], said: str, reader: Callable[[Path], Any] = read) -> None:
    CASES[name] = (lambda folder: reader(_file(folder, name.split(": ")[1], data()))), said


def _bomb() -> bytes:
    """More than a hundred megabytes of zeros in a hundred kilobytes."""
    unit, zeros = zlib.compressobj(wbits=31), b"\0" * (1 << 20)
    return b"".join(unit.compress(zeros) for _ in range(110)) + unit.flush()


def _wide(kind: str) -> bytes:
    frame = pl.DataFrame({f"c{i}": [1] for i in range(20_000)})
    return frame.write_csv().encode() if kind == "csv" else seeds.typed(frame, kind)


def _parquet(frame: pl.DataFrame) -> bytes:
    into = io.BytesIO()
    frame.write_parquet(into, compression="zstd")
    return into.getvalue()


_reads("recursion: t.json", lambda: b'{"a":' * 100_000, "nested more than 64 deep", read_hierarchy)
_reads("recursion: t.toml", lambda: b"a = " + b"[" * 100_000, "nested more than 64 deep", read_hierarchy)
_reads("dotted: t.toml", lambda: b"a." * 100_000 + b"a = 1", "nested more than 64 deep", read_hierarchy)
_reads("levels: t.csv", lambda: b";".join([b"a"] * 100_000), "at most 64 are read", read_hierarchy)
_reads("never closed: t.json", lambda: b'"' + b'\\"' * 500_000, "Unterminated string", read_hierarchy)
_reads("digits: t.json", lambda: b'{"a": [' + b"9" * 5000 + b"]}", "5,000 characters", read_hierarchy)
_reads("digits: t.toml", lambda: b"a = [" + b"9" * 5000 + b"]", "more than 40 digits", read_hierarchy)
_reads("digits: plan.toml", lambda: b"[privacy]\nk_anonymity = " + b"9" * 5000, "more than 40 digits", sf.Plan.load)
_reads("recursion: plan.toml", lambda: b"a = " + b"{a = " * 5000, "nested more than 64 deep", sf.Plan.load)
_reads("bomb: t.csv.gz", _bomb, "unfolds to more than 100,000,000 bytes")
_reads("many columns: t.csv", lambda: _wide("csv"), "columns found: 20,000; at most 2,000")
_reads("many columns: t.parquet", lambda: _wide("parquet"), "columns found: 20,000; at most 2,000")
_reads("many columns: t.arrow", lambda: _wide("arrow"), "columns found: 20,000; at most 2,000")
_reads("one cell: t.csv", lambda: b"a,b\n" + b"x" * 2_000_000 + b",1\n", "2,000,000 bytes, at most 1,000,000")
_reads("one cell: t.parquet", lambda: _parquet(pl.DataFrame({"a": ["x" * 2_000_000]})), "at most 1,000,000")
_reads("one name: t.csv", lambda: b"x" * 2000 + b",b\n1,2\n", "2,000 characters; at most 1,000")
_reads(
    "rows: t.parquet",
    lambda: _parquet(pl.select(a=pl.repeat(1, 40_000_000, dtype=pl.Int8))),
    "40,000,000 rows of 1 columns",
)
_reads("cut off: t.csv.gz", lambda: gzip.compress(b"a,b\n1,2\n" * 99)[:-4], "not a complete gzip file")


@case("a pipe as a table", "it is a pipe, not a regular file")
def _pipe(folder: Path) -> Any:
    os.mkfifo(folder / "t.csv")
    return sf.profile(folder / "t.csv")


@case("a device as a table", "it is a device, not a regular file")
def _device(folder: Path) -> Any:
    (folder / "t.csv").symlink_to("/dev/zero")
    return sf.profile(folder / "t.csv")


@case("a link to a regular file as a table", "")
def _link(folder: Path) -> Any:
    seeds.laid_out(folder / "there")
    (folder / "t.csv").symlink_to(folder / "there" / "t.csv")
    return sf.profile(folder / "t.csv")


@case("a link to nothing as a table", "there is no such file")
def _dangling(folder: Path) -> Any:
    (folder / "t.csv").symlink_to(folder / "nothing.csv")
    return sf.profile(folder / "t.csv")


@case("a pipe as a plan", "it is a pipe, not a regular file")
def _pipe_plan(folder: Path) -> Any:
    os.mkfifo(folder / "plan.toml")
    return sf.Plan.load(folder / "plan.toml")


@case("a pipe as a hierarchy", "it is a pipe, not a regular file")
def _pipe_hierarchy(folder: Path) -> Any:
    os.mkfifo(folder / "h.csv")
    return read_hierarchy(folder / "h.csv")


@case("a device as a key", "it is a device, not a regular file")
def _device_key(folder: Path) -> Any:
    from sfumato.bundles.pseudonyms import Pseudonyms

    return Pseudonyms.load(Path("/dev/zero"), where="here")


@case("a pipe as a ledger", "it is a pipe, not a regular file")
def _pipe_ledger(folder: Path) -> Any:
    os.mkfifo(folder / "ledger")
    return sf.Ledger(folder / "ledger")


@case("a ledger whose accounts never end", "a view 'accounts' that no ledger has")
def _endless(folder: Path) -> Any:
    seeds.ledger(folder / "ledger")
    with closing(sqlite3.connect(folder / "ledger")) as link:
        link.executescript(ENDLESS)
    return sf.Ledger(folder / "ledger").accounts()


@case("a pipe as a manifest", "it is a pipe, not a regular file")
def _pipe_manifest(folder: Path) -> Any:
    os.mkfifo(folder / "manifest.json")
    return sf.verify(folder)


@case("a deep manifest", "nested more than 64 deep")
def _deep_manifest(folder: Path) -> Any:
    _file(folder, "manifest.json", '{"schema": 1, "data":' + "[" * 100_000)
    return sf.verify(folder)


@case("data of a bundle that are a link", "is missing")
def _link_out(folder: Path) -> Any:
    seeds.laid_out(folder / "there")
    bundle = _bundle(folder, "table", lambda manifest: None)
    (bundle / "data.csv").unlink()
    (bundle / "data.csv").symlink_to(folder / "there" / "t.csv")
    return sf.verify(bundle)


@case("an attack on an empty manifest", "schema version 1 is not known")
def _empty_manifest(folder: Path) -> Any:
    _file(folder, "manifest.json", '{"schema": 1}')
    return sf.attack(folder, seeds.TABLE)


@case("an attack on a tree that runs in a circle", "runs in a circle")
def _circle(folder: Path) -> Any:
    def bend(manifest: Any) -> None:
        manifest["domains"]["columns"]["zip"]["nodes"] = [["Any", 1], ["10x", 0], ["101", 1]]

    return sf.attack(_bundle(folder, "private", bend), seeds.TABLE, trials=20, seed=1)


@case("an attack on a tree of another form", "must be a whole number")
def _other_tree(folder: Path) -> Any:
    def bend(manifest: Any) -> None:
        manifest["domains"]["columns"]["zip"]["nodes"][0][1] = []

    return sf.attack(_bundle(folder, "private", bend), seeds.TABLE, trials=20, seed=1)


@case("an attack with distinct l = 3 and no k", "")
def _distinct(folder: Path) -> Any:
    tree = {**seeds.TREES["table"], "privacy": {"l_diversity": {"kind": "distinct", "l": 3}}}
    seeds.laid_out(folder)
    sf.release(sf.Plan.parse(tree, folder=folder)).write(folder / "bundle")
    return sf.attack(folder / "bundle", seeds.TABLE, trials=20, seed=1, attacks=["minimality"])


def _bundle(folder: Path, name: str, change: Callable[[Any], None]) -> Path:
    """A bundle with a changed manifest, sealed again."""
    seeds.laid_out(folder)
    sf.release(sf.Plan.parse(seeds.TREES[name], folder=folder)).write(folder / "bundle")
    place = folder / "bundle" / "manifest.json"
    manifest = json.loads(place.read_bytes())
    change(manifest)
    place.write_text(json.dumps(seal(manifest)))
    return folder / "bundle"


@case("fifty quasi-identifiers and l = 4", "230,300 choices of columns")
def _choices(folder: Path) -> Any:
    frame = pl.DataFrame({**{f"q{i}": ["a", "b"] * 4 for i in range(50)}, "ill": ["flu", "hiv"] * 4})
    quasi = {f"q{i}": {"role": "quasi", "hierarchy": {"kind": "flat"}} for i in range(50)}
    tree = {"columns": {**quasi, "ill": seeds.SICK}, "privacy": {"lkc": {"l": 4, "k": 2}}, "attack": seeds.QUIET}
    return sf.release(sf.Plan.parse(tree), frame)


@case("a column called count", "")
def _count(folder: Path) -> Any:
    for name, algorithm in (("age", "optimal"), ("ill", "anatomy"), ("zip", "mondrian")):
        called = {one: "count" if one == name else one for one in seeds.COLUMNS}
        columns = {called[one]: plan for one, plan in seeds.COLUMNS.items()}
        tree = {**seeds.TREES["anatomy"], "columns": columns, "algorithm": {"name": algorithm}}
        seeds.laid_out(folder)
        made = sf.release(sf.Plan.parse(tree, folder=folder), seeds.TABLE.select(*seeds.COLUMNS).rename(called))
        made.write(folder / name)
        assert sf.verify(folder / name).holds
    return folder


@case("an infinite number in a column of whole numbers", "cannot be read so: 'inf'")
def _infinite(folder: Path) -> Any:
    frame = seeds.TABLE.with_columns(age=pl.col("age").cast(pl.Float64).replace(21, float("inf")))
    return sf.release(sf.Plan.parse(seeds.TREES["table"], folder=_laid(folder)), frame)


@case("numbers beyond all limits in a profile", "")
def _beyond(folder: Path) -> Any:
    return sf.profile(_file(folder, "t.csv", "age\n" + "9" * 400 + "\n1\n2\n")), sf.profile(
        pl.DataFrame({"age": [-1e308, 1e308, 1.0, 2.0]})
    )


@case("cells that have no text in a profile", "")
def _untold(folder: Path) -> Any:
    frame = pl.DataFrame({"a": [b"\xff", b"x"], "b": [{"x": None}, {"x": 1}], "c": [[[1]], [[2]]]})
    return sf.profile(frame.with_columns(d=pl.lit(1).cast(pl.Duration)))


@case("cells that have no text in a release", "cells of type Binary are not supported")
def _bytes(folder: Path) -> Any:
    frame = seeds.TABLE.with_columns(zip=pl.lit(b"\xff"))
    return sf.release(sf.Plan.parse(seeds.TREES["table"], folder=_laid(folder)), frame)


@case("a text that begins like a Parquet file", "is not a valid parquet file")
def _begins(folder: Path) -> Any:
    laid = _laid(folder)
    _file(laid, "t.csv", "PAR1agePAR1z")
    return sf.release(sf.Plan.parse(seeds.TREES["private"], folder=laid))


@case("a question with half a character", "half a character")
def _half(folder: Path) -> Any:
    return parse_question("SELECT COUNT(*) WHERE a = '\udcb0'")


@case("a manifest with half a character", "half a character")
def _half_manifest(folder: Path) -> Any:
    _file(folder, "manifest.json", '{"schema": 1, "data": "\\ud800"}')
    return sf.apply(folder, seeds.TABLE)


@case("a question of 5,000 digits", "more than 40 digits")
def _digits(folder: Path) -> Any:
    return parse_question("SELECT COUNT(*) WHERE age > " + "9" * 5000)


@case("a long question", "at most 400,000 are read")
def _long(folder: Path) -> Any:
    return parse_question("SELECT COUNT(*) WHERE age = 1" + " OR age = 1" * 50_000)


@case("quantiles of a thousand million groups", "more than 100,000 groups")
def _groups(folder: Path) -> Any:
    many = {"role": "quasi", "hierarchy": {"kind": "quantiles", "groups": [10**9]}}
    tree = {**seeds.TREES["table"], "columns": {**seeds.COLUMNS, "age": many}}
    return sf.release(sf.Plan.parse(tree, folder=_laid(folder)))


@case("a ledger whose schema is no text", "is no ledger")
def _schema(folder: Path) -> Any:
    data = seeds.ledger(folder / "made")
    return sf.Ledger(_file(folder, "ledger", data.replace(b"CREATE TABLE", b"CREATE\x97\xff\xfeABLE"))).history()


@case("an attack on a claim without its parameter", "cannot be attacked")
def _bare_claim(folder: Path) -> Any:
    def strip(manifest: Any) -> None:
        manifest["claims"][0]["parameters"] = {}

    return sf.attack(_bundle(folder, "table", strip), seeds.TABLE, trials=20, seed=1)


def _laid(folder: Path) -> Path:
    seeds.laid_out(folder)
    return folder
