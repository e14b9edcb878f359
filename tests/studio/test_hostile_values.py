"""Script in every kind of value and name: it is shown, and never run."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import quote

import pytest

from tests.studio.conftest import Running, Seen, needs_browser

pytestmark = [needs_browser, pytest.mark.slow, pytest.mark.xdist_group("studio")]
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
    project = studio.begin(table(), quote(f"{EVIL.replace('/', '')}.csv"))
    state = studio.told("GET", f"/api/p/{project}/plan")
    saved = plan(state["tree"]["input"]["path"]).replace("[about]\ntitle", "[about]\npurpose")
    told = studio.told("PUT", f"/api/p/{project}/plan", {"text": saved, "revision": state["revision"]})
    assert told["problem"] is None
    page = seen.search(project)
    tools = ("", "verify", "attack", "ask", "joint", f"p/{quote(EVIL)}/columns", f"p/{project}/run/1/inside.html")
    for address in (*(f"p/{project}/{one}" for one in PAGES), *tools):
        seen.go(address)
        assert page.evaluate("() => window.ran") is None, address
        assert page.locator("img[src=x]").count() == 0, address
    refused = [one for one in seen.faults if "404" not in one and "400" not in one]
    assert refused == []
    assert seen.elsewhere == []
    with studio.asked("GET", f"/p/{project}/run/1/inside.html") as answer:
        policy = answer.getheader("content-security-policy") or ""
    assert "sandbox" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy
