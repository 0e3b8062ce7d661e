"""Which texts a terminal may not be trusted with."""

from __future__ import annotations

import sqlite3
import unicodedata
from pathlib import Path

import pytest

from harness.core.storage_problems import StorageProblem
from review.files.batch import Batch
from review.log.payloads import Consent, Kind
from review.log.table import NotSaved
from review.rating import Rating
from review.session.words.keys import RATING_OF, Act, act_of
from review.session.words.troubles import SAVING
from rosetta_tui.review.mis_drawn import WHY, MisDrawn, first_mis_drawn, mis_drawn
from rosetta_tui.review.rating.pages.item_page import Texts
from tests.outside import TEXTS, only_with, published
from tests.review.session.scenes import CODE, batch_of, items_of, training_of
from tests.review.thorough import times
from tests.tui.hostile import acting
from tests.tui.review.reviewing import Reviewing, begun, press, settle, started, text, write
from tests.tui.scenes import HOSTILE

SAFE = [
    "",
    "I saw his dog yesterday.",
    "ê î ô â ē ī ō ā niwâpamâw",
    unicodedata.normalize("NFD", "niwâpamâw atim, ĉiuĵaŭde"),
    "Tiếng Việt có nhiều dấu",  # two marks, drawn as one character
    "Я видел собаку",
    "한국어 漢字 かな",
    "ꮳꮃꭹ Ꮳꮃꭹ",
    "ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "🐕 👩‍🏫 “…” – ʔ ʷ ꞌ",
]
WRONG = [
    ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ", MisDrawn.SYLLABICS),
    ("Inuktitut: ᐃᓄᒃᑎᑐᑦ", MisDrawn.SYLLABICS),
    ("𑪰", MisDrawn.SYLLABICS),  # Extended-A
    ("שלום", MisDrawn.RIGHT_TO_LEFT),
    ("کوردی", MisDrawn.RIGHT_TO_LEFT),
    ("ߒߞߏ", MisDrawn.RIGHT_TO_LEFT),
    ("𞤀𞤁", MisDrawn.RIGHT_TO_LEFT),
    ("हिन्दी", MisDrawn.SHAPING),
    ("ខ្មែរ", MisDrawn.SHAPING),
    ("မြန်မာ", MisDrawn.SHAPING),
    ("\u1112\u1161\u11ab", MisDrawn.SHAPING),  # Korean in parts
    ("x̣̌ʷ", MisDrawn.STACKED_MARKS),
    ("dǫ́", MisDrawn.STACKED_MARKS),  # one letter with a mark, and one more
    (unicodedata.normalize("NFD", "Tiếng"), MisDrawn.STACKED_MARKS),
    ("ที่นี่", MisDrawn.STACKED_MARKS),
]


@pytest.mark.parametrize("text", SAFE, ids=ascii)
def test_texts_that_terminals_draw_well_are_safe(text: str) -> None:
    assert mis_drawn(text) is None


@pytest.mark.parametrize(("text", "why"), WRONG, ids=ascii)
def test_texts_that_terminals_draw_wrongly_are_told(text: str, why: MisDrawn) -> None:
    assert mis_drawn(text) is why
    assert mis_drawn(f"before {text} after") is why
    assert first_mis_drawn(["good", text, "good"]) is why


def test_every_reason_has_words() -> None:
    assert set(WHY) == set(MisDrawn)


@only_with(TEXTS)
@pytest.mark.parametrize(
    ("language", "why"),
    [
        ("fin", None), ("spa", None), ("mri", None), ("ukr", None), ("jpn", None), ("amh", None),
        ("hin", MisDrawn.SHAPING), ("arb", MisDrawn.RIGHT_TO_LEFT),
    ],
)  # fmt: skip
def test_texts_of_other_people_are_told_by_language(language: str, why: MisDrawn | None) -> None:
    path = published(language)
    lines = path.read_text("utf-8").splitlines()
    found = [mis_drawn(line) for line in lines]
    share = sum(each is why for each in found) / len(found)
    assert share > 0.98


SIZES = [(80, 24), (160, 48)]


def hostile() -> Batch:
    """A batch in which every text of others is one that wants to act."""
    items = [
        item.model_copy(
            update={"source": words[:20_000], "candidate": (words[::-1] + words)[:20_000]}
        )
        for item, words in zip(items_of(len(HOSTILE)), HOSTILE, strict=True)
    ]
    training = [
        item.model_copy(update={"source": HOSTILE[1], "explanation": "".join(HOSTILE[:8])})
        for item in training_of([Rating.REJECT])
    ]
    made = batch_of(items, training)
    manifest = made.manifest
    wished = {
        "title": "a[/foo][@click=app.quit]x",
        "consent": "\n".join(HOSTILE[:9]),
        "guide": "\n".join(HOSTILE[:9]),
        "labels": (HOSTILE[1], HOSTILE[3]),
        "organisation": manifest.organisation.model_copy(
            update={"name": HOSTILE[1] + HOSTILE[4] + HOSTILE[6]}
        ),
    }
    from review.files.batch import make_batch
    from tests.review.session.scenes import ORGANISATION

    return make_batch(manifest.model_copy(update=wished), items, training, ORGANISATION)


def assert_harmless(app: Reviewing) -> None:
    assert acting(text(app).replace("\n", "")) == []
    assert app.is_running


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES[: times(1, 2)])
async def test_no_text_acts_on_any_page(tmp_path: Path, size: tuple[int, int]) -> None:
    app = Reviewing(tmp_path, known=False)
    app.stick.mkdir()
    from review.files.batch import write_batch

    (app.stick / "a[bold]b\x1b]0;t\x07.rosetta-batch").write_bytes(write_batch(hostile()))
    async with app.run_test(size=size, tooltips=True) as pilot:
        await settle(pilot)
        for keys in (
            ["enter"],
            ["enter"],
            ["a"],
            [*CODE, "enter"],
            ["end", "enter"],
            ["1"],
            ["2"],
            ["enter"],
            ["1", "enter"],
        ):
            await press(pilot, *keys)
            assert_harmless(app)
        assert "[@click=app.quit]" in text(app) or "[/foo] text" in text(app)
        for number in range(len(HOSTILE) - 1):
            if number % 7:
                await press(pilot, "2")
                assert_harmless(app)
                continue
            for keys in (
                ["end"],
                ["c", "escape"],
                ["e", "up", "enter"],
                ["question_mark"],
                ["escape", "2"],
                ["comma"],
                ["1"],
            ):
                await press(pilot, *keys)
                assert_harmless(app)
        await press(pilot, "4", "x")
        assert_harmless(app)
        await press(pilot, "enter")
        assert_harmless(app)
        assert "You may pull the stick out." in text(app)


async def test_clicks_on_markup_do_nothing(tmp_path: Path) -> None:
    items = [each.model_copy(update={"candidate": HOSTILE[1]}) for each in items_of(2)]
    async with begun(Reviewing(tmp_path, batch_of(items))) as (app, pilot):
        row = next(n for n, line in enumerate(text(app).split("\n")) if "@click" in line)
        for column in range(0, 80, 4):
            await pilot.click(offset=(column, row))
        await settle(pilot)
        assert app.is_running
        assert "Sentence 1 of 2" in text(app)


# Trouble


async def test_another_program_holding_the_file_is_told_and_the_item_stays(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(4)))) as (app, pilot):
        await press(pilot, "1")
        other = sqlite3.connect(app.laptop.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await press(pilot, "2")
        for words in (
            "the program is open in another window",
            "For whoever helps:",
            "SQLITE_BUSY",
            "Sentence 2 of 4",
            "Excellent",
        ):
            assert words in text(app)
        other.execute("ROLLBACK")
        other.close()
        await press(pilot, "2")
        assert "Sentence 3 of 4" in text(app)
        assert "another window" not in text(app)


async def test_words_stay_in_the_box_when_they_cannot_be_saved(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(4)))) as (app, pilot):
        await press(pilot, "c")
        await write(pilot, "kept")
        other = sqlite3.connect(app.laptop.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await press(pilot, "enter")
        assert "another window" in text(app)
        assert "kept" in text(app)
        await press(pilot, "!")
        assert "kept!" in text(app)
        other.execute("ROLLBACK")
        other.close()
        await press(pilot, "enter")
        assert "Your comment is saved." in text(app)


@pytest.mark.parametrize("problem", SAVING)
async def test_every_trouble_is_told_in_words_at_80_columns(
    tmp_path: Path, problem: StorageProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(4)))) as (app, pilot):

        def fail(*_: object) -> None:
            raise NotSaved(problem, Path("x"), "SQLITE_SOMETHING")

        monkeypatch.setattr(app.laptop, "record", fail)
        await press(pilot, "2")
        shown = " ".join(text(app).replace("█", " ").split())
        assert SAVING[problem] in shown
        assert "For whoever helps: SQLITE_SOMETHING" in shown
        assert "Sentence 1 of 4" in shown
        assert "Excellent" in shown


# Texts that a terminal draws wrongly


def syllabics() -> Batch:
    return batch_of(
        [each.model_copy(update={"candidate": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"}) for each in items_of(2)]
        + items_of(3)[2:]
    )


async def test_writing_that_is_drawn_wrongly_is_refused_by_default(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, syllabics())
    async with started(app) as pilot:
        await press(pilot, "enter")
        assert "This writing may be shown wrongly here" in text(app)
        assert "window of its own" in text(app)
        await press(pilot, "enter")
        assert "Which sentences do you want to look at?" in text(app)
        assert list(app.laptop.events()) == []


async def test_going_on_all_the_same_is_noted_with_each_such_rating(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, syllabics())
    async with started(app) as pilot:
        await press(pilot, "enter", "a")
        await write(pilot, CODE)
        await press(pilot, "enter", "enter", "2", "3", "1", "0", "1", "3")
        said = [event.payload for event in app.laptop.events()]
        judged = [each for each in said if each and each.kind in {Kind.RATE, Kind.CANNOT_JUDGE}]
        assert [each.override for each in judged] == [True, True, False]


# Language, keys and colours


@pytest.mark.thorough
async def test_a_sitting_in_french_shows_no_english(tmp_path: Path) -> None:
    app = Reviewing(
        tmp_path,
        batch_of(items_of(3), training_of([Rating.REJECT]), language="fr"),
        language="fr",
        known=False,
    )
    english = (
        "Enter", "Esc ", "sentence", "Sentence", "answer", "help", "stop", "translation", "Saved",
        "the ", "You ", "Reject", "press",
    )  # fmt: skip
    texts = (
        "Language Council", "You may stop at any time.", "Read it aloud first.",
        "Spring sentences", "-sentences-", "Because of 1.", "Source", "Candidate", "Answer 1.",
        "Lesson 1.",
    )  # fmt: skip
    async with started(app, (100, 40)) as pilot:
        steps = [[], ["enter"], ["enter"], ["A", "enter"], [*CODE, "enter"], ["enter"], ["2"], ["enter", "1", "enter"],
                 ["0"], ["escape", "c"], ["x", "enter"], ["exclamation_mark"], ["enter", "question_mark"], ["escape", "w"],
                 ["1"], ["escape", "plus"], ["2"], ["comma"], ["1"], ["u"], ["3", "s"], ["3"], ["enter", "s"], ["x"], ["enter"], ["enter", "w", "2", "w"]]  # fmt: skip
        for keys in steps:
            await press(pilot, *keys)
            shown = text(app).replace(str(tmp_path), "")
            for known in texts:
                shown = shown.replace(known, "")
            assert [word for word in english if word in shown] == [], shown


async def test_another_language_is_one_key_away_and_remembered(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of(items_of(2)))
    async with started(app) as pilot:
        await press(pilot, "l")
        assert "Français" in text(app)
        await press(
            pilot,
            *(["down"] if app.screen.query_one("OptionList").highlighted == 0 else ["up"]),  # type: ignore[attr-defined]
            "enter",
        )
        assert "Which sentences" not in text(app)
        assert app.laptop.setting("language") == "fr"


async def test_a_language_in_which_only_the_batch_is_written_is_chosen_on_its_consent(
    tmp_path: Path,
) -> None:
    given = {"qu": {"consent": "Qanta tapukuyku."}}
    app = Reviewing(tmp_path, batch_of(items_of(2), salt=bytes(32), translations=given))
    async with started(app, (100, 60)) as pilot:
        await press(pilot, "enter", *CODE, "enter", "l")
        assert "Quechua" in text(app)
        await press(pilot, "end", "enter")
        assert "Qanta tapukuyku." in text(app)
        assert "its own words stay in English" in text(app)
        await press(pilot, "enter", "2")
        [agreed] = [e.payload for e in app.laptop.events() if isinstance(e.payload, Consent)]
        assert (agreed.text_language, agreed.language) == ("qu", "en")


async def test_colours_change_by_a_key_and_are_remembered(tmp_path: Path) -> None:
    async with begun(Reviewing(tmp_path, batch_of())) as (app, pilot):
        await press(pilot, "f2", "f2")
        assert app.theme == "rosetta-contrast"
        assert "Candidate 1." in text(app)
        remembered = Reviewing(tmp_path)
        assert remembered.theme == "rosetta-contrast"
        remembered.laptop.close()


def test_what_the_pages_press_means_nothing_else_in_the_table_of_keys() -> None:
    assert [act_of(key) for key in ("a", "l", "r")] == [None] * 3
    assert act_of("b") is Act.SHARING  # the same question as on the page on which one agrees
    assert act_of("1") in RATING_OF


@pytest.mark.parametrize("size", [(40, 12), (60, 20), (200, 60)])
async def test_the_answers_are_there_in_any_window(tmp_path: Path, size: tuple[int, int]) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(2))), size) as (app, _):
        for words in ("Reject", "Gist", "Acceptable", "Excellent"):
            assert words in text(app)
        assert app.screen.query_one(Texts).size.height >= 1


async def test_a_damaged_catalogue_of_words_is_told_and_english_stays(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "review-words" / "crk" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "rosetta-review.mo").write_bytes(b"\x1b]0;no catalogue")
    app = Reviewing(tmp_path, batch_of(), language="crk")
    async with started(app):
        assert "is damaged and is not used: crk/" in " ".join(text(app).split())
        assert "Which sentences do you want to look at?" in text(app)


async def test_colours_and_language_hold_where_they_cannot_be_remembered(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, batch_of())
    async with started(app) as pilot:
        other = sqlite3.connect(app.laptop.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await press(pilot, "f2", "l", "down", "up", "down", "enter")
        assert app.theme == "rosetta-light"
        assert app.is_running
        other.execute("ROLLBACK")
        other.close()
