"""From an empty folder to a corpus that meets §11.1: the commands of docs/new-languages.md, with scripted speakers."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.model.entry import Segment
from tests.tui.commands.new_language import NEW, Office, sentences, speaks, table
from tests.tui.commands.processes import ROOT, START

PAGE = ROOT / "docs" / "new-languages.md"
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


@pytest.mark.costly(
    "walks a page of the docs to its end, with four speakers over a hundred sentences"
)
def test_new_language_page_leads_to_a_whole_corpus(office: Office, tmp_path: Path) -> None:
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
    assert "8 of 8 minimum requirements met." in done.output
    assert "looked over 93 of 93 entries. 11 closed ones were not looked at." in done.output
    assert "Marked by the community as: TK Non-Commercial (TK NC)" in heard
    _nothing_secret_is_readable(office, tmp_path, heard)
    _what_the_open_part_says(tmp_path / "words" / "corpus.json")
    assert "it lies in the vault" in office.types("corpus", "progress", "words").output
    assert "is closed" in office.refused("corpus", "gather", "words")
    _no_verdict_is_looked_for(office)


def _no_verdict_is_looked_for(office: Office) -> None:
    """The commands of a review say what this one is."""
    assert "104" in office.types("review", "status", "words-agree-1").output
    assert "second speakers" in office.refused("review", "gate", "words-agree-1", "--issue")
    assert "corpus in the making" in office.refused("review", "second", "words-agree-1", "-o", "x")


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


NOT_BEGUN: list[tuple[tuple[str, ...], str]] = [
    (("--title",), "--title is missing"),
    (("--license",), "--license is missing"),
    (("--title", ""), "--title is empty"),
    (("--organisation", " "), "--organisation is empty"),
    (("--source-language", "english"), "dataset.source_language"),
    (("--license", "ask us"), "--transmission"),
    (("--license", "CC-FOO"), "--license 'CC-FOO'"),
    (("--target-language", "EN"), "the language of the sources too"),
    (("--label", "TK Foo"), "no such label"),
    (("--id", "Ä b"), "small letters"),
]


def test_corpus_new_refuses_wrong_usage(office: Office, tmp_path: Path) -> None:
    for changed, words in NOT_BEGUN:
        given = [*NEW]
        if changed[0] in given:
            at = given.index(changed[0])
            given[at : at + 2] = changed if len(changed) == 2 else ()
        else:
            given += changed
        assert words in office.refused(*given)
        assert not (tmp_path / "words").exists()


def test_corpus_new_lists_labels_and_keeps_them(office: Office, tmp_path: Path) -> None:
    listed = office.types("corpus", "new", "--labels").output
    assert "TK NC   TK Non-Commercial" in listed
    office.types(*NEW, "--label", "tk non-commercial", "--label", "for our schools")
    assert "label: TK Non-Commercial (TK NC)" in office.types("corpus", "progress", "words").output
    assert "is there already" in office.refused(*NEW)


def test_corpus_steps_that_are_too_early_say_what_is_first(office: Office) -> None:
    office.types(*NEW)
    for words, said in (
        (("corpus", "translate", "words", "--passphrases"), "rosetta corpus sources"),
        (("corpus", "agree", "words", "--passphrases"), "rosetta corpus gather"),
        (("corpus", "sources", "words", "--undo"), "nothing to undo"),
        (("corpus", "sources", "words"), "FILE, --model and --undo"),
        (("corpus", "sources", "words", "--model", "m"), "--difficulty and one --register"),
        (("corpus", "progress", "elsewhere"), "rosetta corpus new"),
    ):
        assert said in office.refused(*words), words


def test_corpus_analyse_without_an_analyser_is_left_out(office: Office) -> None:
    given = [*NEW]
    given[given.index("eo")] = "crk"
    office.types(*given)
    secret = office.refused("corpus", "analyse", "words", "--by", "Ana", "--secret")
    assert "on a terminal only" in secret
    said = office.refused("corpus", "analyse", "words", "--by", "Ana")
    assert "no analyser for crk" in said
    assert "leave this step out" in said


def test_corpus_translate_forgets_what_was_never_made(office: Office, tmp_path: Path) -> None:
    office.types(*NEW)
    office.types(
        "corpus", "sources", "words", "sentences.tsv", "--take", "3", "--segment", "gold_standard"
    )
    assert "only written sealed" in office.refused("corpus", "translate", "words")
    office.types("corpus", "translate", "words", "--passphrases", "-o", "stick")
    assert "No source waits" in office.refused("corpus", "translate", "words", "--passphrases")
    office.types("corpus", "translate", "words", "--passphrases", "--again", "-o", "stick")
    out = str(tmp_path / "open.jsonl")
    assert "--allow-secret" in office.refused(
        "review", "export", "words-translate-1", "--corpus", out
    )


def test_corpus_reviews_belong_to_their_data_folder(office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    office.types(*NEW)
    office.types("corpus", "sources", "words", "sentences.tsv", "--take", "3")
    office.types("corpus", "translate", "words", "--passphrases", "-o", "stick")
    path = tmp_path / "words" / "project.json"
    told = json.loads(path.read_bytes())
    told["reviews"].append(told["reviews"][0] | {"review": "never-made", "made": False})
    path.write_text(json.dumps(told))
    before, asks = path.read_bytes(), ("corpus", "translate", "words", "--again", "--passphrases")
    office.types(*asks, "--dry-run")
    assert path.read_bytes() == before
    with monkeypatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
        for words in (("corpus", "gather", "words"), asks, (*asks, "--dry-run")):
            assert "another data folder" in office.refused(*words)
    assert path.read_bytes() == before
    office.types("corpus", "gather", "words")
    assert [each["review"] for each in json.loads(path.read_bytes())["reviews"]] == [
        "words-translate-1"
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of Unix")
@pytest.mark.costly("a real terminal")
def test_corpus_new_asks_again_on_a_terminal(office: Office, tmp_path: Path) -> None:
    import pexpect

    terminal = pexpect.spawn(
        sys.executable, ["-P", "-c", START, "corpus", "new", "words"], cwd=str(tmp_path), encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(ROOT)}, dimensions=(24, 200), timeout=120,
    )  # fmt: skip
    for asked, answer in (
        ("sentences that are translated, such as en: ", "english"),
        ("The tag of English is en..*such as en: ", "en"),
        ("translated into, such as crk: ", "EN"),
        ("the language of the sources too.*such as crk: ", "eo"),
        ("title of the corpus: ", "Words"),
        ("that speakers know: ", "Our school"),
        ("Community only +the texts belong to a community.*in words such as Community only: ", ""),
        ("the licence.*: ", "free"),
        ("it is not understood. Choose another one.*: ", "Community only"),
    ):
        terminal.expect(asked)
        terminal.sendline(answer)
    terminal.expect("Begun: Words, English → Esperanto, in words")
    terminal.wait()
    made = json.loads((tmp_path / "words" / "project.json").read_bytes())["dataset"]
    assert (made["license"], made["title"]) == ("Community only", "Words")
