"""The catalogue: whole, up to date, open to any language, and never a reason to fail."""

import ast
import gettext
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from review.session.words import build
from review.session.words.catalogue import DOMAIN, OURS, Words, checked_tag, languages
from tests.review.session.catalogues import catalogue, entry

NO_BREAK = "\u00a0\u202f"


def test_template_and_catalogues_hold_exactly_the_words_of_the_code() -> None:
    template = build.collect()
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
def test_what_was_compiled_says_what_the_source_says(tag: str) -> None:
    source = build.read(OURS / tag / "LC_MESSAGES" / f"{DOMAIN}.po")
    with (OURS / tag / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in source:
        if isinstance(message.id, str):
            assert not message.id or compiled.gettext(message.id) == message.string
        else:
            said = tuple(compiled.ngettext(*message.id, n) for n in (1, 2))  # type: ignore[call-arg]
            assert said == tuple(message.string)  # type: ignore[arg-type]


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="msgfmt is not installed")
@pytest.mark.parametrize("tag", ["en", "fr"])
def test_gnu_gettext_finds_no_fault_in_a_catalogue(tag: str) -> None:
    path = OURS / tag / "LC_MESSAGES" / f"{DOMAIN}.po"
    done = subprocess.run(
        ["msgfmt", "--check-format", "-o", os.devnull, path], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_french_typography_keeps_signs_with_their_words() -> None:
    source = build.read(OURS / "fr" / "LC_MESSAGES" / f"{DOMAIN}.po")
    for message in source:
        texts = [message.string] if isinstance(message.string, str) else message.string
        for text in texts if message.id else ():
            assert not re.search(r" [:;!?»]|« ", text), text
            assert "'" not in text, text
            assert not re.search(rf"\w[?!](?![{NO_BREAK}\w])", text), text


@pytest.mark.parametrize(
    "word", ["batch", "item", "terminal", "candidate", "payload", "UTF", "log"]
)
def test_reviewers_never_meet_a_word_of_ours(word: str) -> None:
    for message in build.collect():
        texts = [message.id] if isinstance(message.id, str) else message.id
        for text in texts:
            assert not re.search(rf"\b{word}s?\b", text, re.IGNORECASE), text


@pytest.mark.parametrize(
    ("tag", "found"),
    [("fr", "fr"), ("fr-CA", "fr"), ("fr_CA", "fr"), ("crk", "en"), ("", "en"), ("../fr", "en"), ("C", "en")],
)  # fmt: skip
def test_a_language_falls_back_to_its_wider_one_and_then_to_english(tag: str, found: str) -> None:
    assert Words.load(tag).language == found


def test_any_community_can_add_its_own_language(tmp_path: Path) -> None:
    catalogue(tmp_path, "cr_Cans", entry("English", "ᓀᐦᐃᔭᐍᐏᐣ") + entry("Gist", "ᐃᑘᐏᐣ"))
    catalogue(tmp_path, "cr", entry("Gist", "itwêwin") + entry("Reject", "namôya"))
    words = Words.load("cr-Cans", [tmp_path])
    assert (words.language, words.name, words.direction) == ("cr-Cans", "ᓀᐦᐃᔭᐍᐏᐣ", "ltr")
    assert [words(text) for text in ("Gist", "Reject", "Help")] == ["ᐃᑘᐏᐣ", "namôya", "Help"]
    assert Words.load("cr", [tmp_path]).name == "cr"
    assert list(languages([tmp_path])) == ["cr", "en", "fr", "cr-Cans"]


def test_a_language_can_be_written_from_right_to_left(tmp_path: Path) -> None:
    catalogue(tmp_path, "ckb", entry("ltr", "rtl"))
    assert Words.load("ckb", [tmp_path]).direction == "rtl"


def test_a_community_can_put_single_words_of_ours_differently(tmp_path: Path) -> None:
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


def test_facts_are_put_in_as_they_are_and_nothing_else_is_a_directive(tmp_path: Path) -> None:
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
def test_what_is_no_language_tag_is_refused_in_words(tag: str) -> None:
    with pytest.raises(UsageError, match="no language tag"):
        checked_tag(tag)


def test_a_language_tag_has_one_spelling() -> None:
    assert checked_tag(" cr_Cans ") == "cr-Cans"
