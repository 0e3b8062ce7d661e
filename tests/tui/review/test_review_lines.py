"""The line face: by keyboard alone, through terminals and pipes, in any language, and never losing an answer."""

import re
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from review.files.ratings import open_ratings
from review.log.fold import ReviewerState
from review.log.laptop import Laptop
from review.log.payloads import Face
from review.rating import CannotJudge, Rating, Reason
from rosetta_tui.commands.review import review
from tests.review.session.scenes import (
    CODE,
    CUSTODIANS,
    STRANGER,
    batch_of,
    item_id,
    items_of,
    training_of,
    write_file,
)
from tests.tui.review.line_face import FIRST, file, home, no_keyring, sit, state_of

__all__ = ["file", "home", "no_keyring"]


def test_one_line_rates_saves_and_reads_the_next(home: Path, file: Path) -> None:
    code, said = sit(home, file, *FIRST, "3", "h")
    assert code == 0
    assert said.index("Saved: Acceptable.") < said.index("Sentence 2 of 4")
    assert said.index("Saved: Excellent.") < said.index("Sentence 3 of 4")
    assert said.count("Sentence 2 of 4") == 1
    judged = state_of(home).judgements
    assert [each.rating for each in judged.values()] == [Rating.ACCEPTABLE, Rating.EXCELLENT]
    assert {each.face for each in judged.values()} == {Face.LINES}


def test_the_prompt_names_what_can_be_typed_and_lines_stay_short(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "?", "0", "", ",", "w", "", "x", "q", "4")
    assert "1 Reject, 2 Gist, 3 Acceptable, 4 Excellent, or ? for help: \n" in said
    assert ", (comma): Say what is wrong" in said
    ours = [line for line in said.splitlines() if str(file.parent) not in line]
    assert max(map(len, ours)) <= 160
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2500-\u259f]", said
    )  # no control, no drawing


def test_reasons_words_and_flags_are_recorded(home: Path, file: Path) -> None:
    sit(
        home, file, *FIRST,
        "2", ",", "1 4", "c too formal", "e", "Bone,", "mi diras.", "", "!", "", "1", "02", ",8",
    )  # fmt: skip
    state = state_of(home)
    assert state.reasons == {item_id(1): (Reason.WRONG_MEANING, Reason.GRAMMAR)}
    assert state.comments == {item_id(2): "too formal"}
    assert state.suggestions == {item_id(2): "Bone,\nmi diras."}
    assert state.harmful == {item_id(2)}
    assert state.judgements[item_id(2)].why_not is CannotJudge.UNCLEAR_SOURCE


def test_a_key_may_have_a_slash_before_it_as_where_sentences_are_translated(
    home: Path, file: Path
) -> None:
    slashed = [f"/{line}" if len(line) == 1 else line for line in FIRST]
    code, said = sit(home, file, *slashed, "/3", "/c too formal", "/?", "/", "/q", "4")
    assert code == 0
    assert "means nothing" not in said
    assert said.count("Enter alone reads the sentence again.") == 2
    assert [each.rating for each in state_of(home).judgements.values()] == [Rating.ACCEPTABLE]
    assert state_of(home).comments == {item_id(2): "too formal"}


def test_undo_skip_jump_and_help_do_what_they_say(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "1", "u", "2", "s", "s", "u", "4", "n", "3", "", "1", "q")
    assert "Taken back. Your answer was: Reject." in said
    assert "Your answer was: Reject." in said.split("Taken back")[1]
    ratings = [each.rating for each in state_of(home).judgements.values()]
    assert sorted(ratings) == sorted(  # type: ignore[type-var]
        [Rating.GIST, Rating.EXCELLENT, Rating.ACCEPTABLE, Rating.REJECT]
    )
    assert "That was the last one." in said


def test_the_next_time_goes_on_at_the_same_item_with_one_key(home: Path, file: Path) -> None:
    sit(home, file, *FIRST, "1", "2")
    code, said = sit(home, file, "", "q")
    assert code == 0
    assert f"If your code begins with {CODE[:2]}, only press Enter." in said
    assert "Sentence 3 of 4" in said
    assert "Are they the same" not in said


def test_training_is_explained_and_does_not_count(home: Path, tmp_path: Path) -> None:
    training = training_of([Rating.REJECT, Rating.GIST])
    file = write_file(batch_of(training=training), tmp_path / "stick")
    _, said = sit(home, file, *FIRST, "1", "", "s", "4", "", "2", "", "q")
    assert "Practice 1 of 2" in said
    assert "That comes after the practice." in said
    assert "You said Excellent. We would say Gist." in said
    assert "Because of 2." in said
    assert said.count("Practice, once more: 1 of 1") == 1
    assert said.index("Practice is over.") < said.index("Sentence 1 of 4")
    assert "Sentence 1 of 4" in said
    assert state_of(home).judgements == {}


def test_a_wrong_code_and_a_code_for_others_are_said_in_words(home: Path, file: Path) -> None:
    swapped = CODE[1] + CODE[0] + CODE[2:]
    _, said = sit(home, file, "1", "ABC", swapped, STRANGER, CODE.lower(), "q")
    assert "A code has 8 letters and digits." in said
    assert "two are swapped" in said
    assert "This code is for other sentences." in said
    assert "What you agree to:" in said


def test_an_unknown_organisation_is_refused_where_its_words_differ(home: Path, file: Path) -> None:
    _, said = sit(home, file, "2")
    assert batch_of().organisation_phrase in said
    assert "Then do not go on." in said
    with Laptop.open(home) as laptop:
        assert laptop.batches() == ()


def test_everything_can_be_taken_back_after_a_second_question(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "c my own words", "1", "w", "2", "2", "w", "2", "1", "q")
    assert said.count("Nothing was taken back.") == 1
    assert "Everything you gave for these sentences is erased." in said
    assert state_of(home) == ReviewerState()
    assert b"my own words" not in (home / "review.sqlite").read_bytes()


def test_handing_over_writes_a_file_that_the_organisation_opens(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "1", "2", "3", "4", "x", "", "", "q")
    (ratings,) = file.parent.glob("*.rosetta-ratings")
    opened = open_ratings(ratings.read_bytes(), [CUSTODIANS[1]])
    assert opened.phrase(earlier=True) in said
    assert "You may pull the stick out." in said
    assert sum(b'"kind":"rate"' in line for line in opened.lines) == 4


def test_after_handing_over_the_end_says_so_until_something_changes(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "1", "2", "3", "4", "x", "", "", "u", "1", "q")
    before, after = said.split("You may pull the stick out.")
    assert "Handed over at" not in before
    assert "Handed over at 20" in after
    assert "x writes it once more, u takes back, q stops:" in after
    assert "Put the stick in, then type x and Enter." in after.split("Sentence 4 of 4")[1]


@pytest.mark.parametrize("leaving", [["q"], ["1", "q"], ["1"]], ids=["consent", "use", "no-line"])
def test_not_now_says_that_nothing_was_begun_and_forgets_the_code(
    home: Path, file: Path, leaving: list[str]
) -> None:
    _, said = sit(home, file, "1", CODE, "w", "", *leaving)
    assert "“w” means nothing here.\nType 1, l or q, then Enter:" in said
    assert said.count("What you agree to:") == 1
    assert "Nothing was begun." in said
    assert "Everything is kept" not in said
    assert state_of(home) == ReviewerState()
    _, said = sit(home, file, "1", "q")
    assert "Type the code from your card" in said


@pytest.mark.parametrize(("key", "shares"), [("1", True), ("2", False)])
def test_the_permission_is_a_question_of_its_own(
    home: Path, file: Path, key: str, shares: bool
) -> None:
    _, said = sit(home, file, "1", CODE, "1", "?", key, "3", "4", "q")
    agreed, _, asked = said.partition("Type 1, l or q, then Enter:")
    assert "better translations" not in agreed.partition("What you agree to:")[2]
    assert asked.count("May the better translations that you write be used?") == 2
    assert state_of(home).share_corrections is shares
    assert len(state_of(home).judgements) == 1


def test_undo_says_that_the_reasons_went_too(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "2", ",1", "u", "3", "q")
    assert "Its reasons are taken back, too." in said
    assert state_of(home).reasons == {}


def test_an_empty_line_asks_again_and_a_harm_mark_is_asked_about(home: Path, file: Path) -> None:
    _, said = sit(home, file, "", *FIRST, "!", "2", "q")
    assert "means nothing" not in said
    assert said.count("Are they the same? 1 yes, 2 no:") == 2
    assert "or as hurting our culture? 1 yes, 2 no:" in said
    assert state_of(home).harmful == frozenset()


@pytest.mark.parametrize("yes", ["1", "y", "Yes", " YES "])
@pytest.mark.parametrize("no", ["2", "n", "No"])
def test_a_question_takes_numbers_letters_and_words(
    home: Path, file: Path, yes: str, no: str
) -> None:
    _, said = sit(home, file, yes, CODE, "1", yes, "3", "!", no, "!", yes, "q")
    assert "means nothing" not in said
    assert len(state_of(home).harmful) == 1


def test_a_question_takes_the_answer_of_its_own_language(home: Path, file: Path) -> None:
    _, _said = sit(home, file, "oui", CODE, "1", "o", "3", "!", "o", "q", language="fr")
    assert len(state_of(home).harmful) == 1


def test_q_leaves_at_a_question_and_nothing_is_begun(home: Path, file: Path) -> None:
    code, said = sit(home, file, "q")
    assert code == 0
    assert said.count("Are they the same? 1 yes, 2 no:") == 1
    assert "Then do not go on" not in said
    assert "Type the code" not in said


def test_the_list_says_the_title_of_the_card_and_how_far_one_is(home: Path, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path / "stick", "x17")
    _, said = sit(home, file.parent, "", *FIRST, "1", "2", "q")
    assert f"1: Spring sentences, from Language Council, in {file.parent}" in said
    _, said = sit(home, tmp_path / "stick", "q")
    assert "1: Spring sentences, from Language Council, 2 of 4 done" in said


def test_a_named_file_that_is_not_here_is_said_and_the_sticks_are_looked_at(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sealed.stick.MOUNT_POINTS", ())
    write_file(batch_of(), tmp_path / "stick")
    sit(home, tmp_path / "stick", "", *FIRST, "q")
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    typed = ["open", str(tmp_path / "spring.rosetta-batch"), "--lines"]
    result = CliRunner().invoke(review, typed, input="q\n")
    assert result.exit_code == 0, result.output
    assert "spring.rosetta-batch is not in this folder." in result.output
    assert "1: Spring sentences, from Language Council" in result.output


def test_a_folder_that_is_not_there_loses_nothing(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "1", "x", str(file.parent / "gone"), "q")
    assert "Your answers are safe on this computer." in said
    assert len(state_of(home).judgements) == 1


def test_a_file_that_is_none_is_refused_in_words(home: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "holiday.rosetta-batch"
    wrong.write_bytes(b"GIF89a" * 100)
    code, said = sit(home, wrong)
    assert code == 2
    assert "Choose another file." in said


def test_a_sealed_file_asks_for_the_secret_words(home: Path, tmp_path: Path) -> None:
    from harness.sealed.phrase import draw_words
    from review.files.batch import write_batch

    passphrase = draw_words(3)
    file = tmp_path / "s.rosetta-batch"
    file.write_bytes(write_batch(batch_of(secret=True), passphrase=passphrase))
    _, said = sit(home, file, draw_words(3), "x", passphrase, *FIRST, "1", "q")
    assert "opens with the secret words" in said
    assert said.count("This file does not open.") == 2
    assert len(state_of(home).judgements) == 1
    assert b"Candidate" not in (home / "review.sqlite").read_bytes()


SYLLABICS = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"


def mis_drawn_file(folder: Path) -> Path:
    items = items_of(3)
    items[1] = items[1].model_copy(update={"candidate": SYLLABICS})
    return write_file(batch_of(items), folder)


def test_what_a_terminal_draws_wrongly_is_refused_by_default(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    _, said = sit(home, mis_drawn_file(tmp_path), "1", "2")
    assert "syllabics" in said
    assert "a window of its own" in said
    assert "this window" not in said.lower()
    assert "rosetta-review" not in said
    assert "code" not in said.split("a window of its own")[1]


def test_the_program_with_a_window_is_named_only_where_it_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "rosetta-review"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    _, said = sit(home, mis_drawn_file(tmp_path), "1", "2")
    assert "Please use the program with a window of its own: rosetta-review." in said


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "option"])
def test_going_on_all_the_same_is_recorded_with_each_such_rating(
    home: Path, tmp_path: Path, asked: bool
) -> None:
    answers = ["1", *(["1"] if asked else []), *FIRST[1:], "1", "2", "3"]
    sit(home, mis_drawn_file(tmp_path), *answers, draw_anyway=not asked)
    judged = state_of(home).judgements
    assert [judged[item_id(n)].override for n in (1, 2, 3)] == [False, True, False]


HOSTILE = "\x1b[31mred\x1b]0;t\x07 \u202egnp\u2066 a\u00a0b \x9b2J [bold]x[/bold]\nSentence 9 of 9\r\n1 Reject"


def test_text_of_strangers_cannot_act_or_look_like_ours(home: Path, tmp_path: Path) -> None:
    items = [
        each.model_copy(update={"candidate": HOSTILE, "source": HOSTILE}) for each in items_of(2)
    ]
    file = write_file(batch_of(items, title=HOSTILE), tmp_path, "hostile")
    _, said = sit(home, file, *FIRST, f"c {HOSTILE.splitlines()[0]}", "\x1b[A", "1", "q")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said)
    assert "\nSentence 9 of 9" not in said
    assert "    Sentence 9 of 9" in said


def test_no_socket_is_ever_opened(home: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    code, _ = sit(home, file, *FIRST, "1", "2", "3", "4", "x", "", "", "q")
    assert code == 0


def test_after_a_practice_sentence_only_enter_goes_on(home: Path, tmp_path: Path) -> None:
    batch = batch_of(items_of(1), training_of([Rating.GIST]))
    file = write_file(batch, tmp_path / "stick")
    code, said = sit(home, file, *FIRST, "2", "c too formal", "3", "?", "", "q")
    assert (code, said.count("Because of 1.")) == (0, 1)
    _, _, lesson = said.partition("Because of 1.")
    assert lesson.index("That comes after the practice.") < lesson.index("“3” means nothing here.")
    assert lesson.index("c: Write a comment") < lesson.index("Candidate 1.")
    other = home.with_name("other")
    _, said = sit(other, file, *FIRST, "2", "q")
    assert said.endswith("Everything is kept. Next time you go on here.\n")


@pytest.mark.parametrize(("key", "said"), [("1", "made"), ("2", "knows"), ("3", "neither")])
def test_it_is_asked_once_how_near_one_is_to_the_method(
    home: Path, file: Path, key: str, said: str
) -> None:
    _, first = sit(home, file, "1", CODE, "1", "1", "", "4", "q")
    assert first.count("Did you take part in making it?") == 3
    assert "“4” means nothing here." in first
    assert state_of(home).relation is None
    _, second = sit(home, file, "", key, "1", "q")
    assert "1: I took part in making it" in second
    assert state_of(home).relation == said
    _, third = sit(home, file, "", "2", "q")
    assert "Did you take part" not in third


def test_a_named_file_that_is_nowhere_fails_where_nothing_else_was_opened(
    home: Path, file: Path, tmp_path: Path
) -> None:
    nix = [tmp_path / "nix"]
    code, said = sit(home, tmp_path, missing=nix) if file.rename(tmp_path / "x") else (0, "")
    assert (code, "nix is not in this folder." in said) == (2, True)
