"""Reports as files: whole, the same each time, harmless whatever they tell of, and of bounded size."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
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
from review.office.store.store import Office
from review.verdict.certificate.certify import certify
from rosetta_tui.commands import rosetta
from rosetta_tui.html.leaderboard_page import leaderboard_page
from rosetta_tui.html.page import MOST_LETTERS
from rosetta_tui.html.released_page import released_page
from rosetta_tui.html.review_page import page_of_verdicts, review_page, verdict
from rosetta_tui.html.run_page import RunFacts, page_of_run, read_facts, run_page
from tests.harness.ranked import play, ranked_corpus
from tests.harness.release.made import CANARY
from tests.harness.release.made import Office as ReleaseOffice
from tests.review.verdict import histories
from tests.review.verdict.certified import ISSUED, certificate_of, issue, issuer, review_of
from tests.review.verdict.histories import RUN
from tests.tui.hostile import acting
from tests.tui.html.kept import as_kept
from tests.tui.html.spoiling import PLANTED, spoilt
from tests.tui.html.strict import StrictPage
from tests.tui.review.organising import GO, scene
from tests.tui.scenes import HOSTILE

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


@pytest.mark.parametrize("name", ["run", "leaderboard", "review"])
def test_a_page_is_whole_and_as_it_was(played: Played, name: str) -> None:
    page = the_pages(played)[name]
    StrictPage(page)
    as_kept(name, page)


def test_the_same_run_gives_the_same_bytes(played: Played) -> None:
    assert the_pages(played) == the_pages(played)


def test_a_run_stands_between_floors_and_the_runs_of_its_list_alone(played: Played) -> None:
    page = StrictPage(the_pages(played)["run"])
    rows = " ".join(page.of["th"])
    assert all(name in rows for name in ("alpha", "beta", "gamma", "one constant output floor"))
    assert "B is better" not in page.text
    assert "A is better than B" in page.text
    assert "What is missing, and why" in page.text


def test_who_cannot_be_told_apart_stands_together(played: Played) -> None:
    page = StrictPage(the_pages(played)["leaderboard"])
    assert "These 2 cannot be told apart by chrF++: their order may be chance." in page.text
    assert "other entries (12 of 30)" in page.text


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


def test_what_cannot_be_reported_is_named(here: Played) -> None:
    assert "no run 'nothing'" in str(called("nothing").exception)
    assert "named twice" in str(called(here.few, "--against", here.few).exception)
    assert "of a corpus 'nowhere'" in str(called("leaderboard", "--dataset", "nowhere").exception)
    assert "cannot be sorted" in str(called("leaderboard", "--sort", "beauty").exception)
    assert not list(Path().iterdir())


def test_a_run_without_a_card_has_no_page(tmp_path: Path) -> None:
    run = play(tmp_path / "rosetta.sqlite", ranked_corpus(6), 3, "alpha")
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
        with pytest.raises(HarnessError, match="no card yet"):
            run_page(store, find_run(store, run).run_id)


# Hostile texts and large runs


@pytest.mark.parametrize("text", [*PLANTED, *HOSTILE])
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
