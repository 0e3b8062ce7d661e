"""What is handed on of a review: cards, certificates and pages of its runs, and all of it in one signed, sealed file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from corpora.model.entry import EntryId
from harness.card.exporting import ExportForm, export_run
from harness.consent.notice import SignedNotice
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawn
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import pack_signed
from harness.sealed.keys import Identity, public_pem
from harness.sealed.sealing import seal
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.store.withdrawn import entry_ids_of_run, known_run, now_standing
from review.files.manifests import EXPORT_SUFFIX, ExportManifest
from review.office.results.certifying import newest_certificate, review_evidence
from review.office.results.community_page import coarse_page, community_page
from review.office.results.disclosure import told_instead
from review.office.results.rating_rows import rating_rows, ratings_csv
from review.office.store.store import Office, Review
from review.session.words.catalogue import Words
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import read_coarse
from review.verdict.certificate.evidence import events_bytes, pack_evidence
from review.verdict.gate.key import KeyCorpus

_TEMPLATES = Path(__file__).parent / "templates"
_README: Final = (_TEMPLATES / "export.txt").read_text("utf-8")


@dataclass(frozen=True)
class RunFiles:
    """What there is about one run."""

    # Its run card as exported; None of a run with secret entries, of which only a released card
    # leaves
    card: bytes | None = field(default=None, repr=False)
    # The evidence file of its newest certificate
    evidence: bytes | None = field(default=None, repr=False)
    page: str | None = field(default=None, repr=False)  # The page for the speakers


def bundle_name(review: Review) -> str:
    return f"{review.name}{EXPORT_SUFFIX}"


def governance_bundle(
    office: Office, review: Review, of_runs: Mapping[str, RunFiles], identity: Identity, created: str
) -> bytes:
    """Return the sealed file; the review's own recipients can open it, each alone."""
    manifest = ExportManifest(
        review=review.name,
        created=created,
        runs=tuple(run.run_id for run in review.key.runs),
        signing_key=identity.public.signing_key,
        recipients=review.manifest.organisation.recipients,
        members={},
    )
    pem = public_pem(identity.public.signing_key)
    readme = _README.format(review=review.name, pem=pem).encode()
    members = {"README.txt": readme, **review_files(office, review, of_runs)}
    return seal(pack_signed(manifest, members, identity), manifest.recipients)


def review_files(office: Office, review: Review, of_runs: Mapping[str, RunFiles]) -> dict[str, bytes]:
    """Return by its name everything of a review that is handed on; people's words are among it."""
    rows = rating_rows(review.key, office.state(review), free_text=True)
    members = {
        "answer-key.json": canonical_bytes(review.key.model_dump(mode="json")),
        "policy.toml": review.policy,
        "events.jsonl": events_bytes(office.events(review)),
        "ratings.csv": ratings_csv(rows),
    }
    for number, run in enumerate(review.key.runs, start=1):
        of_run = of_runs.get(run.run_id, RunFiles())
        page = None if of_run.page is None else of_run.page.encode()
        ends = ("-card.json", ".rosetta-evidence", "-page.html")
        for end, data in zip(ends, (of_run.card, of_run.evidence, page), strict=True):
            if data is not None:
                members[f"run-{number}{end}"] = data
    return members


def require_runs(review: Review) -> None:
    """Refuse a review of which there can be no verdict; UsageError says what there is instead."""
    if review.is_second_look:
        raise UsageError(
            f"Review {review.name!r} is a second look: what people said in it is advice for who decides about the first "
            "one and counts in no verdict. `rosetta review adjudicate` of the first one shows it."
        )
    if review.is_agreement:
        raise UsageError(
            f"Review {review.name!r} asks second speakers about translations of a corpus in the making, so it has no gate, no "
            "certificate and no page. What they said goes into the corpus: rosetta corpus gather FOLDER"
        )
    if review.translating:
        raise UsageError(
            f"Review {review.name!r} collects translations: nothing is judged in it, so it has no gate, no certificate "
            f"and no page. Its corpus: rosetta review export {review.name} --corpus FILE.jsonl"
        )


def refuse_withdrawn(review: Review) -> None:
    """Raise Withdrawn where ``withdrawn_notice`` finds something."""
    if (notice := withdrawn_notice(review)) is not None:
        raise Withdrawn(f"Review {review.name}", notice)


def withdrawn_notice(review: Review) -> SignedNotice | None:
    """Return the notice by which something that a review is about was taken back: a corpus, and of runs an entry or a method.

    None where nothing was. A run that is not in the store any more is known by its corpus and the entries that people were
    asked about. Where speakers are asked about a corpus, entries of it are left out one by one (``withdrawn_entries``).
    """
    if not (now := now_standing()):
        return None
    if review.key.corpus is not None:
        return now.of_corpus(_facts(review.key.corpus))
    asked = {item.entry for item in review.key.items.values()}
    with opened() as connection:
        for run in review.key.runs:
            corpus_facts = CorpusFacts("", run.dataset_id, language_pair=run.language_pair)
            facts, setup = known_run(connection, run.run_id) or (corpus_facts, {})
            ids = asked.union(entry_ids_of_run(connection, run.run_id) or ())
            if (notice := now.of_run(facts, setup, ids)) is not None:
                return notice
    return None


def withdrawn_entries(review: Review) -> frozenset[EntryId]:
    """Return the entries of the corpus of which speakers are asked, and of which consent was taken back."""
    now, corpus = now_standing(), review.key.corpus
    if not now or corpus is None:
        return frozenset()
    gone = [about for _, about in now.of_entries(_facts(corpus))]
    asked = {item.entry for item in review.key.items.values()}
    return frozenset(entry_id for entry_id in asked if any(about.has(entry_id) for about in gone))


def _facts(corpus: KeyCorpus) -> CorpusFacts:
    return CorpusFacts("", corpus.id, corpus.source_language, corpus.target_language, corpus.language_pair)


def withdrawn_words(review: Review) -> str:
    """Return what was taken back, and that nothing of the review is used; empty where nothing was."""
    if (notice := withdrawn_notice(review)) is None:
        return ""
    return f"WITHDRAWN: consent was withdrawn for {notice.said}, so no verdict is read, and nothing of it leaves."


def one_run(review: Review, name: str | None) -> str:
    """Return the run of a review whose id begins so; without a name the only one. UsageError lists them."""
    require_runs(review)
    every = [run.run_id for run in review.key.runs]
    matches = [run_id for run_id in every if run_id.startswith((name or "").lower())]
    if len(matches) != 1:
        raise UsageError(f"Name one of the runs of review {review.name!r} with --run: {', '.join(every)}.")
    return matches[0]


def runs_of(review: Review, name: str | None) -> list[str]:
    """Return the run of a review whose id begins so; without a name all of them."""
    require_runs(review)
    return [run.run_id for run in review.key.runs] if name is None else [one_run(review, name)]


def page_of(office: Office, review: Review, run_id: str, words: Words) -> str | None:
    """Write the page for the speakers from a run's newest certificate, None where none was issued.

    Of a review of secret entries it shows what the coarse certificate shows; None where none was released. UsageError where
    ratings that it rests on were taken back: the page would continue telling of them.
    """
    if (issued := newest_certificate(office, review, run_id)) is None:
        return None
    if issued.recompute:
        raise UsageError(
            f"Somebody took ratings back since the certificate of run {run_id[:8]} was issued, and the page would "
            f"still show them. Issue it again: rosetta review gate {review.name} --issue"
        )
    if review.secret:
        signed = told_instead(office, issued)
        return None if signed is None else coarse_page(read_coarse(signed.content, "it"), words)
    certificate = read_certificate(issued.certificate, "the certificate")
    return community_page(certificate, review.key, office.state(review), review.texts, words)


def of_runs(
    office: Office, review: Review, connection: sqlite3.Connection, own_key: str, words: Words
) -> dict[str, RunFiles]:
    """Gather what goes into the bundle for the governance organisation; what is not there is left out.

    So is the page of a certificate that rests on what was taken back.
    """
    evidence = review_evidence(office, review, own_key)
    gathered = {}
    for run in review.key.runs:
        card = packed = page = None
        with suppress(UsageError):  # it was deleted, or has secret entries: its card is elsewhere
            card = export_run(connection, find_run(connection, run.run_id).id, ExportForm.CARD)
        if (issued := newest_certificate(office, review, run.run_id)) is not None:
            packed = pack_evidence(issued.certificate, issued.signature, evidence)
            page = None if issued.recompute else page_of(office, review, run.run_id, words)
        gathered[run.run_id] = RunFiles(card, packed, page)
    return gathered
