"""Whom `corpus agree` gives translations, and what comes back from the laptop on which they were written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from review.log.payloads import Judged
from review.office.store.store import Office as Reviews
from tests.tui.commands.new_language import Office, speaks

NEW = (
    "corpus", "new", "words", "--source-language", "en", "--target-language", "eo", "--title", "Words",
    "--organisation", "Our school", "--license", "CC0-1.0",
)  # fmt: skip
ROWS = "source\tsegment\tdifficulty\tregister\nThe elders sang here\tgold_standard\t2\tformal\nAn open sentence\tdevelopment\t1\tformal\n"
AGREE = ("corpus", "agree", "words", "-o", "second")


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """An office whose sentences were translated on one laptop."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.tsv").write_text(ROWS, "utf-8")
    made = Office(tmp_path / "home")
    made.types(*NEW)
    made.types("corpus", "sources", "words", "s.tsv")
    made.types("corpus", "translate", "words", "--passphrases", "-o", "stick")
    [card] = made.cards("words-translate-1")
    file = tmp_path / "stick" / "words-translate-1-1.rosetta-batch"
    speaks(tmp_path / "laptop", file, card, lambda original, _: [f"{original} eo"])
    made.types("review", "import", "stick", "--enrol", "--yes")
    assert "2 translations" in made.types("corpus", "gather", "words").output
    return made


def test_the_laptop_of_the_translations_is_refused_and_its_answers_are_no_agreement(
    office: Office, tmp_path: Path
) -> None:
    assert "Every laptop that is known here wrote some" in office.refused(*AGREE)
    office.types(*AGREE, "--passphrases")
    said = office.refused(*AGREE, "--passphrases")
    assert "2 sentences are with speakers" in said
    assert "--again" in said
    [card] = office.cards("words-agree-1")
    file = tmp_path / "second" / "words-agree-1-1.rosetta-batch"
    speaks(tmp_path / "laptop", file, card, lambda *_: ["4"])
    office.types("review", "import", "second", "--enrol", "--yes")
    gathered = office.types("corpus", "gather", "words").output
    assert "0 agreed to" in gathered
    assert "entries 1, 2, looked over on the laptop of the translation" in gathered
    gathered = office.types("corpus", "gather", "words", "--shared-laptop", "words-agree-1").output
    assert "2 agreed to" in gathered
    [entry] = json.loads((tmp_path / "words" / "corpus.json").read_bytes())["entries"]
    assert [each.get("same_laptop") for each in entry["speakers"]] == [None, True]


def test_the_hours_that_speakers_worked_are_those_of_their_logs(
    office: Office, tmp_path: Path
) -> None:
    reviews = Reviews.open(tmp_path / "home")
    with reviews:
        events = reviews.events(reviews.review("words-translate-1"))
    took = [each.payload.active_ms for each in events if isinstance(each.payload, Judged)]
    told = json.loads(office.types("corpus", "progress", "words", "--json").output)
    [worked] = told["worked"]
    assert (worked["people"], worked["answers"], len(took)) == (1, 2, 2)
    assert worked["hours"] == pytest.approx(sum(took) / 3_600_000)
    said = office.types("corpus", "progress", "words").output
    assert "words-translate-1: 0.0 hours, 1 person, 2 answers" in said
    assert "an hour\n  Counted is the time in which a sentence was on the screen" in said


def test_a_laptop_by_name_is_given_what_was_not_written_on_it(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = {}
    for name in ("laptop", "another"):
        with monkeypatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(tmp_path / name))
            cards[name] = f"{name}.rosetta-laptop"
            office.types("review", "enrol", "--card", cards[name], "--name", name)
    said = office.refused(*AGREE, "--for", cards["laptop"])
    assert "All 2 translations that wait were written on the laptops of --for" in said
    assert "Sealed for the laptop another" in office.types(*AGREE, "--for", cards["another"]).output
    shared = office.types(*AGREE, "--again", "--for", cards["laptop"], "--shared-laptop").output
    assert "Sealed for the laptop laptop" in shared
    known = office.types(*AGREE, "--again").output
    assert "Sealed for the laptop another" in known
    assert "Not for the laptop laptop: some of these translations were written on it." in known
    assert "Sealed for the laptop laptop" not in known


def test_a_copy_of_the_data_folder_without_the_reviews_is_said_and_forgets_nothing(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "words" / "project.json"
    before = path.read_bytes()
    shutil.copytree(tmp_path / "home", tmp_path / "before")
    for each in (tmp_path / "before").glob("reviews.sqlite*"):
        each.unlink()
    with monkeypatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(tmp_path / "before"))
        for words in (("corpus", "gather", "words"), (*AGREE, "--passphrases")):
            said = office.refused(*words)
            assert "words-translate-1 is not in the data folder" in said
            assert "a copy from before" in said
    assert path.read_bytes() == before
