"""``rosetta review status``: Show who has rated how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain, table

with when_used():
    from review.files import reviewer_codes
    from review.log import payloads
    from review.office.intake import speaking
    from review.office.results import progress, results
    from review.office.store import store
    from review.verdict.gate import reasons
    from rosetta_tui.review.organiser.words import imported, letters


@click.command("status")
@click.argument("review", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status_(review: str | None, as_json: bool) -> None:
    """Show how far REVIEW is (a name, its beginning, or `last`); without one, list all reviews."""
    with store.Office.open(home()) as office:
        chosen = office.reviews() if review is None else [office.review(review)]
        review_progresses = [progress.progress(office, review) for review in chosen]
        voices = [speaking.speaking(office, review) for review in chosen]
        laptops = progress.waiting(office)
        gone = [results.withdrawn_words(review) for review in chosen]
    document = {
        "reviews": [
            _json(review_progress, secret=made.secret)
            | asdict(voice)
            | {"withdrawn": words or None}
            for made, review_progress, voice, words in zip(
                chosen, review_progresses, voices, gone, strict=True
            )
        ],
        "waiting": [asdict(laptop) | {"files": laptop.files} for laptop in laptops],
    }
    if review is None:
        lines = (*_list(review_progresses, gone),)
    else:
        lines = (*review_lines(review_progresses[0]), *filter(None, gone), *_laptops(voices[0]))
    print_form("review-status", document, (*lines, *_waiting(laptops)), as_json=as_json)


def _json(found: progress.ReviewProgress, *, secret: bool) -> dict[str, Any]:
    """Return the progress as JSON; how often two people agree is a number over the entries, so not of secret ones."""
    fields = asdict(found) | {"asked": found.asked, "done": found.done}
    if secret:
        fields["alike"] = [{"reviewers": pair["reviewers"]} for pair in fields["alike"]]
    for reviewer in fields["reviewers"]:
        reviewer["withdrawn"] = sorted(reviewer["withdrawn"])
    return fields


def _list(found: list[progress.ReviewProgress], gone: list[str]) -> Iterator[str]:
    if not found:
        yield "There are no reviews yet. `rosetta review create RUN` makes one."
        return
    rows = [("review", "made", "people", "items", "done", "certificates")]
    rows += [
        (
            review_progress.name,
            review_progress.created[:10],
            str(len(review_progress.reviewers)),
            str(review_progress.items),
            _share(review_progress.done, review_progress.asked),
            str(review_progress.certificates)
            + (" RECOMPUTE" if review_progress.recompute else "")
            + (" WITHDRAWN" if withdrawn else ""),
        )
        for review_progress, withdrawn in zip(found, gone, strict=True)
    ]
    yield from table(rows)


def review_lines(found: progress.ReviewProgress) -> Iterator[str]:
    """Return how far a review is, reviewer by reviewer."""
    yield f"{found.name}: {found.title}, made {found.created[:10]}, {found.items} items"
    rows: list[tuple[str, ...]] = [("reviewer", "agreed", "may be used", "training", "done", "cannot judge", "later", "harmful", "last import")]  # fmt: skip
    rows += [_row(reviewer) for reviewer in found.reviewers]
    if found.runs:  # only translations are put to a use that each person decides about
        rows = [(*row[:2], *row[3:]) for row in rows]
    yield from table(rows)
    if not found.runs:
        yield "It collects translations: there is no gate. `rosetta review export --corpus` writes them."
        yield from imported.kept_back_words(found)
    yield f"{found.done} of {found.asked} decisions are here, from {_files(found.imports)}."
    if changed := sum(reviewer.changed for reviewer in found.reviewers):
        yield f"Changed on another laptop: {changed}. The last rating counts."
    yield from letters.not_shown_words(found)
    yield from (f"ALIKE: {reasons.alike_words(pair)}" for pair in found.alike)
    for differ in found.differs:
        yield f"CHANGED since it was handed out, so no result is read from it: {differ}"
    if found.recompute:
        yield f"RECOMPUTE: {imported.certificates_rest(found.recompute)} on something that was taken back. Issue again."


def _laptops(found: speaking.Assignments) -> Iterator[str]:
    """Name the laptops with those for whom they speak, and what to look into about that."""
    if found.laptops:
        yield ""
        rows = [("laptop", "its six words", "speaks for")]
        rows += [
            (plain(x.name), x.phrase, imported.codes(x.people) or "nobody") for x in found.laptops
        ]
        yield from table(rows)
    yield from imported.voice_lines(found)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _row(each: progress.ReviewerProgress) -> tuple[str, ...]:
    arrived = "" if each.last_import is None else each.last_import[:16].replace("T", " ")
    if each.withdrawn - {payloads.Scope.COMMENTS}:
        return (reviewer_codes.printed(each.reviewer), "withdrawn", "", "", "", "", "", "", arrived)
    return (
        reviewer_codes.printed(each.reviewer),
        "yes" if each.consented else "not yet",
        imported.may_be_used(each),
        str(each.trained),
        _share(each.done, each.asked),
        str(each.cannot_judge),
        str(each.skipped),
        str(each.flagged),
        arrived or "nothing yet",
    )


def _share(done: int, asked: int) -> str:
    return f"{done} of {asked}"


def _waiting(laptops: list[progress.WaitingLaptop]) -> Iterator[str]:
    for laptop in laptops:
        yield (
            f"WAITING: {_files(laptop.files)} of an unknown laptop since {laptop.since[:10]}. If the speaker wrote down "
            f"these words: rosetta review enrol {laptop.file_phrases[-1] or laptop.phrase}"
        )
