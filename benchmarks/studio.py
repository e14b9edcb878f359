"""The studio: processor time from an upload to the shown result, a click on a node, and a table of a million rows."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import table
from sfumato.studio.requests import COOKIE, Keys
from tables import Subject, subject

TICKS = os.sysconf("SC_CLK_TCK")


class Studio:
    """A studio in a process of its own, asked as its pages ask it."""

    def __init__(self, folder: Path) -> None:
        """Start it and read its link."""
        command = [sys.executable, "-m", "sfumato", "studio", str(folder), "--no-open"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.match(r"http://(127\.0\.0\.1:\d+)/enter\?token=(.+)", self.process.stdout.readline().strip())
        assert found is not None
        self.host, token = found[1], found[2]
        self.headers = {"Cookie": f"{COOKIE}={token}", "Origin": f"http://{self.host}"}
        self.headers["X-Sfumato"] = Keys(token=token).header

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One answer; JSON is read."""
        link = http.client.HTTPConnection(self.host, timeout=600)
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        link.request(method, path, body=sent, headers=self.headers)
        answer = link.getresponse()
        text = answer.read()
        assert answer.status == 200, text[:300]
        return json.loads(text) if "json" in (answer.getheader("content-type") or "") else text

    @property
    def cpu(self) -> float:
        """Seconds of processor time of the server, its processes, and those that have ended."""
        return sum(_cpu(pid) for pid in (self.process.pid, *_below(self.process.pid)))

    def timed(self, *asked: Any) -> tuple[Any, float]:
        """An answer and the seconds until it came."""
        began = time.perf_counter()
        return self.ask(*asked), time.perf_counter() - began


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _below(pid: int) -> list[int]:
    """The processes that one started and that still run, and theirs."""
    found = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*found, *(inner for one in found for inner in _below(one))]


def way(studio: Studio, one: Subject, folder: Path) -> tuple[str, dict[str, int]]:
    """From an upload to the page of the result; the project's name and the released levels."""
    data = one.frame.write_csv().encode()
    name = studio.ask("PUT", "/api/upload?name=people.csv", data)["go"].split("/")[2]
    project = folder / "sfumato-studio" / name
    for page in ("columns", "hierarchies", "requirement", "search"):
        studio.ask("GET", f"/p/{name}/{page}")
    plan = studio.ask("GET", f"/api/p/{name}/plan")
    (project / "hierarchies").mkdir()
    lines = ["[input]", 'path = "data/people.csv"', "[privacy]", "k_anonymity = 5"]
    lines += ["[algorithm]", 'name = "optimal"', "max_suppressed = 0.04"]
    for column, place in one.hierarchies.items():
        shutil.copyfile(place, project / "hierarchies" / place.name)
        lines += [f"[columns.{column}]", 'role = "quasi"', f'hierarchy = {{ file = "hierarchies/{place.name}" }}']
    saved = {"text": "\n".join(lines), "revision": plan["revision"]}
    studio.ask("PUT", f"/api/p/{name}/plan", saved)
    studio.ask("GET", f"/api/p/{name}/reached")
    studio.ask("POST", f"/api/p/{name}/search", {})
    studio.ask("GET", f"/api/p/{name}/progress")
    studio.ask("GET", f"/p/{name}/result/1")
    result = json.loads((project / "runs" / "0001" / "result.json").read_text())
    return name, result["levels"]


def cancelled(studio: Studio, name: str) -> float:
    """The seconds from a cancel, when the table is being counted, until the search has ended."""
    studio.ask("POST", f"/api/p/{name}/search", {})
    link = http.client.HTTPConnection(studio.host, timeout=600)
    link.request("GET", f"/api/p/{name}/progress", headers=studio.headers)
    events = link.getresponse()
    while b'"progress"' not in (line := events.readline()) and line:
        pass
    began = time.perf_counter()
    studio.ask("POST", f"/api/p/{name}/cancel", {})
    assert b'"cancelled"' in events.read()
    seconds = time.perf_counter() - began
    link.close()
    return seconds


def released(project: Path, levels: dict[str, int]) -> float:
    """The seconds of a release at these levels by the command line: how else to see what a node would give."""
    named = ", ".join(f"{json.dumps(column)} = {level}" for column, level in levels.items())
    said = ["--set", "algorithm.name=levels", "--set", f"algorithm.levels={{ {named} }}", "--set", "attack.run=false"]
    began = time.perf_counter()
    command = [sys.executable, "-m", "sfumato", "release", str(project / "plan.toml"), *said]
    subprocess.run([*command, "-o", str(project / "by-hand")], check=True, capture_output=True)
    return time.perf_counter() - began


def measured(one: Subject) -> list[str]:
    """One table's line."""
    with tempfile.TemporaryDirectory() as served:
        studio = Studio(Path(served))
        try:
            name, levels = way(studio, one, Path(served))
            spent = studio.cpu
            _, first = studio.timed("POST", f"/api/p/{name}/run/1/around", {"levels": levels})
            others = [{**levels, column: 0 if level else 1} for column, level in list(levels.items())[:5]]
            clicks = [studio.timed("POST", f"/api/p/{name}/run/1/around", {"levels": each})[1] for each in others]
            middle = one.frame.height // 2
            _, rows = studio.timed("GET", f"/api/p/{name}/rows?first={middle}&many=50")
            column = next(iter(levels))
            tree = studio.ask("GET", f"/api/p/{name}/plan")["tree"]["columns"][column]["hierarchy"]
            _, preview = studio.timed("POST", f"/api/p/{name}/levels", {"column": column, "tree": tree})
            stopped = cancelled(studio, name)
            naive = released(Path(served) / "sfumato-studio" / name, levels)
        finally:
            studio.process.kill()
            studio.process.wait()
    figures = (spent, first, sorted(clicks)[2], naive, rows, preview, stopped)
    ratio = f"{naive / sorted(clicks)[2]:,.0f}"
    shown = [f"{value:.3g} s" for value in figures]
    return [one.name, f"{one.frame.height:,}", *shown[:4], ratio, *shown[4:]]


def main() -> str:
    """Adult, and a million rows made from it."""
    one = subject()
    heads = ["table", "rows", "upload to shown result, CPU", "first node", "a click on a node",
             "a release there instead", "ratio", "a page of rows", "a preview of a hierarchy", "cancel"]  # fmt: skip
    lines = [measured(each) for each in (one, one.times(1_000_000))]
    return table("The studio: nine quasi-identifiers, k = 5, 4% may be suppressed", heads, lines)


if __name__ == "__main__":
    print(main())
