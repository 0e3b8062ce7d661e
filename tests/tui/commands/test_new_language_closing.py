"""Closing a corpus in the making, and checking one: what is lacking is said before its folder is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.project.state import read_project
from tests.tui.commands.new_language import Office

NEW = (
    "corpus", "new", "words", "--source-language", "en", "--target-language", "eo", "--title", "Words",
    "--organisation", "Our school", "--license", "CC0-1.0",
)  # fmt: skip
HEAD = "source\treference\tsegment\tdifficulty\tregister\n"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.chdir(tmp_path)
    rows = (
        "The elders sang here\tKantis\tgold_standard\t2\tformal",
        "An open sentence too\tMalferma\tdevelopment\t1\tformal",
        "Nobody came back yet\t\theld_out\t2\tformal",
    )
    (tmp_path / "s.tsv").write_text(HEAD + "\n".join(rows) + "\n", "utf-8")
    made = Office(tmp_path / "home")
    made.types(*NEW)
    made.types("corpus", "sources", "words", "s.tsv")
    return made


def test_a_corpus_that_lacks_something_is_closed_only_where_somebody_says_so(
    office: Office, tmp_path: Path
) -> None:
    office.types("vault", "init", "elders", "--name", "E", "--as", "Office", "--recovery", "r.txt")
    before = (tmp_path / "words" / "project.json").read_bytes()
    refused = office.refused("vault", "add", "elders", "words")
    assert "2 translations to which no second speaker agreed" in refused
    assert "1 sentence without a translation (1 held_out)" in refused
    assert "--as-it-is" in refused
    assert (tmp_path / "words" / "project.json").read_bytes() == before
    assert "s.tsv is not one" in office.refused("vault", "add", "elders", "s.tsv", "--as-it-is")
    added = office.types("vault", "add", "elders", "words", "--as-it-is").output
    assert "2 translations to which no second speaker agreed" in added
    assert "not in the vault: 1 secret sentence, sealed" in added
    vault = read_project(tmp_path / "words", tmp_path / "home").state.vault
    assert vault is not None
    assert vault.done


def test_what_cannot_be_sealed_is_refused_before_it_is_noted_as_handed_out(
    office: Office, tmp_path: Path
) -> None:
    before = (tmp_path / "words" / "project.json").read_bytes()
    refused = office.refused("corpus", "translate", "words", "-o", "stick")
    assert "only written sealed" in refused
    assert (tmp_path / "words" / "project.json").read_bytes() == before


def test_a_secret_sentence_that_everybody_has_is_named_before_it_is_taken_for_one(
    office: Office, tmp_path: Path
) -> None:
    known = load(sample_path(DEMO_CORPUS)).entries[0].source.upper()
    row = f"{known}\tIo\tgold_standard\t2\tformal\n"
    (tmp_path / "known.tsv").write_text(HEAD + row, "utf-8")
    added = office.types("corpus", "sources", "words", "known.tsv").output
    assert "line 2: the demo has it" in added
    assert "Added: 0 entries" in added
    office.types("vault", "init", "elders", "--name", "E", "--as", "Office", "--recovery", "r.txt")
    said = office.types("vault", "add", "elders", "known.tsv", "--source-language", "en", "--target-language", "eo").output  # fmt: skip
    assert "1 secret entry has the source of a sentence of the demo" in said
    assert "program: 1." in said
    assert known not in office.said


def test_the_folder_of_a_corpus_in_the_making_is_checked_whole_and_another_one_named(
    office: Office, tmp_path: Path
) -> None:
    said = office.types("corpus", "check", "words").output
    assert "2 entries" in said
    assert "No entry says whether a second speaker looked it over." in said
    shown = office.refused("corpus", "show", "words")
    assert f"as a file. Name the file: {Path('words', 'corpus.json')}." in shown
    office.types("vault", "init", "elders", "--name", "E", "--as", "Office", "--recovery", "r.txt")
    office.types("vault", "add", "elders", "words", "--as-it-is")
    assert "--vault VAULT" in office.refused("corpus", "check", "words")


UNKNOWN = (
    ("sentence\tlevel\n", "The first line names none of the columns"),
    ("source\tgenre\n", "No column is known by the name “genre”"),
    ("Our word\tVorto\n", "The first line names none of the columns"),
)


@pytest.mark.parametrize(("header", "words"), UNKNOWN)
def test_a_table_with_columns_that_are_not_known_is_refused_with_those_that_are(
    office: Office, tmp_path: Path, header: str, words: str
) -> None:
    before = (tmp_path / "words" / "project.json").read_bytes()
    (tmp_path / "u.tsv").write_text(f"{header}Somebody sang\tx\n", "utf-8")
    given = ("corpus", "sources", "words", "u.tsv", "--difficulty", "2", "--register", "formal")
    said = office.types(*given, code=2).output
    assert f"u.tsv, line 1: {words}" in said
    assert "known are id, source, reference" in said
    assert "Vorto" not in said
    assert (tmp_path / "words" / "project.json").read_bytes() == before


def test_sentences_that_are_there_already_are_one_line(office: Office) -> None:
    added = office.types("corpus", "sources", "words", "s.tsv").output
    assert added.count("left out:") == 1
    assert "left out: 3 sentences that are there already, word for word (line 2, line 3, line 4)" in added  # fmt: skip


def test_consent_says_what_it_replaces_and_which_file_is_empty(
    office: Office, tmp_path: Path
) -> None:
    given = (
        "corpus", "consent", "words", "--community", "Us", "--date", "2026-11-20", "--statement",
        "agreed.txt", "--person",
    )  # fmt: skip
    (tmp_path / "agreed.txt").write_text(" \n", "utf-8")
    assert "agreed.txt: it is empty" in office.refused(*given, "Mary")
    (tmp_path / "agreed.txt").write_text("Machines may be tried.\n", "utf-8")
    office.types(*given, "Mary")
    again = office.refused(*given, "Ann")
    assert "a record already: Us, said by Mary on 2026-11-20" in again
    assert "--replace" in again
    office.types(*given, "Ann", "--replace")
    assert "Ann, 2026-11-20" in office.types("corpus", "progress", "words").output


def test_analyses_are_asked_for_on_lines_of_their_own_with_help_for_a_wrong_key(
    office: Office, tmp_path: Path
) -> None:
    row = "The dog ran there\tHundo\tdevelopment\t1\tformal\n"
    (tmp_path / "known.tsv").write_text(HEAD + row, "utf-8")
    office.types("corpus", "sources", "words", "known.tsv")
    said = office.types("corpus", "analyse", "words", "--by", "Ana", text="x\nq\n").output
    assert "␤" not in said
    assert "Enter alone skips, q stops." in said
