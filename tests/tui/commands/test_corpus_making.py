"""Closing a corpus in the making, and checking one: what is lacking is said before its folder is closed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.project.state import read_project
from review.log.payloads import Judged
from review.office.store.store import Office as Reviews
from tests.tui.commands.made_once import CopyOf
from tests.tui.commands.new_language import NEW, Office, sentences, speaks, table

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


def test_corpus_that_lacks_something_is_closed_as_it_is(office: Office, tmp_path: Path) -> None:
    office("vault init elders --name E --as Office --recovery r.txt")
    before = (tmp_path / "words" / "project.json").read_bytes()
    assert "only written sealed" in office.refused("corpus", "translate", "words", "-o", "stick")
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


def test_corpus_sources_leave_out_what_everybody_has(office: Office, tmp_path: Path) -> None:
    known = load(sample_path(DEMO_CORPUS)).entries[0].source.upper()
    row = f"{known}\tIo\tgold_standard\t2\tformal\n"
    (tmp_path / "known.tsv").write_text(HEAD + row, "utf-8")
    added = office.types("corpus", "sources", "words", "known.tsv").output
    assert "line 2: the demo has it" in added
    assert "Added: 0 entries" in added
    office("vault init elders --name E --as Office --recovery r.txt")
    said = office.types("vault", "add", "elders", "known.tsv", "--source-language", "en", "--target-language", "eo").output  # fmt: skip
    assert "1 secret entry has the source of a sentence of the demo" in said
    assert "program: 1." in said
    assert known not in office.said


def test_corpus_check_of_a_corpus_in_the_making(office: Office) -> None:
    said = office.types("corpus", "check", "words").output
    assert "2 entries" in said
    assert "No entry says whether a second speaker looked it over." in said
    shown = office.refused("corpus", "show", "words")
    assert f"as a file. Name the file: {Path('words', 'corpus.json')}." in shown
    office("vault init elders --name E --as Office --recovery r.txt")
    office.types("vault", "add", "elders", "words", "--as-it-is")
    assert "--vault VAULT" in office.refused("corpus", "check", "words")


UNKNOWN = (
    ("sentence\tlevel\n", "The first line names none of the columns"),
    ("source\tgenre\n", "No column is known by the name “genre”"),
    ("Our word\tVorto\n", "The first line names none of the columns"),
)


def test_corpus_sources_refuse_unknown_columns(office: Office, tmp_path: Path) -> None:
    before = (tmp_path / "words" / "project.json").read_bytes()
    given = ("corpus", "sources", "words", "u.tsv", "--difficulty", "2", "--register", "formal")
    for header, words in UNKNOWN:
        (tmp_path / "u.tsv").write_text(f"{header}Somebody sang\tx\n", "utf-8")
        said = office.types(*given, code=2).output
        assert f"u.tsv, line 1: {words}" in said
        assert "known are id, source, reference" in said
        assert "Vorto" not in said
    assert (tmp_path / "words" / "project.json").read_bytes() == before


def test_corpus_sources_that_are_there_are_one_line(office: Office) -> None:
    added = office.types("corpus", "sources", "words", "s.tsv").output
    assert added.count("left out:") == 1
    assert "left out: 3 sentences that are there already, word for word (line 2, line 3, line 4)" in added  # fmt: skip


def test_corpus_consent_says_what_it_replaces(office: Office, tmp_path: Path) -> None:
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


def test_corpus_analyse_helps_after_a_wrong_key(office: Office, tmp_path: Path) -> None:
    row = "The dog ran there\tHundo\tdevelopment\t1\tformal\n"
    (tmp_path / "known.tsv").write_text(HEAD + row, "utf-8")
    office.types("corpus", "sources", "words", "known.tsv")
    said = office.types("corpus", "analyse", "words", "--by", "Ana", text="x\nq\n").output
    assert "␤" not in said
    assert "Enter alone skips, q stops." in said


ROWS = "source\tsegment\tdifficulty\tregister\nThe elders sang here\tgold_standard\t2\tformal\nAn open sentence\tdevelopment\t1\tformal\n"
AGREE = ("corpus", "agree", "words", "-o", "second")


def translated(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """An office whose two sentences were translated on one laptop."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    (folder / "s.tsv").write_text(ROWS, "utf-8")
    made = Office(folder / "home")
    made.types(*NEW)
    made("corpus sources words s.tsv")
    made("corpus translate words --passphrases -o stick")
    [card] = made.cards("words-translate-1")
    file = folder / "stick" / "words-translate-1-1.rosetta-batch"
    speaks(folder / "laptop", file, card, lambda original, _: [f"{original} eo"])
    made("review import stick --enrol --yes")
    assert "2 translations" in made("corpus gather words")


def moved(office: Office) -> Office:
    """Let a copied data folder see where its corpus lies now."""
    office("corpus gather words")
    return office


@pytest.fixture
def second(copy_of: CopyOf) -> Office:
    return moved(Office(copy_of("translated", translated) / "home"))


def test_corpus_agree_needs_another_laptop(second: Office) -> None:
    assert "Every laptop that is known here wrote some" in second.refused(*AGREE)
    second.types(*AGREE, "--passphrases")
    said = second.refused(*AGREE, "--passphrases")
    assert "2 sentences are with speakers" in said
    assert "--again" in said
    [card] = second.cards("words-agree-1")
    file = second.home.parent / "second" / "words-agree-1-1.rosetta-batch"
    speaks(second.home.parent / "laptop", file, card, lambda *_: ["4"])
    second.types("review", "import", "second", "--enrol", "--yes")
    gathered = second.types("corpus", "gather", "words").output
    assert "0 agreed to" in gathered
    assert "entries 1, 2, looked over on the laptop of the translation" in gathered
    gathered = second.types("corpus", "gather", "words", "--shared-laptop", "words-agree-1").output
    assert "2 agreed to" in gathered
    [entry] = json.loads((second.home.parent / "words" / "corpus.json").read_bytes())["entries"]
    assert [each.get("same_laptop") for each in entry["speakers"]] == [None, True]


def test_corpus_progress_has_the_hours_of_the_logs(second: Office) -> None:
    reviews = Reviews.open(second.home)
    with reviews:
        events = reviews.events(reviews.review("words-translate-1"))
    took = [each.payload.active_ms for each in events if isinstance(each.payload, Judged)]
    told = json.loads(second.types("corpus", "progress", "words", "--json").output)
    [worked] = told["worked"]
    assert (worked["people"], worked["answers"], len(took)) == (1, 2, 2)
    assert worked["hours"] == pytest.approx(sum(took) / 3_600_000)
    said = second.types("corpus", "progress", "words").output
    assert "words-translate-1: 0.0 hours, 1 person, 2 answers" in said
    assert "an hour\n  Counted is the time in which a sentence was on the screen" in said


def test_corpus_agree_for_a_named_laptop(second: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = {}
    for name in ("laptop", "another"):
        with monkeypatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(second.home.parent / name))
            cards[name] = f"{name}.rosetta-laptop"
            second.types("review", "enrol", "--card", cards[name], "--name", name)
    said = second.refused(*AGREE, "--for", cards["laptop"])
    assert "All 2 translations that wait were written on the laptops of --for" in said
    assert "Sealed for the laptop another" in second.types(*AGREE, "--for", cards["another"]).output
    shared = second.types(*AGREE, "--again", "--for", cards["laptop"], "--shared-laptop").output
    assert "Sealed for the laptop laptop" in shared
    known = second.types(*AGREE, "--again").output
    assert "Sealed for the laptop another" in known
    assert "Not for the laptop laptop: some of these translations were written on it." in known
    assert "Sealed for the laptop laptop" not in known


def test_corpus_gather_without_its_reviews_forgets_nothing(second: Office, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    path = second.home.parent / "words" / "project.json"
    before = path.read_bytes()
    shutil.copytree(second.home, second.home.parent / "before")
    for each in (second.home.parent / "before").glob("reviews.sqlite*"):
        each.unlink()
    with monkeypatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(second.home.parent / "before"))
        for words in (("corpus", "gather", "words"), (*AGREE, "--passphrases")):
            said = second.refused(*words)
            assert "words-translate-1 is not in the data folder" in said
            assert "a copy from before" in said
    assert path.read_bytes() == before


KNOWN = sentences()
TAKE_BACK = ("consent", "withdraw", "--by", "Council", "--reason", "asked to", "--corpus", "words")
SENTENCES = 6


def gathered(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A corpus of six open sentences, each with a translation that came back from a speaker."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    (folder / "sentences.tsv").write_text(table(KNOWN), "utf-8")
    (folder / "agreed.txt").write_text("The sentences may be used.\n")
    office = Office(folder / "home")
    office.types(*NEW, "--label", "TK NC")
    office(f"corpus sources words sentences.tsv --take {SENTENCES} --segment development")
    office("corpus translate words --passphrases -o stick")
    [card] = office.cards("words-translate-1")
    [file] = (folder / "stick").glob("*.rosetta-batch")
    speaks(folder / "laptop", file, card, lambda original, _: [KNOWN[original][1]])
    office("review import stick --enrol --yes")
    office("corpus gather words")


@pytest.fixture
def six(copy_of: CopyOf) -> Office:
    return moved(Office(copy_of("gathered", gathered) / "home"))


def _ids(path: Path) -> list[object]:
    return [each.id for each in load(path).entries]


def test_withdrawn_corpus_in_the_making_goes_no_further(six: Office) -> None:
    six("vault init elders --name W --as Us --recovery key.txt")
    said = six.types(*TAKE_BACK).output
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
        assert "consent was withdrawn for the corpus words" in six.refused(*words), words
    assert not (six.home.parent / "out.json").exists()
    assert "WITHDRAWN" in six.types("review", "status").output
    six(f"consent lift {six('consent list').split()[0]} --by Council --reason 'agreed again'")
    six("corpus gather words")


def test_withdrawn_sentences_leave_the_corpus_until_lifted(six: Office) -> None:
    path, out = six.home.parent / "words" / "corpus.json", six.home.parent / "out.json"
    assert len(_ids(path)) == SENTENCES
    six.types(*TAKE_BACK, "--entries", "2,5")
    assert _ids(path) == [1, 3, 4, 6]
    assert "2 sentences of which consent" in six.types("corpus", "progress", "words").output
    assert "4 entries" in six.types("corpus", "check", "words").output
    export = ("review", "export", "words-translate-1", "--corpus", str(out), "--allow-secret")
    assert "Left out: 2 sentences" in six.types(*export).output
    assert _ids(out) == [1, 3, 4, 6]
    six.types("corpus", "agree", "words", "--passphrases", "-o", "second")
    with Reviews.open(six.home) as reviews:
        asked = reviews.review("words-agree-1").key.items.values()
    assert {each.entry for each in asked} == {1, 3, 4, 6}
    six(f"consent lift {six('consent list').split()[0]} --by Council --reason 'agreed again'")
    six("corpus gather words")
    assert len(_ids(path)) == SENTENCES


def test_withdrawn_sentence_is_not_translated(six: Office) -> None:
    six.types("corpus", "sources", "words", "sentences.tsv", "--take", "2", "--segment", "development")  # fmt: skip
    six.types(*TAKE_BACK, "--entries", "7")
    dry = six.types("corpus", "translate", "words", "--passphrases", "--dry-run").output
    assert dry.startswith("sentences    1,")


def test_review_export_writes_labels_of_the_community(six: Office) -> None:
    out = six.home.parent / "out.jsonl"
    six.types("review", "export", "words-translate-1", "--corpus", str(out), "--allow-secret")
    assert (load(out).dataset.model_extra or {})["labels"] == ["TK Non-Commercial (TK NC)"]


def test_withdrawn_secret_sentence_goes_into_no_vault(six: Office) -> None:
    rows = ("Two rivers met.\tDu riveroj", "We will never tell.\tNi neniam")
    lines = [f"{each}\t2\tformal\tgold_standard" for each in rows]
    header = "source\treference\tdifficulty\tregister\tsegment"
    (six.home.parent / "more.tsv").write_text("\n".join([header, *lines]) + "\n")
    six.types("corpus", "sources", "words", "more.tsv")
    six.types(*TAKE_BACK, "--entries", "8")
    six("vault init elders --name W --as Us --recovery key.txt")
    said = six.types("vault", "add", "elders", "words", "--as-it-is").output
    assert "6 development, 1 gold_standard" in said
    assert "since somebody objects or consent was withdrawn: 1 sentence, sealed" in said
    entries = json.loads((six.home.parent / "words" / "project.json").read_bytes())["entries"]
    assert {each["id"]: bool(each["sealed"]) for each in entries[-2:]} == {7: False, 8: True}
