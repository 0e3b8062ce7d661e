"""Consent that is taken back while a corpus is made: by its folder, whole or of some sentences, and what goes on then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpora.formats.load import load
from review.office.store.store import Office as Reviews
from tests.tui.commands.new_language import Office, sentences, speaks, table

KNOWN = sentences()
NEW = (
    "corpus", "new", "words", "--source-language", "en", "--target-language", "eo", "--title", "Words",
    "--organisation", "Our school", "--license", "CC0-1.0", "--label", "TK NC",
)  # fmt: skip
TAKE_BACK = ("consent", "withdraw", "--by", "Council", "--reason", "asked to", "--corpus", "words")
SENTENCES = 6


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """A corpus of six open sentences, each with a translation that came back from a speaker."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.tsv").write_text(table(KNOWN), "utf-8")
    (tmp_path / "agreed.txt").write_text("The sentences may be used.\n")
    office = Office(tmp_path / "home")
    office.types(*NEW)
    office.types(
        "corpus", "sources", "words", "sentences.tsv", "--take", f"{SENTENCES}", "--segment", "development"
    )  # fmt: skip
    office.types("corpus", "translate", "words", "--passphrases", "-o", "stick")
    [card] = office.cards("words-translate-1")
    [file] = (tmp_path / "stick").glob("*.rosetta-batch")
    speaks(tmp_path / "laptop", file, card, lambda original, _: [KNOWN[original][1]])
    office.types("review", "import", "stick", "--enrol", "--yes")
    office.types("corpus", "gather", "words")
    return office


def _ids(path: Path) -> list[object]:
    return [each.id for each in load(path).entries]


def test_a_corpus_in_the_making_that_is_taken_back_goes_no_further(
    office: Office, tmp_path: Path
) -> None:
    office.types("vault", "init", "elders", "--name", "W", "--as", "Us", "--recovery", "key.txt")
    said = office.types(*TAKE_BACK).output
    assert "No command goes on with the corpus in the making in" in said
    assert "Review words-translate-1 asks about them" in said
    for words in (
        ("corpus", "progress", "words"),
        ("corpus", "check", "words"),
        ("corpus", "check", "words/corpus.json"),
        ("corpus", "sources", "words", "sentences.tsv"),
        ("corpus", "translate", "words", "--again", "--passphrases"),
        ("corpus", "agree", "words", "--passphrases"),
        ("corpus", "gather", "words"),
        ("corpus", "analyse", "words", "--by", "Ana"),
        ("corpus", "consent", "words", "--community", "C", "--person", "P", "--date", "2026-11-20", "--statement", "agreed.txt"),
        ("vault", "add", "elders", "words", "--as-it-is"),
        ("review", "export", "words-translate-1", "--corpus", "out.json", "--allow-secret"),
    ):  # fmt: skip
        assert "consent was withdrawn for the corpus words" in office.refused(*words), words
    assert not (tmp_path / "out.json").exists()
    assert "WITHDRAWN" in office.types("review", "status").output
    number = office.types("consent", "list").output.split()[0]
    office.types("consent", "lift", number, "--by", "Council", "--reason", "agreed again")
    office.types("corpus", "gather", "words")


def test_sentences_that_are_taken_back_leave_the_corpus_and_come_again_when_it_is_lifted(
    office: Office, tmp_path: Path
) -> None:
    path, out = tmp_path / "words" / "corpus.json", tmp_path / "out.json"
    assert len(_ids(path)) == SENTENCES
    office.types(*TAKE_BACK, "--entries", "2,5")
    assert _ids(path) == [1, 3, 4, 6]
    assert "2 sentences of which consent" in office.types("corpus", "progress", "words").output
    assert "4 entries" in office.types("corpus", "check", "words").output
    export = ("review", "export", "words-translate-1", "--corpus", str(out), "--allow-secret")
    assert "Left out: 2 sentences" in office.types(*export).output
    assert _ids(out) == [1, 3, 4, 6]
    office.types("corpus", "agree", "words", "--passphrases", "-o", "second")
    with Reviews.open(office.home) as reviews:
        asked = reviews.review("words-agree-1").key.items.values()
    assert {each.entry for each in asked} == {1, 3, 4, 6}
    number = office.types("consent", "list").output.split()[0]
    office.types("consent", "lift", number, "--by", "Council", "--reason", "agreed again")
    office.types("corpus", "gather", "words")
    assert len(_ids(path)) == SENTENCES


def test_a_sentence_that_has_no_translation_yet_can_be_taken_back(
    office: Office, tmp_path: Path
) -> None:
    office.types("corpus", "sources", "words", "sentences.tsv", "--take", "2", "--segment", "development")  # fmt: skip
    office.types(*TAKE_BACK, "--entries", "7")
    dry = office.types("corpus", "translate", "words", "--passphrases", "--dry-run").output
    assert dry.startswith("sentences    1,")


def test_translations_under_labels_of_the_community_are_written(
    office: Office, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    office.types("review", "export", "words-translate-1", "--corpus", str(out), "--allow-secret")
    assert (load(out).dataset.model_extra or {})["labels"] == ["TK Non-Commercial (TK NC)"]


def test_a_secret_sentence_that_is_taken_back_goes_into_no_vault(
    office: Office, tmp_path: Path
) -> None:
    rows = ("Two rivers met.\tDu riveroj", "We will never tell.\tNi neniam")
    lines = [f"{each}\t2\tformal\tgold_standard" for each in rows]
    header = "source\treference\tdifficulty\tregister\tsegment"
    (tmp_path / "more.tsv").write_text("\n".join([header, *lines]) + "\n")
    office.types("corpus", "sources", "words", "more.tsv")
    office.types(*TAKE_BACK, "--entries", "8")
    office.types("vault", "init", "elders", "--name", "W", "--as", "Us", "--recovery", "key.txt")
    said = office.types("vault", "add", "elders", "words", "--as-it-is").output
    assert "6 development, 1 gold_standard" in said
    assert "since somebody objects or consent was withdrawn: 1 sentence, sealed" in said
    entries = json.loads((tmp_path / "words" / "project.json").read_bytes())["entries"]
    assert {each["id"]: bool(each["sealed"]) for each in entries[-2:]} == {7: False, 8: True}
