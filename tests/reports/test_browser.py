"""Every page, full of payloads, in a real browser: nothing runs and nothing is requested.

Pages are tried with their policy and without it, so that escaping and policy each hold by themselves. Raw payloads
prove that the test can fail: they run, and their requests are seen.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from sfumato.reports.pages import environment
from tests.reports.payloads import PAYLOADS, RUN, pages

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OWN = ("google.com", "googleapis.com", "gvt1.com", "gstatic.com")
"""Whom the browser itself calls when it starts."""
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
LOADING = "script,img,iframe,link,object,embed,form,base,video,audio,foreignObject,use,image"
INDEX = """<!DOCTYPE html><title>index</title>%s<pre id="told"></pre>
<script>
addEventListener("load", () => setTimeout(() => {
  const told = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument;
    told[frame.id] = {
      ran: page.documentElement.dataset.ran === "1",
      title: page.title,
      loading: [...page.querySelectorAll("%s")].map(one => one.tagName),
      handlers: [...page.querySelectorAll("*")].flatMap(one => one.getAttributeNames()).filter(n => n.startsWith("on")),
      links: [...page.querySelectorAll("a")].map(one => one.getAttribute("href")).filter(x => x && !x.startsWith("#")),
      words: page.body.innerText.length,
      payloads: page.body.textContent.includes("<script>"),
    };
  }
  document.getElementById("told").textContent = "told:" + JSON.stringify(told) + ":told";
}, 400));
</script>"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(BROWSER is None, reason="needs a browser: chromium or google-chrome on the path"),
]


@contextmanager
def recording(served: dict[str, str]) -> Iterator[tuple[int, list[str]]]:
    """A proxy that serves ``http://pages.test/NAME``, and writes down every other request."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            name = url.path.strip("/")
            found = served.get(name) if url.hostname == "pages.test" else None
            if found is None and name != "favicon.ico":
                asked.append(self.path)
            body = (found or "").encode()
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_CONNECT(self) -> None:
            asked.append(f"https://{self.path}")
            self.send_error(403)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        server.server_close()


def browsed(served: dict[str, str], profile: Path) -> tuple[dict[str, Any], list[str]]:
    """What a browser that opens all pages side by side makes of each, and what it asks for elsewhere."""
    frames = "".join(f'<iframe id="{name}" src="/{name}" width="900" height="600"></iframe>' for name in served)
    with recording({**served, "index": INDEX % (frames, LOADING)}) as (port, asked):
        done = subprocess.run(
            [
                str(BROWSER),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                f"--user-data-dir={profile}",
                f"--proxy-server=http://127.0.0.1:{port}",
                "--proxy-bypass-list=<-loopback>",
                "--virtual-time-budget=8000",
                "--dump-dom",
                "http://pages.test/index",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    found = re.search(r"told:(\{.*\}):told", done.stdout, re.DOTALL)
    assert found, f"the browser told nothing: {done.stdout[:300]} {done.stderr[-2000:]}"
    told: dict[str, Any] = json.loads(found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    return told, [one for one in asked if not str(urlsplit(one).hostname).endswith(OWN)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return pages(tmp_path_factory.mktemp("made"))


def test_nothing_runs_and_nothing_is_requested(made: dict[str, str], tmp_path: Path) -> None:
    bare = {f"{name}-bare": POLICY.sub("", page) for name, page in made.items()}
    assert all(bare[f"{name}-bare"] != page for name, page in made.items() if name != "card")
    told, asked = browsed({**made, **bare}, tmp_path)
    assert asked == []
    for name, page in told.items():
        assert not page["ran"], name
        assert "leak" not in page["title"], name
        assert (page["loading"], page["handlers"], page["links"]) == ([], [], []), name
        assert page["words"] > 200, name
        assert page["payloads"] or name.startswith("frontier"), name
    assert set(told) == {*made, *bare}


def test_raw_payloads_run_and_are_seen(tmp_path: Path) -> None:
    """The control: each page of raw payloads is noticed, by what it does and by what it asks for."""
    raw = {f"raw{n}": f"<!DOCTYPE html><title>x</title><body>{PAYLOADS[n]}</body>" for n in (0, 1, 3, 5, 7)}
    told, asked = browsed(raw, tmp_path)
    assert {name for name, page in told.items() if page["ran"]} >= {"raw0", "raw1", "raw3"}
    assert {urlsplit(one).path for one in asked} >= {"/ran", "/img", "/css", "/sheet"}
    assert all(told[name]["loading"] or told[name]["handlers"] for name in ("raw0", "raw1", "raw3", "raw7"))


def test_the_policy_alone_stops_raw_payloads(tmp_path: Path) -> None:
    """The second wall: under the policy of our pages, raw payloads neither run nor load."""
    policy = environment().get_template("head.html.j2").render()
    held = {f"held{n}": f"<!DOCTYPE html>{policy}<title>x</title><body>{PAYLOADS[n]}</body>" for n in (0, 1, 3, 5, 7)}
    held["link"] = f'<!DOCTYPE html>{policy}<body><a id=a href="javascript:{RUN}">x</a><script>a.click()</script>'
    told, asked = browsed(held, tmp_path)
    assert not any(page["ran"] for page in told.values())
    assert asked == []
