"""Reports in a real Chromium: nothing on them runs, nothing is fetched, and all fits a telephone and a sheet."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness.store.file.database import open_store
from rosetta_tui.html.run_page import page_of_run, read_facts
from tests.harness.ranked import play, ranked_corpus
from tests.tui.html.spoiling import PLANTED, spoilt

BROWSER = shutil.which("chromium")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")

PATIENCE = 60
"""Seconds; a browser on a busy machine sometimes never ends, and then nothing is learned of the page."""

SEEN = "<p id='seen'></p><script>document.getElementById('seen').textContent = 'ran'</script>"
"""What would tell that a script runs."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a run with something planted into every text."""
    path = tmp_path_factory.mktemp("seen") / "rosetta.sqlite"
    run = play(path, ranked_corpus(12), 4, "alpha")
    with closing(open_store(path)) as store:
        found = read_facts(store, run)
    text = "".join(
        (*PLANTED, "<img src='http://planted.example/x'>", "url(http://planted.example/y)")
    )
    card = spoilt(found.card, text)
    summary = replace(found.summary, card=card, model_slug=text)
    return page_of_run(replace(found, card=card, summary=summary), None, [0.1, 0.2])


@contextmanager
def proxy() -> Iterator[tuple[str, list[str]]]:
    """Run a server that every request goes to, whatever its address; yields its own and those that were asked for."""
    asked: list[str] = []

    class Noting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_CONNECT = do_GET  # noqa: N815  as http.server calls it

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Noting) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def browse(tmp_path: Path, page: str, *options: str) -> str:
    """Open a page as a file and return its elements as they are when it has loaded."""
    path = tmp_path / "page.html"
    path.write_text(page, "utf-8")
    profile = tmp_path / "profile"
    words = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--no-pings", "--proxy-bypass-list=<-loopback>",
        "--virtual-time-budget=2000", f"--user-data-dir={profile}", *options, "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    shown = tmp_path / "shown"
    # tests of the window leave it without a font, and a browser that finds none waits for one for ever
    with_fonts = {name: value for name, value in os.environ.items() if name != "FONTCONFIG_FILE"}
    with shown.open("wb") as file:
        browser = subprocess.Popen(
            words, stdout=file, stderr=subprocess.DEVNULL, env=with_fonts, start_new_session=True
        )
        try:
            assert browser.wait(PATIENCE) == 0
        except subprocess.TimeoutExpired:
            pytest.skip("Chromium does not come to an end here")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
    return shown.read_text("utf-8")


def without_policy(page: str) -> str:
    """Return a page that a browser lets do what it likes."""
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert bare != page
    return bare


@pytest.mark.costly("three pages in a real browser")
def test_no_text_runs_or_fetches_with_or_without_the_policy(tmp_path: Path, hostile: str) -> None:
    open_page = hostile.replace("</main>", f"{SEEN}<img src='http://planted.example/z'></main>")
    with proxy() as (address, asked):
        shown = browse(tmp_path, without_policy(hostile), f"--proxy-server={address}")
        assert re.search(r"<title>[^<]*&lt;script&gt;", shown)
        assert not re.search(r"<(script|img|a [^>]*javascript)", shown)
        stopped = browse(tmp_path, open_page, f"--proxy-server={address}")
        assert '<p id="seen"></p>' in stopped
        assert [each for each in asked if "planted" in each] == []
        ran = browse(tmp_path, without_policy(open_page), f"--proxy-server={address}")
    assert '<p id="seen">ran</p>' in ran, "the test would see a script"
    assert [each for each in asked if "planted" in each], "the test would see a request"


@pytest.mark.costly("a page in a real browser")
def test_it_has_its_own_style_and_fits_a_telephone(tmp_path: Path, hostile: str) -> None:
    """The policy names the very bytes of the style; nothing is wider than 360 pixels."""
    (tmp_path / "report.html").write_text(hostile, "utf-8")
    frame = (
        "<!doctype html><iframe id=f src=report.html style='width:360px;height:800px;border:0'></iframe><p id=told></p>"
        "<script>onload = () => { const page = document.getElementById('f').contentDocument; document.getElementById('told')"
        ".textContent = page.documentElement.scrollWidth + ' ' + getComputedStyle(page.body).maxWidth }</script>"
    )
    shown = browse(tmp_path, frame, "--allow-file-access-from-files")
    width, widest = re.findall(r"<p id=\"told\">(\d+) ([\d.]+)px</p>", shown)[0]
    assert int(width) <= 360
    assert float(widest) > 360, "its style was taken"
