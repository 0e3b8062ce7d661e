"""The words that a new review begins with, by language, and its name: free, fit for a file, silent about the systems."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from harness.core.failures import UsageError
from harness.sealed.archive import RESERVED
from review.files.manifests import InLanguage
from review.office.making.reviewed_runs import ReviewedRuns
from review.office.store.store import Office

# Of a review and its files, also on a stick with FAT
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,58}[A-Za-z0-9_-])?", re.ASCII)
_LEAST = 3  # Shorter names of models stand in ordinary words too


def review_name(office: Office, asked: str | None, dataset_id: str) -> str:
    """Check the name that was asked for, or give the corpus' name with the next free number."""
    if asked is not None:
        if not _NAME.fullmatch(asked) or asked == "last" or RESERVED.fullmatch(asked):
            raise UsageError(
                f"--name {asked[:80]!r}: up to 60 letters A–Z, digits, '.', '_' and '-' make a name, but none that "
                "Windows keeps to itself, such as con."
            )
        if office.is_taken(asked):
            raise UsageError(f"There is a review {asked!r} already. Choose another --name.")
        return asked
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset_id)[:50].strip("-._") or "review"
    if RESERVED.fullmatch(f"{stem}-1"):
        stem = f"review-{stem}"
    number = 1
    while office.is_taken(f"{stem}-{number}"):
        number += 1
    return f"{stem}-{number}"


def check_words(runs: ReviewedRuns, words: Mapping[str, str]) -> None:
    """Refuse words for reviewers that name a model under review; ``words`` is option → text."""
    for run in runs.runs:
        model = run.run.setup.model_slug or ""
        names = {model, model.rpartition("/")[2], run.run.run_id, run.run.run_id[:8]}
        for option, text in words.items():
            for name in names:
                whole = rf"(?<!\w){re.escape(name)}(?!\w)"
                if len(name) >= _LEAST and re.search(whole, text, re.IGNORECASE) is not None:
                    raise UsageError(
                        f"{option} names a system under review ({name}). Reviewers must not know it; "
                        "choose other words."
                    )


@dataclass(frozen=True, slots=True)
class CardTexts:
    """What is on a reviewer's card in one language."""

    language: str  # Tag of the language
    code: str
    file: str
    phrase: str
    words: str  # Names of the four facts of a card; the last only where words open the file
    begin: str
    choose: str
    answer: str  # The three steps
    note: str
    scan: str  # Next to the picture of the code
    android: str
    iphone: str
    computer: str  # Next to the two drawings for telephones; `computer` instead of the hall where words open the file


@dataclass(frozen=True, slots=True)
class ReviewTexts:
    """What reviewers read before the first item."""

    title: str
    guide: str
    consent: str  # With `{organisation}` where its name goes
    # A paragraph of the consent: what people write may be shown to the others in a second look
    shows_words: str
    training: Mapping[str, str]  # Kind of a training item → why its answer is the right one
    # What a reviewer is handed: in their own language, then in another one
    cards: tuple[CardTexts, ...]
    language: str = "en"  # Tag of the language that they are in
    # Tag of another language → consent and guide in it
    others: Mapping[str, InLanguage] = field(default_factory=dict)
    # Tag of another language → why each kind's answer is the right one, in it
    training_in: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def languages() -> tuple[str, ...]:
    """Return the tags of the languages in which these words are written."""
    return tuple(_read())


# What is asked: ratings, translations, ratings in a second look, or whether another speaker's
# translation is right
Kind = Literal["rate", "translate", "second", "agree"]


def review_texts(language: str, task: Kind = "rate") -> ReviewTexts:
    """Return the words in a language, or in a wider one of its tag; UsageError names those that there are."""
    tag = language.replace("_", "-")
    known = tag if tag in _read() else tag.partition("-")[0].lower()
    if (texts := _read().get(known)) is None:
        listed = ", ".join(languages())
        raise UsageError(
            f"There are no words for reviewers in {language!r}, only in: {listed}. Choose one of these with "
            "--language, and give your own texts with --consent, --guide and --training."
        )
    apart = {"translate", "second", "agree", "card"}
    words = {name: text for name, text in texts.items() if name not in apart}
    if task != "rate":
        words |= {name: text for name, text in texts[task].items() if name != "card"}
    words["consent"] = words["consent"].strip()
    others = [tag for tag in languages() if tag != known]
    cards = [_card_texts(known, task), *(_card_texts(other, task) for other in others[:1])]
    return ReviewTexts(**words, cards=tuple(cards), language=language)


def _card_texts(tag: str, task: Kind) -> CardTexts:
    texts = _read()[tag]
    return CardTexts(tag, **texts["card"] | texts.get(task, {}).get("card", {}))


def texts_of(
    language: str,
    consent: Mapping[str, str],
    guide: Mapping[str, str],
    task: Kind = "rate",
    *,
    shows_words: bool = False,
) -> ReviewTexts:
    """Return the words of a review in all its languages, the organiser's own instead of ours.

    ``consent`` and ``guide`` are tag → the organiser's. Where these are given in the review's own ``language``,
    ours in other languages would say something else, so there are only those that are given. With ``shows_words``
    our consent says that what people write may be shown to the others in a second look.
    """
    texts = _telling(review_texts(language, task), tells=shows_words)
    ours = {
        tag: _telling(review_texts(tag, task), tells=shows_words)
        for tag in languages()
        if tag.partition("-")[0].casefold() != language.partition("-")[0].casefold()
    }
    consents = (
        dict(consent) if language in consent else {tag: text.consent for tag, text in ours.items()} | dict(consent)
    )
    guides = (
        dict(guide)
        if language in guide
        else {tag: review_texts.guide for tag, review_texts in ours.items()} | dict(guide)
    )
    return replace(
        texts,
        consent=consents.pop(language, texts.consent),
        guide=guides.pop(language, texts.guide),
        others={
            tag: InLanguage(consent=consents.get(tag, ""), guide=guides.get(tag, ""))
            for tag in sorted({*consents, *guides})
        },
        training_in={tag: review_texts.training for tag, review_texts in ours.items()},
    )


def _telling(texts: ReviewTexts, *, tells: bool) -> ReviewTexts:
    if not tells:
        return texts
    return replace(texts, consent=f"{texts.consent}\n\n{texts.shows_words.strip()}")


@cache
def _read() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("review.office.making").joinpath("texts.toml").read_text("utf-8"))
