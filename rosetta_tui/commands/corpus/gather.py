"""``rosetta corpus gather``: Take into a corpus in the making what speakers wrote and said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.corpus.speakers import known_reviews
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain
from scoring.core.wording import counted

with when_used():
    from harness.project import making
    from review.office.making import of_project
    from review.office.results import gathered, into_project
    from review.office.store import store
    from rosetta_tui.review.organiser.words import imported


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
    """Take what came back from speakers (`rosetta review import`) into the corpus in FOLDER; once more changes nothing.

    Only what its writers allow to be used is taken. Secret translations stay sealed. Who looks a translation over on the laptop on which it was
    written does not count as a second speaker, unless you say --shared-laptop.
    """
    with making.changing(folder, home()) as project:
        known_reviews(project)
        for name in shared:
            of_project.note_shared_laptop(project, name)
        with store.Office.open(home()) as office:
            found = into_project.gather(project, office)
    click.echo(
        f"Taken in: {counted(found.translated, 'translation')}, {found.agreed} agreed to, {found.corrected} corrected."
    )
    for line in _left(found):
        click.echo(plain(line), err=True)


def _left(found: gathered.Gathered) -> Iterator[str]:
    if found.waiting:
        yield f"{counted(found.waiting, 'sentence')} with speakers: nothing came back yet that may be used."
    if found.unshared:
        yield f"Left out: {counted(found.unshared, 'translation')} of people who did not say that theirs may be used. {imported.HOW_TO_ALLOW}"
    if found.beside:
        yield f"Left out: {counted(found.beside, 'translation')} of sentences that another review translated. If that one is taken back or refused, gather takes these."
    if found.withheld or found.objected:
        many = counted(found.withheld + len(found.objected), "sentence")
        named = f" (entries {_ids(found.objected)})" if found.objected else ""
        yield f"Left out: {many} that somebody called harmful or not to be shown around{named}. Talk with them; `rosetta review adjudicate` clears a flag."
    if found.own:
        yield f"No agreement: entries {_ids(found.own)} were looked over on the laptop on which they were translated. Give them to another speaker (rosetta corpus agree --again), or if that was another person: rosetta corpus gather --shared-laptop REVIEW."
    if found.taken_back:
        yield f"Taken back by who said it, and out of the corpus: entries {_ids(found.taken_back)}."
    if found.refused:
        yield f"A second speaker did not agree, and wrote no better one: entries {_ids(found.refused)}. They wait for another translation (rosetta corpus translate)."


def _ids(entries: list[int]) -> str:
    return ", ".join(map(str, sorted(entries)))
