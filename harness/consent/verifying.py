"""What notices that were imported here say of a card or certificate that somebody verifies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.consent.notice import Subject
from harness.consent.register import GROUND_WORDS, Held
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals


class Found(NamedTuple):
    """What one notice says of it."""

    ok: bool | None
    """False: it may not be claimed any more. True: it was taken back and given again. None: nobody can tell."""
    words: str


class Verified(NamedTuple):
    """By what a card, a seal, the proof of a row or a certificate is held against notices."""

    facts: CorpusFacts = CorpusFacts("", "")
    setup: Mapping[str, Any] = {}
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


def of_card(card: Mapping[str, Any], ids: Iterable[object] | None) -> Verified:
    """Return by what a card is held against notices; ``ids`` of its entries, None where it does not name them."""
    dataset = card.get("dataset")
    dataset = dataset if isinstance(dataset, Mapping) else {}
    identity_fields = [
        dataset.get(name) for name in ("sha256", "id", "source_language", "target_language")
    ]
    sha256, name, source, target = (
        field_value if isinstance(field_value, str) else "" for field_value in identity_fields
    )
    setup = card.get("method")
    return Verified(
        CorpusFacts(sha256, name, source, target),
        setup if isinstance(setup, Mapping) else {},
        frozenset(map(str, ids or ())),
        ids is not None,
    )
