"""Compressed tables and hierarchies, and JSON lines."""

from __future__ import annotations

import bz2
import gzip
import lzma

import polars as pl
import pyarrow as pa
import pytest

from sfumato.core.errors import DataError, HierarchyError
from sfumato.tables.files import FORMATS, read
from sfumato.tables.hierarchy_files import read_hierarchy
from sfumato.testing.formats import check_format
from tests.shared_data import shared

JSON = next(one for one in FORMATS if one.name == "json-lines")


def zstd(data: bytes) -> bytes:
    into = pa.BufferOutputStream()
    with pa.CompressedOutputStream(into, "zstd") as stream:
        stream.write(data)
    return into.getvalue().to_pybytes()


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.mark.parametrize("end", PACKERS)
def test_tables_and_hierarchies_are_unpacked(tmp_path, end):
    (tmp_path / f"t.csv{end}").write_bytes(PACKERS[end](b"a,b\n1,2\n"))
    assert read(tmp_path / f"t.csv{end}").frame.rows() == [("1", "2")]
    for name, text in {"h.csv": b"a;x;*\nb;x;*\nc;y;*\n", "h.json": b'{"x": ["a", "b"], "y": ["c"]}'}.items():
        (tmp_path / f"{name}{end}").write_bytes(PACKERS[end](text))
        assert read_hierarchy(tmp_path / f"{name}{end}").paths == {"a": ("x",), "b": ("x",), "c": ("y",)}


@pytest.mark.parametrize("end", PACKERS)
def test_what_is_cut_off_or_a_bomb_is_refused(tmp_path, end):
    whole = PACKERS[end](b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000)))
    for data in (whole[: len(whole) // 2], b"no such thing"):
        (tmp_path / f"t.csv{end}").write_bytes(data)
        with pytest.raises(DataError, match="is not a complete"):
            read(tmp_path / f"t.csv{end}")
        with pytest.raises(HierarchyError, match="is not whole"):
            read_hierarchy(tmp_path / f"t.csv{end}")
    (tmp_path / f"t.csv{end}").write_bytes(PACKERS[end](b"0" * 100_000_001))
    with pytest.raises(DataError, match="unfolds to more than 100,000,000 bytes"):
        read(tmp_path / f"t.csv{end}")


def test_several_parts_follow_each_other(tmp_path):
    (tmp_path / "t.csv.bz2").write_bytes(bz2.compress(b"a,b\n") + bz2.compress(b"1,2\n"))
    assert read(tmp_path / "t.csv.bz2").frame.rows() == [("1", "2")]


def test_the_hierarchy_of_cup():
    assert len(read_hierarchy(shared("arx", "hierarchies", "cup_hierarchy_ZIP.csv.gz")).paths) > 10_000


def test_json_lines(tmp_path):
    data = b'{"a": 1, "b": "x"}\n{"b": null, "a": 2}\n{"a": 3, "c": 1.5}\n'
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, None], "c": [None, None, 1.5]})
    check_format(JSON, [(data, frame)])
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(data))
    assert read(tmp_path / "t.ndjson.gz").frame.equals(frame)


@pytest.mark.parametrize(
    "data", [b"[1, 2]\n", b"a,b\n1,2\n", b'{"a": 1', b'{"a": ' + b"[" * 9999, b'{"a": [1]}\n{"a": {"b": 1}}\n']
)
def test_other_lines_are_refused(tmp_path, data):
    (tmp_path / "t.jsonl").write_bytes(data)
    with pytest.raises(DataError, match="is not a valid json-lines file"):
        read(tmp_path / "t.jsonl")


def test_a_line_with_many_keys_among_very_many_lines_is_refused(tmp_path):
    keys = ",".join(f'"k{i}": 1' for i in range(1_900))
    (tmp_path / "t.jsonl").write_bytes(f"{{{keys}}}\n".encode() + b"{}\n" * 40_000)
    with pytest.raises(DataError, match="40,002 lines of 1,900 keys"):
        read(tmp_path / "t.jsonl")
