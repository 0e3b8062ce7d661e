"""Texts of strangers, writing that terminals draw wrongly, and the language and colours of the pages."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from review.files.batch import Batch, make_batch, write_batch
from review.log.payloads import Consent, Kind
from review.rating import Rating
from review.session.words.keys import RATING_OF, Act, act_of
from rosetta_tui.review.mis_drawn import WHY, MisDrawn, first_mis_drawn, mis_drawn
from tests.outside import TEXTS, only_with, published
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    GUIDE,
    ORGANISATION,
    batch_of,
    items_of,
    training_of,
)
from tests.review.thorough import times
from tests.tui.hostile import acting
from tests.tui.review.reviewing import Reviewing, begun, fill, press, see, settle, started, text
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


def test_mis_drawn_tells_what_terminals_draw_wrongly() -> None:
    assert [text for text in SAFE if mis_drawn(text) is not None] == []
    for words, why in WRONG:
        assert mis_drawn(words) is mis_drawn(f"before {words} after") is why
        assert first_mis_drawn(["good", words, "good"]) is why
    assert set(WHY) == set(MisDrawn), "every reason has words"


@only_with(TEXTS)
@pytest.mark.parametrize(
    ("languages", "why"),
    [
        ("fin spa mri ukr jpn amh", None),
        ("hin", MisDrawn.SHAPING),
        ("arb", MisDrawn.RIGHT_TO_LEFT),
    ],
)
def test_mis_drawn_tells_languages_apart(languages: str, why: MisDrawn | None) -> None:
    for language in languages.split():
        lines = published(language).read_text("utf-8").splitlines()[:: times(10, 1)]
        assert sum(mis_drawn(line) is why for line in lines) / len(lines) > 0.98, language


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

    return make_batch(manifest.model_copy(update=wished), items, training, ORGANISATION)


def assert_harmless(app: Reviewing) -> None:
    assert acting(text(app).replace("\n", "")) == []
    assert app.is_running


@pytest.mark.costly("a walk over every page, each with texts that want to act")
@pytest.mark.parametrize("last", [8, pytest.param(len(HOSTILE), marks=pytest.mark.thorough)])
async def test_no_text_acts_on_any_page(tmp_path: Path, last: int) -> None:
    app = Reviewing(tmp_path, known=False)
    app.stick.mkdir()
    (app.stick / "a[bold]b\x1b]0;t\x07.rosetta-batch").write_bytes(write_batch(hostile()))
    async with app.run_test(size=(80, 24), tooltips=True) as pilot:
        await settle(pilot)
        for keys in (
            ["enter"], ["enter"], ["a"], [*CODE, "enter"], ["end", "enter"], ["1"], ["2"],
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
        for keys in (["4", "x"], ["enter"]):
            await press(pilot, *keys)
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


def syllabics() -> Batch:
    return batch_of(
        [each.model_copy(update={"candidate": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"}) for each in items_of(2)]
        + items_of(3)[2:]
    )


async def test_mis_drawn_writing_is_refused_and_noted_if_wished(tmp_path: Path) -> None:
    app = Reviewing(tmp_path, syllabics())
    async with started(app) as pilot:
        await press(pilot, "enter")
        see(app, "This writing may be shown wrongly here", "window of its own")
        await press(pilot, "enter")
        see(app, "Which sentences do you want to look at?")
        assert list(app.laptop.events()) == []
        await press(pilot, "enter", "a")
        fill(app, CODE)
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


async def test_language_and_colours_change_by_a_key_and_are_remembered(tmp_path: Path) -> None:
    given = {"qu": {"consent": "Qanta tapukuyku."}}
    app = Reviewing(tmp_path, batch_of(items_of(2), salt=bytes(32), translations=given))
    async with started(app, (100, 60)) as pilot:
        await press(pilot, "f2", "f2", "l", "end", "enter")
        assert "Which sentences" not in text(app)
        await press(pilot, "l", "home", "enter", "enter")
        fill(app, CODE)
        await press(pilot, "enter")
        see(app, CONSENT, GUIDE)
        await press(pilot, "l")
        see(app, "Français", "Quechua")
        await press(pilot, "end", "enter")  # only the batch is written in it
        see(app, "Qanta tapukuyku.", "its own words stay in English")
        assert CONSENT not in text(app)
        await press(pilot, "enter", "2")
        [agreed] = [e.payload for e in app.laptop.events() if isinstance(e.payload, Consent)]
        assert (agreed.text_language, agreed.language) == ("qu", "en")
        remembered = Reviewing(tmp_path)
        assert remembered.theme == app.theme == "rosetta-contrast"
        remembered.laptop.close()


def test_what_the_pages_press_means_nothing_else_in_the_table_of_keys() -> None:
    assert [act_of(key) for key in ("a", "l", "r")] == [None] * 3
    assert act_of("b") is Act.SHARING  # the same question as on the page on which one agrees
    assert act_of("1") in RATING_OF


async def test_a_damaged_catalogue_of_words_is_told_and_english_stays(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "review-words" / "crk" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "rosetta-review.mo").write_bytes(b"\x1b]0;no catalogue")
    app = Reviewing(tmp_path, batch_of(), language="crk")
    async with started(app):
        assert "is damaged and is not used: crk/" in " ".join(text(app).split())
        see(app, "Which sentences do you want to look at?")
