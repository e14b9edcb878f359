"""What typed files say that they become, before anybody unfolds them."""

from __future__ import annotations

import io
from datetime import date

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sfumato.core.errors import DataError
from sfumato.tables.columnar_sizes import arrow_sizes, parquet_sizes
from sfumato.tables.files import arrow_frame, parquet_frame

FRAME = pl.DataFrame(
    {
        "n": list(range(3000)),
        "t": [str(i % 7) for i in range(3000)],
        "l": [[1, 2]] * 3000,
        "d": [date(2000, 1, 1)] * 3000,
        "c": pl.Series(["a", "b", None] * 1000, dtype=pl.Categorical),
    }
)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
def test_a_parquet_file_of_arrow_has_the_sizes_that_arrow_tells(version: str, compression: str) -> None:
    into = io.BytesIO()
    pa.parquet.write_table(
        FRAME.to_arrow(), into, compression=compression, data_page_version=version, row_group_size=700
    )
    told = pa.parquet.read_metadata(io.BytesIO(into.getvalue()))
    chunks = [told.row_group(g).column(c) for g in range(told.num_row_groups) for c in range(told.num_columns)]
    found = parquet_sizes(into.getvalue())
    assert (found.rows, found.columns) == (told.num_rows, told.num_columns)
    whole = sum(chunk.total_uncompressed_size for chunk in chunks)
    assert 0 < found.unfolded <= whole  # theirs counts the headers of pages too
    assert found.unfolded > 0.5 * whole


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_an_arrow_file_has_the_sizes_of_its_buffers(compression: str) -> None:
    into = io.BytesIO()
    FRAME.write_ipc(into, compression=compression)  # type: ignore[arg-type]
    found, plain = arrow_sizes(into.getvalue()), io.BytesIO()
    FRAME.write_ipc(plain, compression="uncompressed")
    assert (found.rows, found.columns) == (3000, 5)
    assert found.unfolded == arrow_sizes(plain.getvalue()).unfolded


def test_a_feather_file_of_arrow_is_read() -> None:
    into = io.BytesIO()
    pa.feather.write_feather(FRAME.drop("c").to_arrow(), into, compression="lz4", chunksize=500)
    assert arrow_sizes(into.getvalue()).rows == 3000
    assert arrow_frame(into.getvalue()).equals(FRAME.drop("c"))


def test_a_text_that_stands_in_many_cells_is_counted_in_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary holds it once; whoever writes the table out writes it as often as it stands there."""
    monkeypatch.setattr("sfumato.core.input_files.UNFOLDED", 100_000)
    into = io.BytesIO()
    pl.DataFrame({"a": ["x" * 1000] * 500}).write_parquet(into)
    with pytest.raises(DataError, match="unfold to 500,000; at most 100,000"):
        parquet_frame(into.getvalue())


@pytest.mark.parametrize("sizes", [parquet_sizes, arrow_sizes])
@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 3, b"PAR1" + b"\xff" * 9 + b"PAR1", b"ARROW1" + b"\0" * 40])
def test_what_is_no_such_file_is_refused(sizes, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\b(it|its)\b"):
        sizes(data)
