"""``rosetta review withdraw``: Take back what a reviewer gave."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.consent import notice
    from harness.sealed import keys
    from review.files import reviewer_codes
    from review.log import payloads
    from review.office.intake import quarantine
    from review.office.store import store
    from rosetta_tui.commands.consent import sharing
    from rosetta_tui.review.organiser.words import imported

_SCOPES = {
    "comments": "their comments and suggested wordings in this review",
    "batch": "everything that they gave in this review",
    "everything": "everything that they gave in every review",
}


@click.command("withdraw")
@click.argument("review")
@click.argument("code")
@click.option("--scope", type=click.Choice([*_SCOPES]), required=True, help="How much is taken back.")  # fmt: skip
@click.option("--identity", type=click.Path(path_type=Path), help="The recovery key, where waiting files of unknown laptops are sealed for it alone.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def withdraw_(
    review: str, code: str, scope: str, identity: Path | None, yes: bool, as_json: bool
) -> None:
    """Erase what the reviewer with CODE gave in REVIEW, for good.

    It is erased from this computer now, together with waiting files of unknown laptops that hold any of it, and from
    every file that is imported later; certificates that rest on it are marked. Copies on sticks cannot be called
    back.
    """
    read = reviewer_codes.read_code(code)
    identities = keys.opening_identities(home(), identity)
    with store.Office.open(home()) as office:
        reviewed = office.review(review)
        reviewer = reviewed.person(read)
        if reviewer is None:
            raise UsageError(
                f"Review {reviewed.name} has no reviewer {reviewer_codes.printed(read)}. "
                f"`rosetta review status {reviewed.name}` lists the codes."
            )
        if not yes:
            _ask(reviewer_codes.printed(read), scope)
        _record(read, scope, [reviewed] if scope == "batch" else office.reviews())
        done = quarantine.withdraw(office, reviewed, reviewer, payloads.Scope(scope), identities)
    document = {
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
    own = sharing.own_register()
    for review in reviews:
        person = review.person(code)
        if scope != "comments" and person is not None:
            about = notice.person_of(review.name, person)
            own.say(about, "taken back at the desk", "the organisation of the review")


def _ask(code: str, scope: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Erasing asks on a terminal; here, add --yes if you are sure.")
    click.confirm(f"Erase {_SCOPES[scope]} ({code}), for good?", abort=True, err=True)
