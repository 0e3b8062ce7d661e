"""``rosetta review second``: Ask people once more about the sentences that divided them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review import with_vault
from rosetta_tui.request.vault import without_method
from rosetta_tui.show.text import plain

with when_used():
    from review.office.making import second_look
    from review.office.results import certifying, results
    from review.office.store import store
    from rosetta_tui.commands.review import create, distribute
    from rosetta_tui.review.organiser.words import gate, plan
    from rosetta_tui.review.organiser.words import letters as words_letters

_FILE = click.Path(path_type=Path)
_TEXT = "[TAG=]FILE"


@click.command("second")
@click.argument("review", default="last")
@click.option(
    "--name", help="Name of the second look and its files. Default: that of REVIEW, numbered."
)
@click.option("--title", help="What reviewers see above it.")
@click.option(
    "--language", default="en", show_default=True, help="Language of the words for reviewers."
)
@click.option("--consent", multiple=True, metavar=_TEXT, help="What reviewers agree to. {organisation} is filled in. Once for each language.")  # fmt: skip
@click.option("--guide", multiple=True, metavar=_TEXT, help="How to judge, in your words. Once for each language.")  # fmt: skip
@create.handed_out
@without_method
@click.option(
    "--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of every draw. Default: random."
)
@click.option("--anyway", is_flag=True, help="Make it even if a laptop may be unable to show some of it.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def second_(review: str, seed: int | None, as_json: bool, dry_run: bool, **given: Any) -> None:
    """Make a second review of the sentences of REVIEW on which ratings are two steps apart or more.

    Everybody who answered gets those that they were asked before, with the card that they have. What people wrote is
    shown to the others, without names and ratings, only if they knew that beforehand (`rosetta review create
    --second-look`). The new answers are advice for the person who decides (`rosetta review adjudicate REVIEW`): the gate and
    every measure of agreement count the first round alone. Reading what divided the reviewers is a look. A review has
    one second look. Sentences from a vault are opened with it once more (--vault, --purpose or a grant to hand them
    out).
    """
    texts = distribute.own_texts(given, "second")
    with store.Office.open(home()) as office:
        reviewed = office.review(review)
        results.refuse_withdrawn(reviewed)
        second_look.cases_to_ask(office, reviewed)
        first, corpus = reviewed.manifest, f"{reviewed.name}-second"
        given |= {
            "organisation": first.organisation.name,
            "panel": reviewed.key.panel,
            "labels": first.labels,
        }
        if given["vault"] is not None and not dry_run:
            distribute.look_ahead(office, given, corpus)
        with_vault.open_review(
            reviewed, "review", given, with_vault.handed_to(given, dry_run=dry_run)
        )
        drawn = second_look.draft_second_look(
            office, reviewed, secrets.randbits(32) if seed is None else seed
        )
        _look(office, reviewed)
        letters = words_letters.look_at_letters(drawn, texts, given, secret=reviewed.secret)
        distribute.say_plan(_plan_lines(drawn, letters), as_json=as_json)
        if dry_run:
            return
        making = distribute.Making(
            corpus=corpus,
            secret=reviewed.secret,
            texts=texts,
            letters=letters,
            drawn=drawn,
            second_of=reviewed.key.batches[0],
        )
        distribute.carry_out(nullcontext(office), making, given, as_json=as_json)
    if not as_json:
        click.echo(
            plain(f"Then: `rosetta review adjudicate {reviewed.name}` shows what they said.")
        )


def _look(office: Any, review: Any) -> None:
    """Record that ratings are examined: which sentences split the panel is shown."""
    for note in gate.look_notes(certifying.look_at_ratings(office, review)):
        click.echo(note, err=True)


def _plan_lines(draft: second_look.SecondDraft, letters: words_letters.Letters) -> Iterator[str]:
    """Return who is asked about which sentences, and whether people read what others wrote."""
    yield plan.plan_line(
        "sentences", f"{len(draft.items)} that split the panel of {draft.first.name}"
    )
    yield plan.plan_line(
        "people", f"{len(draft.orders)} who answered; at most {draft.longest} sentences each"
    )
    shown = (
        f"what people wrote about them ({draft.words} times), without names and answers"
        if draft.first.manifest.shows_words
        else "nothing of what people wrote: they were not told that others may read it "
        "(`rosetta review create --second-look` tells them)"
    )
    yield plan.plan_line("shown", shown)
    yield from plan.letters_plan(letters)
