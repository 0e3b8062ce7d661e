"""The guide for translators, followed to the letter; languages that no library knows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from review.session.opening import WORDS_FOLDER
from review.session.words import build
from review.session.words.catalogue import DOMAIN, Words, languages
from review.session.words.labels import RATINGS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "translating-the-reviewer.md").read_text("utf-8")
BLOCKS: list[str] = re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
RULES: list[str] = re.findall(r"`(nplurals=[^`]+)`", PAGE)
ONE, MANY = "{n} sentence is left for later.", "{n} sentences are left for later."

gnu = pytest.mark.skipif(shutil.which("msgfmt") is None, reason="needs the gettext programs")


def block(word: str) -> str:
    [found] = [each for each in BLOCKS if word in each]
    return found


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands of the page in a folder in which the source code seems to lie."""
    if not (folder / "review").exists():
        (folder / "review").symlink_to(ROOT / "review")
    python = f'python() {{ (cd "{ROOT}" && "{sys.executable}" "$1" "$2" "{folder}/$3"); }}\n'
    return subprocess.run(
        ["bash", "-c", f"set -eu\n{python}{script}"],
        cwd=folder,
        env={**os.environ, "ROSETTA_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"},
        check=False,
        capture_output=True,
        text=True,
    )


def say(path: Path, rule: str, said: dict[str, str], forms: list[str]) -> None:
    """Do what a translator does in an editor: the two lines, some sentences, one with a number."""
    lines = block("Plural-Forms").replace("nplurals=2; plural=(n != 1);", rule)
    text = path.read_text("utf-8")
    for english, own in said.items():
        text = text.replace(
            f'msgid "{english}"\nmsgstr ""\n', f'msgid "{english}"\nmsgstr "{own}"\n'
        )
    numbered = f'msgid "{ONE}"\nmsgid_plural "{MANY}"\n'
    own = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(forms))
    at = text.index(numbered) + len(numbered)
    end = text.index("\n\n", at)
    text = text[:at] + own.rstrip("\n") + text[end:]
    path.write_text(text.replace('msgstr ""\n', 'msgstr ""\n' + lines, 1), "utf-8")


NEHIYAWEWIN = {"English": "nêhiyawêwin", "Gist": "ᑭᑐᐏᐣ", "Reject": "namôya"}


@gnu
def test_the_page_leads_from_the_list_to_words_that_are_said(tmp_path: Path) -> None:
    assert shell(block("cp review/session"), tmp_path).returncode == 0
    say(tmp_path / "crk.po", RULES[1], NEHIYAWEWIN, ["{n} pêyak", "{n} mihcêt"])
    done = shell(block("msgfmt") + block("mkdir"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    home = tmp_path / "home" / WORDS_FOLDER
    words = Words.load("crk", [home])
    assert (words.name, words("Gist"), words("Help")) == ("nêhiyawêwin", "ᑭᑐᐏᐣ", "Help")
    assert [words.plural(ONE, MANY, n) for n in (1, 2)] == ["1 pêyak", "2 mihcêt"]
    assert languages([home])["crk"] == "nêhiyawêwin"


@gnu
def test_a_brace_that_was_invented_is_found_before_anybody_reads_it(tmp_path: Path) -> None:
    shell(block("cp review/session"), tmp_path)
    say(tmp_path / "crk.po", RULES[1], {"Handed over at {time}.": "{hour}"}, ["{n} a", "{n} b"])
    done = shell(block("msgfmt"), tmp_path)
    assert done.returncode == 1
    assert re.search(r"crk\.po:\d+:", done.stderr)
    said = shell(block("python -m"), tmp_path).stdout
    assert "other facts than ['{time}']" in said


def test_the_builder_compiles_a_language_that_babel_does_not_know_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    shell(block("cp review/session"), tmp_path)
    say(tmp_path / "crk.po", RULES[1], NEHIYAWEWIN, ["{n} pêyak", "{n} mihcêt"])
    done = shell(block("python -m"), tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    left = sum(bool(message.id) for message in build.read(build.TEMPLATE)) - len(NEHIYAWEWIN) - 1
    assert len(lines) == left
    assert all(line.startswith("not translated: ") for line in lines)
    target = tmp_path / "crk" / "LC_MESSAGES"
    target.mkdir(parents=True)
    (tmp_path / f"{DOMAIN}.mo").rename(target / f"{DOMAIN}.mo")
    assert Words.load("crk", [tmp_path])("Reject") == "namôya"


@gnu
def test_a_new_version_adds_what_is_new_and_keeps_what_was_said(tmp_path: Path) -> None:
    shell(block("cp review/session"), tmp_path)
    path = tmp_path / "crk.po"
    say(path, RULES[1], NEHIYAWEWIN, ["{n} pêyak", "{n} mihcêt"])
    text = path.read_text("utf-8")
    without = re.sub(r'msgid "Help"\nmsgstr ""\n\n', "", text)
    assert without != text
    path.write_text(without, "utf-8")
    done = shell(block("msgmerge"), tmp_path)
    assert done.returncode == 0, done.stderr
    messages = {message.id: message.string for message in build.read(path)}
    assert messages["Help"] == ""
    assert messages["Gist"] == "ᑭᑐᐏᐣ"


FORMS = {
    "one form": (0, {1: 0, 2: 0, 5: 0}),
    "English": (1, {0: 1, 1: 0, 2: 1}),
    "French": (2, {0: 0, 1: 0, 2: 1}),
    "Inuktitut": (3, {1: 0, 2: 1, 3: 2, 10: 2}),
}


@gnu
@pytest.mark.parametrize("tag", ["iu", "oj", "crk-Cans"])
@pytest.mark.parametrize("kind", list(FORMS))
def test_each_line_of_the_table_counts_as_it_says(tmp_path: Path, kind: str, tag: str) -> None:
    row, expected = FORMS[kind]
    assert kind.rsplit(maxsplit=1)[-1] in PAGE
    shell(block("cp review/session"), tmp_path)
    forms = [f"{{n}} in form {number}" for number in range(int(RULES[row][9]))]
    say(tmp_path / "crk.po", RULES[row], {}, forms)
    script = (block("msgfmt") + block("mkdir")).replace(
        f"{WORDS_FOLDER}/crk", f"{WORDS_FOLDER}/{tag}"
    )
    assert shell(script, tmp_path).returncode == 0
    words = Words.load(tag, [tmp_path / "home" / WORDS_FOLDER])
    assert words.language == tag
    assert {n: words.plural(ONE, MANY, n) for n in expected} == {
        n: f"{n} in form {form}" for n, form in expected.items()
    }


@pytest.mark.parametrize("tag", ["crk", "oj", "iu", "qqq"])
def test_the_builder_keeps_forms_for_numbers_that_babel_does_not_know(
    tmp_path: Path, tag: str
) -> None:
    shell(block("cp review/session"), tmp_path)
    path = tmp_path / "crk.po"
    say(path, RULES[3], {}, ["{n} one", "{n} two", "{n} many"])
    path.write_text(path.read_text("utf-8").replace("Language: crk", f"Language: {tag}"), "utf-8")
    assert shell(block("python -m"), tmp_path).returncode == 0
    target = tmp_path / tag / "LC_MESSAGES"
    target.mkdir(parents=True)
    (tmp_path / f"{DOMAIN}.mo").rename(target / f"{DOMAIN}.mo")
    words = Words.load(tag, [tmp_path])
    assert [words.plural(ONE, MANY, n) for n in (1, 2, 9)] == ["1 one", "2 two", "9 many"]


def test_the_page_names_the_answers_as_the_program_says_them() -> None:
    for word, meaning in RATINGS.values():
        assert f"| {word} | {meaning} |" in PAGE


def test_the_page_says_how_many_sentences_there_are() -> None:
    [told] = map(int, re.findall(r"about (\d+) short sentences", PAGE))
    there = sum(bool(message.id) for message in build.collect())
    assert abs(there - told) < 60
