"""What speakers translated, written as a corpus file; and in words what of it is left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.formats.write import write
from corpora.model.corpus import Form
from harness.core.failures import UsageError
from rosetta_tui.review.organiser.handing.out_folder import make_folder
from rosetta_tui.review.organiser.words.sharing import HOW_TO_ALLOW

if TYPE_CHECKING:
    from review.office.results.translations import Collected
    from review.office.store.store import Office, Review

_FORMS = {".jsonl": Form.JSONL, ".json": Form.SPECIFICATION}


def write_corpus(office: Office, review: Review, path: Path, *, overwrite: bool) -> list[str]:
    """Write the corpus and give what is to be said of it; UsageError where there is nothing to write."""
    from review.office.results.translations import collect

    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: a corpus is written as NAME.jsonl or NAME.json. Name it so.")
    if not review.translating:
        raise UsageError(
            f"Review {review.name!r} asks for ratings. Better wordings that people suggested are offered by: "
            f"rosetta review variants CORPUS {review.name}"
        )
    if path.exists() and not overwrite:
        raise UsageError(f"{path} is there already. Choose another place, or add --overwrite.")
    collected = collect(review, office.state(review))
    notes = list(_left_out(collected))
    if not collected.corpus.entries:
        raise UsageError(" ".join(["There is no translation that may be used yet.", *notes]))
    make_folder(path.parent)
    write(collected.corpus, path, form)
    count = len(collected.corpus.entries)
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
