"""``rosetta report``: Write a run, a sweep, a review, the leaderboard or a released card as one HTML page.
``rosetta report run``: Write what a run reached, how sure that is, and what may be said of it.
``rosetta report sweep``: Write a sweep as a map of two axes, with every run of it.
``rosetta report review``: Write what speakers decided, how far they agree, and what it rests on.
``rosetta report leaderboard``: Write the lists of runs that may be ranked together.
``rosetta report released``: Write the page of a released card, the coarse scores of a secret run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.core.storage import write_file
from rosetta_tui.commands.naming import FiledCommands, when_used
from rosetta_tui.show.text import plain

Command = TypeVar("Command", bound=Callable[..., Any])


class ReportCommands(FiledCommands):
    """The kinds of reports."""

    folder = "report"
    order = ("run", "sweep", "review", "leaderboard", "released")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the kind of report that the first argument names; what names none is a run."""
        known = args[0] in self.list_commands(ctx) or args[0].startswith("-")
        return super().resolve_command(ctx, args if known else ["run", *args])


@click.group(cls=ReportCommands)
def report() -> None:
    """Write an HTML page that holds everything it shows: to send, to print, or to keep.

    The word `run` may be left out: any other word than these is the name of a run.
    """


def to_file(default: str) -> Callable[[Command], Command]:
    """Add the options of where a page is written; ``default`` is how its file is called without them."""

    def added(command: Command) -> Command:
        path = click.Path(dir_okay=False, path_type=Path)
        command = click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")(command)  # fmt: skip
        return click.option("-o", "--output", type=path, help=f"Default: {default}.")(command)

    return added


def written(page: str, path: Path, *, overwrite: bool) -> None:
    """Write a page and say where; UsageError where a file of that name is there."""
    write_file(path, page.encode("utf-8"), overwrite=overwrite)
    click.echo(f"Written: {plain(str(path))}", err=True)


# ---- Write what a run reached, how sure that is, and what may be said of it ----

with when_used():
    from harness.store import runs
    from harness.store.file import database
    from rosetta_tui.html import run_page


@click.command("run")
@click.argument("run", default="last")
@click.option("--against", metavar="RUN", help="Show on which entries RUN differs most from this one.")  # fmt: skip
@to_file("run-RUN.html")
def run_(run: str, against: str | None, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of RUN (an id, its beginning, `last`, or `last~1` …).

    It shows scores with their intervals beside floors and other runs, scores by difficulty, cost and time, the
    weakest entries, and what is missing. A run with secret entries has no page: its numbers leave only as a released
    card (rosetta runs export --submitter).
    """
    with database.opened() as connection:
        name = runs.find_run(connection, run).run_id[:8]
        page = run_page.run_page(connection, run, against)
    written(page, output or Path(f"run-{name}.html"), overwrite=overwrite)


# ---- Write a sweep as a map of two axes, with every run of it ----

with when_used():
    from harness.store import sweeps
    from harness.store.file import database
    from rosetta_tui.html import sweep_page


@click.command("sweep")
@click.argument("sweep", default="last")
@to_file("sweep-ID.html")
def sweep_(sweep: str, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of SWEEP (a name, the beginning of an id, or `last`).

    It shows what was swept, a map of the two axes with the most values, quality against cost (or seconds, where
    nothing cost anything), and each run with its interval, tier, cost and speed. A sweep takes no secret entries, so
    none are on the page.
    """
    with database.opened() as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
        page = sweep_page.sweep_page(connection, stored_sweep)
    written(page, output or Path(f"sweep-{stored_sweep.id}.html"), overwrite=overwrite)


# ---- Write what speakers decided, how far they agree, and what it rests on ----

with when_used():
    from harness.store.file import database
    from review.office.results import results
    from review.office.store import store
    from rosetta_tui.html import review_page


@click.command("review")
@click.argument("review", default="last")
@click.option("--run", "run_id", metavar="RUN", help="Only this run, in a review of several.")
@to_file("review-REVIEW.html")
def review_(review: str, run_id: str | None, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of REVIEW (its name, the beginning of it, or `last`) from its newest certificates.

    It says what the certificates say, so it does not count as a look at the ratings. `rosetta review page` writes the
    page for the speakers themselves, in their own language.
    """
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        results.refuse_withdrawn(reviewed)
        page = review_page.review_page(office, reviewed, run_id)
    written(page, output or Path(f"review-{reviewed.name}.html"), overwrite=overwrite)


# ---- Write the lists of runs that may be ranked together ----

with when_used():
    from rosetta_tui.commands import leaderboard as leaderboard_command
    from rosetta_tui.html import leaderboard_page


@click.command("leaderboard")
@click.option("--dataset", metavar="ID", help="Only the lists of this corpus.")
@click.option("--sort", default="composite", show_default=True, metavar="NAME", help="Best first, as in `rosetta leaderboard --sort`.")  # fmt: skip
@click.option("--best", is_flag=True, help="Only the best run of each set-up.")
@to_file("leaderboard.html")
def leaderboard_(
    dataset: str | None, sort: str, best: bool, output: Path | None, *, overwrite: bool
) -> None:
    """Write all lists of the store with ranks, intervals and groups; official ones, of released cards, first.

    Runs of one group cannot be told apart. Runs whose inputs differ are in separate lists, with the reason. A list
    over secret entries of this computer comes without its runs.
    """
    sort = leaderboard_command.sort_named(sort)
    with leaderboard_command.here(dataset) as (connection, lists):
        page = leaderboard_page.leaderboard_page(connection, dataset, sort, best=best, lists=lists)
    written(page, output or Path("leaderboard.html"), overwrite=overwrite)


# ---- Write the page of a released card, the coarse scores of a secret run ----

with when_used():
    from harness.store.file import database
    from rosetta_tui.html import released_page


@click.command("released")
@click.argument("card", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@to_file("CARD.html")
def released_(card: Path, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of CARD, a file that `rosetta runs export RUN --submitter NAME` wrote.

    It shows what the file says and nothing else about the run, so it does not count as another answer. A file that
    was changed after it was signed is refused, and so is one whose consent was withdrawn.
    """
    with database.opened() as connection:
        page = released_page.released_page(card.read_bytes(), card.name, connection)
    written(page, output or Path(f"{card.stem}.html"), overwrite=overwrite)
