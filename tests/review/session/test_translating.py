"""The guide for translators, followed to the letter; languages that no library knows."""

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
from tests.review.session.catalogues import collected

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
    """Compile the list with our builder, in this process, and load it."""
    target = folder / tag / "LC_MESSAGES" / f"{DOMAIN}.mo"
    target.parent.mkdir(parents=True)
    target.write_bytes(build.compiled(build.read(folder / "crk.po")))
    return Words.load(tag, [folder])


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """The list that the page says to copy."""
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
    say(path, RULES[1], {"Handed over at {time}.": "{hour}"}, ["{n} a", "{n} b"])
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
    say(listed, RULES[1], {"Handed over at {time}.": "{hour}"}, ["{n} a", "{n} b"])
    found = " ".join(map(str, build.problems(listed, build.read(build.TEMPLATE))))
    assert "other facts than ['{time}']" in found


FORMS = {
    "one form": (0, {1: 0, 2: 0, 5: 0}),
    "English": (1, {0: 1, 1: 0, 2: 1}),
    "French": (2, {0: 0, 1: 0, 2: 1}),
    "Inuktitut": (3, {1: 0, 2: 1, 3: 2, 10: 2}),
}


@pytest.mark.parametrize("kind", FORMS)
def test_each_line_of_the_table_counts_as_it_says(tmp_path: Path, listed: Path, kind: str) -> None:
    """Also in languages that Babel does not know."""
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


def test_page_names_answers_and_counts_as_the_program_does() -> None:
    for word, meaning in RATINGS.values():
        assert f"| {word} | {meaning} |" in PAGE
    [told] = map(int, re.findall(r"about (\d+) short sentences", PAGE))
    assert abs(sum(bool(message.id) for message in collected()) - told) < 60
