"""The line face within this process: what is typed, read out and kept, in any language; rating and translating."""

from __future__ import annotations

import io
import os
import re
import socket
import sys
from pathlib import Path

import pytest

from harness.sealed.phrase import draw_words
from review.files.batch import write_batch
from review.files.ratings import open_ratings
from review.log.fold import ReviewerState
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import CannotJudge, Rating, Reason
from review.session.view import PART
from review.session.words import build
from rosetta_tui.review.rating.lines import face
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    CUSTODIANS,
    STRANGER,
    batch_of,
    item_id,
    items_of,
    sentences_of,
    training_of,
    write_file,
)
from tests.tui.review.line_driver import FIRST, file, home, no_keyring, sit, state_of

__all__ = ["file", "home", "no_keyring"]


def ratings(home: Path) -> list[Rating | None]:
    return [each.rating for each in state_of(home).judgements.values()]


# Before the first sentence

SWAPPED = CODE[1] + CODE[0] + CODE[2:]
LIST = "Type the code from your card"
NOT_NOW = ("“w” means nothing here.\nType 1, m, l or q, then Enter:", "Nothing was begun.")
MAY = "May the better translations that you write be used?"


@pytest.mark.parametrize(
    ("typed", "said", "unsaid"),
    [
        (
            ["1", "ABC", SWAPPED, STRANGER, CODE.lower(), "q"],
            ["A code has 8 letters and digits.", "two are swapped", "What you agree to:",
             "This code is for other sentences."],
            [],
        ),
        (["2"], [batch_of().organisation_phrase, "Then do not continue."], [LIST]),
        (["q"], ["Are they the same? 1 yes, 2 no:"], ["Then do not continue", LIST]),
        (["1", CODE, "w", "m", "q"], [*NOT_NOW, "Read it aloud first."], ["Everything is kept", MAY]),
    ],
)  # fmt: skip
def test_who_does_not_agree_begins_nothing(
    home: Path, file: Path, typed: list[str], said: list[str], unsaid: list[str]
) -> None:
    _, told = sit(home, file, *typed)
    assert [words for words in said if words not in told] == []
    assert [words for words in unsaid if words in told] == []
    assert state_of(home) == ReviewerState()
    if typed[0] == "1":
        assert LIST in sit(home, file, "1", "q")[1], "the code is forgotten"
    else:
        with Laptop.open(home) as laptop:
            assert laptop.batches() == ()


def test_questions_take_numbers_letters_and_words(home: Path, file: Path) -> None:
    typed = ("", "Yes", CODE, "1", "3")
    flags = ("!", "2", "!", "n", "!", "No", "!", " YES ", "!", "1", "q")
    _, said = sit(home, file, *typed, *flags)
    assert "means nothing" not in said
    assert said.count("Are they the same? 1 yes, 2 no:") == 2
    assert "or as hurting our culture? 1 yes, 2 no:" in said
    assert state_of(home).harmful == frozenset(), "set by y, and taken away again by 1"
    other = home.with_name("other")
    sit(other, file, "oui", CODE, "1", "3", "!", "o", "q", language="fr")
    assert len(state_of(other).harmful) == 1


def test_file_that_is_none_or_nowhere_is_refused_in_words(home: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "holiday.rosetta-batch"
    wrong.write_bytes(b"GIF89a" * 100)
    code, said = sit(home, wrong)
    assert (code, "Choose another file." in said) == (2, True)
    empty = tmp_path / "empty"
    empty.mkdir()
    code, said = sit(home, empty, missing=[tmp_path / "nix"])
    assert (code, "nix is not in this folder." in said) == (2, True)


def test_sealed_file_asks_for_the_secret_words(home: Path, tmp_path: Path) -> None:
    passphrase = draw_words(3)
    file = tmp_path / "s.rosetta-batch"
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=passphrase))
    _, said = sit(home, file, draw_words(3), "x", passphrase, *FIRST, "1", "q")
    assert "opens with the secret words" in said
    assert said.count("This file does not open.") == 2
    assert len(ratings(home)) == 1
    assert b"Candidate" not in (home / "review.sqlite").read_bytes()


# The sentences


def test_one_line_rates_saves_and_reads_the_next(home: Path, file: Path) -> None:
    code, said = sit(home, file, *FIRST, "3", "h")
    assert code == 0
    assert said.index("Saved: Acceptable.") < said.index("Sentence 2 of 4")
    assert said.index("Saved: Excellent.") < said.index("Sentence 3 of 4")
    assert said.count("Sentence 2 of 4") == 1
    assert ratings(home) == [Rating.ACCEPTABLE, Rating.EXCELLENT]
    assert {each.face for each in state_of(home).judgements.values()} == {Face.LINES}


def test_prompt_names_what_can_be_typed_and_lines_stay_short(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "?", "0", "", ",", "w", "", "x", "q", "4")
    assert "1 Reject, 2 Gist, 3 Acceptable, 4 Excellent, or ? for help: \n" in said
    assert ", (comma): Say what is wrong" in said
    ours = [line for line in said.splitlines() if str(file.parent) not in line]
    assert max(map(len, ours)) <= 160
    controls_and_drawing = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2500-\u259f]"
    assert not re.search(controls_and_drawing, said)


def test_reasons_words_and_flags_are_recorded(home: Path, file: Path) -> None:
    _, said = sit(
        home, file, *FIRST,
        "2", ",", "1 4", "c too formal", "e", "w", "2", "Bone,", "mi diras.", "", "!", "", "1", "02", ",8",
        "1", ",1", "u",
    )  # fmt: skip
    state = state_of(home)
    assert state.reasons == {item_id(1): (Reason.WRONG_MEANING, Reason.GRAMMAR)}
    assert state.comments == {item_id(2): "too formal"}
    assert state.suggestions == {item_id(2): "Bone,\nmi diras."}
    assert MAY in said
    assert not state.share_corrections
    assert state.harmful == {item_id(2)}
    assert state.judgements[item_id(2)].why_not is CannotJudge.UNCLEAR_SOURCE


# The end


def test_handing_over_is_opened_by_the_organisation_and_known_until_a_change(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    gone = str(file.parent / "gone")
    _, said = sit(home, file, *FIRST, "1", "2", "3", "4", "x", gone, "x", "", "", "u", "1", "q")
    assert "Your answers are safe on this computer." in said
    (handed,) = file.parent.glob("*.rosetta-ratings")
    opened = open_ratings(handed.read_bytes(), [CUSTODIANS[1]])
    assert opened.phrase(earlier=True) in said
    assert sum(b'"kind":"rate"' in line for line in opened.lines) == 4
    before, after = said.split("You may pull the stick out.")
    assert "Handed in at" not in before
    assert "Handed in at 20" in after
    assert "x writes it once more, u takes back, q stops:" in after
    assert "Put the stick in, then type x and Enter." in after.split("Sentence 4 of 4")[1]


def test_everything_can_be_taken_back_after_a_second_question(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "c my own words", "1", "w", "2", "2", "w", "2", "1", "q")
    assert said.count("Nothing was taken back.") == 1
    assert "Everything you gave for these sentences is erased." in said
    assert state_of(home) == ReviewerState()
    assert b"my own words" not in (home / "review.sqlite").read_bytes()


# Texts that terminals draw wrongly, and those of strangers


def mis_drawn_file(folder: Path) -> Path:
    items = items_of(3)
    items[1] = items[1].model_copy(update={"candidate": "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"})
    return write_file(batch_of(items), folder)


def test_what_a_terminal_draws_wrongly_is_refused_by_default(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "rosetta-review"
    monkeypatch.setenv("PATH", str(program.parent))
    _, said = sit(home, mis_drawn_file(tmp_path), "1", "2")
    assert "syllabics" in said
    assert "opens a window" in said
    assert "this window" not in said.lower()
    assert "rosetta-review" not in said, "it is named only where it is"
    assert "code" not in said.split("opens a window")[1]
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    _, said = sit(home, mis_drawn_file(tmp_path), "1", "2")
    assert "Please use the program that opens a window: rosetta-review." in said


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "option"])
def test_going_on_all_the_same_is_recorded(home: Path, tmp_path: Path, asked: bool) -> None:
    answers = ["1", *(["1"] if asked else []), *FIRST[1:], "1", "2", "3"]
    sit(home, mis_drawn_file(tmp_path), *answers, draw_anyway=not asked)
    judged = state_of(home).judgements
    assert [judged[item_id(n)].override for n in (1, 2, 3)] == [False, True, False]


HOSTILE = "\x1b[31mred\x1b]0;t\x07 \u202egnp\u2066 a\u00a0b \x9b2J [bold]x[/bold]\nSentence 9 of 9\r\n1 Reject"


def test_text_of_strangers_cannot_act_or_look_like_ours(home: Path, tmp_path: Path) -> None:
    items = [i.model_copy(update={"candidate": HOSTILE, "source": HOSTILE}) for i in items_of(2)]
    file = write_file(batch_of(items, title=HOSTILE), tmp_path, "hostile")
    _, said = sit(home, file, *FIRST, f"c {HOSTILE.splitlines()[0]}", "\x1b[A", "1", "q")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said)
    assert "\nSentence 9 of 9" not in said
    assert "    Sentence 9 of 9" in said


# Languages


def english_words() -> set[str]:
    """Return the English words of the catalogue that no French text of it has."""
    english, french = set(), set()
    for message in build.read(build.OURS / "fr" / "LC_MESSAGES" / "rosetta-review.po"):  # type: ignore[attr-defined]
        pair = (message.id, message.string) if isinstance(message.id, str) else ("", "")
        english |= set(re.findall(r"[a-z]{3,}", pair[0].lower()))
        french |= set(re.findall(r"[a-zà-ÿœ]{3,}", pair[1].lower()))
    return english - french - {"rosetta"}


def test_in_french_nobody_meets_english(home: Path, tmp_path: Path) -> None:
    texts = {"source": "ein zwei", "candidate": "unu du"}
    items = [each.model_copy(update=texts) for each in items_of(27)]
    [lesson] = training_of([Rating.REJECT])
    lessons = [lesson.model_copy(update=texts | {"explanation": "ĉar jes"})]
    file = write_file(batch_of(items, lessons, language="fr", title="Printempo"), tmp_path / "kle")
    _, said = sit(
        home, file, "1", "ABC", CODE, "7", "m", "1", "?", "4", "", "1", "", "2", "c", "2", "", "1", "", "2", ",", "1 2", "c", "a", "",
        "e vorto", "1", "!", "1", "!", "1", "u", "3", "02", "s", "n", "zzz", *["3"] * 9, "", *["3"] * 10, "", *["3"] * 7, "",
        "4", "x", str(tmp_path / "for"), "x", "", "", "w", "1", "1", "w", "2", "1", "x", "", "", "q",
        language="fr",
    )  # fmt: skip
    for words in (str(tmp_path), "Language Council", CONSENT, "Read it aloud first."):
        said = said.replace(words, "")
    ours = re.sub(r"Pour la personne qui vous aide : .*", "", said)
    ours = re.sub(r"(?m)^(?:[a-z]{5} ){5}[a-z]{5}$", "", ours)  # six words of a key
    assert set(re.findall(r"[a-zà-ÿœ]{3,}", ours.lower())) & english_words() == set()
    for french in ("Exercice 1 sur 1", "Merci", "10 faites, encore 17.", "retirer la clé", "est effacé"):
        assert french in said


BEGUN = [*FIRST[:-1], "1"]
"""Nobody asks about a method where one translates."""


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    return write_file(batch_of(sentences_of(4), task="translate"), tmp_path / "stick")


def test_what_is_typed_is_saved_and_the_next_one_read(home: Path, asked: Path) -> None:
    code, said = sit(home, asked, *BEGUN, "Bonan tagon", "  c ", "", "q")
    assert code == 0
    assert "May your translations be used?" in said
    assert "How to translate" in said
    assert said.index("Your translation is saved.") < said.index("Sentence 2 of 4")
    assert "Translation:" not in said.replace("Your translation:", ""), "there is none to read out"
    state = state_of(home)
    assert state.translations == {item_id(1): "Bonan tagon", item_id(2): "c", item_id(3): "q"}
    assert said.count("Sentence 3 of 4") == 2, "Enter alone reads it again"
    assert state.share_corrections


def test_a_slash_makes_a_line_a_key(home: Path, asked: Path) -> None:
    code, said = sit(
        home, asked, *BEGUN, "?", "/ s", "/03", "/c too short", "/e better", "/1", "Bone", "/u", "/", "/q", "no more"
    )  # fmt: skip
    assert code == 0
    assert "What you type is your translation" in said
    assert "Reject" not in said
    assert "I cannot translate this one" in said
    state = state_of(home)
    assert state.translations == {}
    assert [each.why_not for each in state.judgements.values()] == [list(CannotJudge)[2]]
    assert state.comments == {item_id(3): "too short"}
    assert state.suggestions == {}
    assert "“/e better” means nothing here" in said, "as it was typed"
    assert "“/1” means nothing here" in said, "a number rates nothing"
    assert "Taken back. Your translation is here again." in said
    assert "Your translation: Bone" in said


def test_what_is_too_long_or_hostile_is_said_and_shown_harmless(home: Path, asked: Path) -> None:
    _, said = sit(home, asked, *BEGUN, "\x1b[31mBone", "x" * 4001, "b", "c", "d", "x", "1", "")
    assert "No stick was found" not in said, "the folder that the sentences came from is one"
    assert "The file: " in said
    assert "\x1b" not in said
    assert "4,001" in said or "4001" in said
    assert next(iter(state_of(home).translations.values())) == "\x1b[31mBone"


MANY = 28


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return write_file(batch_of(sentences_of(MANY), task="translate"), tmp_path / "stick")


def test_each_line_of_a_pipe_is_the_translation_of_its_own_sentence(home: Path, many: Path) -> None:
    """A rest is offered on the way, and takes no line for itself."""
    lines = [f"Frazo {n}" for n in range(1, MANY + 1)]
    _, said = sit(home, many, *BEGUN, *lines)
    assert f"{PART} done, {MANY - PART} to go." in said
    assert state_of(home).translations == {item_id(n): f"Frazo {n}" for n in range(1, MANY + 1)}


class Typing(Console):
    """A terminal at which somebody types, mostly ahead: what was typed is there before it is asked for."""

    def __init__(self, *lines: str, ahead: bool) -> None:
        self.lines, self.printed = list(lines), io.StringIO()
        super().__init__(io.StringIO("".join(f"{line}\n" for line in lines)), self.printed)
        self.typed, self._ahead = True, ahead

    def typed_ahead(self) -> bool:
        return self._ahead

    def forget_what_was_typed(self) -> None:
        raise AssertionError("words of a translation were dropped")


def typed(home: Path, file: Path, *lines: str, guard: float = 0.0, ahead: bool = True) -> str:
    console = Typing(*lines, ahead=ahead)
    with Laptop.open(home) as laptop, pytest.MonkeyPatch.context() as patch:
        patch.setattr(face, "GUARD_SECONDS", guard)
        face.run_lines(TerminalOpening(laptop, places=[file]), console)
    return console.printed.getvalue()


def test_words_typed_at_a_rest_are_kept_for_the_next_sentence(home: Path, many: Path) -> None:
    lines = [f"Frazo {n}" for n in range(1, PART + 1)]
    said = typed(home, many, *BEGUN, *lines, "Post la ripozo", "", "/q")
    assert "means nothing here" not in said
    assert f"Sentence {PART + 1} of {MANY}" in said
    assert said.count("Your translation: Post la ripozo") == 2
    assert item_id(PART + 1) not in state_of(home).translations
    said = typed(home, many, "1", CODE, "/q")
    assert "Post la ripozo" in said, "it is there after the program was left, too"


def test_lines_typed_before_their_sentence_is_read_are_kept(home: Path, asked: Path) -> None:
    """A text of several lines is pasted: none of them is taken for a translation, and none is lost."""
    said = typed(home, asked, *BEGUN, "Unu", "Du", "Tri", "/q", guard=3600.0)
    assert state_of(home).translations == {}
    assert "Your translation: Unu\n    Du\n    Tri" in said


def test_line_typed_again_is_not_joined_with_the_one_too_soon(home: Path, asked: Path) -> None:
    said = typed(home, asked, *BEGUN, "Unu", "Unu, denove", "/q", guard=3600.0, ahead=False)
    assert "Your translation: Unu, denove\n" in said
    assert "\n    Unu" not in said
    said = typed(home, asked, "1", "Bone", "/q", ahead=False)
    assert "Your translation: Unu, denove\n" in said
    assert state_of(home).translations == {item_id(1): "Bone"}


@pytest.mark.skipif(sys.platform == "win32", reason="its own terminal is for Unix")
def test_a_terminal_tells_what_was_typed_ahead() -> None:
    master, slave = os.openpty()
    with os.fdopen(master, "wb", buffering=0) as person, os.fdopen(slave, encoding="utf-8") as reads:
        console = Console(reads, io.StringIO())
        assert not console.typed_ahead()
        person.write(b"Unu\nDu\n")
        assert console.ask("?") == "Unu"
        assert console.typed_ahead()
        assert console.ask("?") == "Du"
        assert not console.typed_ahead()
