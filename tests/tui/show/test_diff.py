"""A diff loses nothing of either side, and marks by signs."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from rosetta_tui.toolkit.diff_text import MOST_WORDS, DiffKind, diff, diff_content

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
