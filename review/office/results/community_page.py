"""The result for the speakers themselves: one page in plain words, where disagreement is a question about the language.

Every number on it is a field of the certificate. Nobody can be recognised: no pseudonym, no comment, no
count of a single item; and from a panel of fewer than five people, on the certificate or today, nothing but
the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from corpora.text.visible import readable
from review.files.manifests import BatchItem
from review.log.fold import State
from review.rating import LEAST_ACCEPTABLE, Reason
from review.session.words.catalogue import Words, language_name, msgid
from review.session.words.keys import REASONS
from review.verdict.certificate.certificate import Certificate, CertifiedDecision
from review.verdict.certificate.certificate_text import PACKAGE
from review.verdict.certificate.coarse import CoarseCertificate
from review.verdict.gate.key import AnswerKey, counted
from review.verdict.gate.panel import Harm
from review.verdict.gate.verdict import GateOutcome

# With fewer people, what single items or reasons show could be traced to one of them
FEWEST_PEOPLE = 5
MOST_QUESTIONS = 12
_SIDES = 2  # People on each side of a question: a single one could be recognised

_ANSWERS: Final[Mapping[GateOutcome, tuple[str, str]]] = {
    GateOutcome.GO: (msgid("Yes."), msgid("The people who judged it found it good enough.")),
    GateOutcome.NO_GO: (msgid("No."), msgid("The people who judged it did not find it good enough.")),
    GateOutcome.DISCUSS: (msgid("Not clear yet."), msgid("The answers do not settle it. It needs to be talked about.")),
    GateOutcome.INSUFFICIENT: (msgid("Too early to say."), msgid("Not enough sentences have been judged yet.")),
}

# Difficulty 0–5 in words
_HARD: Final = (
    msgid("not sorted"),
    msgid("very easy"),
    msgid("easy"),
    msgid("medium"),
    msgid("hard"),
    msgid("very hard"),
)


@dataclass(frozen=True, slots=True)
class DividedItem:
    """An item that some found good and others did not."""

    item: BatchItem
    suggestions: tuple[str, ...]  # Better wordings by people who agreed to share them


def community_page(
    certificate: Certificate, key: AnswerKey, state: State, texts: Mapping[str, BatchItem], words: Words
) -> str:
    """Write the page in the language of ``words``; without ``texts`` (a secret review) no sentence is shown."""
    today = people_today(key, state, certificate.run.run_id)
    large = min(certificate.panel.reviewers, today) >= FEWEST_PEOPLE
    parts = {
        "difficulties": _difficulties(certificate, words),
        "harm": [*_harm(certificate, words)],
        "reasons": [words(REASONS[reason]) for reason in reasons(key, state, certificate.run.run_id) if large],
        "questions": questions(key, state, texts, certificate.run.run_id) if large else [],
    }
    return _page(certificate, words, _numbers(certificate, words), parts, large=large)


def coarse_page(told: CoarseCertificate, words: Words) -> str:
    """Write the page of a review of secret entries: its answer and the share of all, in steps, and nothing else."""
    share = told.verdict.share
    numbers = _shares(share.value, share.lower, told.verdict.level, words, "/verdict/share")
    return _page(told, words, numbers, dict.fromkeys(("difficulties", "harm", "reasons", "questions")), large=True)


def people_today(key: AnswerKey, state: State, run_id: str) -> int:
    """Count the people whose ratings of a run are still there: what a certificate counted may be taken back since."""
    real = {i for i, known in key.items.items() if known.run_id == run_id and not known.control}
    rated = {
        reviewer
        for reviewer, _, part in counted(state, key)
        for item, judged in part.judgements.items()
        if item in real and judged.rating is not None
    }
    return len(rated)


def reasons(key: AnswerKey, state: State, run_id: str) -> list[Reason]:
    """Return what was found wrong with a run's outputs by two people or more, the most frequent first."""
    people: dict[Reason, set[str]] = {}
    counts: Counter[Reason] = Counter()
    own = {item for item, known in key.items.items() if known.run_id == run_id}
    for reviewer, _, part in counted(state, key):
        for item, item_reasons in part.reasons.items():
            if item in own and item in part.judgements:
                counts.update(item_reasons)
                for reason in item_reasons:
                    people.setdefault(reason, set()).add(reviewer)
    several = [reason for reason in counts if len(people[reason]) >= _SIDES]
    return sorted(several, key=lambda reason: (-counts[reason], list(Reason).index(reason)))


def questions(key: AnswerKey, state: State, texts: Mapping[str, BatchItem], run_id: str) -> list[DividedItem]:
    """Return the items that split the panel, at least two people on each side, the most even first."""
    heard = [part for _, _, part in counted(state, key)]
    split_items: list[tuple[int, str]] = []
    for item, known in key.items.items():
        if known.control is None and known.run_id == run_id and item in texts:
            judgements = (part.judgements.get(item) for part in heard)
            ranks = [judged.rating.rank for judged in judgements if judged and judged.rating]
            good = sum(rank >= LEAST_ACCEPTABLE for rank in ranks)
            bad = len(ranks) - good
            if min(good, bad) >= _SIDES:
                split_items.append((abs(good - bad), item))
    shared = [part.suggestions for part in heard if part.share_corrections]
    return [
        DividedItem(texts[item], tuple(sorted({s[item].strip() for s in shared if s.get(item)})))
        for _, item in sorted(split_items)[:MOST_QUESTIONS]
    ]


_Fields = list[tuple[str, str]]  # Path of a field of the certificate, and the words that come from it
# Hexadecimal digits of a certificate's SHA-256 that a page for people shows
_NUMBER_DIGITS: Final = 8


def _page(
    certificate: Certificate | CoarseCertificate,
    words: Words,
    numbers: Iterable[_Fields],
    parts: Mapping[str, object],
    *,
    large: bool,
) -> str:
    """Fill the template. ``parts``: those of the page that it may not have; ``large``: people enough for single sentences."""
    from harness.core.html_pages import filled  # it loads Jinja, which only this page needs

    short, long = _ANSWERS[certificate.outcome]
    # Names of both languages, as far as we know them in themselves or in English.
    pair = certificate.run.language_pair
    languages = " → ".join(language_name(tag.casefold()) for tag in pair.split("→"))
    texts = {
        "title": words("What people said about the machine translation"),
        "question": words("Is the machine translation good enough?"),
        "numbers": words("What the answers say"),
        "difficulties": words("Easy and hard sentences"),
        "harm": words("Called harmful"),
        "decided_by": words("decided by"),
        "reasons": words("What people found wrong, most often first"),
        "questions": words("Questions about the language"),
        "explained": words(
            "Some people found these translations good, others did not. "
            "Nobody is wrong: people speak in more than one way. How would you say it?"
        ),
        "somebody": words("Somebody would say:"),
        "rights": words("Your answers are yours"),
        "take_back": words("People who gave answers can take them back at any time. Ask the people who asked you."),
        "few": words(
            "So few people took part that this page shows no single sentence: somebody could guess who said what."
        ),
        "known": words("Anybody can check this result. It comes from the certificate whose number begins with:"),
    }
    return filled(
        PACKAGE, "community.html.j2", readable, language=words.language, direction=words.direction,
        title=texts["title"], texts=texts, answer=words(short), explained=words(long), numbers=numbers, large=large,
        about=(languages, certificate.organisation.name, certificate.issued[:10]),
        number=certificate.sha256[:_NUMBER_DIGITS], **parts,
    )  # fmt: skip


def _numbers(certificate: Certificate, words: Words) -> Iterator[_Fields]:
    numbers, level = certificate.verdict.numbers, certificate.verdict.level
    people, items = certificate.panel.reviewers, numbers.items
    who = words.plural("{n} person gave answers that count.", "{n} people gave answers that count.", people)
    many = words.plural("They judged {n} sentence.", "They judged {n} sentences.", items)
    yield [("/panel/reviewers", who), ("/verdict/numbers/items", many)]
    if numbers.share is not None:
        yield from _shares(numbers.share, numbers.lower, level, words, "/verdict/numbers")


def _shares(share: str, lower: str | None, level: str, words: Words, path: str) -> Iterator[_Fields]:
    """Return how many are good, how many at least, and how many should be; ``path`` is where the certificate has it."""
    good = words(
        "About {share} of the translations are good: correct, or with small problems only.", share=_about(share, words)
    )
    yield [(f"{path}/share", good)]
    if lower is not None:
        sure = words(
            "These are only some people and some sentences. We can be quite sure of this: {share} or more are good.",
            share=_of_hundred(lower, words),
        )
        yield [(f"{path}/lower", sure)]
    yield [("/verdict/level", words("The goal was {share}.", share=_of_hundred(level, words)))]


def _difficulties(certificate: Certificate, words: Words) -> list[tuple[str, str, str]]:
    """Return name, field and words of each difficulty; none where all that was rated is of one."""
    strata = certificate.verdict.numbers.strata
    shares = {int(name): stratum.share for name, stratum in strata.items() if stratum.share is not None}
    rows = [
        (
            words(_HARD[difficulty]),
            f"/verdict/numbers/strata/{difficulty}/share",
            words("about {share} are good", share=_about(share, words)),
        )
        for difficulty, share in sorted(shares.items())
    ]
    return rows if len(rows) > 1 else []


def _harm(certificate: Certificate, words: Words) -> Iterator[tuple[str, str, list[CertifiedDecision], str]]:
    """Yield what became of translations that were called harmful: field, words, decisions with a reason, and that some have none."""
    counts = certificate.verdict.harm
    texts = {
        Harm.UPHELD: words.plural(
            "{n} translation was called harmful, and the organisation found that it is.",
            "{n} translations were called harmful, and the organisation found that they are.",
            counts[Harm.UPHELD],
        ),
        Harm.CLEARED: words.plural(
            "{n} translation was called harmful, and the organisation found that it is not.",
            "{n} translations were called harmful, and the organisation found that they are not.",
            counts[Harm.CLEARED],
        ),
        Harm.FLAGGED: words.plural(
            "{n} translation was called harmful, and nobody has looked into it yet.",
            "{n} translations were called harmful, and nobody has looked into them yet.",
            counts[Harm.FLAGGED],
        ),
    }
    for kind, text in texts.items():
        decided = [d for d in certificate.harm if d.reason and d.harmful is (kind is Harm.UPHELD)]
        given = [] if kind is Harm.FLAGGED else decided
        lacking = kind is not Harm.FLAGGED and len(given) < counts[kind]
        if counts[kind]:
            yield f"/verdict/harm/{kind}", text, given, words("No reason was written down.") if lacking else ""


def _about(share: str, words: Words) -> str:
    """Return a share rounded, but never to all or none where it is not quite so."""
    exact = Fraction(Decimal(share)) * 100
    nearest = round(exact) if exact in {0, 100} else min(99, max(1, round(exact)))
    return words("{n} of 100", n=nearest)


def _of_hundred(share: str, words: Words) -> str:
    """Return a share rounded down: a claim of certainty must hold."""
    return words("{n} of 100", n=int(Fraction(Decimal(share)) * 100))
