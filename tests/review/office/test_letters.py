"""The row of letters that a batch brings: what a–z lacks, from the card of its language."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.files.batch_form import MOST_LETTERS
from review.files.keys import Identity, Role
from review.office.letters import letters_of
from tests.review.office import made


@pytest.mark.parametrize(
    ("tag", "letters"),
    [
        ("crk-Latn", "â ā ê ē î ī ô ō ý ʼ"),
        ("crk", "â ā ê ē î ī ô ō ý ʼ"),
        ("eo", "ĉ ĝ ĥ ĵ ŝ ŭ"),
        ("gn", "á ã é ẽ g̃ í ĩ ñ ó õ ú ũ ý ỹ ʼ"),
        ("haw", "ā ē ī ō ū ʻ"),
        ("qu-PE", "ñ"),
        ("en", ""),
        ("crk-Cans", ""),  # more than fit a row
        ("zh", ""),
        ("nsk", ""),  # no card
    ],
)
def test_letters_of_a_language(tag: str, letters: str) -> None:
    assert letters_of(tag) == tuple(letters.split())


def test_an_alphabet_without_a_to_z_comes_whole() -> None:
    found = letters_of("ru")
    assert len(found) == 33
    assert len(found) <= MOST_LETTERS


def test_a_new_batch_brings_them(tmp_path: Path) -> None:
    made.store_runs(tmp_path)
    ready = made.made(made.draft(made.reviewed(tmp_path)), Identity.make(Role.ORGANISATION))
    assert {each.manifest.letters for each in ready.batches} == {letters_of("eo")}
    assert {each.manifest.task for each in ready.batches} == {"rate"}
