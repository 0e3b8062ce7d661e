"""Texts as they are shown, whatever they hold; Cree either way; differences by signs; editors."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rosetta_tui.corpus.originals import editor_command, system_command
from rosetta_tui.show.cree import CreeTarget, converted, is_cree, other_writing
from rosetta_tui.show.text import json_text, plain
from rosetta_tui.show.word_diff import MOST_WORDS, DiffKind, diff
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.diff_text import diff_content
from rosetta_tui.toolkit.form.file_choice import MOST_SHOWN, matching
from tests.tui.hostile import ANY_TEXT, acting
from tests.tui.scenes import HOSTILE


@given(ANY_TEXT)
@example("\x1b]52;c;aGk=\x07")
@example("\x9b2J\u202e\ud800\U000e0041")
def test_nothing_acts(text: str) -> None:
    assert acting(plain(text)) == []


@given(ANY_TEXT)
def test_showing_twice_changes_nothing(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(ANY_TEXT)
@example("\x7f\u061c\u200b\u200e\u200f\u2060\ufeff\U000e0041\x9b")
def test_json_holds_every_text_and_nothing_that_acts(text: str) -> None:
    written = json_text({text: [text]})
    assert acting(written.replace("\n", "")) == []
    assert written.isascii()
    read_back = json.loads(written)
    paired = json.loads(json.dumps(text))  # two lone halves side by side are read as one character
    assert read_back == {paired: [paired]}


@given(ANY_TEXT)
def test_show_never_reads_markup(text: str) -> None:
    content = show(f"[/foo][@click=app.quit]{text}[/]", "bold")
    assert content.plain == plain(f"[/foo][@click=app.quit]{text}[/]")


@pytest.mark.parametrize(
    "text",
    [
        "ᓂᐚᐸᒫᐤ", "niwâpamâw", "wâpame\u0302w\u0323", "نص عربي", "שלום", "한국어", "日本\u3000語",
        "👩\u200d👧", "ქართული",
    ],
)  # fmt: skip
def test_writing_is_left_alone(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2J", "a␛[2J"),
        ("a\tb\nc\r", "a⇥b␤c␍"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("abc\u202edef", "abc⟨RLO⟩def"),
        ("a\u200bb", "a⟨ZWSP⟩b"),
        ("a\u00a0b", "a⍽b"),
        ("\u3164", "⟨U+3164⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U0010ffff", "⟨U+10FFFF⟩"),
    ],
)
def test_what_acts_becomes_visible(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_line_breaks_are_kept_where_there_is_room() -> None:
    assert show_lines("a\r\nb\n\x1bc").plain == "a\nb\n␛c"


FILE = Path("/a b/c.json")


@pytest.mark.parametrize(
    ("named", "command"),
    [
        ("vim", ["vim", "+7", "/a b/c.json"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "/a b/c.json"]),
        ("code --wait", ["code", "--wait", "--goto", "/a b/c.json:7"]),
        ("hx", ["hx", "/a b/c.json:7"]),
        ("'my editor'", ["my editor", "/a b/c.json"]),
    ],
)
def test_an_editor_gets_the_line_in_its_own_way(named: str, command: list[str]) -> None:
    assert editor_command(FILE, 7, {"EDITOR": named}) == command
    assert editor_command(FILE, 7, {"VISUAL": named, "EDITOR": "x"}) == command


def test_without_a_line_the_file_alone_is_opened() -> None:
    assert editor_command(FILE, None, {"EDITOR": "vim"}) == ["vim", "/a b/c.json"]


@pytest.mark.parametrize("environment", [{}, {"EDITOR": ""}, {"EDITOR": "'open"}], ids=str)
def test_no_editor_is_no_command(environment: dict[str, str]) -> None:
    assert editor_command(FILE, 7, environment) is None


def test_each_system_opens_a_file_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system_command(FILE, "darwin") == ["open", "/a b/c.json"]
    assert system_command(FILE, "win32") == ["cmd", "/c", "start", "", "/a b/c.json"]
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert system_command(FILE, "linux") is None


def test_paths_are_listed_by_how_they_begin(tmp_path: Path) -> None:
    for name in ("Alpha.json", "alpine.txt", "beta.csv", ".hidden.json", "a.exe"):
        (tmp_path / name).write_text("")
    (tmp_path / "album").mkdir()
    for number in range(100):
        (tmp_path / f"z{number:03}.csv").write_text("")
    suffixes = (".json", ".csv", ".txt")

    def listed(typed: str) -> list[str]:
        return [each.removeprefix(f"{tmp_path}/") for each in matching(typed, suffixes)]

    assert listed(f"{tmp_path}/al") == ["album/", "Alpha.json", "alpine.txt"]
    assert listed(f"{tmp_path}/.h") == [".hidden.json"]
    assert listed(f"{tmp_path}/beta.csv") == []
    assert len(listed(f"{tmp_path}/z")) == MOST_SHOWN
    assert listed(f"{tmp_path}/nowhere/x") == []
    assert listed("\x00/x") == []


PAIRS = [
    ("niwâpamâw atim", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"),
    ("tânisi", "ᑖᓂᓯ"),
    ("nêhiyawêwin", "ᓀᐦᐃᔭᐍᐏᐣ"),
    ("maskêkosihk", "ᒪᐢᑫᑯᓯᕽ"),
]
"""Two words of the seeds, and three of textbooks of Plains Cree."""


@pytest.mark.parametrize(("roman", "syllabics"), PAIRS)
def test_both_ways(roman: str, syllabics: str) -> None:
    assert converted(roman, CreeTarget.SYLLABICS) == syllabics
    assert converted(syllabics, CreeTarget.ROMAN) == roman


@pytest.mark.parametrize(("roman", "syllabics"), PAIRS)
def test_what_is_in_the_writing_already_stays(roman: str, syllabics: str) -> None:
    assert converted(roman, CreeTarget.ROMAN) == roman
    assert converted(syllabics, CreeTarget.SYLLABICS) == syllabics
    assert other_writing(roman) is CreeTarget.SYLLABICS
    assert other_writing(syllabics) is CreeTarget.ROMAN


def test_macrons_and_decomposed_letters_are_the_same_word() -> None:
    assert converted("niwāpamāw", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ"
    assert converted("niwa\u0302pama\u0302w", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ"


def test_a_preverb_stands_apart_by_a_visible_space() -> None:
    assert converted("ê-wâpamât", CreeTarget.SYLLABICS) == "ᐁ ᐚᐸᒫᐟ"


def test_words_that_cannot_be_cree_stay() -> None:
    assert converted("niwâpamâw train {name}", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ train {name}"


@pytest.mark.parametrize(
    ("output", "source", "shown"),
    [
        ("I see the dog.", "I see the dog.", "I see the dog."),
        ("i see atim", "I see the dog.", "i see ᐊᑎᒼ"),
        ("nimis Mary", "my sister Mary", "ᓂᒥᐢ Mary"),
        ("Nimis ðê lîla", "", "ᓂᒥᐢ ðê lîla"),
        ("miýo-kîsikâw", "", "ᒥᔪ ᑮᓯᑳᐤ"),
        ("{atim} <i>atim</i> atim", "", "{atim} <i>ᐊᑎᒼ</i> ᐊᑎᒼ"),
    ],
)
def test_words_of_the_source_and_of_other_alphabets_stay(
    output: str, source: str, shown: str
) -> None:
    assert converted(output, CreeTarget.SYLLABICS, source) == shown


@pytest.mark.parametrize(
    ("tag", "cree"),
    [("crk", True), ("crk-Latn", True), ("CRK_cans", True), ("cwd", True), ("iu", False), ("", False)],
)  # fmt: skip
def test_only_cree_is_converted(tag: str, cree: bool) -> None:
    assert is_cree(tag) is cree


@given(st.text() | st.sampled_from(HOSTILE))
def test_any_text_is_converted_without_a_fault(text: str) -> None:
    for writing in CreeTarget:
        converted(text, writing)
        assert writing is CreeTarget.ROMAN or converted(text, writing, text) == text
    other_writing(text)


TEXT = st.text("ab ĉâ\u0302,.'-\n\tᓂᐚ", max_size=40)


@given(TEXT, TEXT)
@example("wa\u0302pamew", "wâpamew")
def test_the_output_comes_back(output: str, reference: str) -> None:
    pieces = diff(output, reference)
    assert pieces is not None
    ours = [each for each in pieces if each.kind is not DiffKind.MISSING]
    back = "".join(each.space + "".join(part.text for part in each.output) for each in ours)
    assert back == output


@given(TEXT, TEXT)
def test_the_words_of_the_reference_come_back(output: str, reference: str) -> None:
    pieces = diff(output, reference)
    assert pieces is not None
    theirs = [
        "".join(
            part.text for part in (each.output if each.kind is DiffKind.SAME else each.reference)
        )
        for each in pieces
        if each.kind is not DiffKind.EXTRA
    ]
    back = unicodedata.normalize("NFC", "".join("".join(theirs).split()))
    assert back == unicodedata.normalize("NFC", "".join(reference.split()))


@given(TEXT)
def test_equal_texts_do_not_differ(text: str) -> None:
    pieces = diff(text, unicodedata.normalize("NFD", text))
    assert pieces is not None
    assert {each.kind for each in pieces} <= {DiffKind.SAME}


def test_words_and_characters_are_marked_by_signs() -> None:
    content = diff_content("La kato iras for.", "La kato iris for.")
    assert content.plain == "La kato [iras→iris] for."
    changed = diff_content("instruisto", "instruistino")
    assert changed.plain == "[instruisto→instruistino]"
    underlined = [
        changed.plain[s.start : s.end] for s in changed.spans if "underline" in str(s.style)
    ]
    assert underlined == ["in"]


def test_missing_and_extra_words_have_signs_of_their_own() -> None:
    assert diff_content("unu du tri", "unu tri").plain == "unu [-du-] tri"
    assert diff_content("unu tri", "unu du tri").plain == "unu [+du+] tri"


def test_a_base_and_its_mark_stay_together() -> None:
    pieces = diff("wa\u0302p", "wap")
    assert pieces is not None
    assert [part.text for part in pieces[0].output] == ["w", "a\u0302", "p"]


def test_texts_too_long_for_a_reader_are_not_compared() -> None:
    long = "a " * (MOST_WORDS + 1)
    assert diff(long, "b") is None
    assert diff_content(long, "b").plain.startswith("Too long")
