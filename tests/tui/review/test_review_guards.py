"""Texts of strangers, writing that terminals draw wrongly, language and colours; the whole way from Home to the office and every key."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from review.files.batch import Batch, make_batch, write_batch
from review.files.manifests import SentenceContext
from review.log.laptop import Laptop
from review.log.payloads import Kind
from review.rating import Rating
from review.session.choice import Choice
from review.session.view import Phase, TextField, Unsaved, View
from review.session.words.catalogue import Words, languages
from review.session.words.keys import ONWARD_OF, RATING_OF, Act, act_of
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.mis_drawn import WHY, MisDrawn, first_mis_drawn, mis_drawn
from rosetta_tui.review.rating.pages.page import HelpPage, Page
from rosetta_tui.review.rating.pages.resting import PAUSES, PausePage
from rosetta_tui.review.rating.pages.submit import WithdrawPage
from rosetta_tui.review.rating.pages.welcome import (
    AskPage,
    ChoosePage,
    ConsentPage,
    LanguagePage,
    OrganisationPage,
    Question,
    RelationPage,
    SharingPage,
    WarningPage,
)
from rosetta_tui.review.rating.sitting import TerminalOpening
from rosetta_tui.toolkit.dialogs.help import HERE, keys_of
from tests.outside import TEXTS, only_with, published
from tests.review.session.scenes import CODE, ORGANISATION, asked_sharing, batch_of, items_of, training_of
from tests.review.thorough import times
from tests.tui.golden import compare
from tests.tui.review.reviewing import (
    SMALL,
    Doors,
    Reviewing,
    begin,
    begun,
    fill,
    press,
    see,
    settle,
    started,
    text,
    until,
)
from tests.tui.scenes import HOSTILE, acting
from tests.tui.screens import App
from tests.tui.screens import settle as settle_home

SAFE = (
    "", "ê î ô â ē ī ō ā niwâpamâw", unicodedata.normalize("NFD", "niwâpamâw atim, ĉiuĵaŭde"),
    "Tiếng Việt có nhiều dấu",  # two marks, drawn as one character
    "한국어 漢字 かな", "ꮳꮃꭹ Ꮳꮃꭹ", "ⵜⴰⵎⴰⵣⵉⵖⵜ", "🐕 👩‍🏫 “…” – ʔ ʷ ꞌ",
)  # fmt: skip
WRONG = {
    MisDrawn.SYLLABICS: ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ", "𑪰"),  # Extended-A
    MisDrawn.RIGHT_TO_LEFT: ("שלום", "ߒߞߏ", "𞤀𞤁"),
    MisDrawn.SHAPING: ("हिन्दी", "မြန်မာ", "\u1112\u1161\u11ab"),  # Korean in parts
    MisDrawn.STACKED_MARKS: (
        "x̣̌ʷ", unicodedata.normalize("NFD", "Tiếng"), "ที่นี่",
        "dǫ́",  # one letter with a mark, and one more
    ),
}  # fmt: skip


def test_mis_drawn_tells_what_terminals_draw_wrongly() -> None:
    assert [text for text in SAFE if mis_drawn(text) is not None] == []
    for why, texts in WRONG.items():
        for words in texts:
            assert mis_drawn(words) is mis_drawn(f"before {words} after") is why
            assert first_mis_drawn(["good", words, "good"]) is why
    assert set(WHY) == set(MisDrawn) == set(WRONG), "every reason has words"


@only_with(TEXTS)
@pytest.mark.parametrize(("languages", "why"), [
    ("fin spa mri ukr jpn amh", None), ("hin", MisDrawn.SHAPING), ("arb", MisDrawn.RIGHT_TO_LEFT),
])  # fmt: skip
def test_mis_drawn_tells_languages_apart(languages: str, why: MisDrawn | None) -> None:
    for language in languages.split():
        lines = published(language).read_text("utf-8").splitlines()[:: times(10, 1)]
        assert sum(mis_drawn(line) is why for line in lines) / len(lines) > 0.98, language


def hostile() -> Batch:
    """A batch in which every text of others is one that wants to act."""
    texts = [{"source": w[:20_000], "candidate": (w[::-1] + w)[:20_000]} for w in HOSTILE]
    given = zip(items_of(len(texts)), texts, strict=True)
    items = [item.model_copy(update=text) for item, text in given]
    [lesson] = training_of([Rating.REJECT])
    lesson_of = {"source": HOSTILE[1], "explanation": "".join(HOSTILE[:8])}
    training = [lesson.model_copy(update=lesson_of)]
    manifest = batch_of(items, training).manifest
    name = {"name": HOSTILE[1] + HOSTILE[4] + HOSTILE[6]}
    wished = {
        "title": "a[/foo][@click=app.quit]x",
        "consent": "\n".join(HOSTILE[:9]),
        "guide": "\n".join(HOSTILE[:9]),
        "labels": (HOSTILE[1], HOSTILE[3]),
        "organisation": manifest.organisation.model_copy(update=name),
    }
    return make_batch(manifest.model_copy(update=wished), items, training, ORGANISATION)


def assert_harmless(app: Reviewing) -> None:
    assert acting(text(app).replace("\n", "")) == []
    assert app.is_running


@pytest.mark.costly("a walk over every page, each with texts that want to act")
@pytest.mark.parametrize("last", [8, pytest.param(len(HOSTILE), marks=pytest.mark.thorough)])
async def test_no_text_acts_on_any_page(tmp_path: Path, last: int) -> None:
    app = Reviewing(tmp_path, known=False)
    app.stick.mkdir()
    asked_sharing(app.laptop)
    (app.stick / "a[bold]b\x1b]0;t\x07.rosetta-batch").write_bytes(write_batch(hostile()))
    async with app.run_test(size=(80, 24), tooltips=True) as pilot:
        await settle(pilot)
        for keys in (
            ["enter"], ["enter"], ["a"], [*CODE, "enter"], ["end", "enter"], ["2"],
            ["enter"], ["1", "enter"],
        ):  # fmt: skip
            await press(pilot, *keys)
            assert_harmless(app)
        assert "[@click=app.quit]" in text(app) or "[/foo] text" in text(app)
        for number in range(last - 1):
            answer = (["2"],)
            whole = (["end"], ["c", "escape"], ["e", "up", "enter"], ["question_mark"], ["escape", "2"], ["comma"], ["1"])  # fmt: skip
            for keys in answer if number % 7 else whole:
                await press(pilot, *keys)
                assert_harmless(app)
        for key in ("4", "x", "enter"):
            await press(pilot, key)
            assert_harmless(app)
        see(app, "You may pull the stick out.")


async def test_clicks_on_markup_do_nothing(tmp_path: Path) -> None:
    items = [each.model_copy(update={"candidate": HOSTILE[1]}) for each in items_of(2)]
    async with begun(Reviewing(tmp_path, batch_of(items))) as (app, pilot):
        row = next(n for n, line in enumerate(text(app).split("\n")) if "@click" in line)
        for column in range(0, 80, 8):
            await pilot.click(offset=(column, row))
        await settle(pilot)
        assert app.is_running
        assert "Sentence 1 of 2" in text(app)


# Texts that a terminal draws wrongly


async def test_mis_drawn_writing_is_refused_and_noted_if_wished(tmp_path: Path) -> None:
    first, second, third = items_of(3)
    wrong = [each.model_copy(update={"candidate": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"}) for each in (first, second)]
    app = Reviewing(tmp_path, batch_of([*wrong, third]))
    async with started(app) as pilot:
        await press(pilot, "enter")
        see(app, "This writing may be shown wrongly here", "program that opens a window")
        await press(pilot, "enter")
        see(app, "Which sentences do you want to look at?")
        assert list(app.laptop.events()) == []
        await press(pilot, "enter", "a")
        fill(app, CODE)
        await press(pilot, "enter", "enter", "3", "1", "0", "1", "3")
        said = [event.payload for event in app.laptop.events()]
        judged = [each for each in said if each and each.kind in {Kind.RATE, Kind.CANNOT_JUDGE}]
        assert [each.override for each in judged] == [True, True, False]


# Language, keys and colours


async def test_language_and_colours_change_by_a_key_and_are_remembered(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of(items_of(2)))
    async with started(app, (100, 60)) as pilot:
        await press(pilot, "f2", "f2", "l", "end", "enter")
        assert "Which sentences" not in text(app)
        await press(pilot, "l", "home", "enter")
        see(app, "Which sentences")
        remembered = Reviewing(tmp_path)
        assert remembered.theme == app.theme == "rosetta-contrast"
        remembered.laptop.close()


def test_what_the_pages_press_means_nothing_else_in_the_table_of_keys() -> None:
    assert [act_of(key) for key in ("a", "l", "r")] == [None] * 3
    assert act_of("b") is Act.SHARING  # the same question as on the page on which one agrees
    assert act_of("1") in RATING_OF


async def test_review_opens_from_home_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of()
    with Laptop.open(tmp_path) as laptop:
        opening = TerminalOpening(laptop)
        opening.accept(batch)
        opening.reviewer(batch, CODE)
        opening.laptop.add_batch(batch.manifest_bytes, batch.archive, secret=False)
    monkeypatch.setattr("rosetta_tui.review.rating.visit.TerminalOpening", Doors)
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await until(pilot, lambda: not isinstance(app.screen, HomeScreen))
        await begin(pilot)
        await press(pilot, "enter", "3")
        assert "Sentence 1 of 4" in text(app)
        await press(pilot, "3", "question_mark")
        assert "Leave it for later" in text(app)
        await press(pilot, "escape", "q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    with Laptop.open(tmp_path) as laptop:
        assert len(list(laptop.events())) == 4  # consent, nearness to the method, session, rating


async def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "review.sqlite").write_text("no database, but long enough for one" * 9)
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await settle_home(pilot)
        assert "The review cannot open" in text(app)
        assert isinstance(app.screen, HomeScreen)
        assert "q" in keys_of(app.screen)[HERE]["Quit"].split()


NAMES = {"Enter": "enter", "Esc": "escape"}
OF_WIDGETS = {"submit", "choose", "open"}
"""Done by the box or the list that has the focus, which takes Enter itself."""


def pages(app: Reviewing, words: Words) -> list[Page[Any]]:
    manifest = batch_of().manifest
    app.doors.words = words
    view = View(Phase.CONSENT, 0, 60, minutes=5)
    read = ConsentPage(words, manifest, view)
    read._end_shown = True  # it is shown nowhere here, so nothing scrolls
    unsaved = (Unsaved("a", 1, frozenset({TextField.COMMENT})),)
    ended = View(Phase.END, 3, 4, skipped=1, can_undo=True, unsaved=unsaved)
    return [
        ChoosePage(app.doors, []),
        ChoosePage(app.doors, [Choice("Spring")]),
        LanguagePage(app.doors),
        AskPage(words, Question("place", "asked", "about")),
        OrganisationPage(words, batch_of()),
        WarningPage(words, next(iter(MisDrawn))),
        ConsentPage(words, manifest, view),
        read,
        SharingPage(words, manifest),
        RelationPage(words),
        HelpPage(words),
        WithdrawPage(words),
        *(page(words, ended) for page in PAUSES.values()),
    ]


@pytest.mark.parametrize("language", languages())
def test_every_key_shown_is_bound_to_what_its_words_do(tmp_path: Path, language: str) -> None:
    """What is not wanted now is left by one key, as in the window, on every page before the first sentence."""
    words = Words.load(language)
    names = {words(name): key for name, key in NAMES.items()}
    app = Reviewing(tmp_path, batch_of())
    shown = pages(app, words)
    for page in shown:
        for hint in page.hints():
            key = names.get(hint.key, hint.key)
            bindings = page._bindings  # Textual tells them of a page only while it is shown
            bound = {each.action for each in bindings.key_to_bindings.get(key, ())}
            if isinstance(page, PausePage) and (act := act_of(key)) in ONWARD_OF:
                bound.add(f"onward('{ONWARD_OF[act].name}')")
            by_widget = key == "enter" and hint.action in OF_WIDGETS
            assert hint.action in bound or by_widget, (type(page).__name__, hint, bound)
            assert hasattr(page, f"action_{hint.action.partition('(')[0]}")
    for page in shown[3:10]:
        leaving = [hint.key for hint in page.hints() if hint.action == "leave"]
        assert [names.get(key, key) for key in leaving] in (["escape"], ["enter"]), page


async def test_item_looks_as_kept(tmp_path: Path) -> None:
    said = {
        "source": "I saw his dog yesterday.", "candidate": "Hieraŭ mi vidis lian hundon.",
        "around": SentenceContext(
            context="narrative", formality="conversational",
            before="Paul went home.", after="It did not bark.",
        ),
    }  # fmt: skip
    items = [item.model_copy(update=said) for item in items_of(9)]
    batch = batch_of(items, salt=bytes(32), translations={})
    async with begun(Reviewing(tmp_path, batch)) as (app, pilot):
        for size in ((80, 24), (160, 48)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            compare("review-item-context", size, app)


async def test_lists_and_the_end_look_as_kept(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(3)))) as (app, pilot):
        await press(pilot, "0")
        compare("review-why-not", SMALL, app)
        await press(pilot, "escape", "2", "comma", "5", "comma")
        compare("review-reasons", SMALL, app)
        await press(pilot, "escape", "4", "s", "enter", "s")
        compare("review-end", SMALL, app)
