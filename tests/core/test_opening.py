"""Only regular files are opened, and nothing unfolds beyond its limit."""

from __future__ import annotations

import gzip
import os
import socket
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.input_files import (
    UNFOLDED,
    UNFOLDED_TIMES,
    TooLarge,
    most_unfolded,
    opened,
    read_text,
    read_whole,
    unfolded,
)
from tests.weights import examples


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s")


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "one")
    return folder / "one"


def _socket(folder: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "one"))
    return folder / "one"


def _link_to_pipe(folder: Path) -> Path:
    (folder / "link").symlink_to(_pipe(folder))
    return folder / "link"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (_pipe, "it is a pipe"),
        (_socket, "it is a socket"),
        (_link_to_pipe, "it is a pipe"),
        (lambda folder: folder, "it is a folder"),
        (lambda folder: Path("/dev/zero"), "it is a device"),
        (lambda folder: folder / "nothing", "No such file"),
        (lambda folder: folder / "no\0thing", "no file can have this name"),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(made, said: str, short: Path) -> None:
    with pytest.raises(OSError, match=said):
        read_whole(made(short))


def test_a_link_is_followed_unless_it_must_not_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"here")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_whole(tmp_path / "link") == b"here"
    with pytest.raises(OSError, match="it is a symbolic link"), opened(tmp_path / "link", follow=False):
        pass


def test_a_file_beyond_its_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    assert len(read_whole(tmp_path / "file", most=100)) == 100
    with pytest.raises(TooLarge, match="it has 100 bytes; at most 99 are read"):
        read_whole(tmp_path / "file", most=99)


def test_a_file_of_holes_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(UNFOLDED + 1)
    with pytest.raises(TooLarge, match="at most 100,000,000 are read"):
        read_whole(tmp_path / "file")


def test_text_has_one_kind_of_line_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("é\r\nb\rc".encode())
    assert read_text(tmp_path / "file") == "é\nb\nc"


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(0, 9))
@examples(100)
def test_unfolding_is_what_gzip_does(parts: list[bytes], zeros: int) -> None:
    data = b"".join(gzip.compress(part) for part in parts) + b"\0" * zeros
    assert unfolded(data) == gzip.decompress(data) == b"".join(parts)


@given(st.binary(min_size=1, max_size=2000), st.data())
@examples(100)
def test_a_part_of_a_gzip_file_is_none(content: bytes, data: st.DataObject) -> None:
    whole = gzip.compress(content)
    with pytest.raises((EOFError, zlib.error)):
        unfolded(whole[: data.draw(st.integers(0, len(whole) - 1))])


def test_the_limit_grows_with_what_was_sent() -> None:
    assert most_unfolded(0) == most_unfolded(UNFOLDED // UNFOLDED_TIMES) == UNFOLDED
    assert most_unfolded(UNFOLDED) == UNFOLDED_TIMES * UNFOLDED


def test_a_bomb_is_refused_by_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.core.input_files.UNFOLDED", 100_000)
    assert len(unfolded(gzip.compress(b"\0" * 100_000))) == 100_000
    with pytest.raises(TooLarge, match="unfolds to more than 100,000 bytes"):
        unfolded(gzip.compress(b"\0" * 100_001))
