"""The catalogue, the keys and the guide for translators: open to any language; a batch that speaks several."""

import ast
import gettext
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import CONTEXTS, REGISTERS
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import StorageProblem
from harness.sealed.stick import StickError
from harness.sealed.strict_records import FileError, FileProblem
from review.files.batch import Batch
from review.files.identities import CodeError, CodeProblem, tag_of
from review.files.manifests import OthersWords, SentenceContext
from review.log.laptop import Laptop
from review.log.payloads import Consent, Face, Rate, Scope
from review.log.table import NotSaved
from review.rating import CannotJudge, Rating, Reason
from review.session.opening import WORDS_FOLDER, Opening
from review.session.view import Phase, ShownItem, TextField
from review.session.words import build
from review.session.words import item as item_words
from review.session.words import page as page_words
from review.session.words.catalogue import DOMAIN, OURS, Words, checked_tag, languages, words_of_system
from review.session.words.keys import (
    ACT_WORDS,
    BACKSPACE,
    KEYS,
    RATING_OF,
    Act,
    act_of,
    cannot_judge_of,
    key_name,
    reason_of,
    scope_of,
    table,
)
from review.session.words.keys import RATINGS as RATINGS_SAID
from review.session.words.page import OrganiserText
from review.session.words.troubles import OtherReviewerError, trouble
from tests.harness.sealed.refusals import refuses
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    Sitting,
    batch_of,
    catalogue,
    collected,
    entry,
    item_of,
    items_of,
    training_of,
    write_file,
)

NO_BREAK = "\u00a0\u202f"


def test_catalogues_hold_exactly_the_words_of_the_code() -> None:
    template = collected()
    wanted = {message.id for message in template if message.id}
    assert wanted == {message.id for message in build.read(build.TEMPLATE) if message.id}, (
        "run: python -m review.session.words.build"
    )
    assert len(wanted) > 200
    assert [path.parts[-3] for path in build.catalogues()] == ["en", "fr"]
    for path in build.catalogues():
        assert list(build.problems(path, template)) == [], path.parts[-3]


def test_no_words_are_said_within_a_text_that_is_put_together() -> None:
    """Only newer interpreters let the template be collected from there: others would leave them out."""
    hidden = [
        f"{path.name}:{call.lineno}"
        for path in (each for files in build.FILES for each in build.ROOT.glob(files))
        for text in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in build.KEYWORDS
        and any(isinstance(each, ast.Constant) for each in call.args)
    ]
    assert hidden == []


@pytest.mark.parametrize("tag", ["en", "fr"])
def test_compiled_catalogue_says_what_the_source_says(tag: str) -> None:
    path = OURS / tag / "LC_MESSAGES" / f"{DOMAIN}.po"
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in build.read(path):
        if isinstance(message.id, str):
            assert not message.id or compiled.gettext(message.id) == message.string
        else:
            said = tuple(compiled.ngettext(*message.id, n) for n in (1, 2))  # type: ignore[call-arg]
            assert said == tuple(message.string)  # type: ignore[arg-type]
    if shutil.which("msgfmt"):
        check = ["msgfmt", "--check-format", "-o", os.devnull, str(path)]
        assert subprocess.run(check, capture_output=True, check=False).returncode == 0


def test_words_are_plain_and_french_signs_stay_with_theirs() -> None:
    source = build.read(OURS / "fr" / "LC_MESSAGES" / f"{DOMAIN}.po")
    for message in source:
        texts = [message.string] if isinstance(message.string, str) else message.string
        for text in texts if message.id else ():
            assert not re.search(r" [:;!?»]|« ", text), text
            assert "'" not in text, text
            assert not re.search(rf"\w[?!](?![{NO_BREAK}\w])", text), text
    ours = re.compile(r"\b(batch|item|terminal|candidate|payload|UTF|log)s?\b", re.IGNORECASE)
    for message in collected():
        for text in [message.id] if isinstance(message.id, str) else message.id:
            assert not ours.search(text), text


def test_language_falls_back_to_its_wider_one_then_to_english() -> None:
    for tag, found in (("fr", "fr"), ("fr-CA", "fr"), ("fr_CA", "fr"), ("crk", "en"), ("", "en"), ("../fr", "en"), ("C", "en")):  # fmt: skip
        assert Words.load(tag).language == found


def test_community_adds_its_language_and_changes_words(tmp_path: Path) -> None:
    catalogue(tmp_path, "cr_Cans", entry("English", "ᓀᐦᐃᔭᐍᐏᐣ") + entry("Gist", "ᐃᑘᐏᐣ"))
    catalogue(tmp_path, "cr", entry("Gist", "itwêwin") + entry("Reject", "namôya"))
    words = Words.load("cr-Cans", [tmp_path])
    assert (words.language, words.name, words.direction) == ("cr-Cans", "ᓀᐦᐃᔭᐍᐏᐣ", "ltr")
    assert [words(text) for text in ("Gist", "Reject", "Help")] == ["ᐃᑘᐏᐣ", "namôya", "Help"]
    assert Words.load("cr", [tmp_path]).name == "cr"
    assert list(languages([tmp_path])) == ["cr", "en", "fr", "cr-Cans"]
    catalogue(tmp_path, "ckb", entry("ltr", "rtl"))
    assert Words.load("ckb", [tmp_path]).direction == "rtl"
    catalogue(tmp_path, "fr", entry("Gist", "Sens"))
    words = Words.load("fr", [tmp_path])
    assert (words("Gist"), words("Reject")) == ("Sens", "À refuser")
    catalogue(tmp_path, "xx", entry("Saved: {rating}.", "{rating.__class__} {0} %s {rating} {other}"))
    words = Words.load("xx", [tmp_path])
    assert words("Saved: {rating}.", rating="{n}") == "{rating.__class__} {0} %s {n} {other}"


DAMAGES = {
    "empty": b"",
    "no catalogue": b"GIF89a" * 50,
    "cut": (OURS / "fr/LC_MESSAGES" / f"{DOMAIN}.mo").read_bytes()[:400],
    "offsets": (OURS / "fr/LC_MESSAGES" / f"{DOMAIN}.mo").read_bytes()[:20] + b"\xff" * 4000,
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_catalogue_is_named_and_not_used(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "fr" / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(DAMAGES[damage])
    words = Words.load("fr", [tmp_path])
    assert words.damaged == (f"fr/LC_MESSAGES/{DOMAIN}.mo",)
    assert words("Gist") == "Idée"


@pytest.mark.parametrize(
    "rule", ["nplurals=2; plural=n%0;", "nplurals=2; plural=(((", "nplurals=2; plural=__import__;"]
)
def test_a_plural_rule_that_fails_is_a_damage(tmp_path: Path, rule: str) -> None:
    path = tmp_path / "xx" / "LC_MESSAGES" / f"{DOMAIN}.mo"
    path.parent.mkdir(parents=True)
    header = f"Content-Type: text/plain; charset=utf-8\nPlural-Forms: {rule}\n"
    path.write_bytes(_mo({"": header, "Gist": "x"}))
    words = Words.load("xx", [tmp_path])
    assert words.damaged
    assert words.language == "en"


def _mo(texts: dict[str, str]) -> bytes:
    """Write the GNU form by hand, so that a wrong rule gets through."""
    import struct

    pairs = sorted((key.encode(), value.encode()) for key, value in texts.items())
    start = 28 + 16 * len(pairs)
    tables, blob = [b"", b""], b""
    for which in (0, 1):
        for pair in pairs:
            tables[which] += struct.pack("<II", len(pair[which]), start + len(blob))
            blob += pair[which] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + tables[0] + tables[1] + blob


def test_numbers_follow_the_rule_of_the_language() -> None:
    for language, n, said in (
    ("en", 1, "one for later"), ("en", 0, "0 for later"), ("fr", 0, "une pour"), ("fr", 3, "gardé 3"),
):  # fmt: skip
        one = "You have seen all sentences. You left one for later."
        many = "You have seen all sentences. You left {n} for later."
        assert said in Words.load(language).plural(one, many, n)


def test_what_is_no_language_tag_is_refused() -> None:
    for tag in ("", "../x", "a/b", "x" * 99, "é", "-", "fr-"):
        assert checked_tag(" cr_Cans ") == "cr-Cans"
        refuses(UsageError, "no language tag", checked_tag, tag)


RATINGS = [Act.REJECT, Act.GIST, Act.ACCEPTABLE, Act.EXCELLENT]


def test_keys_and_digits_choose_on_every_keyboard() -> None:
    for keys in ("1234", "dfgh", "DFGH", "&é\"'", "١٢٣٤", "１２３４"):
        assert [act_of(key) for key in keys] == RATINGS
    assert [RATING_OF[act] for act in RATINGS] == list(Rating)
    assert {act_of(key) for key in ("0", "à", "٠")} == {Act.CANNOT_JUDGE}
    assert {act_of(key) for key in ("\x7f", "\b", "u", "U")} == {Act.UNDO}
    others = ("", "12", "5", "²", "½", "z", "\x1b", " ", "ᐊ")
    assert {act_of(key) for key in others} == {None}
    assert (set(KEYS), set(ACT_WORDS) | set(RATING_OF)) == (set(Act), set(Act))
    for row in ("12345678", "&é\"'(-è_"):
        assert [reason_of(key) for key in row] == list(Reason)
        assert [cannot_judge_of(key) for key in row[:7]] == [*CannotJudge, None]
        assert [scope_of(key) for key in row[:4]] == [*Scope, None]
    assert [reason_of(key) for key in ("0", "9", "d", "12", "")] == [None] * 5
    words = Words.load("fr")
    assert [key_name(words, key) for key in ",!x"] == ["virgule", "point d’exclamation", "x"]


def test_a_key_that_is_taken_is_refused() -> None:
    for key in ("s", "&"):
        refuses(ValueError, "is taken", table, {Act.SKIP: ("s",), Act.HELP: (key,)})


def test_page_for_speakers_names_keys_and_answers_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "review-for-speakers.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| (.*?) \| .* \|$", page)
    named = {key for row in rows for key in re.findall(r"`(.)`", row)}
    assert named == {key for keys in KEYS.values() for key in keys} - {BACKSPACE}
    for number, rating in enumerate(Rating, 1):
        label, meaning = RATINGS_SAID[rating]
        assert f"| `{number}` | {label} | {meaning} |" in page


def test_page_for_translators_names_answers_and_counts_right() -> None:
    page = (Path(__file__).parents[3] / "docs" / "translating-the-reviewer.md").read_text("utf-8")
    for word, meaning in RATINGS_SAID.values():
        assert f"| {word} | {meaning} |" in page
    [told] = map(int, re.findall(r"about (\d+) short sentences", page))
    assert abs(sum(bool(message.id) for message in collected()) - told) < 60


def test_first_language_of_the_system_that_has_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for tags, language in (
        (("fr-CA", "en-CA"), "fr"), (("crk-Cans-CA", "fr-CA"), "fr"), (("en-US", "fr-FR"), "en"),
        (("enf", "fr"), "fr"), (("xx", "yy"), "en"), (("not a tag", "fr"), "fr"),
    ):  # fmt: skip
        assert words_of_system(tags).language == language, tags
    monkeypatch.setenv("LC_ALL", "fr_CA.UTF-8")  # which tells where the system does not
    assert (words_of_system().language, words_of_system(("en",)).language) == ("fr", "en")


def test_language_asked_or_chosen_goes_before_the_system(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        assert Opening(laptop, system=("fr",)).words.language == "fr"
        assert Opening(laptop, system=("fr",), language="en").words.language == "en"
        Opening(laptop).set_language("en")
        assert Opening(laptop, system=("fr",)).words.language == "en"
        missing = (tmp_path / "a.rosetta-batch", tmp_path / "b.rosetta-batch")
        opening = Opening(laptop, language="en", missing=missing)
        assert opening.not_here().startswith("a.rosetta-batch, b.rosetta-batch is not in this")
        assert Opening(laptop, language="en").not_here() == ""


def test_neighbours_tags_and_words_of_others_are_named() -> None:
    bare = ShownItem("1" * 16, "Source", "Candidate", 1, 1)
    assert list(item_words.beside(Words.load("en"), bare)) == []
    item = replace(
        bare, comment="mine",
        around=SentenceContext(context="narrative", formality="our own", before="B.", after="A."),
        others=(
            OthersWords(reasons=(Reason.GRAMMAR, Reason.SPELLING)),
            OthersWords(comment="C.", suggestion="S."),
        ),
    )  # fmt: skip
    marks = item_words.marks(Words.load("en"), item)
    assert [(mark.said, mark.text) for mark in marks] == [
        ("Your comment:", "mine"),
        ("People wrote this in the first round, perhaps you too. You need not agree:", ""),
        ("Somebody says: The grammar is wrong; The spelling is wrong.", ""),
        ("Somebody's comment:", "C."), ("Somebody's better translation:", "S."),
        ("The sentence before it:", "B."), ("The sentence after it:", "A."),
    ]  # fmt: skip
    assert item_words.original_name(Words.load("en"), item) == "Original · part of a story · our own"
    assert (tuple(item_words.CONTEXTS), tuple(item_words.FORMALITIES)) == (CONTEXTS, REGISTERS)


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "translating-the-reviewer.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
RULES: list[str] = re.findall(r"`(nplurals=[^`]+)`", PAGE)
ONE, MANY = "{n} sentence is left for later.", "{n} sentences are left for later."
NEHIYAWEWIN = {"English": "nêhiyawêwin", "Gist": "ᑭᑐᐏᐣ", "Reject": "namôya"}
TWO = ["{n} pêyak", "{n} mihcêt"]


def block(word: str) -> str:
    [found] = [each for each in BLOCKS if word in each]
    return found


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands of the page in a folder in which the source code seems to lie."""
    if not (folder / "review").exists():
        (folder / "review").symlink_to(ROOT / "review")
    python = f'python() {{ (cd "{ROOT}" && "{sys.executable}" "$1" "$2" "{folder}/$3"); }}\n'
    return subprocess.run(
        ["bash", "-c", f"set -eu\n{python}{script}"], cwd=folder, check=False,
        env={**os.environ, "ROSETTA_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True,
    )  # fmt: skip


def say(path: Path, rule: str, said: dict[str, str], forms: list[str]) -> None:
    """Do what a translator does in an editor: the two lines, some sentences, one with a number."""
    lines = block("Plural-Forms").replace("nplurals=2; plural=(n != 1);", rule)
    text = path.read_text("utf-8")
    for english, own in said.items():
        empty = f'msgid "{english}"\nmsgstr '
        text = text.replace(f'{empty}""\n', f'{empty}"{own}"\n')
    numbered = f'msgid "{ONE}"\nmsgid_plural "{MANY}"\n'
    own = "\n".join(f'msgstr[{number}] "{form}"' for number, form in enumerate(forms))
    at = text.index(numbered) + len(numbered)
    text = text[:at] + own + text[text.index("\n\n", at) :]
    path.write_text(text.replace('msgstr ""\n', 'msgstr ""\n' + lines, 1), "utf-8")


def built(folder: Path, tag: str) -> Words:
    target = folder / tag / "LC_MESSAGES" / f"{DOMAIN}.mo"
    target.parent.mkdir(parents=True)
    target.write_bytes(build.compiled(build.read(folder / "crk.po")))
    return Words.load(tag, [folder])


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    return Path(shutil.copy(build.TEMPLATE, tmp_path / "crk.po"))


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="needs the gettext programs")
def test_page_leads_from_the_list_to_words_and_to_newer_ones(tmp_path: Path) -> None:
    assert shell(block("cp review/session"), tmp_path).returncode == 0
    path = tmp_path / "crk.po"
    fresh = path.read_text("utf-8")
    say(path, RULES[1], NEHIYAWEWIN, TWO)
    done = shell(block("msgfmt") + block("mkdir"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    home = tmp_path / "home" / WORDS_FOLDER
    words = Words.load("crk", [home])
    assert (words.name, words("Gist"), words("Help")) == ("nêhiyawêwin", "ᑭᑐᐏᐣ", "Help")
    assert [words.plural(ONE, MANY, n) for n in (1, 2)] == ["1 pêyak", "2 mihcêt"]
    assert languages([home])["crk"] == "nêhiyawêwin"
    without = path.read_text("utf-8").replace('msgid "Help"\nmsgstr ""\n\n', "")
    path.write_text(without, "utf-8")
    assert shell(block("msgmerge"), tmp_path).returncode == 0
    messages = {message.id: message.string for message in build.read(path)}
    assert (messages["Help"], messages["Gist"]) == ("", "ᑭᑐᐏᐣ")
    path.write_text(fresh, "utf-8")  # a brace that was invented is found before anybody reads it
    say(path, RULES[1], {"Handed in at {time}.": "{hour}"}, ["{n} a", "{n} b"])
    done = shell(block("msgfmt"), tmp_path)
    assert (done.returncode, bool(re.search(r"crk\.po:\d+:", done.stderr))) == (1, True)


def test_builder_says_what_is_missing_and_what_is_wrong(tmp_path: Path, listed: Path) -> None:
    fresh = listed.read_text("utf-8")
    say(listed, RULES[1], NEHIYAWEWIN, TWO)
    done = shell(block("python -m"), tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    left = sum(bool(message.id) for message in build.read(build.TEMPLATE)) - len(NEHIYAWEWIN) - 1
    assert len(lines) == left
    assert all(line.startswith("not translated: ") for line in lines)
    assert (tmp_path / f"{DOMAIN}.mo").read_bytes() == build.compiled(build.read(listed))
    assert built(tmp_path, "crk")("Reject") == "namôya"
    listed.write_text(fresh, "utf-8")
    say(listed, RULES[1], {"Handed in at {time}.": "{hour}"}, ["{n} a", "{n} b"])
    found = " ".join(map(str, build.problems(listed, build.read(build.TEMPLATE))))
    assert "other facts than ['{time}']" in found


FORMS = {
    "one form": (0, {1: 0, 2: 0, 5: 0}), "English": (1, {0: 1, 1: 0, 2: 1}),
    "French": (2, {0: 0, 1: 0, 2: 1}), "Inuktitut": (3, {1: 0, 2: 1, 3: 2, 10: 2}),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMS)
def test_each_line_of_the_table_counts_as_it_says(tmp_path: Path, listed: Path, kind: str) -> None:
    row, expected = FORMS[kind]
    assert kind.rsplit(maxsplit=1)[-1] in PAGE
    fresh = listed.read_text("utf-8")
    for tag in ("iu", "oj", "crk-Cans", "qqq"):
        listed.write_text(fresh.replace("Language: crk", f"Language: {tag}"), "utf-8")
        say(listed, RULES[row], {}, [f"{{n}} in form {n}" for n in range(int(RULES[row][9]))])
        words = built(tmp_path, tag)
        assert words.language == tag
        for n, form in expected.items():
            assert words.plural(ONE, MANY, n) == f"{n} in form {form}"


SALT = bytes(range(32))
FRENCH, SPANISH = "Nous vous demandons votre avis.", "Le pedimos su opinión."
SAID = {"fr": {"consent": FRENCH, "guide": "Jugez."}, "es": {"consent": SPANISH}}


NOTE = "The organiser has not given this in English; here it is in Français."


def sitting(folder: Path, language: str, **added: Any) -> Sitting:
    batch = batch_of(items_of(3), salt=SALT, **{"translations": SAID, **added})
    person = tag_of(CODE, SALT)
    return Sitting(folder, batch, person, Words.load(language), agreed=False)


def agreed(sitting: Sitting) -> list[Consent]:
    found = [event.payload for event in sitting.laptop.events()]
    return [each for each in found if isinstance(each, Consent)]


def test_text_that_was_shown_is_the_one_recorded(tmp_path: Path) -> None:
    here = sitting(tmp_path / "a", "fr")
    here.session.agree(share_corrections=False)
    here.words = Words.load("en")  # who agreed in French and then reads English agreed to French
    here.restart()
    here.session.share(True)
    said = agreed(here)
    assert [each.share_corrections for each in said] == [False, True]
    for each in said:
        assert (each.text_language, each.language) == ("fr", "fr")
        assert each.consent_sha256 == sha256(FRENCH.encode()).hexdigest()
    here = sitting(tmp_path / "b", "fr", translations={"es": {"consent": SPANISH}})
    here.session.agree(share_corrections=False)
    [said_] = agreed(here)  # where the language is missing, the batch's own
    assert (said_.text_language, said_.language) == ("en", "fr")
    [old] = agreed(Sitting(tmp_path / "c", batch_of(items_of(2)), words=Words.load("fr")))
    assert "text_language" not in old.model_dump()  # a batch of before says nothing of it
    own = sha256(CONSENT.encode()).hexdigest()
    assert (said_.consent_sha256, old.consent_sha256) == (own, own)


def test_missing_language_is_said_and_old_batch_claims_nothing() -> None:
    english, french = Words.load("en"), Words.load("fr")
    given = batch_of(language="fr", salt=SALT, translations={"es": {"consent": SPANISH}}).manifest
    assert page_words.consent(english, given) == OrganiserText(CONSENT, NOTE)
    assert page_words.guide(english, given) == OrganiserText(GUIDE, NOTE)
    assert page_words.consent(french, given) == OrganiserText(CONSENT)
    before = batch_of(language="fr").manifest
    assert page_words.consent(english, before) == OrganiserText(CONSENT)
    only_spanish = given.model_copy(update={"consent": ""})
    assert "in Spanish." in page_words.consent(english, only_spanish).note


QUECHUA = "Qanta tapukuyku."
WRITTEN = {
    "qu": {"consent": QUECHUA}, "crk-Latn": {"guide": "Nitaskiy."}, "fr": {"consent": FRENCH},
}  # fmt: skip
STAYS = (
    "The program itself does not speak Quechua: its own words stay in English. "
    "What the organiser wrote is shown in Quechua."
)


def opened(laptop: Laptop, stick: Path, **added: Any) -> tuple[Opening, Batch]:
    if not stick.exists():
        write_file(batch_of(items_of(2), salt=SALT, **{"translations": WRITTEN, **added}), stick)
    opening = Opening(laptop, places=[stick], language=None, system=("en",), mounted=list)
    return opening, opening.open(opening.choices()[0])


def test_language_of_the_batch_alone_is_chosen_and_remembered(tmp_path: Path) -> None:
    with Laptop.open(tmp_path / "home") as laptop:
        opening, batch = opened(laptop, tmp_path / "stick")
        assert opening.languages == {
            "en": "English", "fr": "Français", "qu": "Quechua", "crk-Latn": "Plains Cree (Latin script)"
        }  # fmt: skip
        assert opening.set_language("qu")("Settings") == "Settings"
        session = opening.session(batch, opening.reviewer(batch, CODE), Face.LINES)
        assert page_words.consent(session.words, batch.manifest) == OrganiserText(QUECHUA, STAYS)
        assert page_words.guide(session.words, batch.manifest).note == (
            "The organiser has not given this in Quechua; here it is in English."
        )
        session.agree(share_corrections=False)
        [said] = [each.payload for each in laptop.events() if isinstance(each.payload, Consent)]
        assert (said.text_language, said.language) == ("qu", "en")
        assert said.consent_sha256 == sha256(QUECHUA.encode()).hexdigest()
        again = Opening(laptop, mounted=list)
        assert (again.words.chosen, again.words.language) == ("qu", "en")
        assert list(again.languages) == ["en", "fr", "qu"]
        assert again.set_language("fr").chosen == "fr"
        assert Opening(laptop, mounted=list).words.reads == ("fr",)


def test_consent_is_folded_below_a_line_of_hyphens() -> None:
    for text, first, more in (
        ("All know.\n\n---\n\nThe --- rest.\n---\nEnd.", "All know.", "The --- rest.\n---\nEnd."),
        ("Known.\r\n ----- \r\nMore.", "Known.", "More."),
        ("One text -- with\n--\nshort lines", "One text -- with\n--\nshort lines", ""),
    ):
        found = page_words.consent(Words.load("en"), batch_of(consent=text).manifest)
        assert (found.text, found.more) == (first, more)


def test_own_words_stand_in_where_a_text_is_missing(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    with Laptop.open(tmp_path / "home") as laptop:
        opening, batch = opened(laptop, stick)
        opening.set_language("fr")
        words = opening.set_language("crk-Latn")
        assert words("Settings") != "Settings"
        text, note, _ = page_words.consent(words, batch.manifest)
        assert text == FRENCH, "the nearest that this person reads"
        assert "Plains Cree (Latin script)" in note
    write_file(batch_of(language="qu"), tmp_path / "old")
    with Laptop.open(tmp_path / "other") as laptop:
        opening, batch = opened(laptop, tmp_path / "old")  # which does not state its language
        assert list(opening.languages) == ["en", "fr"]
        assert page_words.consent(opening.set_language("qu"), batch.manifest).note == ""


def test_a_lesson_is_explained_in_the_language_that_is_chosen(tmp_path: Path) -> None:
    [item] = training_of([Rating.GIST])
    lesson = item.model_copy(update={"explanations": {"fr": "À cause de cela."}})
    batch = batch_of(items_of(2), [lesson], salt=SALT, language="es", translations={})
    here = Sitting(tmp_path, batch, tag_of(CODE, SALT), Words.load("fr"))
    here.see()
    here.session.rate(item.id, Rating.REJECT)
    note = "The organiser has not given this in English; here it is in Spanish."
    for tag, expected in (("fr", ("À cause de cela.", "")), ("en", ("Because of 1.", note))):
        here.session.words = Words.load(tag)
        shown = here.session.view.lesson
        assert shown is not None
        assert (shown.explanation, shown.note) == expected


ERRORS = [
    *(NotSaved(problem, Path("x"), "SQLITE_X") for problem in StorageProblem),
    *(FileError(problem, "English") for problem in FileProblem),
    *(StickError(Path("x"), problem) for problem in StorageProblem),
    *(CodeError(problem, "English") for problem in CodeProblem),
    OtherReviewerError("English"),
    HarnessError("English"),
]


def test_every_problem_has_words_in_both_languages() -> None:
    for error in ERRORS:
        english, french = (trouble(Words.load(tag), error) for tag in ("en", "fr"))
        assert english.said, error
        assert french.said != english.said, error
        assert english.detail == french.detail
        said_all = isinstance(error, CodeError | OtherReviewerError) or (
            isinstance(error, FileError) and error.problem in {FileProblem.LOCKED, FileProblem.WRONG_KEY}
        )
        assert bool(english.detail) is not said_all  # what only says it once more is not copied


def test_program_that_holds_the_file_stops_only_the_key(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, words=Words.load("fr"))
    sitting.rate()
    item = sitting.see()
    with closing(sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        view = sitting.session.rate(item, Rating.GIST)
        assert (item_of(view).id, view.done, view.said) == (item, 1, "")
        assert "autre fenêtre" in view.trouble
        assert view.detail == "SQLITE_BUSY"
        view = sitting.session.save_text(item, TextField.COMMENT, "kept")
        assert view.trouble
    view = sitting.session.rate(item, Rating.GIST)
    assert (view.done, view.trouble) == (2, "")
    assert sum(isinstance(e.payload, Rate) for e in sitting.laptop.events()) == 2


def test_withdrawal_in_another_window_is_said(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    second = Sitting(tmp_path, agreed=False)
    second.session.withdraw(Scope.EVERYTHING)
    item = first.see()
    view = first.session.rate(item, Rating.GIST)
    assert view.trouble
    assert "withdrew" in view.detail
    first.restart()
    assert first.session.view.phase is Phase.WITHDRAWN
