"""Large files are read block by block, as categories; the texts are those of the whole file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import DataError
from sfumato.tables import large_csv
from sfumato.tables.files import read
from sfumato.tables.table import Table
from tests.weights import examples

CELLS = st.text(alphabet='ab1 .-é;,"\n\r\t', max_size=4)
PLAIN = st.text(alphabet="ab1 .-é", max_size=4)


def both(path: Path, **options) -> list:
    """What is read in small blocks and as a whole: texts, or the refusal."""
    found = []
    for large, block in ((0, 16), (2**60, 16)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_csv, "LARGE", large)
            patch.setattr(large_csv, "BLOCK", block)
            try:
                made = read(path, **options)
                found.append((made.frame.columns, made.frame.select(pl.all().cast(pl.String)).rows()))
            except DataError as fault:
                found.append(str(fault))
    return found


@examples(200)
@given(
    rows=st.lists(st.lists(PLAIN, min_size=3, max_size=3), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    trim=st.booleans(),
    header=st.booleans(),
)
def test_plain_files_give_the_same_texts(tmp_path_factory, rows, end, last, mark, trim, header):
    path = tmp_path_factory.mktemp("large") / "t.csv"
    lines = ["x,y,z", *(",".join(row) for row in rows)]
    text = end.join(lines) + (end if last else "")
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    packed, whole = both(path, trim=trim, header=header)
    assert packed == whole


@examples(300)
@given(
    text=st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=8).map("\n".join), trim=st.booleans()
)
def test_any_text_is_read_or_refused_alike(tmp_path_factory, text, trim):
    path = tmp_path_factory.mktemp("large") / "t.csv"
    path.write_bytes(text.encode())
    packed, whole = both(path, trim=trim)
    assert packed == whole


@pytest.mark.parametrize(
    "data", [b"a,b\n1,\xff\n", b"a,b\n" + b"\x00" * 200, b"a,b\n1,2\n3\n", b"\x1f\x8b,b\n1,2\n", b"a,b\n"]
)
def test_what_is_wrong_is_said_by_the_other_reader(tmp_path, data):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    packed, whole = both(path)
    assert packed == whole


def test_a_large_plain_file_is_packed(tmp_path, monkeypatch):
    monkeypatch.setattr(large_csv, "LARGE", 10)
    (tmp_path / "t.csv").write_text("a,b\n" + "x,1\ny,?\n" * 40)
    found = read(tmp_path / "t.csv", missing=["?"])
    assert all(dtype == pl.Categorical for dtype in found.frame.dtypes)
    column, texts = found.column("b"), Table(frame=found.frame.cast(pl.String), missing=("?",)).column("b")
    assert (column.values, column.missing, column.codes.tolist()) == (texts.values, texts.missing, texts.codes.tolist())
    assert found.is_missing("b").sum() == 40
