"""Files that crash compiled readers: each ends in one refusal, on the command line and in Python."""

from __future__ import annotations

import base64
import io
import os
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.bundles.files import sha256
from sfumato.bundles.manifest.document import dump, seal
from sfumato.core.errors import DataError
from sfumato.tables import isolated_readers
from sfumato.tables.files import read
from sfumato.tables.isolated_readers import try_reading
from tests.bundles.every_bundle import copied
from tests.bundles.forging import failing, manifest_of

ABORTING = (
    "c-qa^OKclO9LMpo<CqWy)S|9sR|c83F>V`DdlNr4&BGfz?>KSNxJi0To4TzjO;wkc$Hf8(6{K>AWT`?N5Ur5d_CSx^tcW7iLnRK2qKXp"
    "|7oWJmfeXy+e&a+)NEH$itIdBrpZV>7owX0+qPdvReA-p*>a6ynCUy@GqnELb(Z|@%=x5Y~_Pa-(J=(TU+o$<8e>f##9Xrdxjy=6quWg"
    "^Ft#IqRgFmbsKKMrd-0h1G_TNr^@o>EV$Nv!TKh%7or10+x1wCt;2yFWT+imiUZhE2}|M-68^ZCgm&si;|@nqtvBvjE==~Ja&m82>uRn"
    "n?tR58>uOvIg<aH{UqKBx9OHR;rpQ`1h(IMtBP^^-Pv_GpjxJXenq^u%|cWP2fU%lz1gef8+m_u`MAe?NHd&Ig-k9(?oM-Ov923m<Ks("
    "Ykg%m8$!xeA_P1=$1eFy>HLIE1$)aZh1Q2G12;t-M8e?T*<aRv)b;H+4&4h&S8(Z<1Ztw{>uEf5vPas2QISi+?#dR+p{ir;GOsj_&(<Q"
    "S$_#XfNOXF58@&GARfkF#$UlB%p<J7iXXxc;fL`f_z}DtkK$4MH9UsL@T2%K{1|>5@4<WU*YRGw7e9f=na5d=;|V;0CvY9taUJi&`|v)"
    "zAMeNe@g$zalXwbG;VC?gr|~qN!83RUH*f<t@Bw@PAHYxIC-IZ`AU=o>;zRflK7<eB!}u^hf{)-Mc-EaC%d(zzy@p%3jSG{!N!}!nTey"
    "vjQSzhYN6F(BZsQ_HK1V)B9=C8C7kTn|@_F*Oh1<9oBR@udj681PHZI1=kCPuKk6XBniwW`*<R{4E7H;EWlKdq3N%FXb+qjq_KSh3uJZ"
    "|AOE~d#(lb<G!Teyvj8S*paXUO9gZsTH>{4Dud^0<ZDxG0b>kS~zOE!@V%9Qir&bL4Rgw{bB~exCe1dECNnTom28R^+;(>sh>nSMVBM$"
    "1S{p+jtWf3-n*0{{sE-5?;Y;cpbO!25#d`TrARmk^YPH$4htxui<sv!W+1aH*s-_{-@}FivD;Bui!Pjj$3#GxA7(}mgv7k|0Vk4CA@;y"
    "@H%ec4cx|?xG2%TME?@~@e*FaYj_>E@CI(<O<bI&|7rT4raxZ7D|ijB;}+h)ZM=z#W%@7Ef0_Px39sNaypCIV1Gn)eE>`HjLjM)|ul(u"
    "u$18Y^d>yy&25#eW&!u&Sx`khE+{*68?aQb<qfa{r|F$u!?QG0K`@Nyv&9!{F`vW2rVA&Iwf5skYZS3UB)}7tuaA4D;J@E#F^Lop#J#O"
    "Rm(@ssk8`aqxnw|7r+t|3S`Q>K5+bcK!LhDjvwOh=FRisnR%IaSTg+qhUrZ4<&eklZMeOfT^b3z*y(GR=A&$z7(+)-D3u4{)xw3Y}z>m"
    "zOLbpv0k>$h}y*TB{Zc}cWGjtA632zHr^i}T9^)pHlmzquB?=RKhgW6G4rm@1hYa{l%LbBAV3vufs?alt%Zl<PNdDwh{sAXkvXs56;U#"
    "Z=elR#j`K^QcK)Efq}n$fwl0Y%yV)t19B8&ZsVhCApG0*LqX#eMZN*(k#BK*2kRts9Q~{p82ZkH?P)nPHNS?-;~pN?1F5i#s&9%<Y{H7"
    "|0iy?-le>BS~blvUtKVVL~yRSae3`pH4?k}&h?8MSB^$*oWEARv~eY(_a=Jdk=WU{E?r)aq{~KJKfB&nF0bq9ayg@~C;IhtW-V^4=|-|"
    "#*30R&^XrCwG&Cr`W9}(#%b#^c`J?+UcU5du"
)
"""A Parquet file of 3,961 bytes with one changed byte: its reader asks for 2^61 bytes and ends the process."""


def aborting() -> bytes:
    return zlib.decompress(base64.b85decode("".join(ABORTING)))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile.parquet"
    path.write_bytes(aborting())
    return path


def test_a_parquet_file_that_aborts_its_reader_is_refused(hostile: Path) -> None:
    with pytest.raises(DataError, match="is not a valid parquet file"):
        read(hostile)


def test_so_it_is_on_the_command_line(hostile: Path) -> None:
    command = [sys.executable, "-m", "sfumato", "profile", str(hostile)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3


@pytest.mark.parametrize("name", ["auto-distances-parquet", "parts"])
def test_so_it_is_in_a_bundle(name: str, tmp_path: Path) -> None:
    """The data file of a bundle is such a file, with all digests mended."""
    folder = copied(name, tmp_path)
    manifest = manifest_of(folder)
    if "parts" in manifest["data"]:
        from sfumato.bundles.files import joint_digest

        part = manifest["data"]["parts"][0]
        (folder / part["file"]).write_bytes(aborting())
        part["sha256"] = sha256(folder / part["file"])
        manifest["data"]["sha256"] = joint_digest(manifest["data"]["parts"])
    else:
        (folder / manifest["data"]["file"]).write_bytes(aborting())
        manifest["data"]["sha256"] = sha256(folder / manifest["data"]["file"])
    (folder / "manifest.json").write_text(dump(seal(manifest)))
    assert failing(folder)


@pytest.mark.parametrize("extension", ["parquet", "arrow", "jsonl", "xlsx", "xls", "sav", "dta", "sas7bdat", "xpt"])
def test_bytes_that_are_no_such_file_are_refused(extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{extension}"
    path.write_bytes(b"\x00\x01{{{" * 20)
    with pytest.raises(DataError, match="is not a valid"):
        read(path)


def test_text_that_is_not_utf8_in_sqlite_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (name TEXT)")
        database.execute("INSERT INTO t VALUES (CAST(X'c328ff' AS TEXT))")
        database.commit()
    plan = sf.Plan.parse(
        {
            "input": {"path": "people.sqlite", "table": "t"},
            "columns": {"name": {"role": "quasi", "hierarchy": {"kind": "flat"}}},
            "privacy": {"k_anonymity": 1},
        },
        folder=tmp_path,
    )
    with pytest.raises(DataError, match="query cannot be answered"):
        sf.release(plan)


@pytest.mark.parametrize("extension", ["parquet", "arrow", "jsonl"])
def test_whole_files_are_read_as_before(extension: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [1, 2, 3], "word": ["a", "b", None]})
    path = tmp_path / f"t.{extension}"
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "jsonl": frame.write_ndjson}[extension](path)
    assert read(path).frame.equals(frame)


def test_the_reader_ends_when_it_is_idle_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A good file is read whether the other process is new, at hand, idle, or was ended by the file before."""
    frame = io.BytesIO()
    pl.DataFrame({"n": [1, 2, 3]}).write_parquet(frame)
    good = frame.getvalue()
    for _ in range(3):
        try_reading("parquet", good)
        with pytest.raises(ValueError, match="breaks down"):
            try_reading("parquet", aborting())
    try_reading("parquet", good)
    process = isolated_readers._TRIAL._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    process.stdin = open(os.devnull, "wb")  # noqa: SIM115  as if it had just ended, and nobody had noticed
    monkeypatch.setattr(isolated_readers, "_has_ended", lambda process: False)
    try_reading("parquet", good)


def test_a_reader_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated_readers, "_seconds", lambda size: 0.0)
    with pytest.raises(ValueError, match="takes too long"):
        try_reading("parquet", aborting())
