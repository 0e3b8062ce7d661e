"""A review that asks speakers for translations: from a corpus or a list of sentences to the files for them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from review.office.items.sentences import Sentences
    from review.office.making.texts import ReviewTexts
    from review.office.making.translating import TranslationDraft
    from rosetta_tui.review.organiser.handing.handing_out import Making
    from rosetta_tui.review.organiser.words.letters import Letters

_SECONDS = (20, 60)
"""Seconds that one sentence takes, about."""
_LONG = 100
"""Sentences after which one sitting is too long."""


def create_translations(path: Path, given: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
    """Say the plan, and write the files unless only the plan was asked for."""
    from harness.store.file.database import home
    from review.office.making.translating import Share, draft_translations
    from review.office.store.store import Office
    from rosetta_tui.review.organiser.handing.handing_out import (
        hand_out,
        own_texts,
        say_published,
        told,
    )
    from rosetta_tui.review.organiser.words.letters import look_at_letters, require_readable

    texts = own_texts(given, "translate")
    share = Share(given["reviewers"], given["items"], given["core"], given["items_per_person"])
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    draft = draft_translations(_sentences(path, given), share, seed)
    letters = look_at_letters(draft, texts, given, secret=False)
    if not as_json:
        for line in _plan_lines(draft, letters):
            click.echo(plain(line))
    if dry_run:
        return
    require_readable(letters, anyway=given["anyway"])
    with Office.open(home()) as office:
        published = hand_out(office, _making(draft, texts, letters), given)
    if as_json:
        click.echo(form_text("review-create", told(published, letters)))
    else:
        say_published(published, passphrases=given["passphrases"])
        name = published.review.name
        click.echo(plain(f"At the end: `rosetta review export {name} --corpus FILE.jsonl`."))


def _sentences(path: Path, given: dict[str, Any]) -> Sentences:
    """Read lines from a text file, and sources from a corpus in any of its forms."""
    from corpora.model.entry import Segment
    from harness.core.failures import UsageError
    from review.office.items.sentences import Carries, of_corpus, of_lines
    from rosetta_tui.request.reading import load_corpus

    segments = [Segment(each) for each in given["segments"]]
    if path.suffix.lower() == ".txt" and given["form"] is None:
        if segments:
            raise UsageError("--segment: lines of a text file are of no segment. Leave it away.")
        return of_lines(path, given["source_language"], given["target_language"])
    corpus = load_corpus({**given, "file": path, "corpus_id": None}, None)
    carries = Carries(given["context"])
    if carries is Carries.ALL:
        raise UsageError(
            "--context all: translations are handed on in the open, and so no secret sentence goes along. Leave it away."
        )
    return of_corpus(corpus, segments, carries)


def _plan_lines(draft: TranslationDraft, letters: Letters) -> Iterator[str]:
    """Say what is asked of whom."""
    from rosetta_tui.review.organiser.words.letters import letter_lines

    sentences, dataset = draft.sentences, draft.sentences.dataset
    pair = f"{dataset.source_language} → {dataset.target_language}"
    yield _line("sentences", f"{len(draft.entries)} of {len(sentences.entries)}, {pair}")
    if sentences.repeated:
        yield _line("", f"{sentences.repeated} repeated in the file; each is asked once")
    low, high = (round(draft.longest * seconds / 60) for seconds in _SECONDS)
    core = len(draft.core)
    common = "" if core in {0, len(draft.items)} else f", {core} of them common to all"
    yield _line("each person", f"{draft.longest} sentences{common}; about {low}–{high} minutes")
    times = sum(map(len, draft.orders.values())) / len(draft.items)
    yield _line("people", f"{len(draft.orders)}; a sentence is asked of {times:.3g} on average")
    for number, line in enumerate(letter_lines(letters)):
        yield _line("" if number else "letters", line)
    yield _line("seed", str(draft.seed))
    if draft.longest > _LONG:
        yield _line("", "that is long for one sitting; people can stop and go on another day")


def _line(name: str, text: str) -> str:
    return f"{name:<13}{text}"


def _making(draft: TranslationDraft, texts: ReviewTexts, letters: Letters) -> Making:
    from rosetta_tui.review.organiser.handing.handing_out import Making

    return Making(
        corpus=draft.sentences.dataset.id,
        secret=False,
        texts=texts,
        letters=letters,
        drawn=draft,
    )
