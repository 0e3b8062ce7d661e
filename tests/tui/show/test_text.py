"""Texts as they are shown, whatever they hold; Cree either way; differences by signs; editors."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rosetta_tui
from rosetta_tui.corpus.open_corpus import editor_command, system_command
from rosetta_tui.entry import rows as entry_rows
from rosetta_tui.entry.record import diff_content
from rosetta_tui.runs import table as run_rows
from rosetta_tui.show import figures, run_facts
from rosetta_tui.show.columns import GAP, Column, fit
from rosetta_tui.show.output_text import MOST_WORDS, CreeTarget, DiffKind, converted, diff, is_cree, other_writing
from rosetta_tui.show.text import json_text, plain
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.form.file_choice import MOST_SHOWN, matching
from tests.review.thorough import examples
from tests.tui.scenes import ANY_TEXT, HOSTILE, acting


def test_no_line_break_of_our_own_is_shown_as_a_sign() -> None:
    sources = Path(rosetta_tui.__file__).parent.rglob("*.py")
    breaks = re.compile(r'\bshow\(\s*f?"[^"]*\\n')
    assert [path.name for path in sources if breaks.search(path.read_text("utf-8"))] == []


@given(ANY_TEXT)
@example("\x1b]52;c;aGk=\x07")
@example("\x9b2J\u202e\ud800\U000e0041")
@example("\x7f\u061c\u200b\u200e\u200f\u2060\ufeff\U000e0041\x9b")
@examples(100, 400)
def test_nothing_acts_and_json_holds_every_text(text: str) -> None:
    assert acting(plain(text)) == []
    assert plain(plain(text)) == plain(text)
    markup = f"[/foo][@click=app.quit]{text}[/]"
    assert show(markup, "bold").plain == plain(markup)
    written = json_text({text: [text]})
    assert acting(written.replace("\n", "")) == []
    assert written.isascii()
    read_back = json.loads(written)
    paired = json.loads(json.dumps(text))  # two lone halves side by side are read as one character
    assert read_back == {paired: [paired]}


WRITINGS = (
    "ᓂᐚᐸᒫᐤ", "niwâpamâw", "wâpame\u0302w\u0323", "نص عربي", "שלום", "한국어", "日本\u3000語", "👩\u200d👧", "ქართული",
)  # fmt: skip
VISIBLE = [
    ("a\x1b[2J", "a␛[2J"), ("a\tb\nc\r", "a⇥b␤c␍"), ("\x00\x7f", "␀␡"), ("\x9b31m", "⟨U+009B⟩31m"),
    ("abc\u202edef", "abc⟨RLO⟩def"), ("a\u200bb", "a⟨ZWSP⟩b"), ("a\u00a0b", "a⍽b"), ("\u3164", "⟨U+3164⟩"),
    ("\ue000", "⟨U+E000⟩"), ("\ud800", "⟨U+D800⟩"), ("\U0010ffff", "⟨U+10FFFF⟩"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), [*((each, each) for each in WRITINGS), *VISIBLE])
def test_writing_is_left_alone_and_what_acts_becomes_visible(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_line_breaks_are_kept_where_there_is_room() -> None:
    assert show_lines("a\r\nb\n\x1bc").plain == "a\nb\n␛c"


FILE = Path("/a b/c.json")


@pytest.mark.parametrize(
    ("named", "command"),
    [
        ("vim", ["vim", "+7", "/a b/c.json"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "/a b/c.json"]),
        ("code --wait", ["code", "--wait", "--goto", "/a b/c.json:7"]), ("hx", ["hx", "/a b/c.json:7"]),
        ("'my editor'", ["my editor", "/a b/c.json"]), ("", None), ("'open", None),
    ],
)  # fmt: skip
def test_editor_gets_the_line_in_its_own_way(named: str, command: list[str] | None) -> None:
    assert editor_command(FILE, 7, {"EDITOR": named}) == command
    if command:
        assert editor_command(FILE, 7, {"VISUAL": named, "EDITOR": "x"}) == command


def test_without_an_editor_the_system_opens_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert editor_command(FILE, None, {"EDITOR": "vim"}) == ["vim", "/a b/c.json"]
    assert editor_command(FILE, 7, {}) is None
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
    ("niwâpamâw atim", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"), ("tânisi", "ᑖᓂᓯ"), ("nêhiyawêwin", "ᓀᐦᐃᔭᐍᐏᐣ"), ("maskêkosihk", "ᒪᐢᑫᑯᓯᕽ"),
]  # fmt: skip
"""Two words of the seeds, and three of textbooks of Plains Cree."""


@pytest.mark.parametrize(("roman", "syllabics"), PAIRS)
def test_cree_is_converted_both_ways_once(roman: str, syllabics: str) -> None:
    assert converted(roman, CreeTarget.SYLLABICS) == syllabics
    assert converted(syllabics, CreeTarget.ROMAN) == roman
    assert converted(roman, CreeTarget.ROMAN) == roman
    assert converted(syllabics, CreeTarget.SYLLABICS) == syllabics
    assert other_writing(roman) is CreeTarget.SYLLABICS
    assert other_writing(syllabics) is CreeTarget.ROMAN


@pytest.mark.parametrize(("output", "source", "shown"), [
    ("niwāpamāw", "", "ᓂᐚᐸᒫᐤ"), ("niwa\u0302pama\u0302w", "", "ᓂᐚᐸᒫᐤ"),
    ("ê-wâpamât", "", "ᐁ ᐚᐸᒫᐟ"),  # a preverb stands apart by a visible space
    ("niwâpamâw train {name}", "", "ᓂᐚᐸᒫᐤ train {name}"),
    ("I see the dog.", "I see the dog.", "I see the dog."),
    ("i see atim", "I see the dog.", "i see ᐊᑎᒼ"), ("nimis Mary", "my sister Mary", "ᓂᒥᐢ Mary"),
    ("Nimis ðê lîla", "", "ᓂᒥᐢ ðê lîla"), ("miýo-kîsikâw", "", "ᒥᔪ ᑮᓯᑳᐤ"),
    ("{atim} <i>atim</i> atim", "", "{atim} <i>ᐊᑎᒼ</i> ᐊᑎᒼ"),
])  # fmt: skip
def test_words_that_are_not_cree_stay(output: str, source: str, shown: str) -> None:
    assert converted(output, CreeTarget.SYLLABICS, source) == shown


def test_only_cree_is_converted() -> None:
    assert all(is_cree(tag) for tag in ("crk", "crk-Latn", "CRK_cans", "cwd"))
    assert not any(is_cree(tag) for tag in ("iu", ""))


@given(st.text() | st.sampled_from(HOSTILE))
@examples(50, 200)
def test_any_text_is_converted_without_a_fault(text: str) -> None:
    for writing in CreeTarget:
        converted(text, writing)
        assert writing is CreeTarget.ROMAN or converted(text, writing, text) == text
    other_writing(text)


TEXT = st.text("ab ĉâ\u0302,.'-\n\tᓂᐚ", max_size=40)


@given(TEXT, TEXT)
@example("wa\u0302pamew", "wâpamew")
@examples(100, 400)
def test_output_and_words_of_the_reference_come_back(output: str, reference: str) -> None:
    pieces = diff(output, reference)
    assert pieces is not None
    ours = [each for each in pieces if each.kind is not DiffKind.MISSING]
    back = "".join(each.space + "".join(part.text for part in each.output) for each in ours)
    assert back == output
    theirs = [
        "".join(part.text for part in (each.output if each.kind is DiffKind.SAME else each.reference))
        for each in pieces
        if each.kind is not DiffKind.EXTRA
    ]
    back = unicodedata.normalize("NFC", "".join("".join(theirs).split()))
    assert back == unicodedata.normalize("NFC", "".join(reference.split()))
    same = diff(output, unicodedata.normalize("NFD", output))
    assert {each.kind for each in same} <= {DiffKind.SAME}


def test_words_and_characters_are_marked_by_signs() -> None:
    content = diff_content("La kato iras for.", "La kato iris for.")
    assert content.plain == "La kato [iras→iris] for."
    changed = diff_content("instruisto", "instruistino")
    assert changed.plain == "[instruisto→instruistino]"
    underlined = [changed.plain[s.start : s.end] for s in changed.spans if "underline" in str(s.style)]
    assert underlined == ["in"]
    assert diff_content("unu du tri", "unu tri").plain == "unu [-du-] tri"
    assert diff_content("unu tri", "unu du tri").plain == "unu [+du+] tri"
    pieces = diff("wa\u0302p", "wap")
    assert [part.text for part in pieces[0].output] == ["w", "a\u0302", "p"], "a base and its mark"
    long = "a " * (MOST_WORDS + 1)
    assert diff(long, "b") is None
    assert diff_content(long, "b").plain.startswith("Too long")


# Numbers and columns

COLUMNS = st.lists(
    st.builds(
        Column, key=st.just("k"), title=st.just("t"), width=st.integers(1, 30), share=st.integers(0, 3),
        drop=st.integers(0, 5),
    ),
    max_size=12,
)  # fmt: skip


@given(COLUMNS, st.integers(0, 300))
@examples(50, 200)
def test_columns_fit_and_drop_the_least(columns: list[Column], width: int) -> None:
    placed = fit(columns, width)
    used = sum(each.width for each in placed) + GAP * max(0, len(placed) - 1)
    always = [column for column in columns if column.drop == 0]
    least = sum(column.width for column in always) + GAP * max(0, len(always) - 1)
    assert used <= max(width, least)
    assert all(each.width >= columns[each.index].width for each in placed)
    if any(columns[each.index].share for each in placed):
        assert used >= width, "width was left over though a column could have taken it"
    kept = {each.index for each in placed}
    gone = [columns[index].drop for index in set(range(len(columns))) - kept]
    assert all(gone)
    if gone and kept:
        assert min(gone) >= max(columns[index].drop for index in kept)


@given(COLUMNS, st.integers(0, 300), st.data())
@examples(50, 200)
def test_empty_columns_take_nothing(columns: list[Column], width: int, data: st.DataObject) -> None:
    needs = data.draw(st.tuples(*(st.integers(0, 60) for _ in columns)))
    placed = fit(columns, width, needs)
    used = sum(each.width for each in placed) + GAP * max(0, len(placed) - 1)
    always = {index for index, column in enumerate(columns) if not column.drop}
    assert always <= {each.index for each in placed}
    assert used <= width or always == {each.index for each in placed}
    sharing = [each for each in placed if columns[each.index].share]
    assert all(each.width <= max(1, needs[each.index]) for each in sharing)
    assert all(needs[each.index] for each in placed if columns[each.index].drop)
    if used < width:
        assert all(each.width == max(1, needs[each.index]) for each in sharing)


def shown(columns: Sequence[Column], width: int) -> dict[str, int]:
    return {columns[each.index].key: each.width for each in fit(columns, width)}


def test_eighty_columns_show_what_decides() -> None:
    entries = shown(entry_rows.columns(), 79)
    assert [*entries] == ["symbol", "source", "output", "chrf", "tier", "cost"]
    assert entries["tier"] >= len("◆◆◆◆◇ deployable")
    runs = shown(run_rows.COLUMNS, 79)
    assert [*runs] == ["state", "corpus", "method", "result", "chrf"]
    assert runs["method"] > runs["result"] >= len("◆◆◆◇◇ functional")


def test_seconds_and_id_of_an_entry_go_first_and_wide_terminals_show_all() -> None:
    every = {each.key for each in entry_rows.columns()}
    assert {*shown(entry_rows.columns(), 122)} == every
    assert {*shown(entry_rows.columns(), 118)} == every - {"state"}, "its sign stays"
    assert {*shown(entry_rows.columns(), 111)} == every - {"state", "seconds"}
    assert {*shown(entry_rows.columns(), 103)} == every - {"state", "seconds", "id"}
    assert {"id", "when", "composite"} <= {*shown(run_rows.COLUMNS, 120)}


MONEY = [
    (None, "unknown"), (0.0, "free"), (0.000009, "<$0.00001"), (0.00001, "$0.000010"), (0.0000999, "$0.000100"),
    (0.0001, "$0.0001"), (0.0184, "$0.0184"), (1.5, "$1.50"), (1234.5, "$1,234.50"),
]  # fmt: skip
CLOCK = [
    (None, "–"), (0, "00:00"), (41.4, "00:41"), (3599.6, "1:00:00"), (3725, "1:02:05"), (200_000, "2 d 7 h"),
]  # fmt: skip
TIERS = [("fluent", "◆◆◆◆◆"), ("baseline", "◆◇◇◇◇"), ("unscored", "◇◇◇◇◇"), ("functional", "◆◆◆◇◇")]
DATES = [
    (0, "1970-01-01T00:00:00.000+00:00"), (1.2345678, "1970-01-01T00:00:01.234+00:00"), (-1, None), (1e12, None),
]  # fmt: skip


@pytest.mark.parametrize(("form", "cases"), [
    (figures.money, MONEY), (figures.clock, CLOCK), (figures.meter, TIERS), (run_facts.iso, DATES),
])  # fmt: skip
def test_figures_are_written_alike(form: Callable[[Any], str | None], cases: Sequence[tuple[Any, str | None]]) -> None:
    assert [form(value) for value, _ in cases] == [shown for _, shown in cases]


SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES, SHARES, st.integers(3, 60))
@examples(50, 200)
def test_interval_bar_keeps_order(a: float, b: float, c: float, floor: float, width: int) -> None:
    low, value, high = sorted((a, b, c))
    bar = figures.interval_bar(value, (low, high), top=1, width=width, floor=floor)
    assert len(bar) == width
    assert bar.count("●") == 1
    at = bar.index("●")
    assert at == round(value * (width - 1))
    assert "┤" not in bar[:at]
    assert "├" not in bar[at:]
    bar = figures.interval_bar(50, (40, 60), top=100, width=11, floor=20)
    assert bar == "··╿·├●┤····"
    assert figures.interval_bar(1.0, (0.5, 1.5), low=-1.0, top=3.0, width=9) == "··┊├●┤···", "zero"
    assert figures.interval_bar(1.0, None, low=1.0, top=1.0, width=5) == "··●··", "without a scale"


@given(st.lists(SHARES, max_size=40), st.integers(1, 60))
@examples(50, 200)
def test_bars_are_as_full_as_their_values(values: list[float], width: int) -> None:
    for share in values:
        bar = figures.progress_bar(share, width)
        assert len(bar) == width
        assert abs(bar.count("█") - share * width) <= 1
    spark = figures.sparkline(values, width)
    assert len(spark) == min(width, len(values))
    if any(value > 1e-300 for value in values[-width:]):
        assert spark[values[-width:].index(max(values[-width:]))] == "█", "the highest is full"


@given(st.floats(0, 1, exclude_min=True) | st.sampled_from([1 / 10_001, 1 / 1_001, 0.0009999]))
@examples(50, 200)
def test_no_p_is_shown_as_nothing(p: float) -> None:
    for shown in (figures.p_value(p), figures.p_words(p)):
        assert "0.000" not in shown
        assert ("<" in shown) == (p < 0.001)
    if p >= 0.001:
        assert float(figures.p_value(p)) == pytest.approx(p, abs=0.0005)
    assert figures.p_value(0.0009999) == "<0.001"
    assert figures.p_words(0.0009999) == "p < 0.001"


def test_p_is_written_by_one_function_alone() -> None:
    root = Path(figures.__file__).parents[2]
    formatted = re.compile(r"\bp\w* \{[^}]*:\.\d|\{\w*p_(bootstrap|randomisation|adjusted)[^}]*:\.\d")
    packages = ("rosetta", "rosetta_tui", "harness", "review", "scoring")
    sources = [path for name in packages for path in (root / name).rglob("*.py")]
    found = [path.name for path in sources if formatted.search(path.read_text("utf-8"))]
    assert len(sources) > 300
    assert found == []


@given(st.floats(-1e4, 1e4), st.integers(0, 3))
@examples(50, 200)
def test_a_difference_has_the_sign_that_its_shown_digits_have(value: float, digits: int) -> None:
    shown = figures.signed(value, digits)
    read = float(shown.replace("−", "-"))
    assert abs(read - value) <= 0.5 * 10**-digits + 1e-9
    assert "-" not in shown, "the minus sign, not the hyphen"
    assert shown[0] == ("+" if read > 0 else "−" if read < 0 else "0")
