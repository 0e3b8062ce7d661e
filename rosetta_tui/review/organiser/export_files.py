"""What of a review is handed on, as files: for the organisation, researchers, a corpus, and certificates."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.formats.write import write
from corpora.model.corpus import Form
from corpora.text.messages import counted
from harness.card.exporting import read_exported
from harness.core.failures import UsageError
from harness.core.storage import PRIVATE, PUBLISHED, write_file
from harness.release.budget import NotReleased
from harness.sealed.keys import Identity, Signed
from harness.store.runs import find_run
from review.office.making.second_look import require_flags_decided
from review.office.results import certifying, results
from review.office.results.disclosure import release_certificate, told_instead
from review.office.results.results import mtme_files, rating_rows, ratings_csv
from review.office.results.translations import Collected, collect
from review.office.store.store import IssuedCertificate, Office, Review, utc_now
from review.session.opening import WORDS_FOLDER
from review.session.words.catalogue import Words, checked_tag
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.certificate_text import certificate_page
from review.verdict.certificate.certify import read_verdict, require_enough
from review.verdict.certificate.coarse import coarse_page, read_coarse
from review.verdict.certificate.evidence import EVIDENCE_SUFFIX, Evidence, EvidenceFile, pack_evidence
from rosetta_tui.review.organiser.words.gate import look_notes
from rosetta_tui.review.organiser.words.imported import HOW_TO_ALLOW


def make_folder(folder: Path) -> None:
    """Make a folder where there is none; UsageError where it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}). Name another folder.") from None


@dataclass(frozen=True)
class ExportFiles:
    """Files by their names, and what the organiser should know about them."""

    files: Mapping[str, bytes]
    notes: Sequence[str] = ()
    published: bool = False  # true where every user of a computer may read the files


def sealed(office: Office, review: Review, store: sqlite3.Connection, identity: Identity, words: Words) -> ExportFiles:
    """Gather everything into one file, signed, and sealed for the review's recipients; a look, for it holds the ratings."""
    results.refuse_withdrawn(review)
    notes = look_notes(certifying.look_at_ratings(office, review))
    gathered = results.of_runs(office, review, store, identity.public.signing_key, words)
    for run_id, of_run in gathered.items():
        if of_run.card is None:
            why = "it is no longer in the store, or has secret entries, of which only a released card leaves"
            notes.append(f"The card of run {run_id[:8]} is left out: {why}.")
        if of_run.evidence is None:
            notes.append(f"Run {run_id[:8]} has no certificate yet (rosetta review gate --issue).")
        elif of_run.page is None:
            notes.append(
                f"Ratings were taken back since the certificate of run {run_id[:8]}: its page is left out. "
                "Issue it again (rosetta review gate --issue)."
            )
    opens = ", ".join(f"{recipient[:12]}…" for recipient in review.manifest.organisation.recipients)
    notes.append(f"It can be opened with any of these keys, each alone: {opens}")
    content = results.governance_bundle(office, review, gathered, identity, utc_now())
    return ExportFiles({results.bundle_name(review): content}, notes)


def table(office: Office, review: Review, name: str, *, comments: bool) -> ExportFiles:
    """Return the ratings as a table, people as letters, which is a look; UsageError for comments that may quote secret texts."""
    results.require_runs(review)
    results.refuse_withdrawn(review)
    if comments and review.secret:
        raise UsageError(
            "Comments may quote the texts, and entries of this review are secret. Leave --comments out; "
            "the sealed file (without --csv) holds them."
        )
    rows = rating_rows(review.key, office.state(review), free_text=comments)
    empty = ["Nobody has rated yet; the table has a heading only."]
    notes = look_notes(certifying.look_at_ratings(office, review))
    if rows and review.secret:
        notes = [*notes, DANGER]
    return ExportFiles({name: ratings_csv(rows)}, notes if rows else empty)


def layout(office: Office, review: Review, store: sqlite3.Connection) -> ExportFiles:
    """Return ratings and scores arranged as in the metrics shared tasks, which is a look."""
    results.require_runs(review)
    results.refuse_withdrawn(review)
    rows = rating_rows(review.key, office.state(review), free_text=False)
    runs = [read_exported(store, find_run(store, run.run_id).id) for run in review.key.runs]
    files = mtme_files(review, rows, runs)
    return ExportFiles(files, look_notes(certifying.look_at_ratings(office, review)))


def page(office: Office, review: Review, run_id: str, name: str, words: Words) -> ExportFiles:
    """Return the page for the speakers, which is a look at what split the panel; UsageError without a certificate."""
    results.refuse_withdrawn(review)
    text = results.page_of(office, review, run_id, words)
    if text is None:
        raise UsageError(
            f"Review {review.name!r} has no certificate of run {run_id[:8]} that stands, and the page says only "
            f"what one says. Issue it (again, where ratings were taken back): rosetta review gate {review.name} --issue"
        )
    notes = look_notes(certifying.look_at_ratings(office, review))
    return ExportFiles({name: text.encode()}, notes, published=True)


def page_words(review: Review, language: str | None, home: Path) -> Words:
    """Return the words in which a review's page speaks, own catalogues of this installation included."""
    tag = checked_tag(language) if language else review.manifest.language
    return Words.load(tag, (home / WORDS_FOLDER,))


def write_export(export: ExportFiles, folder: Path, *, overwrite: bool) -> list[Path]:
    """Write the files into a folder, made where there is none; UsageError where one is there already."""
    files = {folder / name: content for name, content in export.files.items()}
    taken = [path for path in files if path.exists()]
    if taken and not overwrite:
        raise UsageError(f"{taken[0]} is there already. Choose another place, or add --overwrite.")
    mode = PUBLISHED if export.published else PRIVATE
    for path, content in files.items():
        make_folder(path.parent)
        write_file(path, content, overwrite=overwrite, mode=mode)
    return list(files)


def file_name(review: str, run_id: str) -> str:
    """Return the name that the files of a certificate share, without their endings."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', review).strip('-') or 'review'}-{run_id[:8]}"


def taken_names(folder: Path, name: str) -> list[str]:
    """Return the files of this name that are there: to be asked before a certificate is issued."""
    return sorted(path.name for path in folder.glob(f"{name}.*")) if folder.is_dir() else []


def issue_files(
    office: Office,
    review: Review,
    runs: Sequence[str],
    evidence: Evidence,
    identity: Identity,
    folder: Path,
    *,
    overwrite: bool = False,
) -> Iterator[tuple[EvidenceFile, Sequence[Path]]]:
    """Issue a certificate for each of some runs, and write its files; what is refused leaves nothing behind.

    ``evidence`` is that of the review as it is now; the last file has it with the looks that were written down.

    Of a review with secret entries the coarse certificate is written, and what it follows from stays in the office.
    HarnessError where one of the runs has too few ratings, UsageError where files of that name are there or consent was withdrawn.
    """
    results.refuse_withdrawn(review)
    require_flags_decided(office, review)
    for run in runs:
        require_enough(read_verdict(evidence, run))
        taken = taken_names(folder, file_name(review.name, run))
        if taken and not overwrite:
            raise UsageError(
                f"{taken[0]} is there already. Choose another folder; on the command line -o names it, "
                "and --overwrite replaces what is there."
            )
    make_folder(folder)
    for run in runs:
        made = certifying.issue(office, review, run, evidence, identity)
        evidence = made.evidence
        if review.secret:
            made = replace(made, coarse=_told(office, made, identity))
        yield made, write_certificate(made, folder, file_name(review.name, run))


def require_told(office: Office, review: Review, issued: IssuedCertificate) -> Signed | None:
    """Return what left instead of a certificate; None where it leaves itself, UsageError where nothing of it was released."""
    if not review.secret:
        return None
    if (signed := told_instead(office, issued)) is None:
        raise UsageError(
            "No coarse certificate was released, and the entries are secret, so nothing is written. The evidence "
            f"stays inside: rosetta review export {review.name} --inside FOLDER"
        )
    return signed


def _told(office: Office, made: EvidenceFile, identity: Identity) -> Signed:
    """Return the coarse certificate; NotReleased, which says that the other one was issued, where nothing may leave."""
    try:
        return release_certificate(office, made, identity)
    except NotReleased as error:
        raise NotReleased(f"The certificate was issued and is kept here, and nothing of it leaves. {error}") from None


def write_certificate(presented: EvidenceFile, folder: Path, name: str) -> Sequence[Path]:
    """Write a certificate with signature and evidence for all to read, or the coarse one alone; replaces such files."""
    coarse = presented.coarse
    if coarse is None:
        page = certificate_page(read_certificate(presented.certificate, "the certificate"))
        certificate, signature = presented.certificate, presented.signature
    else:
        page = coarse_page(read_coarse(coarse.content, "the coarse certificate"))
        certificate, signature = coarse.content, coarse.signature
    files = {
        certifying.CERTIFICATE_SUFFIX: certificate,
        certifying.SIGNATURE_SUFFIX: signature,
        ".certificate.txt": page.text().encode(),
        ".certificate.html": page.html().encode(),
    }
    if coarse is None:
        files[EVIDENCE_SUFFIX] = pack_evidence(certificate, signature, presented.evidence)
    make_folder(folder)
    paths = {suffix: folder / f"{name}{suffix}" for suffix in files}
    for suffix, content in files.items():
        write_file(paths[suffix], content, overwrite=True, mode=PUBLISHED)
    return list(paths.values())


def inside(office: Office, review: Review, own_key: str) -> ExportFiles:
    """Return the newest certificates with all single ratings, which is a look; UsageError where none was issued."""
    results.require_runs(review)
    results.refuse_withdrawn(review)
    evidence = certifying.review_evidence(office, review, own_key)
    files = {}
    for run in review.key.runs:
        if (issued := certifying.newest_certificate(office, review, run.run_id)) is not None:
            name = f"{file_name(review.name, run.run_id)}{EVIDENCE_SUFFIX}"
            signed = told_instead(office, issued) if review.secret else None
            if signed is not None and read_coarse(signed.content, "it").exact != issued.sha256:
                signed = None  # it has the same numbers, and names the certificate before
            files[name] = pack_evidence(issued.certificate, issued.signature, evidence, signed)
    if not files:
        raise UsageError(
            f"Review {review.name!r} has no certificate yet. Issue it: rosetta review gate {review.name} --issue"
        )
    notes = look_notes(certifying.look_at_ratings(office, review))
    return ExportFiles(files, [*notes, DANGER] if review.secret else notes)


DANGER = (
    "DANGER: this has every single rating of secret entries, item by item. Anyone who gets it can compare a method with "
    "each entry and each speaker's answers. Keep it inside, give it to nobody who hands in methods, and erase it when it "
    "was checked. What may leave is the coarse certificate (rosetta review gate --issue)."
)


_FORMS = {".jsonl": Form.JSONL, ".json": Form.SPECIFICATION}


def write_corpus(
    office: Office, review: Review, path: Path, *, overwrite: bool, allow_secret: bool = False
) -> list[str]:
    """Write the corpus and return what to say of it; UsageError where it is empty, or sealed without ``allow_secret``."""
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: a corpus is written as NAME.jsonl or NAME.json. Name it so.")
    if not review.translating:
        raise UsageError(
            f"Review {review.name!r} asks for ratings. Better wordings that people suggested are offered by: "
            f"rosetta review variants CORPUS {review.name}"
        )
    results.refuse_withdrawn(review)
    if review.secret and not allow_secret:
        raise UsageError(
            f"The sentences of review {review.name!r} were handed out sealed, and this file would hold them open. Those of a corpus in the "
            "making go back into it sealed (rosetta corpus gather FOLDER), and into a vault from there. Where none of them is secret, add --allow-secret."
        )
    if path.exists() and not overwrite:
        raise UsageError(f"{path} is there already. Choose another place, or add --overwrite.")
    collected, gone = collect(review, office.state(review)), results.withdrawn_entries(review)
    corpus = collected.without(gone)
    notes = list(_left_out(collected))
    if gone:
        notes.append(f"Left out: {counted(len(gone), 'sentence')} of which consent was withdrawn.")
    if not corpus.entries:
        raise UsageError(" ".join(["There is no translation that may be used yet.", *notes]))
    make_folder(path.parent)
    write(corpus, path, form)
    count = len(corpus.entries)
    return [*notes, f"Written: {path} ({count} sentences; `rosetta corpus check` reads it)"]


def _left_out(collected: Collected) -> Iterator[str]:
    if collected.unshared:
        yield (
            f"Left out: {collected.unshared} translations of people who did not say that theirs may be used. "
            f"{HOW_TO_ALLOW}"
        )
    if collected.withheld:
        yield (
            f"Left out: {collected.withheld} sentences that somebody called harmful or not to be shown around. "
            "`rosetta review adjudicate` clears a flag."
        )
    if collected.unanswered:
        yield f"Without a translation that may be used: {collected.unanswered} sentences."
