"""``rosetta corpus sources``: Add sentences that speakers are to translate, from a file or a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from corpora.model.entry import CONTEXTS, REGISTERS, Segment
from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import SEGMENTS, print_problems
from rosetta_tui.show.text import plain

with when_used():
    from harness.project import asking, authoring, candidates
    from rosetta_tui.report import project as report_project


@click.command("sources")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--segment",
    type=click.Choice(SEGMENTS),
    help="Segment of all of them. Default: as FILE says, else the one that lacks most.",
)
@click.option(
    "--difficulty",
    type=click.IntRange(1, 5),
    help="Difficulty of those that name none: 1 basic vocabulary … 5 advanced.",
)
@click.option("--register", type=click.Choice(REGISTERS), help="For those that name none.")
@click.option("--context", type=click.Choice(CONTEXTS), help="For those that name none.")
@click.option(
    "--phenomenon",
    metavar="WORDS",
    help="What they show of the language, such as “possessive”: their variant class.",
)
@click.option(
    "--take",
    type=click.IntRange(1),
    metavar="N",
    help="Only N of them, mostly of difficulties 2 to 4, spread over the registers.",
)
@click.option("--model", metavar="NAME", help="Instead of FILE: a model that writes them.")
@click.option(
    "--endpoint",
    default="ollama",
    show_default=True,
    metavar="NAME|URL",
    help="Endpoint of the model.",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Sentences that the model is asked for.",
)
@click.option("--undo", is_flag=True, help="Take out what was added last.")
def sources_(folder: Path, file: Path | None, *, undo: bool, **given: Any) -> None:  # fmt: skip
    """Add the sentences in FILE to the corpus in FOLDER: a text file with one on each line, or any form of a corpus.

    FILE may give the difficulty, register, context, segment and variant_class of each sentence, and translations.
    Near copies of sentences that are already there are left out. What a model wrote is marked as such; a model on
    another machine writes for open segments only.
    """
    if sum((undo, file is not None, given["model"] is not None)) != 1:
        raise UsageError("Say one of FILE, --model and --undo.")
    with authoring.changing(folder, home()) as project:
        if undo:
            click.echo(report_project.taken_out_words(candidates.undo_last(project)))
            return
        offered = _asked(project, given) if file is None else _read(project, file)
        taken = candidates.take_candidates(project, offered, _usual(given), given["take"])
    for line in report_project.left_out_lines(taken):
        click.echo(plain(line), err=True)
    click.echo(report_project.added_words(taken))
    if file is not None and taken.secret:
        click.echo(plain(report_project.erase_words(folder, file)), err=True)


def _read(project: Any, file: Path) -> list[Any]:
    try:
        return list(candidates.read_candidates(project, file))
    except CorpusError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(2) from None


def _asked(project: Any, given: dict[str, Any]) -> list[Any]:
    """Request sources of the model that is named; the wish names one difficulty and one register."""
    if given["difficulty"] is None or given["register"] is None:
        raise UsageError("A model is asked for one --difficulty and one --register at a time.")
    wish = asking.SourceWish(
        given["count"],
        given["difficulty"],
        given["register"],
        given["context"] or "",
        given["phenomenon"] or "",
        _segment(given),
    )
    return list(asking.ask_model(project, wish, given["endpoint"], given["model"]))


def _segment(given: dict[str, Any]) -> Segment | None:
    return None if given["segment"] is None else Segment(given["segment"])


def _usual(given: dict[str, Any]) -> Any:
    return candidates.CandidateDefaults(
        _segment(given),
        given["difficulty"],
        given["register"],
        given["context"],
        given["phenomenon"] or "",
    )
