"""A corpus in the making by its commands, as docs/new-languages.md has them: what is lacking is said before it is closed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.samples import DEMO_CORPUS, sample_path
from harness.project.state import read_project
from review.office.store.store import Office as Reviews
from tests.tui.commands.command_line import ROOT, START, CopyOf
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
    assert "only written sealed" in office.refused("corpus", "ask", "translate", "words", "-o", "stick")
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


def test_corpus_sources_refuse_unknown_columns(office: Office, tmp_path: Path) -> None:
    before = (tmp_path / "words" / "project.json").read_bytes()
    given = ("corpus", "sources", "words", "u.tsv", "--difficulty", "2", "--register", "formal")
    unknown = {
        "source\tgenre\n": "No column is known by the name “genre”",
        "Our word\tVorto\n": "The first line names none of the columns",
    }
    for header, words in unknown.items():
        (tmp_path / "u.tsv").write_text(f"{header}Somebody sang\tx\n", "utf-8")
        said = office.types(*given, code=2).output
        assert f"u.tsv, line 1: {words}" in said
        assert "Vorto" not in said
    assert (tmp_path / "words" / "project.json").read_bytes() == before


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


ROWS = "source\tsegment\tdifficulty\tregister\nThe elders sang here\tgold_standard\t2\tformal\nAn open sentence\tdevelopment\t1\tformal\n"
AGREE = ("corpus", "ask", "agree", "words", "-o", "second")


def translated(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """An office whose two sentences were translated on one laptop."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    (folder / "s.tsv").write_text(ROWS, "utf-8")
    made = Office(folder / "home")
    made.types(*NEW)
    made("corpus sources words s.tsv")
    made("corpus ask translate words --passphrases -o stick")
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


def test_corpus_agree_for_a_named_laptop(second: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("laptop", "another"):
        with monkeypatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(second.home.parent / name))
            second.types("review", "enrol", "--card", f"{name}.rosetta-laptop", "--name", name)
    own = ("--for", "laptop.rosetta-laptop")
    said = second.refused(*AGREE, *own)
    assert "All 2 translations that wait were written on the laptops of --for" in said
    other = second.types(*AGREE, "--for", "another.rosetta-laptop").output
    assert "Sealed for the laptop another" in other
    known = second.types(*AGREE, "--again").output
    assert "Not for the laptop laptop 1: some of these translations were written on it." in known
    assert "Sealed for the laptop laptop" not in known
    shared = second.types(*AGREE, "--again", *own, "--shared-laptop").output
    assert "Sealed for the laptop laptop" in shared


def test_corpus_gather_without_its_reviews_forgets_nothing(second: Office, monkeypatch: pytest.MonkeyPatch) -> None:
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
TAKE_BACK = ("community", "withdraw", "--by", "Council", "--reason", "asked to", "--corpus", "words")
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
    office("corpus ask translate words --passphrases -o stick")
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
    assert "No command continues with the corpus in the making in" in said
    assert "Review words-translate-1 asks about them" in said
    for words in (
        ("corpus", "progress", "words"),
        ("corpus", "check", "words"),
        ("corpus", "check", "words/corpus.json"),
        ("corpus", "sources", "words", "sentences.tsv"),
        ("corpus", "ask", "translate", "words", "--again", "--passphrases"),
        ("corpus", "ask", "agree", "words", "--passphrases"),
        ("corpus", "gather", "words"),
        ("corpus", "analyse", "words", "--by", "Ana"),
        ("corpus", "consent", "words", "--community", "C", "--person", "P", "--date", "2026-11-20", "--statement", "agreed.txt"),
        ("vault", "add", "elders", "words", "--as-it-is"),
        ("review", "export", "words-translate-1", "--corpus", "out.json", "--allow-secret"),
    ):  # fmt: skip
        assert "consent was withdrawn for the corpus words" in six.refused(*words), words
    assert not (six.home.parent / "out.json").exists()
    assert "WITHDRAWN" in six.types("review", "status").output
    six(f"community lift {six('community notices').split()[0]} --by Council --reason 'again'")
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
    six.types("corpus", "ask", "agree", "words", "--passphrases", "-o", "second")
    with Reviews.open(six.home) as reviews:
        asked = reviews.review("words-agree-1").key.items.values()
    assert {each.entry for each in asked} == {1, 3, 4, 6}
    six(f"community lift {six('community notices').split()[0]} --by Council --reason 'again'")
    six("corpus gather words")
    assert len(_ids(path)) == SENTENCES


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


PAGE = ROOT / "docs" / "new-languages.md"

REFUSED = 3
"""Every so many-th translation is called a gist at first, with a better wording."""


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
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


@pytest.mark.thorough
def test_new_language_page_leads_to_a_whole_corpus(begun: Office, tmp_path: Path) -> None:
    stick, heard = {"translate": "stick", "agree": "second-stick"}, ""
    for words in commands():
        typed = "1\n" * 200 if words[1] == "analyse" else None
        done = begun.types(*words, text=typed)
        if words[:2] == ["corpus", "ask"]:
            kind = words[2]
            review = f"words-{kind}-1"
            (tmp_path / "sentences.tsv").unlink(missing_ok=True)
            for number, card in enumerate(begun.cards(review), 1):
                name = f"{review}-{number}.rosetta-batch"
                answer = translates if kind == "translate" else looks
                laptop = tmp_path / f"laptop-{kind}-{number}"
                heard += speaks(laptop, tmp_path / stick[kind] / name, card, answer).heard
    assert "8 of 8 minimum requirements met." in done.output
    assert "looked over 93 of 93 entries. 11 closed ones were not examined." in done.output
    assert "Marked by the community as: TK Non-Commercial (TK NC)" in heard
    _nothing_secret_is_readable(begun, tmp_path, heard)
    assert "it is in the vault" in begun.types("corpus", "progress", "words").output
    assert "is closed" in begun.refused("corpus", "gather", "words")
    assert "second speakers" in begun.refused("review", "gate", "words-agree-1", "--issue")


def _nothing_secret_is_readable(begun: Office, folder: Path, heard: str) -> None:
    """No file but those of the open part has a sentence; speakers heard them all."""
    open_ = {entry.source for entry in load(folder / "words" / "corpus.json").entries}
    asked = {source for source in KNOWN if f"Original: {source}\n" in heard}
    secret = [source for source in asked - open_ if len(source) > 30]
    assert len(secret) > 30
    data = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for source in secret:
        texts = source.encode(), KNOWN[source][1].encode()
        assert [p for p, each in data.items() if any(text in each for text in texts)] == []
        assert source not in begun.said


NOT_BEGUN: list[tuple[tuple[str, ...], str]] = [
    (("--title",), "--title is missing"),
    (("--license",), "--license is missing"),
    (("--title", ""), "--title is empty"),
    (("--organisation", " "), "--organisation is empty"),
    (("--source-language", "no such tongue"), "dataset.source_language"),
    (("--license", "ask us"), "--transmission"),
    (("--license", "CC-FOO"), "--license 'CC-FOO'"),
    (("--target-language", "EN"), "the language of the sources too"),
    (("--label", "TK Foo"), "no such label"),
    (("--id", "Ä b"), "small letters"),
]


def test_corpus_new_refuses_wrong_usage(begun: Office, tmp_path: Path) -> None:
    for changed, words in NOT_BEGUN:
        given = [*NEW]
        if changed[0] in given:
            at = given.index(changed[0])
            given[at : at + 2] = changed if len(changed) == 2 else ()
        else:
            given += changed
        assert words in begun.refused(*given)
        assert not (tmp_path / "words").exists()


def test_corpus_steps_that_are_too_early_say_what_is_first(begun: Office) -> None:
    begun.types(*NEW)
    for words, said in (
        (("corpus", "ask", "translate", "words", "--passphrases"), "rosetta corpus sources"),
        (("corpus", "ask", "agree", "words", "--passphrases"), "rosetta corpus gather"),
        (("corpus", "sources", "words", "--undo"), "nothing to undo"),
        (("corpus", "sources", "words"), "FILE, --model and --undo"),
        (("corpus", "sources", "words", "--model", "m"), "--difficulty and one --register"),
        (("corpus", "progress", "elsewhere"), "rosetta corpus new"),
    ):
        assert said in begun.refused(*words), words


def test_corpus_reviews_belong_to_their_data_folder(begun: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    begun.types(*NEW, "--label", "tk non-commercial")
    assert "label: TK Non-Commercial (TK NC)" in begun.types("corpus", "progress", "words").output
    assert "is there already" in begun.refused(*NEW)
    begun.types("corpus", "sources", "words", "sentences.tsv", "--take", "3")
    begun.types("corpus", "ask", "translate", "words", "--passphrases", "-o", "stick")
    path = tmp_path / "words" / "project.json"
    told = json.loads(path.read_bytes())
    told["reviews"].append(told["reviews"][0] | {"review": "never-made", "made": False})
    path.write_text(json.dumps(told))
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
        assert "another data folder" in begun.refused("corpus", "gather", "words")
    assert path.read_bytes() == before
    begun.types("corpus", "gather", "words")
    [made] = json.loads(path.read_bytes())["reviews"]
    assert made["review"] == "words-translate-1"


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of Unix")
@pytest.mark.thorough
def test_corpus_new_asks_again_on_a_terminal(begun: Office, tmp_path: Path) -> None:
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
