"""``rosetta corpus gather``: Take into a corpus in the making what speakers wrote and said."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.project import authoring
    from review.office.making import of_project, reviews_made
    from review.office.results import into_project
    from review.office.store import store
    from rosetta_tui.review.organiser.words import gathered


@click.command("gather")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--shared-laptop",
    "shared",
    multiple=True,
    metavar="REVIEW",
    help="In this review of second speakers another person sat at the laptop of the translation; the corpus says so.",
)
def gather_(folder: Path, shared: tuple[str, ...]) -> None:
    """Collect what came back from speakers (`rosetta review import`) into the corpus in FOLDER; doing it again changes nothing.

    Only what its writers allow to be used is taken. Secret translations stay sealed. Somebody who checks a
    translation on the laptop on which it was written does not count as a second speaker, unless you say
    --shared-laptop.
    """
    with authoring.changing(folder, home()) as project:
        reviews_made.known_reviews(project)
        for name in shared:
            of_project.note_shared_laptop(project, name)
        with store.Office.open(home()) as office:
            gathered_facts = into_project.gather(project, office)
    click.echo(gathered.taken_words(gathered_facts))
    for line in gathered.left_lines(gathered_facts):
        click.echo(plain(line), err=True)
