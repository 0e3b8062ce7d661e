"""Opening a corpus: what was taken back of it is not opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from corpora.files.json_types import Json, JsonObject
from corpora.files.problems import Problem, Severity
from corpora.model.corpus import Corpus
from harness.consent.notice import Subject
from harness.consent.register import GROUND_WORDS, Held
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals, Withdrawn


def facts_of(corpus: Corpus) -> CorpusFacts:
    """Return by what a corpus is known."""
    dataset = corpus.dataset
    return CorpusFacts(corpus.sha256, dataset.id, dataset.source_language, dataset.target_language)


def with_consent(corpus: Corpus, now: Withdrawals) -> Corpus:
    """Return a corpus without the entries that were taken back, and a warning that says so.

    Raises Withdrawn where all of it was, or no entry is left.
    """
    if not now:
        return corpus
    facts = facts_of(corpus)
    if (notice := now.of_corpus(facts)) is not None:
        raise Withdrawn(f"Corpus {corpus.dataset.id}", notice)
    kept, warnings = list(range(len(corpus.entries))), []
    for notice, about in now.of_entries(facts):
        left = [place for place in kept if not about.has(corpus.entries[place].id)]
        if not left:
            raise Withdrawn(f"Corpus {corpus.dataset.id}, of which no entry is left", notice)
        if gone := len(kept) - len(left):
            count_words = "1 entry is" if gone == 1 else f"{gone:,} entries are"
            words = f"{count_words} left out: consent was withdrawn for {notice.said}."
            mend = "`rosetta community notices` has who said so; outputs for them are not wanted any more."
            place = "store" if corpus.vault is None else "vault"
            where = str(corpus.files[0]) if corpus.files else place
            warnings.append(Problem(Severity.WARNING, where, words, mend))
        kept = left
    if not warnings:
        return corpus
    return replace(
        corpus,
        entries=tuple(corpus.entries[place] for place in kept),
        lines=tuple(corpus.lines[place] for place in kept) if corpus.lines else (),
        warnings=(*_moved(corpus.warnings, kept), *warnings),
    )


def refuse_withdrawn_method(setup: JsonObject, now: Withdrawals) -> None:
    """Raise Withdrawn where the method with this set-up was taken back."""
    if (notice := now.of_method(setup)) is not None:
        raise Withdrawn(f"Method {setup.get('method')}", notice)


def _moved(warnings: Sequence[Problem], kept: Sequence[int]) -> list[Problem]:
    """Return warnings with the places that their entries have among those that are kept."""
    now = {place: at for at, place in enumerate(kept)}
    return [
        warning._replace(places=tuple(now[place] for place in warning.places if place in now))
        if warning.places
        else warning
        for warning in warnings
    ]


# ---- What notices that were imported here say of a card or certificate that somebody verifies.


class Found(NamedTuple):
    """What one notice says of it."""

    ok: bool | None
    """False: it may not be claimed any more. True: it was taken back and given again. None: nobody can tell."""
    words: str


class Verified(NamedTuple):
    """By what a card, a seal, the proof of a row or a certificate is held against notices."""

    facts: CorpusFacts = CorpusFacts("", "")
    setup: Mapping[str, Json] = {}
    ids: frozenset[str] = frozenset()
    """Of its entries, as far as it names them."""
    names_all: bool = True
    """False where it does not name its entries."""
    keys: frozenset[str] = frozenset()
    """That signed it."""
    review: str = ""
    people: frozenset[str] | None = frozenset()
    """Codes of who gave something in the review; None where it does not name them."""


def found(subject: Verified, now: Withdrawals) -> list[Found]:
    """Return what the notices that are believed here say of it; empty where none is about it."""
    return [held_notice for held in now.held for held_notice in _of(subject, held)]


def _of(subject: Verified, held: Held) -> Iterator[Found]:
    concerned = _concerned(subject, held.notice.about)
    if concerned is False:
        return
    why = GROUND_WORDS[held.ground]
    if held.lifted is not None:
        yield Found(
            True,
            f"withdrawn for {held.notice.said} ({why}), and given again: {held.lifted.by}, "
            f"{held.lifted.when[:10]}, “{held.lifted.reason}”",
        )
    elif concerned is None:
        yield Found(
            None,
            f"withdrawn for {held.notice.said} ({why}); it does not name all that it rests on, so whether this is among it cannot be told",
        )
    else:
        what = _REVOKED if held.notice.about.what == "key" else "nothing may be claimed by it"
        yield Found(False, f"withdrawn for {held.notice.said} ({why}): {what}")


_REVOKED = (
    "what this key signed may be of anyone who has it now, whatever date it bears; ask who had it for another sign that it is "
    "theirs"
)


def _concerned(subject: Verified, about: Subject) -> bool | None:
    """Return whether a notice is about it; None where that cannot be told."""
    sure: bool | None = False
    match about.what:
        case "corpus":
            sure = about.is_corpus(*subject.facts)
        case "entries" if about.is_corpus(*subject.facts):
            unnamed = False if subject.names_all else None
            sure = any(map(about.has, subject.ids)) or unnamed
        case "method":
            matches = ((name, str(subject.setup.get(name))) for name in about.fields)
            sure = all(value == about.fields[name] for name, value in matches)
        case "person" if about.review == subject.review:
            named = subject.people
            sure = None if named is None else any(map(about.is_person, named))
        case "key":
            sure = about.signing_key in subject.keys
    return sure


def of_card(card: JsonObject, ids: Iterable[object] | None) -> Verified:
    """Return by what a card is held against notices; ``ids`` of its entries, None where it does not name them."""
    stated = card.get("dataset")
    dataset = stated if isinstance(stated, Mapping) else {}
    names = ("sha256", "id", "source_language", "target_language")
    facts = (value if isinstance(value := dataset.get(name), str) else "" for name in names)
    setup = card.get("method")
    setup = setup if isinstance(setup, Mapping) else {}
    return Verified(CorpusFacts(*facts), setup, frozenset(map(str, ids or ())), ids is not None)
