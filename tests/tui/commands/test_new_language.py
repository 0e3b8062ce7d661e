"""From an empty folder to a corpus that meets §11.1: the commands of docs/new-languages.md, with scripted speakers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.model.entry import Segment
from tests.tui.commands.new_language import Office, sentences, speaks, table

PAGE = Path(__file__).parents[3] / "docs" / "new-languages.md"
KNOWN = sentences()
REFUSED = 3
"""Every so many-th translation is called a gist at first, with a better wording."""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    home = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentences.tsv").write_text(table(KNOWN), "utf-8")
    (tmp_path / "agreed.txt").write_text("The sentences may be used to try machines.\n")
    return Office(home)


def commands() -> list[list[str]]:
    """Return the commands of the page's blocks, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines() if line]


def translates(original: str, _: str) -> list[str]:
    return [KNOWN[original][1]]


def looks(original: str, translation: str) -> list[str]:
    """Agree; of some sentences write a better wording first and call the translation gist."""
    assert translation == KNOWN[original][1]
    if len(original) % REFUSED:
        return ["4"]
    return [f"e {translation} Jes.", "2"]


def test_the_page_leads_from_an_empty_folder_to_a_corpus_that_meets_everything(
    office: Office, tmp_path: Path
) -> None:
    stick, heard = {"translate": "stick", "agree": "second-stick"}, ""
    for words in commands():
        typed = "1\n" * 200 if words[1] == "analyse" else None
        done = office.types(*words, text=typed)
        assert "warning" not in done.output, done.output
        if words[:2] in (["corpus", "translate"], ["corpus", "agree"]):
            kind = words[1]
            review = f"words-{kind}-1"
            (tmp_path / "sentences.tsv").unlink(missing_ok=True)
            for number, card in enumerate(office.cards(review), 1):
                name = f"{review}-{number}.rosetta-batch"
                answer = translates if kind == "translate" else looks
                laptop = tmp_path / f"laptop-{kind}-{number}"
                heard += speaks(laptop, tmp_path / stick[kind] / name, card, answer).heard
    print(done.output)
    assert "8 of 8 minimum requirements met." in done.output
    _nothing_secret_is_readable(office, tmp_path, heard)
    _what_the_open_part_says(tmp_path / "words" / "corpus.json")
    assert "it lies in the vault" in office.types("corpus", "progress", "words").output
    assert "is closed" in office.refused("corpus", "gather", "words")


def _nothing_secret_is_readable(office: Office, folder: Path, heard: str) -> None:
    """No file but those of the open part has a sentence; speakers heard them all."""
    open_ = {entry.source for entry in load(folder / "words" / "corpus.json").entries}
    asked = {source for source in KNOWN if f"Original: {source}\n" in heard}
    secret = [source for source in asked - open_ if len(source) > 30]
    assert len(secret) > 30
    data = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for source in secret:
        texts = source.encode(), KNOWN[source][1].encode()
        assert [p for p, each in data.items() if any(text in each for text in texts)] == []
        assert source not in office.said


def _what_the_open_part_says(path: Path) -> None:
    corpus = load(path)
    assert corpus.warnings == ()
    assert {entry.segment for entry in corpus.entries} == {Segment.DEVELOPMENT, Segment.DIAGNOSTIC}
    assert {entry.provenance for entry in corpus.entries} == {"gold_standard"}
    outcomes = set()
    for entry in corpus.entries:
        extra = entry.model_extra or {}
        told = {each["outcome"] for each in extra["speakers"]}
        assert "translated" in told
        outcomes |= told
        corrected = "corrected" in told
        assert entry.reference == KNOWN[entry.source][1] + " Jes." * corrected
        assert extra["source_origin"]["file"] == "sentences.tsv"
        if entry.morphological_analysis:
            assert extra["analysis_confirmed"]["by"] == "Ana, linguist"
    assert outcomes == {"translated", "agreed", "corrected"}
    assert sum(bool(entry.morphological_analysis) for entry in corpus.entries) > 20
