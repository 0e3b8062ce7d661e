"""The words that a new review begins with, by language, where the organiser brings none."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from harness.failures import UsageError
from review.files.batch_form import Task


@dataclass(frozen=True, slots=True)
class ReviewTexts:
    """What reviewers read before the first item."""

    title: str
    guide: str
    consent: str
    """With ``{organisation}`` where its name goes."""
    training: Mapping[str, str]
    """Kind of a training item → why its answer is the right one."""
    card: str
    """What a reviewer is handed, with places for title, organisation, code, file and passphrase."""
    passphrase: str
    """The line of a card that tells the words which open the file."""


def languages() -> tuple[str, ...]:
    """Give the tags of the languages in which these words are written."""
    return tuple(_read())


def review_texts(language: str, task: Task = "rate") -> ReviewTexts:
    """Give the words in a language, or in a wider one of its tag; UsageError names those that there are."""
    tag = language.replace("_", "-")
    found = _read().get(tag) or _read().get(tag.partition("-")[0].lower())
    if found is None:
        listed = ", ".join(languages())
        raise UsageError(
            f"There are no words for reviewers in {language!r}, only in: {listed}. Choose one of these with "
            "--language, and give your own texts with --consent, --guide and --training."
        )
    words = {name: said for name, said in found.items() if name != "translate"}
    if task == "translate":
        words |= found["translate"]
    return ReviewTexts(**{**words, "consent": words["consent"].strip()})


@cache
def _read() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("review.office").joinpath("texts.toml").read_text("utf-8"))
