"""Tables whose cells are separated by bars."""

from __future__ import annotations

from sfumato.tables.csv_files import parse_csv, render_csv
from sfumato.tables.files import Format

PIPES = Format(
    name="pipes",
    extensions=(".psv",),
    read=lambda data, options: parse_csv(data, **{**options, "delimiter": "|"}),
    write=lambda frame, delimiter: render_csv(frame, delimiter="|"),
    text=True,
)
