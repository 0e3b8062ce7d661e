"""Reports and cards of a review as files: whole, harmless whatever they tell of, and of bounded size."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

import rosetta_tui.html
from corpora.model.entry import Segment
from harness.card.checking.verify_card import seal
from harness.card.exporting import card_bytes
from harness.card.importing import import_card
from harness.card.model import EntryResult
from harness.card.rows import load_card
from harness.core.failures import HarnessError, UsageError
from harness.leaderboard.ranking import leaderboards
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from harness.store.sweeps import list_sweeps
from harness.sweep.record import CellRecord, SweepRecord, sweep_record
from harness.sweep.state import CellMeasure
from review.office.making.publishing import CardSheet, ReviewerCard
from review.office.making.texts import Kind, review_texts
from review.office.store.store import Office
from review.verdict.certificate.certify import certify
from rosetta_tui.commands import rosetta
from rosetta_tui.html.entries import weakest
from rosetta_tui.html.leaderboard_page import leaderboard_page, released_page
from rosetta_tui.html.page import MOST_LETTERS
from rosetta_tui.html.review_page import page_of_verdicts, review_page, verdict
from rosetta_tui.html.run_page import RunFacts, page_of_run, read_facts, run_page
from rosetta_tui.html.stick_pages import ON_A_SHEET, cards_page
from rosetta_tui.html.sweep_page import page_of_sweep
from rosetta_tui.report.sweep import claimed
from rosetta_tui.sweep.grid import SweepMap, cell_words
from scoring.core.specification import TRANSLATIONS
from tests.harness.card import factory
from tests.harness.ranked import play, ranked_corpus
from tests.harness.release.made import CANARY
from tests.harness.release.made import Office as ReleaseOffice
from tests.harness.sealed.refusals import refuses
from tests.harness.sweep.made import AXES, cells, made_sweep
from tests.review.browser.drivers import browser
from tests.review.thorough import first
from tests.review.verdict import histories
from tests.review.verdict.certified import ISSUED, certificate_of, issue, issuer, review_of
from tests.review.verdict.histories import RUN
from tests.tui.conftest import Played
from tests.tui.golden import compare_file
from tests.tui.html.strict import PLANTED, StrictPage, decoded, masked, spoilt
from tests.tui.review.organising import GO, scene
from tests.tui.runs.made import stopped
from tests.tui.scenes import HOSTILE, acting

FILES = Path(rosetta_tui.html.__file__).parent


@pytest.fixture
def here(played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Played:
    monkeypatch.setenv("ROSETTA_HOME", str(played.home))
    monkeypatch.chdir(tmp_path)
    return played


def called(*words: str) -> Any:
    return CliRunner().invoke(rosetta, ["report", *words])


def read(played: Played, run: int = 1) -> RunFacts:
    with closing(open_store(played.path)) as store:
        return read_facts(store, played.runs[run])


def with_card(found: RunFacts, card: dict[str, Any]) -> RunFacts:
    return replace(found, card=card, results=[EntryResult.model_validate(row) for row in card["results"]])


# What stands on them


def test_page_of_a_run_is_as_kept_between_floors_and_its_list(played: Played) -> None:
    with closing(open_store(played.path)) as store:
        page = run_page(store, played.runs[0], played.runs[2])
        assert page == run_page(store, played.runs[0], played.runs[2]), "the same each time"
    compare_file("html/run.html", masked(page))
    told = StrictPage(page)
    rows = " ".join(told.of["th"])
    assert all(name in rows for name in ("alpha", "beta", "gamma", "one constant output floor"))
    assert "What is missing, and why" in told.text


def test_pages_of_a_leaderboard_and_a_review_are_whole(played: Played) -> None:
    with closing(open_store(played.path)) as store:
        board = StrictPage(leaderboard_page(store, None, "chrf", best=False))
    certificate = certificate_of(issue(review_of(1)))
    review = StrictPage(page_of_verdicts("spring", [verdict(certificate)], ["2f7a01bc"]))
    assert "Not all of these 2 can be told apart by chrF++: their order may be chance." in board.text
    assert "other entries (12 of 30)" in board.text
    assert "spring" in " ".join(review.of["h1"])


def test_a_review_says_what_its_certificate_says(tmp_path: Path) -> None:
    made = scene(tmp_path, replace(GO, reviewers=5))
    with made.office() as office, pytest.raises(UsageError, match="no certificate yet"):
        review_page(office, office.review("spring"))
    made.desk.look("spring", made.run_id)
    made.desk.issue("spring", made.run_id, tmp_path / "out")
    looks = made.kinds()
    with Office.open(tmp_path) as office:
        review = office.review("spring")
        page = StrictPage(review_page(office, review))
        [issued] = office.certificates(review)
    assert issued.sha256 in page.text
    assert "Go: the speakers find the method good enough." in page.text
    assert made.kinds() == looks, "it is no look at the ratings"


def test_no_heading_is_parted_from_its_drawing_in_print(played: Played, found: SweepRecord) -> None:
    certificate = certificate_of(issue(review_of(1)))
    pages = [page_of_verdicts("spring", [verdict(certificate)], []), page_of_sweep(found, "")]
    with closing(open_store(played.path)) as store:
        pages.append(run_page(store, played.runs[0]))
    headings = r'(<div class="whole">\s*)?<h2[^>]*>[^\n]*</h2>\s*(?:<p class="quiet">[^\n]*</p>\s*)?<figure(?! class="bars ranks)'
    parted = [re.findall(headings, page) for page in pages]
    assert [len(each) for each in parted] == [2, 1, 3]
    assert all(each for page in parted for each in page)
    assert all(re.search(r"\.whole,[^}]*break-inside: avoid", page) for page in pages)


@pytest.mark.skipif(shutil.which("firefox-esr") is None, reason="Firefox is not installed")
@pytest.mark.costly("a page in a real browser")
async def test_the_leaderboard_fits_on_paper_in_firefox(played: Played, tmp_path: Path) -> None:
    with closing(open_store(played.path)) as store:
        (tmp_path / "board.html").write_text(leaderboard_page(store, None, "chrf", best=False), "utf-8")
    async with browser("firefox", tmp_path / "profile", tmp_path / "downloads") as window:
        await window.open(tmp_path / "board.html")
        paper = "(b => { b.style.width = '680px'; b.style.padding = 0; return b.scrollWidth })(document.body)"
        assert await window.run(paper) <= 680


# What may not leave


def test_no_page_has_anything_of_a_secret_run(here: Played, tmp_path: Path) -> None:
    for words in ((here.secret,), ("run", here.runs[0], "--against", here.secret)):
        refused = called(*words)
        assert isinstance(refused.exception, UsageError)
        assert "released card" in str(refused.exception)
    assert not list(tmp_path.iterdir())
    assert called("leaderboard").exit_code == 0
    page = Path("leaderboard.html").read_text("utf-8")
    assert "leave as a released card only" in page
    assert here.secret[:8] not in page
    assert "delta" not in page
    assert "4 runs in 3 lists" in page
    assert "source sentence number" not in page


def test_beside_an_imported_secret_run_stands_none_of_this_computer(tmp_path: Path) -> None:
    """An imported card is shown as it is; a run over the same secret entries that was made here stays inside."""
    corpus = ranked_corpus(20, Segment.GOLD_STANDARD)
    made = [tmp_path / name / "rosetta.sqlite" for name in ("theirs", "ours")]
    for path in made:
        path.parent.mkdir()
    theirs, ours = (play(path, corpus, 10 + n, f"model{n}") for n, path in enumerate(made))
    with closing(open_store(made[0])) as store:
        card = card_bytes(load_card(store, find_run(store, theirs).id))
    with closing(open_store(made[1])) as store:
        assert import_card(store, card, "theirs.json").unverified is None
        assert {e.run.run_id for [b] in [leaderboards(store)] for e in b.entrants} == {theirs, ours}
        page = run_page(store, theirs)
        board = leaderboard_page(store, None, "chrf", best=False)
    assert "Entries of this run are secret" in page
    assert "model0" in page
    assert "model1" not in page
    assert ours[:8] not in page
    assert not {theirs[:8], ours[:8], "model0", "model1"} & set(re.findall(r"\w+", board))


def test_a_released_card_has_a_page_of_what_it_tells_alone(tmp_path: Path) -> None:
    office = ReleaseOffice(tmp_path)
    run = office.run(0.6)
    data = office.release(run)
    with closing(open_store(tmp_path / "elsewhere.sqlite")) as store:
        _check_released_page(data, store)


def _check_released_page(data: bytes, store: sqlite3.Connection) -> None:
    page = StrictPage(released_page(data, "ann.json", store))
    told = json.loads(data)
    scores = [
        *told["scores"].values(),
        *(s for p in told["parts"].values() for part in p.values() for s in part.values()),
    ]
    known = [number for s in scores for number in s.values() if number is not None]
    steps = {f"{number:.{places}f}" for number in known for places in (1, 2)}
    shown = set(re.findall(r"(?<![\d.])\d+\.\d+", " ".join(page.of["title"])))
    assert shown, "scores are on it"
    assert shown <= steps, "and no other number"
    assert "answer 1 of 3 to Ann" in page.text
    assert CANARY not in page.text
    with pytest.raises(UsageError, match="changed after it was signed"):
        released_page(data.replace(b'"answer":1', b'"answer":2'), "ann.json", store)
    refuses(UsageError, "no released card", released_page, b"{}", "ann.json", store)


# Files


def test_what_cannot_be_reported_is_refused(here: Played) -> None:
    for words, said in (
        (("nothing",), "No run is named 'nothing'"),
        ((here.few, "--against", here.few), "named twice"),
        (("leaderboard", "nowhere"), "of a corpus 'nowhere'"),
        (("leaderboard", "--sort", "beauty"), "cannot be sorted"),
        (("sweep", "last", "--best"), "--best is of `rosetta report leaderboard`"),
    ):
        assert said in str(called(*words).exception)
    assert not list(Path().iterdir())


def test_run_without_a_card_has_no_page(tmp_path: Path) -> None:
    made = stopped(tmp_path / "rosetta.sqlite", stored=3)
    refuses(HarnessError, "no card yet", run_page, made.store, made.run_id)


# Hostile texts and large runs


@pytest.mark.parametrize("text", first(5, [*PLANTED, HOSTILE[3], HOSTILE[6], *HOSTILE]))
def test_no_text_of_a_card_is_more_than_text(played: Played, text: str) -> None:
    found = read(played)
    card = spoilt(found.card, text)
    named = found.summary._replace(card=card, method=text, model_slug=text, dataset_id=text, language_pair=text)
    others = tuple(each._replace(model_slug=text) for each in found.beside)
    hostile = StrictPage(page_of_run(replace(with_card(found, card), summary=named, beside=others), None, [0.1, 0.2]))
    assert acting(hostile.text.replace("\n", "")) == []
    assert set(hostile.tags) <= set(StrictPage(page_of_run(found, None, [0.1, 0.2])).tags)
    if text in PLANTED:
        assert text in unescape(hostile.text)


@pytest.mark.parametrize("text", [PLANTED[0], HOSTILE[6]])
def test_no_name_on_a_certificate_is_more_than_text(text: str) -> None:
    evidence = review_of(1)
    key = evidence.key.model_copy(update={"panel": text, "review": text})
    hostile = histories.evidence_of(histories.with_run(key, dataset_id=text), list(evidence.events))
    certificate = certify(hostile, RUN, issuer(name=text), ISSUED)
    page = StrictPage(page_of_verdicts(text, [verdict(certificate)], [text]))
    assert acting(page.text.replace("\n", "")) == []
    assert "script" not in page.tags


def test_templates_have_one_way_to_write_a_text() -> None:
    templates = [
        path for room in ("harness", "review", "rosetta_tui") for path in (FILES.parents[1] / room).rglob("*.j2")
    ]
    assert len(templates) > len(list((FILES / "templates").iterdir()))
    for path in templates:
        used = re.findall(r"\|\s*(\w+)", path.read_text("utf-8"))
        assert set(used) <= {"length", "round"}, (path.name, used)


def test_a_page_of_2000_long_entries_is_no_larger_than_one_of_30(played: Played) -> None:
    found, long = read(played, 2), {"source": "ŝ" * 50_000, "predicted": "&" * 50_000}
    rows = [
        row.model_copy(update={"entry_id": n, **long})  # the same two texts in each, so that these cost 150 kB
        for n in range(67)
        for row in found.results
    ]
    page = page_of_run(replace(found, results=rows), None, [0.1] * 2000)
    assert len(rows) >= 2000
    assert f"(and {50_000 - MOST_LETTERS:,} more characters)" in page
    assert len(page.encode()) < 250_000
    StrictPage(page)


def test_failed_entries_leave_room_for_weak_outputs(played: Played) -> None:
    rows = read(played, 2).results
    lost = [row.model_copy(update={"error_class": "timeout", "predicted": None}) for row in rows[:15]]
    for more, failed in ((rows[15:], 3), (rows[15:17], 8), ([], 10)):
        shown = weakest([*lost, *more], TRANSLATIONS)
        assert [bool(entry.outputs[0].failed) for entry in shown] == [True] * failed + [False] * (10 - failed)


# Seen


# The page of a sweep


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("swept")
    made_sweep(found / "rosetta.sqlite", AXES, [each for each in cells() if each.state != "running"])
    return found


@pytest.fixture(scope="module")
def found(home: Path) -> SweepRecord:
    with closing(open_store(home / "rosetta.sqlite")) as store:
        from_store = sweep_record(store, list_sweeps(store)[0])
    return changed(from_store, lambda each: {} if each.composite is None else {
        "composite_interval": (each.composite - 0.05, each.composite + 0.05), "cost_usd": 0.25,
    })  # fmt: skip


def changed(found: SweepRecord, change: Callable[[CellRecord], dict[str, Any]]) -> SweepRecord:
    told = tuple(each.model_copy(update=change(each)) for each in found.cells)
    return found.model_copy(update={"cells": told})


def test_its_map_is_that_of_the_screen(found: SweepRecord) -> None:
    of = SweepMap(found)
    grid = of.grid("model", "temperature", CellMeasure.COMPOSITE, CellMeasure.COMPOSITE)
    page = page_of_sweep(found, "eo-demo-v1 · EN→EO")
    StrictPage(page)
    assert "$2.75" in page, "eleven complete runs at $0.25"
    table = re.findall(r"<td>(.*?)</td>", page.split('<table class="map">')[1].split("</table>")[0])
    told = [re.sub(r"<.*?>", "", each) for each in table]
    places = [(row, column) for row in range(len(grid.rows)) for column in range(len(grid.columns))]
    assert told == [
        "no run" if (cell := grid.cells.get(place)) is None else f"{cell_words(grid, cell)} {cell.signs}".strip()
        for place in places
    ]  # fmt: skip
    assert "0.68 ★◆" in told


def test_what_does_not_compare_or_is_not_whole_is_told_and_not_drawn(found: SweepRecord) -> None:
    """Complete runs of the usual inputs have a dot and an interval; 0.71 weighs other metrics."""
    begun = changed(found, lambda each: {} if each.state == "complete" else {"composite": 0.9})
    page = page_of_sweep(begun, "")
    runs = page.split('id="runs"')[1]
    usual = [each for each in found.cells if each.state == "complete" and len(each.composite_inputs) == 2]
    assert runs.count("<circle") == runs.count('class="range"') == len(usual) == 10
    assert "0.71 ≠ (0.66–0.76)" in runs
    assert runs.count("0.90 so far</td>") == len(found.cells) - 11


@pytest.mark.parametrize(("covered", "words"), [(0.55, "functional on 55 % of its weight"), (1.0, "functional"), (None, "functional")])  # fmt: skip
def test_coverage_stands_beside_the_tier_of_a_swept_run(found: SweepRecord, covered: float | None, words: str) -> None:
    cells = changed(found, lambda _: {"claimable_tier": "functional", "composite_coverage": covered})
    assert claimed(cells.cells[0]) == words
    assert ("of its weight" in page_of_sweep(cells, "")) is (covered == 0.55)
    assert claimed(changed(found, lambda _: {"claimable_tier": None}).cells[0]) == ""


def test_where_nothing_cost_quality_stands_against_seconds(found: SweepRecord) -> None:
    free = changed(found, lambda each: {} if each.cost_per_entry_usd is None else {"cost_per_entry_usd": 0.0})
    assert "Across: US dollars for 1,000 entries." in page_of_sweep(found, "")
    page = page_of_sweep(free, "")
    assert "Across: seconds an entry took." in page
    assert "no set-up is both better and faster" in page


def test_sweep_without_composite_or_runs_is_a_page(found: SweepRecord) -> None:
    bare = changed(found, lambda _: {"composite": None, "composite_interval": None, "composite_inputs": ()})
    assert "Every run by chrF++" in page_of_sweep(bare, "")
    none = changed(bare, lambda _: {"chrf_plus_plus": None, "state": "waiting", "run_id": None})
    page = StrictPage(page_of_sweep(none, ""))
    assert "no run has begun" in page.text
    assert "What quality takes" not in page.text
    assert "no baseline is complete" in page.text


@pytest.mark.parametrize("text", first(5, [*PLANTED, HOSTILE[3], HOSTILE[6], *HOSTILE]))
def test_no_name_of_a_plan_is_more_than_text(found: SweepRecord, text: str) -> None:
    def spoilt(each: CellRecord) -> dict[str, Any]:
        labels = {text + axis: text + label for axis, label in each.labels.items()}
        return {"labels": labels, "name": text + each.name, "trouble": text, "claimable_tier": text}

    axes = {text + axis: tuple(text + each for each in labels) for axis, labels in found.axes.items()}
    told = {"axes": axes, "name": text, "plan": f"plans/of/somebody/{text}.toml"}
    page = StrictPage(page_of_sweep(changed(found, spoilt).model_copy(update=told), text))
    assert acting(page.text.replace("\n", "")) == []
    assert "of/somebody" not in page.text, "where a plan lies is not told"
    assert set(page.tags) <= set(StrictPage(page_of_sweep(found, "corpus")).tags) | {"p"}


def test_the_command_writes_it(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(rosetta, ["report", "sweep", "matrix"])
    assert done.exit_code == 0, done.output
    [path] = tmp_path.iterdir()
    assert re.fullmatch(r"sweep-[0-9a-f]{8}\.html", path.name)
    StrictPage(path.read_text("utf-8"))
    assert "is there already" in str(CliRunner().invoke(rosetta, ["report", "sweep"]).exception)


# In a real Chromium: nothing runs, nothing is fetched, and all fits a telephone and a sheet

BROWSER = shutil.which("chromium")
seen_in_a_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")

PATIENCE = 60
"""Seconds; a browser on a busy machine sometimes never ends, and then nothing is learned of the page."""

SEEN = "<p id='seen'></p><script>document.getElementById('seen').textContent = 'ran'</script>"
"""What would tell that a script runs."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("seen") / "rosetta.sqlite"
    run = play(path, ranked_corpus(12), 4, "alpha")
    with closing(open_store(path)) as store:
        found = read_facts(store, run)
    text = "".join((*PLANTED, "<img src='http://planted.example/x'>", "url(http://planted.example/y)"))
    card = spoilt(found.card, text)
    summary = found.summary._replace(card=card, model_slug=text)
    return page_of_run(replace(with_card(found, card), summary=summary), None, [0.1, 0.2])


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


@seen_in_a_browser
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


@seen_in_a_browser
@pytest.mark.thorough
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


CODES = ("0O1I-LB8S", "7KQ2-MN31", "HXXD-RK0R")
FILE = "words-translate-1-2.rosetta-batch"
WORDS = "hahuy rozih dobal duyoy mibik"


def sheet(language: str = "en", task: Kind = "translate", words: str | None = WORDS) -> CardSheet:
    cards = [ReviewerCard(code, FILE, words) for code in CODES]
    phrase, texts = "galaxy ladder import actuary colon murmur", review_texts(language, task)
    return CardSheet("Sentences to translate", "Language House", phrase, texts.cards, cards)


def test_each_card_has_the_code_of_one_person_and_two_languages() -> None:
    page = cards_page(sheet("fr"))
    StrictPage(page)
    head, *cards = page.split("<article")
    assert not any(code in head for code in CODES)
    for number, (card, code) in enumerate(zip(cards, CODES, strict=True), 1):
        assert [each in card for each in CODES] == [each == code for each in CODES]
        assert f"{number} / 3" in card
        assert re.findall(r'<div lang="(..)">', card) == ["fr", "en"]
        assert card.count("<li>") == 6
        assert "Votre code · Your code" in card
    assert "hahuy" not in cards_page(replace(sheet(), cards=[ReviewerCard(CODES[0], FILE, None)]))


@pytest.mark.parametrize("words", [None, WORDS], ids=["open", "sealed"])
def test_card_with_a_page_has_its_code_as_a_qr_code(words: str | None) -> None:
    """Each picture holds the code of its card and nothing else; iPhones have no hall where the file is sealed."""
    made = sheet("fr", words=words)
    assert "<svg" not in cards_page(made), "no telephone opens a batch file"
    made = replace(made, cards=[replace(card, page=True) for card in made.cards])
    page = cards_page(made)
    StrictPage(page)
    assert page == cards_page(made), "the same each time"
    for card, code in zip(page.split("<article")[1:], CODES, strict=True):
        drawings = re.findall("<svg.*?</svg>", card, re.DOTALL)
        assert [decoded(each) for each in drawings[:1]] == [code]
        assert len(drawings) == 3
        assert "Android : ouvrez le fichier .html avec Chrome · Android: open the .html file with Chrome" in card
        assert ("come to the hall" in card, "use a computer" in card) == (words is None, words is not None)


def test_names_are_shown_and_do_nothing() -> None:
    for text in (*PLANTED, "\x1b[2J\u202e"):
        page = cards_page(replace(sheet(), title=text, organisation=text * 5))
        StrictPage(page)
        assert not re.search("<script|<img|onload=.document|\x1b|\u202e", re.sub("&lt;[^;]*", "", page))


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
@pytest.mark.costly("pages in a real browser")
@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("words", [None, WORDS], ids=["open", "sealed"])
def test_cards_fit_two_on_a_sheet(tmp_path: Path, paper: str, words: str | None) -> None:
    made = sheet("fr", words=words)
    cards = [replace(card, page=True, file=f"{FILE} · {Path(FILE).with_suffix('.html')}") for card in made.cards]
    page = cards_page(replace(made, cards=cards))
    path, printed = tmp_path / "cards.html", tmp_path / "cards.pdf"
    policy = re.sub(r"style-src [^;]*", "style-src 'unsafe-inline'", page)
    path.write_text(policy.replace("@page { ", f"@page {{ size: {paper}; "), "utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={printed}", path.as_uri()]  # fmt: skip
    subprocess.run(command, capture_output=True, check=True, timeout=60)
    sheets = len(re.findall(rb"/Type */Page\b", printed.read_bytes()))
    assert sheets == -(-len(CODES) // ON_A_SHEET)


def test_a_comparison_counts_faults_and_shows_every_metric(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        good = [entry.reference for entry in factory.ENTRIES]
        for run_id, outputs in ((factory.RUN_ID, factory.OUTPUTS), ("7" + factory.RUN_ID[1:], good)):
            seal(store, factory.add_run(store, outputs=outputs, run_id=run_id))
        text = " ".join(StrictPage(run_page(store, "7f1c3a52", "6f1c3a52")).text.split())
    assert "whatAB empty10 wrong placeholders10" in text
    assert "chrF++62.1100.0+37.9 (+10.2 … +84.4)" in text
