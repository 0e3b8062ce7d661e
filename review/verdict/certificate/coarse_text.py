"""A coarse certificate as one page of text, and as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from harness.card.withholding import LEAST
from review.verdict.certificate.certificate_text import document, page_table, share_words, text_page
from review.verdict.certificate.coarse import CoarseCertificate, CoarseShare
from review.verdict.gate.reasons import OUTCOMES

REASONS = {
    "harm_open": "Something was called harmful, and nobody has looked into it yet.",
    "harm_upheld": "Something was found to be harmful.",
    "level_reached": "The lower bound reaches the level.",
    "level_missed": "The upper bound lies below the level.",
    "level_open": "The level lies between the bounds.",
    "weak_stratum": "A difficulty is far below the level.",
    "veto": "Too many translations are rejected by several people.",
    "low_reviewer": "Somebody finds far fewer translations acceptable than the level asks for.",
    "controls_failed": "Most people found spoilt translations acceptable.",
    "flags_decide": "Without people whose ratings show signs of haste the verdict would be another one.",
}
"""The findings that are told, without a number."""
CONFIRMATION = {
    "confirmed": "nobody was told anything about these sentences before the run's scores",
    "not_confirmed": "not confirmed: somebody was told something about these sentences before, or they are few",
}


def coarse_text(told: CoarseCertificate) -> str:
    """Write the page; texts from outside are made visible, nothing in them acts on a terminal."""
    rests = [(REASONS[code], ()) for code in told.verdict.reasons]
    return text_page(OUTCOMES[told.verdict.outcome], facts(told), rests, seals(told), told.checks)


def coarse_html(told: CoarseCertificate) -> str:
    """Write the page: no script, nothing fetched, every text from outside escaped."""
    body = "\n".join(
        (
            "<h1>Certificate of a community review</h1>",
            f'<p class="answer">{escape(OUTCOMES[told.verdict.outcome])}</p>',
            page_table(facts(told)),
            "<h2>What it rests on</h2>",
            "<ul>",
            *(f"<li>{escape(REASONS[code])}</li>" for code in told.verdict.reasons),
            "</ul>",
            "<h2>Seals</h2>",
            page_table(seals(told), code=True),
            f'<p class="quiet">{escape(told.checks)}</p>',
        )
    )
    return document(f"Certificate: {told.review}", body)


def facts(told: CoarseCertificate) -> Iterator[tuple[str, str]]:
    """Yield what a reader wants to know first, as name and value."""
    run, verdict = told.run, told.verdict
    segments = ", ".join(f"{at_least(n)} of {name}" for name, n in sorted(run.segments.items()))
    yield "run", run.run_id
    yield "corpus", f"{run.dataset_id}, {run.language_pair}, {segments}"
    yield "review", told.review
    yield "organisation", told.organisation.name
    yield "issued", told.issued
    yield "panel", f"{at_least(told.panel.reviewers)} people whose ratings count"
    yield "how chosen", told.panel.chosen or "not stated by the organisation"
    yield "items", f"{at_least(verdict.items)} rated"
    yield "share", f"{share(verdict.share)} acceptable or better"
    yield (
        "needed",
        f"a lower bound of {share_words(verdict.level)}, {share_words(verdict.confidence)} sure",
    )
    for stratum, coarse_share in sorted(verdict.strata.items()):
        yield f"difficulty {stratum}", share(coarse_share)
    if verdict.strata_left_out:
        yield "left out", f"difficulties that would tell of fewer than {LEAST} items"
    yield "confirmation", CONFIRMATION[told.confirmation]
    yield "told", f"certificate {told.answer} of {told.of} that are told of this run"


def seals(told: CoarseCertificate) -> Iterator[tuple[str, str]]:
    """Yield the hashes and keys, as name and value."""
    yield "certificate", told.sha256
    yield "signed with", told.organisation.signing_key
    yield "made of", f"{told.exact}, which stays inside"
    yield "run card", told.run.run_card_hash
    yield "policy", told.policy.sha256
    yield "policy status", told.policy.status
    for batch, manifest in sorted(told.batches.items()):
        yield f"batch {batch}", manifest
    if told.supersedes:
        yield "supersedes", told.supersedes
    yield "ledger", f"{told.place.ledger}, line {told.place.line}"


def share(each: CoarseShare) -> str:
    """Return a share in its steps."""
    lower, upper = share_words(each.lower), share_words(each.upper)
    return f"about {share_words(each.value)} ({lower} to {upper}, in steps of {share_words(each.step)})"


def at_least(count: int) -> str:
    """Return a count that was rounded down to a multiple of five."""
    return f"{count:,} or more" if count else f"fewer than {LEAST}"
