"""What of a review is handed on, as files ready to be written: for the organisation, researchers, speakers."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.failures import UsageError
from rosetta_tui.review.organiser.handing.out_folder import make_folder
from rosetta_tui.review.organiser.words.gate import look_notes

if TYPE_CHECKING:
    from review.office.store.store import Office, Review
    from review.sealed.keys import Identity
    from review.session.words.catalogue import Words


@dataclass(frozen=True)
class ExportFiles:
    """Files by their names, and what the organiser should know about them."""

    files: Mapping[str, bytes]
    notes: Sequence[str] = ()
    published: bool = False
    """True where every user of a computer may read the files."""


def sealed(
    office: Office, review: Review, store: sqlite3.Connection, identity: Identity, words: Words
) -> ExportFiles:
    """Gather everything into one file, signed, and sealed for the review's recipients; a look, for it holds the ratings."""
    from review.office.results.bundle import bundle_name, governance_bundle
    from review.office.results.certifying import look_at_ratings
    from review.office.results.results import of_runs
    from review.office.store.store import utc_now

    notes = look_notes(look_at_ratings(office, review))
    gathered = of_runs(office, review, store, identity.public.signing_key, words)
    for run_id, of_run in gathered.items():
        if of_run.card is None:
            notes.append(f"Run {run_id[:8]} is no longer in the store: its card is left out.")
        if of_run.evidence is None:
            notes.append(f"Run {run_id[:8]} has no certificate yet (rosetta review gate --issue).")
        elif of_run.page is None:
            notes.append(
                f"Ratings were taken back since the certificate of run {run_id[:8]}: its page is left out. "
                "Issue it anew (rosetta review gate --issue)."
            )
    opens = ", ".join(f"{each[:12]}…" for each in review.manifest.organisation.recipients)
    notes.append(f"It can be opened with any of these keys, each alone: {opens}")
    content = governance_bundle(office, review, gathered, identity, utc_now())
    return ExportFiles({bundle_name(review): content}, notes)


def table(office: Office, review: Review, name: str, *, comments: bool) -> ExportFiles:
    """Return the ratings as a table, people as letters, which is a look; UsageError for comments that may quote secret texts."""
    from review.office.results.certifying import look_at_ratings
    from review.office.results.rating_rows import rating_rows, ratings_csv
    from review.office.results.results import require_runs

    require_runs(review)
    if comments and review.secret:
        raise UsageError(
            "Comments may quote the texts, and entries of this review are secret. Leave --comments away; "
            "the sealed file (without --csv) holds them."
        )
    rows = rating_rows(review.key, office.state(review), free_text=comments)
    empty = ["Nobody has rated yet; the table has a heading only."]
    notes = look_notes(look_at_ratings(office, review))
    return ExportFiles({name: ratings_csv(rows)}, notes if rows else empty)


def layout(office: Office, review: Review, store: sqlite3.Connection) -> ExportFiles:
    """Return ratings and scores laid out as in the metrics shared tasks, which is a look."""
    from review.office.results.certifying import look_at_ratings
    from review.office.results.mtme import mtme_files
    from review.office.results.rating_rows import rating_rows
    from review.office.results.results import require_runs, run_cards

    require_runs(review)
    rows = rating_rows(review.key, office.state(review), free_text=False)
    files = mtme_files(review, rows, run_cards(store, review))
    return ExportFiles(files, look_notes(look_at_ratings(office, review)))


def page(office: Office, review: Review, run_id: str, name: str, words: Words) -> ExportFiles:
    """Return the page for the speakers; UsageError where there is no certificate that it could tell of.

    It shows of today's ratings which sentences split the panel, so it is a look.
    """
    from review.office.results.certifying import look_at_ratings
    from review.office.results.results import page_of

    text = page_of(office, review, run_id, words)
    if text is None:
        raise UsageError(
            f"Review {review.name!r} has no certificate of run {run_id[:8]} that stands, and the page says only "
            f"what one says. Issue it (anew, where ratings were taken back): rosetta review gate {review.name} --issue"
        )
    notes = look_notes(look_at_ratings(office, review))
    return ExportFiles({name: text.encode()}, notes, published=True)


def page_words(review: Review, language: str | None, home: Path) -> Words:
    """Return the words in which a review's page speaks, own catalogues of this installation included."""
    from review.session.opening import WORDS_FOLDER
    from review.session.words.catalogue import Words, checked_tag

    tag = checked_tag(language) if language else review.manifest.language
    return Words.load(tag, (home / WORDS_FOLDER,))


def write_export(export: ExportFiles, folder: Path, *, overwrite: bool) -> list[Path]:
    """Write the files into a folder, made where there is none; UsageError where one is there already."""
    from harness.core.written_files import PRIVATE, PUBLISHED, write_file

    files = {folder / name: content for name, content in export.files.items()}
    taken = [path for path in files if path.exists()]
    if taken and not overwrite:
        raise UsageError(f"{taken[0]} is there already. Choose another place, or add --overwrite.")
    mode = PUBLISHED if export.published else PRIVATE
    for path, content in files.items():
        make_folder(path.parent)
        write_file(path, content, overwrite=overwrite, mode=mode)
    return list(files)
