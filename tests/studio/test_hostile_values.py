"""Script in every kind of value and name: it is shown, and never run."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest

from tests.studio.conftest import Running, Seen, needs_browser, patient
from tests.studio.test_guard import asked, ours

pytestmark = [needs_browser, patient, pytest.mark.slow, pytest.mark.xdist_group("studio")]
EVIL = "<img src=x onerror=window.ran=1><script>window.ran=1</script>\"'>"
PAGES = ("columns", "hierarchies", "requirement", "search", "result", "compare", "export")


def table() -> bytes:
    """Evil names and evil cells, in columns of every role."""
    out = io.StringIO()
    lines = csv.writer(out)
    lines.writerow([EVIL, "job" + EVIL, "ill"])
    lines.writerows([20 + n % 4, f"{EVIL}{n % 2}", f"flu{EVIL}{n % 3}"] for n in range(80))
    return out.getvalue().encode()


def plan(path: str) -> str:
    groups = json.dumps({f"all{EVIL}": [f"{EVIL}0", f"{EVIL}1"]})
    age, job = json.dumps(EVIL), json.dumps("job" + EVIL)
    ((name, values),) = json.loads(groups).items()
    return f"""# {EVIL}
[input]
path = {json.dumps(path)}
[about]
title = {json.dumps(EVIL)}
[columns.{age}]
role = "quasi"
hierarchy = {{ kind = "flat" }}
[columns.{job}]
role = "quasi"
hierarchy = {{ kind = "groups", groups = {{ {json.dumps(name)} = {json.dumps(values)} }} }}
[columns.ill]
role = "sensitive"
[privacy]
k_anonymity = 2
"""


def test_nothing_in_the_data_runs(seen: Seen, studio: Running):
    name = quote(f"{EVIL.replace('/', '')}.csv")
    status, told, _ = asked(studio, "PUT", f"/api/upload?name={name}", body=table(), **ours(studio))
    assert status == 200, told
    project = json.loads(told)["go"].split("/")[2]
    state = json.loads(asked(studio, "GET", f"/api/p/{project}/plan")[1])
    saved = {"text": plan(state["tree"]["input"]["path"]).replace("[about]\ntitle", "[about]\npurpose")}
    body = json.dumps({**saved, "revision": state["revision"]}).encode()
    status, told, _ = asked(studio, "PUT", f"/api/p/{project}/plan", body=body, **ours(studio))
    assert status == 200, told
    assert json.loads(told)["problem"] is None, json.loads(told)["problem"]
    page = seen.page
    page.goto(f"{studio.address}/p/{project}/search")
    page.click("#go")
    page.wait_for_url("**/result/1", timeout=60_000)
    for address in (
        *(f"p/{project}/{one}" for one in PAGES),
        "",
        "verify",
        "attack",
        "joint",
        f"p/{quote(EVIL)}/columns",
    ):
        page.goto(f"{studio.address}/{address}")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("() => window.ran") is None, address
        assert page.locator("img[src=x]").count() == 0, address
    page.goto(f"{studio.address}/p/{project}/run/1/inside.html")
    assert page.locator("img[src=x]").count() == 0
    refused = [one for one in seen.faults if "404" not in one and "400" not in one]
    assert refused == []
    assert seen.elsewhere == []


def test_a_report_may_run_nothing(studio: Running):
    names = [one.name for one in (studio.folder / "sfumato-studio").iterdir() if (one / "runs" / "0001").exists()]
    for name in names[:1]:
        _, _, headers = asked(studio, "GET", f"/p/{name}/run/1/inside.html")
        policy = headers["content-security-policy"]
        assert "sandbox" in policy
        assert "script-src" not in policy
        assert "default-src 'none'" in policy
