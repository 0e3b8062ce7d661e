"""``rosetta review open``: Rate a batch, in the terminal.
``rosetta review import``: Take ratings back; any file, any order, any number of times.
``rosetta review status``: Show who has rated how much.
``rosetta review withdraw``: Take back what a reviewer gave.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.notices import own_register
from rosetta_tui.show.json_forms import form_text, print_form
from rosetta_tui.show.text import plain, table

with when_used():
    from harness.consent import notice
    from harness.sealed import keys as sealed_keys
    from harness.sealed import sealing
    from harness.store.sqlite import database
    from review.files import identities as reviewer_codes
    from review.log import payloads
    from review.office.intake import importing, quarantine, speaking
    from review.office.results import progress, results
    from review.office.store import arrivals, store
    from review.session import waiting
    from review.session.words import catalogue
    from review.verdict.gate import verdict
    from rosetta_tui.review.organiser.words import imported, plan
    from rosetta_tui.review.rating import sitting, visit
    from rosetta_tui.review.rating.lines import face


@click.command("open")
@click.argument("places", nargs=-1, metavar="[FILE|FOLDER]...", type=click.Path(path_type=Path))
@click.option("--lines", is_flag=True, help="Plain lines, for screen readers and braille displays.")
@click.option("--reviewer", metavar="CODE", help="The code on your card; asked for without it.")
@click.option("--language", metavar="TAG", help="Language of the program, such as en, fr or crk.")
@click.option(
    "--draw-anyway", is_flag=True, help="Rate texts that a terminal may draw wrongly; it is recorded with each rating."
)
def open_(places: tuple[Path, ...], lines: bool, reviewer: str | None, language: str | None, draw_anyway: bool) -> int:
    """Rate the sentences in FILE, or those found on sticks and on this computer.

    Where FILE is not there, it is looked for in the same way. Nothing is sent over a network. The secret words of a sealed file are asked for when it is opened.
    """
    with waiting.open_laptop(database.home()) as laptop:
        opening = sitting.TerminalOpening(
            laptop,
            places=[place for place in places if place.exists()] or None,
            missing=[place for place in places if not place.exists()],
            language=catalogue.checked_tag(language) if language else None,
            code=reviewer,
            draw_anyway=draw_anyway,
        )
        if lines or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return face.run_lines(opening)
        return visit.run_review(opening)


# ---- Take ratings back; any file, any order, any number of times ----

_FILE = click.Path(path_type=Path, exists=True)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=_FILE, metavar="FILE|FOLDER...")
@click.option("--identity", type=click.Path(path_type=Path), help="The recovery key, or another age identity.")
@click.option("--enrol", is_flag=True, help="Ask about each laptop that is unknown, and take those that you vouch for.")
@click.option("--yes", is_flag=True, help="With --enrol: vouch for all of them, without a question.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(paths: Sequence[Path], identity: Path | None, enrol: bool, yes: bool, as_json: bool) -> None:
    """Import ratings from FILES, or from all files of ratings in FOLDERS.

    Files are known by their first bytes, whatever they are called; a zip or a saved mail is opened. Hidden and deleted
    files are passed over. Each file is taken whole or not at all, as many times as you like: what is here already is not taken twice. Files of
    laptops that nobody has vouched for wait until `rosetta review enrol`. The exit code is 1 if a file was refused,
    or if no file was taken at all.
    """
    if yes and not enrol:
        raise UsageError("--yes goes with --enrol: it answers the question about each laptop.")
    if enrol and not yes and not answering():
        raise UsageError(
            "--enrol asks about each unknown laptop on a terminal, after its six words. Without one, compare the words "
            "first and add --yes, or leave --enrol out: the files wait."
        )
    search = importing.find_ratings(paths)
    for line in imported.skipped_lines(search.skipped):
        click.echo(plain(line), err=as_json or not search.files)
    if not search.files:
        raise UsageError(
            "These folders hold no ratings (NAME.rosetta-ratings). A speaker writes one by “Hand in your answers” "
            "(x while rating); give the folder or stick that it went to."
        )
    identities = sealed_keys.opening_identities(database.home(), identity)
    with store.Office.open(database.home()) as office:
        file_reports = importing.import_files(office, identities, search.files)
        reports = list(_told(file_reports, as_json, waiting=not yes))
        if enrol:
            taken = list(_told(_enrolled(office, identities, reports, yes), as_json))
            keys = {file_report.signing_key for file_report in taken}
            reports = [report for report in reports if not _waits(report) or report.signing_key not in keys]
            reports += taken
    if as_json:
        click.echo(form_text("review-import", [report_json(report) for report in reports]))
    outcomes = {report.outcome for report in reports}
    if speaking.FileOutcome.REFUSED in outcomes or speaking.FileOutcome.TAKEN not in outcomes:
        sys.exit(1)


def answering() -> bool:
    """Return whether a person can answer."""
    return sys.stdin.isatty()


def _told(
    reports: Iterable[speaking.FileReport], as_json: bool, *, waiting: bool = True
) -> Iterator[speaking.FileReport]:
    """Show each report when it comes; without ``waiting`` not that of a laptop that is vouched for in the next step."""
    for report in reports:
        if not as_json and (waiting or not _waits(report)):
            for line in imported.report_lines(report):
                click.echo(plain(line))
        yield report


def _waits(report: speaking.FileReport) -> bool:
    return report.outcome is speaking.FileOutcome.SET_ASIDE


def _enrolled(
    office: store.Office, identities: Sequence[sealing.AgeIdentity], reports: Sequence[speaking.FileReport], yes: bool
) -> Iterator[speaking.FileReport]:
    """Prompt about each laptop whose files were set aside just now, and import those of the ones vouched for."""
    waiting = {report.signing_key: report for report in reports if _waits(report)}
    for key, last in waiting.items():
        answer = "y" if yes else _ask(last)
        if answer == "q":
            return
        if answer == "y":
            yield from importing.enrol_laptop(office, key, arrivals.free_name(office), None, identities)


def _ask(report: speaking.FileReport) -> str:
    """Return whether a person confirms that the six words are those that the speaker wrote down."""
    click.echo(plain(f"Unknown laptop: {report.name}"), err=True)
    click.echo(f"  the file's six words: {report.phrase}", err=True)
    click.echo(f"  the laptop's own:     {report.laptop_phrase}", err=True)
    return str(
        click.prompt(
            "Did the speaker write down one of these? y take it, n leave it waiting, q stop here",
            type=click.Choice(["y", "n", "q"]),
            default="n",
            show_choices=False,
            err=True,
        )
    )


def report_json(report: speaking.FileReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    values = asdict(report) | {"clocks": [clock.said for clock in report.clocks]}
    del values["problem"]
    return values


# ---- Show who has rated how much ----


@click.command("status")
@click.argument("review", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status_(review: str | None, as_json: bool) -> None:
    """Show how far REVIEW is (a name, its beginning, or `last`); without one, list all reviews."""
    with store.Office.open(database.home()) as office:
        chosen = office.reviews() if review is None else [office.review(review)]
        review_progresses = [progress.progress(office, review) for review in chosen]
        voices = [speaking.speaking(office, review) for review in chosen]
        laptops = progress.waiting(office)
        gone = [results.withdrawn_words(review) for review in chosen]
    document = {
        "reviews": [
            _json(review_progress, secret=made.secret) | asdict(voice) | {"withdrawn": words or None}
            for made, review_progress, voice, words in zip(chosen, review_progresses, voices, gone, strict=True)
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
    yield from plan.not_shown_words(found)
    yield from (f"ALIKE: {verdict.alike_words(pair)}" for pair in found.alike)
    for differ in found.differs:
        yield f"CHANGED since it was handed out, so no result is read from it: {differ}"
    if found.recompute:
        yield f"RECOMPUTE: {imported.certificates_rest(found.recompute)} on something that was taken back. Issue again."


def _laptops(found: speaking.Assignments) -> Iterator[str]:
    """Name the laptops with those for whom they speak, and what to look into about that."""
    if found.laptops:
        yield ""
        rows = [("laptop", "its six words", "speaks for")]
        rows += [(plain(x.name), x.phrase, imported.codes(x.people) or "nobody") for x in found.laptops]
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


# ---- Take back what a reviewer gave ----

_SCOPES = {
    "comments": "their comments and suggested wordings in this review",
    "batch": "everything that they gave in this review",
    "everything": "everything that they gave in every review",
}


@click.command("withdraw")
@click.argument("review")
@click.argument("code")
@click.option("--scope", type=click.Choice([*_SCOPES]), required=True, help="How much is taken back.")
@click.option("--identity", type=click.Path(path_type=Path), help="The recovery key, where waiting files of unknown laptops are sealed for it alone.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def withdraw_(review: str, code: str, scope: str, identity: Path | None, yes: bool, as_json: bool) -> None:
    """Erase what the reviewer with CODE gave in REVIEW, for good.

    It is erased from this computer now, together with waiting files of unknown laptops that hold any of it, and from
    every file that is imported later; certificates that rest on it are marked. Copies on sticks cannot be called
    back.
    """
    read = reviewer_codes.read_code(code)
    identities = sealed_keys.opening_identities(database.home(), identity)
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        reviewer = reviewed.person(read)
        if reviewer is None:
            raise UsageError(
                f"Review {reviewed.name} has no reviewer {reviewer_codes.printed(read)}. "
                f"`rosetta review status {reviewed.name}` lists the codes."
            )
        if not yes:
            _withdraw_ask(reviewer_codes.printed(read), scope)
        _record(read, scope, [reviewed] if scope == "batch" else office.reviews())
        done = quarantine.withdraw(office, reviewed, reviewer, payloads.Scope(scope), identities)
    document: JsonObject = {
        "review": reviewed.name,
        "reviewer": read,
        "scope": scope,
        "erased": done.erased,
        "recompute": done.recompute,
        "unclean": done.unclean,
        "dropped": done.waiting.files,
        "unopened": done.waiting.unopened,
    }
    lines = [
        f"Erased: {done.erased} events of {reviewer_codes.printed(read)}. Later files lose them too.",
        *imported.waiting_lines(done.waiting.files, done.waiting.unopened),
    ]
    if done.unclean:
        lines.append(
            "What was taken back is overwritten, but the disk has no room to rewrite the file without it. Free some "
            "space; it is done the next time you open a review."
        )
    if done.recompute:
        rest = imported.certificates_rest(done.recompute)
        lines.append(f"RECOMPUTE: {rest} on them. Issue again: `rosetta review gate --issue`.")
    print_form("review-withdraw", document, lines, as_json=as_json)


def _record(code: str, scope: str, reviews: Sequence[store.Review]) -> None:
    """Sign a notice before anything is erased, so that other computers hear of it, and this one if it stops here.

    Comments bear on no number, so nothing is said of them. The notice names the person by a salted digest.
    """
    own = own_register()
    for review in reviews:
        person = review.person(code)
        if scope != "comments" and person is not None:
            about = notice.person_of(review.name, person)
            own.say(about, "taken back at the desk", "the organisation of the review")


def _withdraw_ask(code: str, scope: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Erasing asks on a terminal; here, add --yes if you are sure.")
    click.confirm(f"Erase {_SCOPES[scope]} ({code}), for good?", abort=True, err=True)
