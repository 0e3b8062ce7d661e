"""Reports as files: whole, the same each time, harmless whatever they tell of, and of bounded size."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rosetta_tui.html
from corpora.model.entry import Segment
from harness.card.exporting import card_bytes
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.core.failures import HarnessError, UsageError
from harness.leaderboard.ranking import leaderboards
from harness.store.file.database import open_store
from harness.store.runs import find_run
from harness.store.sweeps import list_sweeps
from harness.sweep.record import CellRecord, SweepRecord, sweep_record
from harness.sweep.standing import CellMeasure
from review.office.store.store import Office
from review.verdict.certificate.certify import certify
from rosetta_tui.commands import rosetta
from rosetta_tui.html.leaderboard_page import leaderboard_page
from rosetta_tui.html.page import MOST_LETTERS
from rosetta_tui.html.released_page import released_page
from rosetta_tui.html.review_page import page_of_verdicts, review_page, verdict
from rosetta_tui.html.run_page import RunFacts, page_of_run, read_facts, run_page
from rosetta_tui.html.sweep_page import page_of_sweep
from rosetta_tui.sweep.grid import SweepMap
from rosetta_tui.sweep.words import cell_words
from tests.harness.ranked import play, ranked_corpus
from tests.harness.release.made import CANARY
from tests.harness.release.made import Office as ReleaseOffice
from tests.harness.sweep.made import made_sweep
from tests.review.thorough import first
from tests.review.verdict import histories
from tests.review.verdict.certified import ISSUED, certificate_of, issue, issuer, review_of
from tests.review.verdict.histories import RUN
from tests.tui.golden import compare_file
from tests.tui.hostile import acting
from tests.tui.html.spoiling import PLANTED, spoilt
from tests.tui.html.strict import StrictPage, masked
from tests.tui.review.organising import GO, scene
from tests.tui.runs.made import stopped
from tests.tui.scenes import HOSTILE
from tests.tui.sweep.matrix import AXES, cells

FILES = Path(rosetta_tui.html.__file__).parent


@dataclass(frozen=True)
class Played:
    """A store with three runs of one list, best first, one over fewer entries, and one over secret ones."""

    home: Path
    runs: tuple[str, ...]
    few: str
    secret: str

    @property
    def path(self) -> Path:
        return self.home / "rosetta.sqlite"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    home = tmp_path_factory.mktemp("reports")
    path, corpus = home / "rosetta.sqlite", ranked_corpus(30)
    made = tuple(
        play(path, corpus, right, model, cost=cost)
        for right, model, cost in ((30, "alpha", 0.004), (29, "beta", 0.0), (2, "gamma", 0.001))
    )
    few = play(path, corpus, 30, "alpha", positions=range(12))
    secret = play(path, ranked_corpus(20, Segment.GOLD_STANDARD), 10, "delta")
    return Played(home, made, few, secret)


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


def the_pages(played: Played) -> dict[str, str]:
    with closing(open_store(played.path)) as store:
        return {
            "run": run_page(store, played.runs[2], played.runs[0]),
            "leaderboard": leaderboard_page(store, None, "chrf", best=False),
            "review": page_of_verdicts("spring", [verdict(certificate_of(issue(review_of(1))))], ["2f7a01bc"]),
        }  # fmt: skip


# What stands on them


def test_page_of_a_run_is_as_kept_between_floors_and_its_list(played: Played) -> None:
    page = the_pages(played)["run"]
    compare_file("html/run.html", masked(page))
    told = StrictPage(page)
    rows = " ".join(told.of["th"])
    assert all(name in rows for name in ("alpha", "beta", "gamma", "one constant output floor"))
    assert "B is better" not in told.text
    assert "A is better than B" in told.text
    assert "What is missing, and why" in told.text


def test_pages_are_whole_and_the_same_each_time(played: Played) -> None:
    pages = the_pages(played)
    assert pages == the_pages(played)
    board, review = (StrictPage(pages[name]) for name in ("leaderboard", "review"))
    assert "These 2 cannot be told apart by chrF++: their order may be chance." in board.text
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
    steps = {f"{number:.{places}f}" for s in scores for number in s.values() for places in (1, 2)}
    shown = set(re.findall(r"(?<![\d.])\d+\.\d+", " ".join(page.of["title"])))
    assert shown, "scores are on it"
    assert shown <= steps, "and no other number"
    assert "answer 1 of 10 to Ann" in page.text
    assert CANARY not in page.text
    with pytest.raises(UsageError, match="changed after it was signed"):
        released_page(data.replace(b'"answer":1', b'"answer":2'), "ann.json", store)
    with pytest.raises(UsageError, match="no released card"):
        released_page(b"{}", "ann.json", store)


# Files


def test_a_file_is_never_overwritten_unasked(here: Played) -> None:
    assert called(here.runs[0]).exit_code == 0
    path = Path(f"run-{here.runs[0][:8]}.html")
    StrictPage(path.read_text("utf-8"))
    path.write_text("mine")
    assert "is there already" in str(called("run", here.runs[0]).exception)
    assert path.read_text() == "mine"
    assert called("run", here.runs[0], "--overwrite").exit_code == 0
    assert path.read_text("utf-8") != "mine"


def test_what_cannot_be_reported_is_refused(here: Played) -> None:
    for words, said in (
        (("nothing",), "no run 'nothing'"),
        ((here.few, "--against", here.few), "named twice"),
        (("leaderboard", "--dataset", "nowhere"), "of a corpus 'nowhere'"),
        (("leaderboard", "--sort", "beauty"), "cannot be sorted"),
    ):
        assert said in str(called(*words).exception)
    assert not list(Path().iterdir())


def test_run_without_a_card_has_no_page(tmp_path: Path) -> None:
    made = stopped(tmp_path / "rosetta.sqlite", stored=3)
    with pytest.raises(HarnessError, match="no card yet"):
        run_page(made.store, made.run_id)


# Hostile texts and large runs


@pytest.mark.parametrize("text", first(6, [*PLANTED, HOSTILE[3], HOSTILE[6], *HOSTILE]))
def test_no_text_of_a_card_is_more_than_text(played: Played, text: str) -> None:
    found = read(played)
    card = spoilt(found.card, text)
    named = replace(
        found.summary, card=card, method=text, model_slug=text, dataset_id=text, language_pair=text
    )
    others = tuple(replace(each, model_slug=text) for each in found.beside)
    hostile = StrictPage(page_of_run(replace(found, card=card, summary=named, beside=others), None, [0.1, 0.2]))  # fmt: skip
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
    for path in (FILES / "templates").iterdir():
        used = re.findall(r"\|\s*(\w+)", path.read_text("utf-8"))
        assert set(used) <= {"length", "round"}, (path.name, used)


def test_a_page_of_2000_long_entries_is_no_larger_than_one_of_30(played: Played) -> None:
    found = read(played, 2)
    rows = [
        {**row, "entry_id": n, "source": "ŝ" * 50_000, "predicted": "&" * 50_000}
        for n in range(67)
        for row in found.card["results"]
    ]
    page = page_of_run(replace(found, card={**found.card, "results": rows}), None, [0.1] * 2000)
    assert len(rows) >= 2000
    assert f"(and {50_000 - MOST_LETTERS:,} more characters)" in page
    assert len(page.encode()) < 250_000
    StrictPage(page)


# Seen


def colours(style: str) -> Iterator[dict[str, str]]:
    """Yield the colours of light, dark and paper."""
    for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        yield dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", block))


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    parts = (int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_text_has_enough_contrast() -> None:
    """WCAG 2.2: 4.5 : 1 for text, 3 : 1 for what a chart is read by."""
    found = list(colours((FILES / "style.css").read_text("utf-8")))
    assert len(found) == 3
    for each, ground in product(found, ("paper", "soft")):
        for name in ("ink", "quiet", "mark", "floor", "bad", "good", "other"):
            light, dark = sorted((luminance(each[name]), luminance(each[ground])), reverse=True)
            least = 3.0 if name == "other" else 4.5
            assert (light + 0.05) / (dark + 0.05) >= least, (name, ground, each)


# The page of a sweep


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sweep that nobody works on."""
    found = tmp_path_factory.mktemp("swept")
    made_sweep(
        found / "rosetta.sqlite", AXES, [each for each in cells() if each.state != "running"]
    )
    return found


@pytest.fixture(scope="module")
def found(home: Path) -> SweepRecord:
    """What it came to, with intervals and costs."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        from_store = sweep_record(store, list_sweeps(store)[0])
    return changed(from_store, lambda each: {} if each.composite is None else {
        "composite_interval": (each.composite - 0.05, each.composite + 0.05), "cost_usd": 0.25,
    })  # fmt: skip


def changed(found: SweepRecord, change: Callable[[CellRecord], dict[str, Any]]) -> SweepRecord:
    """Return a sweep whose cells say something else."""
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
    usual = [
        each for each in found.cells if each.state == "complete" and len(each.composite_inputs) == 2
    ]
    assert runs.count("<circle") == runs.count('class="range"') == len(usual) == 10
    assert "0.71 ≠ (0.66–0.76)" in runs
    assert runs.count("0.90 so far</td>") == len(found.cells) - 11


def test_where_nothing_cost_quality_stands_against_seconds(found: SweepRecord) -> None:
    free = changed(found, lambda each: {} if each.cost_per_entry_usd is None else {"cost_per_entry_usd": 0.0})  # fmt: skip
    assert "Across: US dollars for 1,000 entries." in page_of_sweep(found, "")
    page = page_of_sweep(free, "")
    assert "Across: seconds an entry took." in page
    assert "no set-up is both better and faster" in page


def test_sweep_without_composite_or_runs_is_a_page(found: SweepRecord) -> None:
    bare = changed(found, lambda _: {"composite": None, "composite_interval": None, "composite_inputs": ()})  # fmt: skip
    assert "Every run by chrF++" in page_of_sweep(bare, "")
    none = changed(bare, lambda _: {"chrf_plus_plus": None, "state": "waiting", "run_id": None})
    page = StrictPage(page_of_sweep(none, ""))
    assert "no run has begun" in page.text
    assert "What quality takes" not in page.text
    assert "no baseline is complete" in page.text


@pytest.mark.parametrize("text", first(6, [*PLANTED, HOSTILE[3], HOSTILE[6], *HOSTILE]))
def test_no_name_of_a_plan_is_more_than_text(found: SweepRecord, text: str) -> None:
    def spoilt(each: CellRecord) -> dict[str, Any]:
        labels = {text + axis: text + label for axis, label in each.labels.items()}
        return {"labels": labels, "name": text + each.name, "trouble": text, "claimable_tier": text}

    axes = {
        text + axis: tuple(text + each for each in labels) for axis, labels in found.axes.items()
    }
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
