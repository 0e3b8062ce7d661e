"""The catalogue and the table of keys: whole, open to any language, the same on every face; the first language."""

import ast
import gettext
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.model.entry import CONTEXTS, REGISTERS
from harness.core.failures import UsageError
from review.files.manifests import Around, OthersWords
from review.log.laptop import Laptop
from review.log.payloads import Scope
from review.rating import CannotJudge, Rating, Reason
from review.session.opening import Opening
from review.session.view import ShownItem
from review.session.words import build
from review.session.words import item as item_words
from review.session.words.catalogue import (
    DOMAIN,
    OURS,
    Words,
    checked_tag,
    languages,
    words_of_system,
)
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
from review.session.words.labels import RATINGS as RATINGS_SAID
from tests.review.session.catalogues import catalogue, collected, entry

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


def test_french_typography_keeps_signs_with_their_words() -> None:
    source = build.read(OURS / "fr" / "LC_MESSAGES" / f"{DOMAIN}.po")
    for message in source:
        texts = [message.string] if isinstance(message.string, str) else message.string
        for text in texts if message.id else ():
            assert not re.search(r" [:;!?»]|« ", text), text
            assert "'" not in text, text
            assert not re.search(rf"\w[?!](?![{NO_BREAK}\w])", text), text


def test_reviewers_never_meet_a_word_of_ours() -> None:
    ours = re.compile(r"\b(batch|item|terminal|candidate|payload|UTF|log)s?\b", re.IGNORECASE)
    for message in collected():
        for text in [message.id] if isinstance(message.id, str) else message.id:
            assert not ours.search(text), text


@pytest.mark.parametrize(
    ("tag", "found"),
    [("fr", "fr"), ("fr-CA", "fr"), ("fr_CA", "fr"), ("crk", "en"), ("", "en"), ("../fr", "en"), ("C", "en")],
)  # fmt: skip
def test_language_falls_back_to_its_wider_one_then_to_english(tag: str, found: str) -> None:
    assert Words.load(tag).language == found


def test_any_community_can_add_its_own_language(tmp_path: Path) -> None:
    catalogue(tmp_path, "cr_Cans", entry("English", "ᓀᐦᐃᔭᐍᐏᐣ") + entry("Gist", "ᐃᑘᐏᐣ"))
    catalogue(tmp_path, "cr", entry("Gist", "itwêwin") + entry("Reject", "namôya"))
    words = Words.load("cr-Cans", [tmp_path])
    assert (words.language, words.name, words.direction) == ("cr-Cans", "ᓀᐦᐃᔭᐍᐏᐣ", "ltr")
    assert [words(text) for text in ("Gist", "Reject", "Help")] == ["ᐃᑘᐏᐣ", "namôya", "Help"]
    assert Words.load("cr", [tmp_path]).name == "cr"
    assert list(languages([tmp_path])) == ["cr", "en", "fr", "cr-Cans"]


def test_community_can_change_direction_and_words(tmp_path: Path) -> None:
    catalogue(tmp_path, "ckb", entry("ltr", "rtl"))
    assert Words.load("ckb", [tmp_path]).direction == "rtl"
    catalogue(tmp_path, "fr", entry("Gist", "Sens"))
    words = Words.load("fr", [tmp_path])
    assert (words("Gist"), words("Reject")) == ("Sens", "À refuser")


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


def test_facts_are_put_in_as_they_are(tmp_path: Path) -> None:
    catalogue(
        tmp_path, "xx", entry("Saved: {rating}.", "{rating.__class__} {0} %s {rating} {other}")
    )
    words = Words.load("xx", [tmp_path])
    assert words("Saved: {rating}.", rating="{n}") == "{rating.__class__} {0} %s {n} {other}"


@pytest.mark.parametrize(("language", "n", "said"), [
    ("en", 1, "one for later"), ("en", 0, "0 for later"), ("fr", 0, "une pour"), ("fr", 3, "gardé 3"),
])  # fmt: skip
def test_numbers_follow_the_rule_of_the_language(language: str, n: int, said: str) -> None:
    one = "You have seen all sentences. You left one for later."
    many = "You have seen all sentences. You left {n} for later."
    assert said in Words.load(language).plural(one, many, n)


@pytest.mark.parametrize("tag", ["", "../x", "a/b", "x" * 99, "é", "-", "fr-"])
def test_what_is_no_language_tag_is_refused(tag: str) -> None:
    assert checked_tag(" cr_Cans ") == "cr-Cans"
    with pytest.raises(UsageError, match="no language tag"):
        checked_tag(tag)


RATINGS = [Act.REJECT, Act.GIST, Act.ACCEPTABLE, Act.EXCELLENT]


def test_keys_rate_from_worst_to_best_on_every_keyboard() -> None:
    for keys in ("1234", "dfgh", "DFGH", "&é\"'", "١٢٣٤", "１２３４"):
        assert [act_of(key) for key in keys] == RATINGS
    assert [RATING_OF[act] for act in RATINGS] == list(Rating)
    assert {act_of(key) for key in ("0", "à", "٠")} == {Act.CANNOT_JUDGE}
    assert {act_of(key) for key in ("\x7f", "\b", "u", "U")} == {Act.UNDO}
    others = ("", "12", "5", "²", "½", "z", "\x1b", " ", "ᐊ")
    assert {act_of(key) for key in others} == {None}


def test_every_act_has_a_key_and_words() -> None:
    assert set(KEYS) == set(Act)
    assert set(ACT_WORDS) | set(RATING_OF) == set(Act)


@pytest.mark.parametrize("key", ["s", "&"])
def test_a_key_that_is_taken_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is taken"):
        table({Act.SKIP: ("s",), Act.HELP: (key,)})


def test_lists_are_chosen_from_by_digit_on_every_keyboard() -> None:
    for row in ("12345678", "&é\"'(-è_"):
        assert [reason_of(key) for key in row] == list(Reason)
        assert [cannot_judge_of(key) for key in row[:7]] == [*CannotJudge, None]
        assert [scope_of(key) for key in row[:4]] == [*Scope, None]
    assert [reason_of(key) for key in ("0", "9", "d", "12", "")] == [None] * 5
    words = Words.load("fr")
    assert [key_name(words, key) for key in ",!x"] == ["virgule", "point d’exclamation", "x"]


def test_page_for_speakers_names_keys_and_answers_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "review-for-speakers.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| (.*?) \| .* \|$", page)
    named = {key for row in rows for key in re.findall(r"`(.)`", row)}
    assert named == {key for keys in KEYS.values() for key in keys} - {BACKSPACE}
    for number, rating in enumerate(Rating, 1):
        label, meaning = RATINGS_SAID[rating]
        assert f"| `{number}` | {label} | {meaning} |" in page


def test_first_language_of_the_system_that_has_words(monkeypatch: pytest.MonkeyPatch) -> None:
    for tags, language in (
        (("fr-CA", "en-CA"), "fr"), (("crk-Cans-CA", "fr-CA"), "fr"), (("en-US", "fr-FR"), "en"),
        (("enf", "fr"), "fr"), (("xx", "yy"), "en"), (("not a tag", "fr"), "fr"),
    ):  # fmt: skip
        assert words_of_system(tags).language == language, tags
    monkeypatch.setenv("LC_ALL", "fr_CA.UTF-8")  # which tells where the system does not
    assert words_of_system().language == "fr"
    assert words_of_system(("en",)).language == "en"


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
        around=Around(context="narrative", formality="our own", before="B.", after="A."),
        others=(
            OthersWords(reasons=(Reason.GRAMMAR, Reason.SPELLING)),
            OthersWords(comment="C.", suggestion="S."),
        ),
    )  # fmt: skip
    marks = item_words.marks(Words.load("en"), item)
    assert [(mark.said, mark.text) for mark in marks] == [
        ("Your comment:", "mine"),
        ("Others wrote in the first round, some of it perhaps you; you need not agree:", ""),
        ("Somebody says: The grammar is wrong; The spelling is wrong.", ""),
        ("Somebody's comment:", "C."),
        ("Somebody's better translation:", "S."),
        ("The sentence before it:", "B."),
        ("The sentence after it:", "A."),
        ("What it is:", "part of a story"),
        ("How it is said:", "our own"),
    ]


def test_every_tag_of_the_specification_has_words() -> None:
    assert tuple(item_words.CONTEXTS) == CONTEXTS
    assert tuple(item_words.FORMALITIES) == REGISTERS
