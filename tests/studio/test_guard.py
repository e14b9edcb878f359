"""Who may talk to the studio, and what paths lead where."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import sfumato as sf
from sfumato.studio.requests import COOKIE
from tests.studio.conftest import Running, begin

pytestmark = pytest.mark.xdist_group("studio")


def asked(
    studio: Running, method: str, path: str, *, body: bytes | None = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """One request, as any program on the machine could send it."""
    with studio.asked(method, path, body, **headers) as answer:
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}


NOBODY = {"Cookie": "other=1"}
"""Without the cookie of the studio."""


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(studio):
    status, _, headers = asked(studio, "GET", f"/enter?token={studio.token}", **NOBODY)
    assert status == 303
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=Strict" in headers["set-cookie"]


@pytest.mark.parametrize("path", ["/", "/p/x/columns", "/api/p/x/plan", "/static/studio.js", "/verify"])
def test_without_the_token_nothing_is_shown(studio, path):
    assert asked(studio, "GET", path, **NOBODY)[0] == 401


def test_a_wrong_token_is_refused(studio):
    assert asked(studio, "GET", "/enter?token=x", **NOBODY)[0] == 401
    assert asked(studio, "GET", "/", Cookie=f"{COOKIE}=x")[0] == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example"])
def test_another_host_is_refused(studio, host):
    assert asked(studio, "GET", "/", Host=host)[0] == 421


@pytest.mark.parametrize(
    "wrong",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"X-Sfumato": "x"},
        {"X-Sfumato": ""},
    ],
)
def test_whatever_changes_something_comes_from_our_pages(studio, wrong):
    headers = {**studio.ours, **wrong}
    status, _, _ = asked(studio, "POST", "/api/open", body=b'{"file": "people.csv"}', **headers)
    assert status == 403
    assert asked(studio, "POST", "/api/open", body=b'{"file": "people.csv"}')[0] == 403


def test_pages_run_only_our_own_code(studio):
    _, _, headers = asked(studio, "GET", "/")
    policy = headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "link.csv", "linked/secret.csv", "x\0y"]
)
def test_paths_stay_inside(studio, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside") / "secret.csv"
    outside.write_text("a,b\n1,2\n")
    for link, target in ((studio.folder / "link.csv", outside), (studio.folder / "linked", outside.parent)):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    body = json.dumps({"file": name}).encode()
    status, told, _ = asked(studio, "POST", "/api/open", body=body, **studio.ours)
    assert status == 400
    assert b"secret" not in told or b"outside" in told


@pytest.mark.parametrize("path", ["/static/../guard.py", "/static/%2e%2e/guard.py", "/p/..%2f..%2fx/columns"])
def test_addresses_stay_inside(studio, path):
    assert asked(studio, "GET", path)[0] in (400, 404)


def test_an_upload_beyond_the_limit_leaves_nothing(tmp_path, monkeypatch):
    folder = tmp_path / "served"
    folder.mkdir()
    running = begin(folder, "--most-upload", "1000")
    try:
        status, told, _ = asked(running, "PUT", "/api/upload?name=big.csv", body=b"x" * 5000, **running.ours)
        assert status == 400
        assert b"1,000 bytes" in told
        assert not [one for one in folder.rglob("*") if one.is_file()]
    finally:
        running.kill()


def test_an_empty_upload_says_so(studio):
    status, told, _ = asked(studio, "PUT", "/api/upload?name=e.csv", body=b"", **studio.ours)
    assert status == 400
    assert b"empty" in told


def test_two_tabs_do_not_overwrite_each_other(studio):
    made = json.loads(asked(studio, "POST", "/api/example", body=b'{"example": "census"}', **studio.ours)[1])
    name = made["go"].split("/")[2]

    def plan() -> dict[str, Any]:
        return json.loads(asked(studio, "GET", f"/api/p/{name}/plan")[1])

    first = plan()
    change = {"changes": [[["privacy", "k_anonymity"], 7]], "revision": first["revision"]}
    assert asked(studio, "POST", f"/api/p/{name}/edit", body=json.dumps(change).encode(), **studio.ours)[0] == 200
    change["changes"] = [[["privacy", "k_anonymity"], 9]]
    status, told, _ = asked(studio, "POST", f"/api/p/{name}/edit", body=json.dumps(change).encode(), **studio.ours)
    assert status == 409
    assert json.loads(told)["tree"]["privacy"]["k_anonymity"] == 7
    assert plan()["tree"]["privacy"]["k_anonymity"] == 7


def test_what_takes_long_can_be_stopped_and_the_next_question_is_answered(studio):
    name = str(studio.told("POST", "/api/example", {"example": "patients"})["go"]).split("/")[2]
    studio.told("POST", f"/api/p/{name}/search", {})
    assert b'"event": "done"' in studio.events(name)
    bundle = f"sfumato-studio/{name}/runs/0001/release"
    given = {"bundle": bundle, "original": f"sfumato-studio/{name}/data/patients.csv", "plan": name}
    with ThreadPoolExecutor(1) as pool:
        attacked = pool.submit(studio.told, "POST", "/api/attack", given)
        while not attacked.done():
            studio.told("POST", "/api/stop", {})
    assert "You stopped it" in attacked.result()["error"]
    assert studio.told("POST", "/api/verify", {"bundle": bundle})["holds"]


JUNK = (b"", b"{", b"3", b"[]", b"null", b"{}", b'{"changes": [3], "levels": {"a": "b"}, "tree": 3, "said": []}',
        b'{"text": 3, "revision": [], "column": {}, "changes": {"a": 1}, "levels": [], "tree": null, "said": 1}',
        b'{"file": {}, "example": [], "bundle": 3, "original": [], "plan": 3, "limit": {}, "sql": []}')  # fmt: skip


def test_what_no_page_would_send_is_refused_and_never_a_fault(studio, project):
    posts = ["/api/open", "/api/example", "/api/verify", "/api/attack"]
    posts += [f"/api/p/{project}/{one}" for one in ("edit", "levels", "nested", "declared", "promise", "read", "grant",
                                                   "confirm", "ask", "run/1/around", "run/1/pick")]  # fmt: skip
    for path in posts:
        for body in JUNK:
            status, told, _ = asked(studio, "POST", path, body=body, **studio.ours)
            assert status in (200, 400, 409), (path, body, status, told)
    for body in JUNK:
        assert asked(studio, "PUT", f"/api/p/{project}/plan", body=body, **studio.ours)[0] in (400, 409)
    for query in ("first=x&many=y", "first=-1&many=0", "first=9999999999999999999999", "first=²"):
        assert asked(studio, "GET", f"/api/p/{project}/rows?{quote(query, safe='=&')}")[0] == 200
    assert asked(studio, "GET", f"/p/{project}/result/99999999999999999999")[0] in (303, 400, 404)


def test_names_and_values_are_shown_and_not_run(studio):
    evil = "<script>alert(1)</script>"
    rows = f'"{evil}",age\n' + "".join(f'"{evil}{n % 3}",{20 + n % 40}\n' for n in range(60))
    status, told, _ = asked(
        studio, "PUT", f"/api/upload?name={quote(evil + '.csv')}", body=rows.encode(), **studio.ours
    )
    assert status in (200, 400)
    if status == 200:
        page = asked(studio, "GET", json.loads(told)["go"])[1]
        assert b"<script>alert" not in page
    assert b"<script>alert" not in asked(studio, "GET", "/")[1]


STAGES = ("read", "count", "search", "recode", "judge", "attack", "write", "report", "verify")


@pytest.mark.parametrize("stage", [None, "attack", "verify"])
def test_a_project_survives_kill_9_in_the_middle_of_a_search(tmp_path: Path, stage: str | None):
    """Killed at once, or when a stage or a later one has begun; a release is then whole, or nothing is there."""
    running = begin(tmp_path)
    name = str(running.told("POST", "/api/example", {"example": "patients"})["go"]).split("/")[2]
    project = tmp_path / "sfumato-studio" / name
    before = (project / "plan.toml").read_bytes()
    running.told("POST", f"/api/p/{name}/search", {})
    if stage is not None:
        with running.asked("GET", f"/api/p/{name}/progress") as events:
            later = STAGES[STAGES.index(stage) :]
            while (line := events.readline()) and not any(f'"{one}"'.encode() in line for one in later):
                pass
    running.kill()
    again = begin(tmp_path)
    try:
        assert (project / "plan.toml").read_bytes() == before
        assert asked(again, "GET", f"/p/{name}/search")[0] == 200
        left = sorted((project / "runs").glob("*")) if (project / "runs").exists() else []
        assert all(sf.verify(one / "release").holds for one in left)
        if stage is None:
            again.told("POST", f"/api/p/{name}/search", {})
            assert b'"event": "done"' in again.events(name)
    finally:
        again.kill()


def planned(studio: Running, project: str, text: str) -> tuple[int, bytes]:
    """Save a plan from the panel."""
    revision = studio.told("GET", f"/api/p/{project}/plan")["revision"]
    body = json.dumps({"text": text, "revision": revision}).encode()
    return asked(studio, "PUT", f"/api/p/{project}/plan", body=body, **studio.ours)[:2]


@pytest.mark.parametrize("pattern", ["linked/*.csv", "linked/**", "*/secret.csv", "linked", "lin[k]ed/s*.csv"])
def test_a_pattern_does_not_lead_out_through_a_link(studio, project, tmp_path_factory, pattern):
    """A pattern is expanded first, and then every match is resolved: a linked folder may be in the middle of it."""
    outside = tmp_path_factory.mktemp("outside") / "secret.csv"
    outside.write_text("age,name\n" + "41,Alice\n42,Bob\n" * 20)
    link = studio.folder / "linked"
    link.unlink(missing_ok=True)
    link.symlink_to(outside.parent)
    text = f'[input]\npath = "../../{pattern}"\n[columns.age]\nrole = "quasi"\nhierarchy = {{ kind = "flat" }}\n'
    planned(studio, project, f"{text}[privacy]\nk_anonymity = 2\n")
    told = asked(studio, "GET", f"/api/p/{project}/rows?first=0&many=10")[1]
    assert b"Alice" not in told
    assert b"outside of the folder" in told
    link.unlink()


def test_a_name_of_300_characters_is_refused(studio, project):
    name = "x" * 300 + ".csv"
    assert asked(studio, "PUT", f"/api/upload?name={name}", body=b"a\n1\n", **studio.ours)[0] == 400
    assert asked(studio, "POST", "/api/open", body=json.dumps({"file": name}).encode(), **studio.ours)[0] == 400
    for path in (name, f"{'y/' * 3000}z.csv"):
        assert planned(studio, project, f'[input]\npath = "{path}"\n')[0] in (200, 400)
        assert asked(studio, "GET", f"/api/p/{project}/rows?first=0&many=10")[0] in (200, 400)
    assert asked(studio, "GET", f"/p/{name}/columns")[0] in (400, 404)


def test_the_plan_panel_has_the_limit_of_the_command_line(studio, project):
    status, told = planned(studio, project, "# " + "x" * 16_000_001)
    assert status == 400
    assert b"16,000,000 are read" in told
    assert asked(studio, "PUT", f"/api/p/{project}/plan", body=b"x" * 64_000_001, **studio.ours)[0] == 400
