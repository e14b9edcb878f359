"""Whole streams: any order and any cutting of bytes, what is published, what waits, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.condensation import Condense, Moments
from sfumato.core.errors import BundleError, DataError, Infeasible, PlanError
from sfumato.core.randomness import Chance
from sfumato.pipeline.streams import StreamKeeper
from sfumato.streaming.condenser import Records, StreamCondenser
from tests.streaming.streams import HEADER, K, Pieces, digests, lines, manifests, numbers, plan, run, state
from tests.weights import examples


def rows_of(folder: Path) -> pl.DataFrame:
    return pl.concat(pl.read_csv(path / "data.csv") for path in sorted(folder.iterdir()))


def shown(folder: Path) -> int:
    return sum(size * many for one in manifests(folder) for size, many in one["recoding"]["sizes"])


@examples(60)
@given(order=st.integers(0, 10**6), block=st.integers(5, 80), k=st.integers(2, 12), per_class=st.booleans())
def test_any_order_of_arrival_gives_the_moments_of_the_table(order: int, block: int, k: int, per_class: bool):
    """Published and waiting groups together have the moments of all records, to rounding."""
    rows = numbers(lines(400))[Chance(seed=order).generator().permutation(400)]
    made = StreamCondenser(
        condense=Condense(k=k, per_class=per_class), columns=["age", "pay"], worded=[], most=20, seed=order
    )
    drawn = 0
    for start in range(0, 400, block):
        some = rows[start : start + block]
        classes = pl.Series([f"{int(one > 40)}" for one in some[:, 0]]) if per_class else None
        made.take(Records(numbers=some, words={}, classes=classes))
        if start % 3 == 0:
            drawn += len(made.harvest().numbers)
    drawn += len(made.finish().numbers)
    points = (rows - made.shift) / made.scale
    whole = Moments.of(points)
    assert int(made.moments.count) == 400 == drawn + made.waiting
    assert made.moments.sums == pytest.approx(whole.sums, abs=1e-6)
    assert made.moments.products == pytest.approx(whole.products, rel=1e-7, abs=1e-5)
    assert made.waiting < k * len(made.kept)
    assert made.forget() == 400 - drawn


def test_the_covariance_of_drawn_rows_is_that_of_the_stream(tmp_path: Path):
    """A mean of 4,000 drawn rows is within 0.08 standard deviations: false alarms are rarer than one in a million.

    Correlations of 4,000 rows vary by less than 0.016, and 0.1 is six times that.
    """
    data = lines(4000)
    asked = plan(stream={"batch": 1000, "block": 100, "checkpoint": 500})
    run(asked, Pieces((HEADER + "".join(data)).encode()), tmp_path)
    before, after = numbers(data), rows_of(tmp_path / "out").select("age", "pay").to_numpy()
    assert len(after) > 3990
    assert np.abs(after.mean(axis=0) - before.mean(axis=0)).max() < 0.08 * before.std(axis=0).max()
    assert np.corrcoef(after.T)[0, 1] == pytest.approx(np.corrcoef(before.T)[0, 1], abs=0.1)
    assert after.std(axis=0) == pytest.approx(before.std(axis=0), rel=0.1)


@cache
def whole_digests() -> dict[str, str]:
    with TemporaryDirectory() as place:
        run(plan(attack={"run": False}), Pieces((HEADER + "".join(lines(250))).encode()), Path(place))
        return digests(Path(place) / "out")


@examples(6, deadline=None)
@given(cuts=st.lists(st.integers(1, 900), min_size=1, max_size=6))
def test_batches_do_not_depend_on_how_bytes_arrive(cuts: list[int]):
    with TemporaryDirectory() as place:
        run(plan(attack={"run": False}), Pieces((HEADER + "".join(lines(250))).encode(), cuts), Path(place))
        assert digests(Path(place) / "out") == whole_digests()


def test_every_record_is_published_once_or_waits(tmp_path: Path):
    asked, data = plan(), lines(430)
    path = tmp_path / "in.csv"
    path.write_text(HEADER + "".join(data[:170]) + data[170][:4])
    told = run(asked, path, tmp_path, finish=False)
    assert told.progress["records"] == 160  # whole blocks
    assert told.unread == 10
    assert told.progress["published"] + told.waiting == 160
    seen = digests(tmp_path / "out")
    path.write_text(HEADER + "".join(data))
    told = run(asked, path, tmp_path, finish=False)
    assert told.progress["records"] == 420
    assert digests(tmp_path / "out").items() >= seen.items()
    kept = state(asked, tmp_path)
    whole = Moments.of((numbers(data[:420]) - kept.condenser.shift) / kept.condenser.scale)
    assert kept.condenser.moments.products == pytest.approx(whole.products, rel=1e-7, abs=1e-5)
    told = run(asked, path, tmp_path)
    assert told.progress["finished"]
    assert told.progress["published"] + told.progress["withheld"] == 430
    assert shown(tmp_path / "out") == told.progress["published"]
    sizes = [size for one in manifests(tmp_path / "out") for size, _ in one["recoding"]["sizes"]]
    assert min(sizes) >= K
    assert max(sizes) < 2 * K
    assert sf.verify(tmp_path / "out").holds
    assert run(asked, path, tmp_path) == told
    path.write_text(HEADER + "".join(data) + data[0])
    with pytest.raises(DataError, match="has ended after 430 records"):
        run(asked, path, tmp_path)


def test_words_of_published_records_are_theirs(tmp_path: Path):
    """Nobody is withheld here: then every word occurs as often as in the stream, in its class."""
    asked, data = plan(algorithm={"per_class": True}), lines(400)
    told = run(asked, Pieces((HEADER + "".join(data)).encode()), tmp_path)
    before = Counter(tuple(line.strip().split(",")[2:]) for line in data)
    after = rows_of(tmp_path / "out")
    assert after.height == 400 - told.progress["withheld"]
    found = Counter(zip(after["town"].to_list(), after["kind"].to_list(), strict=True))
    assert sum(((before - found) + (found - before)).values()) <= told.progress["withheld"]
    ages = after.group_by("kind").agg(pl.col("age").mean()).sort("kind")["age"].to_list()
    truth = [np.mean([float(line.split(",")[0]) for line in data if line.strip().endswith(one)]) for one in "xy"]
    assert ages == pytest.approx(truth, abs=3)


def test_options_of_a_condensation_are_kept(tmp_path: Path):
    asked = plan(algorithm={"copies": 3, "variance": 0.5, "bounds": {"age": [20, 80]}, "groups": "k-means"})
    told = run(asked, Pieces((HEADER + "".join(lines(200))).encode()), tmp_path)
    after = rows_of(tmp_path / "out")
    assert after.height == 3 * told.progress["published"]
    assert 20 <= after["age"].min() <= after["age"].max() <= 80
    assert sf.verify(tmp_path / "out").holds


def test_records_with_missing_values_are_counted(tmp_path: Path):
    data = lines(220)
    for place in (3, 50, 130, 131):
        data[place] = "?," + data[place].partition(",")[2]
    asked = plan(input={"missing": ["?"], "on_missing": "drop"}, columns={"age": {"role": "quasi", "type": "integer"}})
    told = run(asked, Pieces((HEADER + "".join(data)).encode()), tmp_path)
    assert told.progress["dropped"] == 4
    assert sum(one["recoding"].get("left_out", 0) for one in manifests(tmp_path / "out")) == 4
    assert told.progress["published"] + told.progress["withheld"] == 216
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize("bad", ["1,2,a\n", "old,1,a,x\n", "NaN,1,a,x\n", "30,inf,a,x\n", "30,,a,x\n", "30.5,1,a,x\n"])
def test_a_bad_record_is_told_with_its_line_and_what_came_before_is_kept(tmp_path: Path, bad: str):
    data, path = lines(130), tmp_path / "in.csv"
    path.write_text(HEADER + "".join(data[:75]) + bad + "".join(data[75:]))
    with pytest.raises(DataError, match=r"in\.csv, line 77 \(record 76\): .*The 60 records"):
        run(plan(), path, tmp_path)
    assert state(plan(), tmp_path).progress.records == 60
    path.write_text(HEADER + "".join(data))  # mended: it was not read yet
    told = run(plan(), path, tmp_path)
    assert told.progress["published"] + told.progress["withheld"] == 130


def test_a_bad_record_in_the_first_block(tmp_path: Path):
    with pytest.raises(DataError, match=r"line 5 \(record 4\): column 'age' has 'NaN'.*declare its type"):
        run(plan(), Pieces((HEADER + "".join(lines(3)) + "NaN,1,a,x\n" + "".join(lines(40))).encode()), tmp_path)
    assert not (tmp_path / "state" / "checkpoint").exists()


def test_a_file_that_was_changed_is_refused(tmp_path: Path):
    data, path = lines(300), tmp_path / "in.csv"
    path.write_text(HEADER + "".join(data[:200]))
    run(plan(), path, tmp_path, finish=False)
    before = (digests(tmp_path / "out"), (tmp_path / "state" / "checkpoint").read_bytes())
    for text, told in (
        (HEADER + "".join(data[:100]), "was cut or replaced"),
        (HEADER + "".join([*data[:150], *lines(150, seed=9)]), "changed or replaced"),
        (HEADER.replace("pay", "wage") + "".join(data), "the header is"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=told):
            run(plan(), path, tmp_path, finish=False)
        assert before == (digests(tmp_path / "out"), (tmp_path / "state" / "checkpoint").read_bytes())
    path.write_text(HEADER + "".join(data))
    assert run(plan(), path, tmp_path, finish=False).progress["records"] == 300


def test_a_feeder_sends_everything_again_or_goes_on(tmp_path: Path):
    data = lines(300)
    sent = [HEADER.encode() + "".join(data[:many]).encode() for many in (130, 300)]
    told = run(plan(), Pieces(sent[0]), tmp_path, finish=False)
    assert (told.progress["records"], told.unread) == (120, 10)
    assert json.loads((tmp_path / "state" / "acknowledged.json").read_text())["acknowledged"] == 120
    other = HEADER.encode() + "".join([*data[:50], *data[51:]]).encode()
    with pytest.raises(DataError, match="are not those that were acknowledged"):
        run(plan(), Pieces(other), tmp_path, finish=False)
    with pytest.raises(DataError, match="ended before record 120"):
        run(plan(), Pieces(HEADER.encode() + "".join(data[:60]).encode()), tmp_path, finish=False)
    with pytest.raises(DataError, match="begin with record 121"):
        run(plan(), Pieces(sent[1]), tmp_path, after=100)
    with pytest.raises(DataError, match="the header is 'years"):
        run(plan(), Pieces(b"years,pay,town,kind\n"), tmp_path, after=120)
    told = run(plan(), Pieces(sent[1], [7, 100]), tmp_path, finish=False)
    assert told.progress["records"] == 300
    rest = HEADER.encode() + "".join(lines(30, seed=3)).encode()
    told = run(plan(), Pieces(rest), tmp_path, after=300)
    assert told.progress["records"] == 330
    assert told.progress["published"] + told.progress["withheld"] == 330


def test_fewer_than_k_are_never_published(tmp_path: Path):
    with pytest.raises(Infeasible, match=f"ends with 4 records, and no group of {K}"):
        run(plan(), Pieces((HEADER + "".join(lines(4))).encode()), tmp_path)
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(Infeasible, match="ends with 0 records"):
        run(plan(), Pieces(HEADER.encode()), tmp_path)
    with pytest.raises(DataError, match="no header came"):
        run(plan(), Pieces(b""), tmp_path)
    told = run(plan(), Pieces((HEADER + "".join(lines(K))).encode()), tmp_path)  # nothing was lost before
    assert (told.progress["published"], told.progress["batches"]) == (K, 1)
    assert manifests(tmp_path / "out")[0]["stream"]["last"]


def test_what_was_read_is_kept_though_nothing_can_be_published(tmp_path: Path):
    asked, data = plan(k=45), lines(60)
    with pytest.raises(Infeasible, match="ends with 44 records, and no group of 45"):
        run(asked, Pieces((HEADER + "".join(data[:44])).encode()), tmp_path)
    assert state(asked, tmp_path).progress.records == 40
    told = run(asked, Pieces((HEADER + "".join(data[40:])).encode()), tmp_path, after=40)
    assert (told.progress["published"], told.progress["batches"]) == (60, 1)


def test_a_stop_while_the_stream_is_about_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The last block is not whole: it is counted together with the end, or not at all."""
    sent = (HEADER + "".join(lines(50))).encode()

    def stopped(*told: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StreamKeeper, "finish", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(plan(), Pieces(sent), tmp_path)
    assert state(plan(), tmp_path).progress.records == 40
    more = (HEADER + "".join([*lines(50), *lines(50, seed=2)])).encode()
    assert run(plan(), Pieces(more), tmp_path, finish=False).progress["records"] == 100
    assert run(plan(), Pieces(more), tmp_path).progress["finished"]


def test_memory_is_bounded_however_the_stream_drifts():
    """Groups and waiting words stay few over 60 batches that wander away and come back."""
    draw = Chance(seed=2).generator()
    made = StreamCondenser(condense=Condense(k=K), columns=["a", "b"], worded=["w"], most=10, seed=1)
    groups, waits = [], []
    for batch in range(60):
        for _ in range(5):
            rows = draw.normal(size=(20, 2)) + np.array([10 * np.sin(batch), batch % 7])
            made.take(Records(numbers=rows, words={"w": pl.Series([f"{batch}-{at}" for at in range(20)])}))
        made.harvest()
        groups.append(len(made.kept[""].pool.fed))
        waits.append(len(made.kept[""].words["w"].words))
    assert max(groups) <= 10
    assert max(waits) < 10 * K
    assert waits[-1] == made.waiting


def test_a_release_does_not_read_the_section():
    frame = pl.read_csv((HEADER + "".join(lines(200))).encode())
    made = sf.release(plan(attack={"run": False}), frame)
    assert made.rows.height == 200
    assert "stream" not in made.kind.manifest(made, {"data.csv": ""})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"stream": {"batch": 90}}, "stream.batch must be a multiple of stream.block = 20, not 90; 80 is"),
        ({"stream": {"block": 0}}, "stream.block must be at least 1"),
        ({"stream": {"bach": 100}}, "stream.bach"),
        ({"stream": {"batch": 20}, "k": 12}, "stream.batch must be at least 2k = 24"),
        ({"algorithm": {"output": "distributions"}}, "algorithm.output: a stream draws rows"),
        ({"attack": {"max_risk": 0.1}}, "attack: a stream keeps no original"),
        ({"input": {"encoding": "latin-1"}}, "input.encoding"),
    ],
)
def test_plans_that_no_stream_can_follow(tmp_path: Path, more: dict, told: str):
    with pytest.raises(PlanError, match=told.replace("(", r"\(")):
        run(plan(**more), Pieces(HEADER.encode()), tmp_path)


def test_another_plan_and_other_batches_are_refused(tmp_path: Path):
    data = (HEADER + "".join(lines(220))).encode()
    run(plan(), Pieces(data), tmp_path, finish=False)
    with pytest.raises(PlanError, match=r"algorithm\.variance is not what it was"):
        run(plan(algorithm={"variance": 2.0}), Pieces(data), tmp_path)
    (tmp_path / "in.csv").write_bytes(data)
    with pytest.raises(BundleError, match="comes from standard input"):
        run(plan(), tmp_path / "in.csv", tmp_path)
    (tmp_path / "out" / "batch-000002").rename(tmp_path / "away")
    with pytest.raises(BundleError, match="not there any more"):
        run(plan(), Pieces(data), tmp_path)
    (tmp_path / "out" / "batch-000001").rename(tmp_path / "out" / "batch-000002")
    with pytest.raises(BundleError, match="is not the batch that was published"):
        run(plan(), Pieces(data), tmp_path)
    whole = (tmp_path / "state" / "checkpoint").read_bytes()
    (tmp_path / "state" / "checkpoint").write_bytes(whole.replace(b'"records": 220', b'"records": 240'))
    with pytest.raises(BundleError, match="is damaged"):
        run(plan(), Pieces(data), tmp_path)
    (tmp_path / "state" / "checkpoint").unlink()
    (tmp_path / "out" / "batch-000002").rename(tmp_path / "out" / "batch-000001")
    with pytest.raises(BundleError, match="does not know it"):
        run(plan(), Pieces(data), tmp_path)


def test_the_state_is_private_and_holds_no_record(tmp_path: Path):
    data = lines(210)
    data[205] = "33,12345.67,Secretville,x\n"
    run(plan(), Pieces((HEADER + "".join(data)).encode()), tmp_path, finish=False)
    place = tmp_path / "state"
    assert place.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in place.iterdir())
    assert not any(line.encode().strip() in path.read_bytes() for path in place.iterdir() for line in data)
    for column in state(plan(), tmp_path).condenser.kept[""].words.values():
        pairs = list(zip(column.owners.tolist(), column.words.to_list(), strict=True))
        assert pairs == sorted(pairs)  # in no order of arrival


def test_rows_stand_in_an_order_that_tells_nothing(tmp_path: Path):
    """Without variance the rows of a group are equal. In random order about one row in ten is like the one before.

    One after the other, eight in ten would be; of 300 rows in random order fewer than 90 are, but for one in 10^9.
    """
    asked = plan(k=10, algorithm={"variance": 0.0}, columns={"pay": {"role": "quasi"}})
    data = "pay\n" + "".join(f"{row % 3 * 1000 + row / 100}\n" for row in range(300))
    run(asked, Pieces(data.encode()), tmp_path)
    for batch in sorted((tmp_path / "out").iterdir()):
        rows = pl.read_csv(batch / "data.csv")["pay"].to_numpy()
        assert (rows[1:] == rows[:-1]).sum() < 0.3 * len(rows)


def test_classes_without_end_are_refused(tmp_path: Path):
    rows = [f"{at % 60},{at},a,c{at}\n" for at in range(140)]
    with pytest.raises(DataError, match="more than 100 different classes"):
        run(plan(algorithm={"per_class": True}), Pieces((HEADER + "".join(rows)).encode()), tmp_path)
