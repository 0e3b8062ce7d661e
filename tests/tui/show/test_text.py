"""Text from outside can only be shown, whatever it holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given

from rosetta_tui.show.text import json_text, plain
from rosetta_tui.toolkit.content import show, show_lines
from tests.tui.hostile import ANY_TEXT, acting


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
        "ᓂᐚᐸᒫᐤ",
        "niwâpamâw",
        "wâpame\u0302w\u0323",
        "نص عربي",
        "שלום",
        "한국어",
        "日本\u3000語",
        "👩\u200d👧",
        "ქართული",
    ],
)
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
