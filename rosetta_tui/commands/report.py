"""``rosetta report``: Write a run, a sweep, a review, the leaderboard or a released card as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from harness.core.failures import UsageError
from harness.core.storage import write_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.core import storage
    from harness.store import runs, sweeps
    from harness.store.sqlite import database
    from review.office.results import results
    from review.office.store import store
    from rosetta_tui.commands import leaderboard as leaderboard_command
    from rosetta_tui.html import leaderboard_page, review_page, run_page, sweep_page


_MOST_BYTES: Final = 2**24
_KINDS: Final = ("run", "sweep", "review", "leaderboard", "released")
_OF = {"against": "run", "run": "review", "sort": "leaderboard", "best": "leaderboard"}
"""Option → the kind of page that it is for."""


@click.command()
@click.argument("kind", metavar="[run|sweep|review|leaderboard|released]", default="run")
@click.argument("name", required=False)
@click.option("--against", metavar="RUN", help="Of a run: show on which entries it differs most from this one.")
@click.option("--run", metavar="RUN", help="Of a review of several runs: only this one.")
@click.option("--sort", metavar="NAME", help="Of the leaderboard: best first by this, as in `rosetta leaderboard --sort`.")  # fmt: skip
@click.option("--best", is_flag=True, help="Of the leaderboard: only the best run of each set-up.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: a file here with the name of what it shows.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def report(kind: str, name: str | None, output: Path | None, *, overwrite: bool, **given: Any) -> None:
    """Write an HTML page that holds everything it shows: to send, to print, or to keep. The word `run` may be left out.

    run RUN (an id, its beginning, `last`, or `last~1` …): scores with their intervals beside floors and other runs,
    scores by difficulty, cost and time, the weakest entries, and what is missing. A run with secret entries has no
    page: its numbers leave only as a released card (rosetta runs export --submitter).

    sweep SWEEP (a name, the beginning of an id, or `last`): what was swept, a map of the two axes with the most
    values, quality against cost, and each run. A sweep takes no secret entries.

    review REVIEW (its name, the beginning of it, or `last`): what its newest certificates say, so it does not count as a
    look at the ratings. `rosetta review page` writes the page for the speakers themselves, in their own language.

    leaderboard [CORPUS]: all lists of the store, or those of one corpus, with ranks, intervals and groups; official
    ones, of released cards, first. A list over secret entries of this computer comes without its runs.

    released FILE, which `rosetta runs export RUN --submitter NAME` wrote: what the file says and nothing else about the
    run, so it does not count as another answer. A file that was changed after it was signed is refused, and so is one
    whose consent was withdrawn.
    """
    if kind not in _KINDS:
        if name is not None:
            raise click.UsageError(f"There is no page of {kind!r}. There are {', '.join(_KINDS)}.")
        kind, name = "run", kind
    if kind == "released" and name is None:
        raise click.UsageError("Name the file: rosetta report released FILE")
    if stray := next((option for option, of in _OF.items() if given[option] and of != kind), None):
        raise UsageError(f"--{stray} is of `rosetta report {_OF[stray]}`. Leave it out.")
    page, usual = _page(kind, name, **given)
    path = output or Path(usual)
    write_file(path, page.encode("utf-8"), overwrite=overwrite)
    click.echo(f"Written: {plain(str(path))}", err=True)


def _page(
    kind: str, name: str | None, *, against: str | None, run: str | None, sort: str | None, best: bool
) -> tuple[str, str]:
    """Return a page, and how its file is called unless somebody says otherwise."""
    if kind == "leaderboard":
        by = leaderboard_command.sort_named(sort or "composite")
        with leaderboard_command.here(name) as (connection, lists):
            page = leaderboard_page.leaderboard_page(connection, name, by, best=best, lists=lists)
        return page, "leaderboard.html"
    name = name or "last"
    if kind == "review":
        with store.Office.open(database.home()) as office:
            reviewed = office.review(name)
            results.refuse_withdrawn(reviewed)
            return review_page.review_page(office, reviewed, run), f"review-{reviewed.name}.html"
    if kind == "released":
        card = Path(name)
        data = storage.read_bytes(card, "a released card", _MOST_BYTES)
        with database.opened() as connection:
            return leaderboard_page.released_page(data, card.name, connection), f"{card.stem}.html"
    with database.opened() as connection:
        if kind == "sweep":
            sweep = sweeps.find_sweep(connection, name)
            return sweep_page.sweep_page(connection, sweep), f"sweep-{sweep.id}.html"
        number = runs.find_run(connection, name).run_id[:8]
        return run_page.run_page(connection, name, against), f"run-{number}.html"
