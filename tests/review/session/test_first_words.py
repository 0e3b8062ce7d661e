"""In which language the program speaks before anybody chose one."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.log.laptop import Laptop
from review.session.opening import Opening
from review.session.words.catalogue import words_of_system


@pytest.mark.parametrize(
    ("tags", "language"),
    [
        (("fr-CA", "en-CA"), "fr"),
        (("crk-Cans-CA", "fr-CA"), "fr"),
        (("en-US", "fr-FR"), "en"),
        (("enf", "fr"), "fr"),
        (("xx", "yy"), "en"),
        (("not a tag", "fr"), "fr"),
    ],
    ids=["first", "first-known", "english-first", "like-english", "none", "garbage"],
)
def test_first_language_of_the_system_that_has_words(tags: tuple[str, ...], language: str) -> None:
    assert words_of_system(tags).language == language


def test_variables_tell_where_the_system_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "fr_CA.UTF-8")
    assert words_of_system().language == "fr"
    assert words_of_system(("en",)).language == "en"


def test_what_was_asked_or_chosen_goes_before_the_system(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        assert Opening(laptop, system=("fr",)).words.language == "fr"
        assert Opening(laptop, system=("fr",), language="en").words.language == "en"
        Opening(laptop).set_language("en")
        assert Opening(laptop, system=("fr",)).words.language == "en"


def test_files_that_are_not_here_are_named(tmp_path: Path) -> None:
    with Laptop.open(tmp_path) as laptop:
        missing = (tmp_path / "a.rosetta-batch", tmp_path / "b.rosetta-batch")
        opening = Opening(laptop, language="en", missing=missing)
        assert opening.not_here().startswith("a.rosetta-batch, b.rosetta-batch is not in this")
        assert Opening(laptop, language="en").not_here() == ""
