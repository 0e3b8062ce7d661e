"""The line face in the language of the person; words that are not saved, and a code that is never shown whole."""

import re
from pathlib import Path

from review.log.laptop import Draft, Laptop
from review.log.payloads import Consent
from review.rating import Rating
from review.session.words import build
from review.session.words.catalogue import Words
from tests.review.session.scenes import (
    CODE,
    CONSENT,
    batch_of,
    item_id,
    items_of,
    training_of,
    write_file,
)
from tests.tui.review.line_face import BATCH, FIRST, file, home, no_keyring, sit, state_of

__all__ = ["file", "home", "no_keyring"]


def test_words_that_are_only_a_draft_are_named_at_the_end_and_saved_by_the_answer(
    home: Path, file: Path
) -> None:
    sit(home, file, *FIRST, "c", "too formal")  # the input ends before the words do
    assert state_of(home).comments == {}
    code, said = sit(home, file, "", "s", "1", "2", "3", "x", "t", "4", "q")
    assert code == 0
    assert "You answered 3 of 4. 1 sentence is left for later." in said
    named = "is not saved, so it is not handed over: sentence 1. Type t and Enter to look at it."
    assert said.count(named) == 2  # when all were seen, and at the hand-over
    assert "Your comment, not saved yet: too formal" in said.partition("What you wrote here")[2]
    assert "Saved: Excellent. Your comment is saved." in said
    assert state_of(home).comments == {item_id(1): "too formal"}


def test_words_about_an_answered_sentence_lead_back_when_they_are_saved(
    home: Path, file: Path
) -> None:
    sit(home, file, *FIRST, "1", "2", "3", "4")
    with Laptop.open(home) as laptop:
        laptop.save_drafts(BATCH, CODE, [Draft(item_id(2), "comment", "old")])
    _, said = sit(home, file, "", "t", "c", "", "q")
    assert said.count("That was the last one. Thank you!") == 2
    assert "Your comment is saved." in said
    assert state_of(home).comments == {item_id(2): "old"}


def test_a_code_that_was_typed_before_is_never_shown_whole(home: Path, file: Path) -> None:
    sit(home, file, *FIRST, "1")
    _, said = sit(home, file, "", "2", "q")
    assert f"If your code begins with {CODE[:2]}, only press Enter." in said
    assert CODE[:3] not in said.replace("-", "")
    assert len(state_of(home).judgements) == 2


def english_words() -> set[str]:
    """Return the English words of the catalogue that no French text of it has."""
    english, french = set(), set()
    for message in build.read(build.OURS / "fr" / "LC_MESSAGES" / "rosetta-review.po"):  # type: ignore[attr-defined]
        pair = (message.id, message.string) if isinstance(message.id, str) else ("", "")
        english |= set(re.findall(r"[a-z]{3,}", pair[0].lower()))
        french |= set(re.findall(r"[a-zà-ÿœ]{3,}", pair[1].lower()))
    return english - french - {"rosetta"}


def test_in_french_nobody_meets_english(home: Path, tmp_path: Path) -> None:
    training = training_of([Rating.REJECT])
    texts = {"source": "ein zwei", "candidate": "unu du"}
    items = [each.model_copy(update=texts) for each in items_of(27)]
    lessons = [each.model_copy(update=texts | {"explanation": "ĉar jes"}) for each in training]
    batch = batch_of(items, lessons, language="fr", title="Printempo")
    file = write_file(batch, tmp_path / "kle")
    _, said = sit(
        home, file, "1", "ABC", CODE, "7", "1", "1", "?", "4", "", "1", "", "2", "c", "2", "", "1", "", "2", ",", "1 2", "c", "a", "",
        "e vorto", "!", "1", "!", "1", "u", "3", "02", "s", "n", "zzz", *["3"] * 26, "", *["1"] * 4, "",
        "4", "x", str(tmp_path / "for"), "x", "", "", "w", "1", "1", "w", "2", "1", "x", "", "", "q",
        language="fr",
    )  # fmt: skip
    for theirs in (
        str(tmp_path),
        "Language Council",
        "You may stop at any time.",
        "Read it aloud first.",
    ):
        said = said.replace(theirs, "")
    ours = re.sub(r"Pour qui vous aide : .*", "", said)
    ours = re.sub(r"(?m)^(?:[a-z]{5} ){5}[a-z]{5}$", "", ours)  # six words of a key
    assert set(re.findall(r"[a-zà-ÿœ]{3,}", ours.lower())) & english_words() == set()
    for french in ("Exercice 1 sur 1", "Merci", "Une pause", "retirer la clé", "est effacé"):
        assert french in said


def test_the_language_can_be_changed_before_consent_and_is_remembered(
    home: Path, file: Path
) -> None:
    french = str(list(Words.load("en") and sorted(("English", "Français"))).index("Français") + 1)  # type: ignore[arg-type]
    _, said = sit(home, file, "1", CODE, "l", french, "1", "1", "3", "2", "q")
    assert "Enregistré : Idée." in said
    _, said = sit(home, file, "", "q")
    assert "Si votre code commence par" in said


def test_the_language_changes_what_the_organisation_says(home: Path, tmp_path: Path) -> None:
    given = {"fr": {"consent": "Nous vous demandons."}}
    file = write_file(batch_of(salt=bytes(32), translations=given), tmp_path / "stick")
    french = str(sorted(("English", "Français")).index("Français") + 1)
    _, said = sit(home, file, "1", CODE, "l", french, "1", "2", "3", "q")
    before, _, after = said.partition("Nous vous demandons.")
    assert CONSENT in before
    assert CONSENT not in after
    assert "L’organisation ne l’a pas donné dans cette langue" in after, "the guide"


def test_a_language_in_which_only_the_batch_is_written_can_be_chosen(
    home: Path, tmp_path: Path
) -> None:
    given = {"qu": {"consent": "Qanta tapukuyku."}}
    file = write_file(batch_of(salt=bytes(32), translations=given), tmp_path / "stick")
    _, said = sit(home, file, "1", CODE, "l", "3", "1", "2", "3", "q", language="en")
    before, _, after = said.partition("Qanta tapukuyku.")
    assert "3: Quechua" in before
    assert "its own words stay in English" in before
    assert CONSENT not in after
    with Laptop.open(home) as laptop:
        [agreed] = [e.payload for e in laptop.events() if isinstance(e.payload, Consent)]
    assert (agreed.text_language, agreed.language) == ("qu", "en")
