"""``rosetta corpus new``: Begin a corpus for a language, in its own folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import print_problems
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain

with when_used():
    from corpora.languages import tags
    from corpora.model import labels as model_labels
    from harness.project import authoring, state
    from rosetta_tui.request import new_corpus


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--source-language",
    metavar="TAG",
    help="Language of the sentences that are translated, such as en.",
)
@click.option(
    "--target-language",
    metavar="TAG",
    help="Language that they are translated into, such as crk.",
)
@click.option("--title", metavar="WORDS", help="Title of the corpus.")
@click.option(
    "--organisation", metavar="NAME", help="Who makes it, by the name that speakers know."
)
@click.option(
    "--license",
    "licence",
    metavar="SPDX",
    help="Licence, by its SPDX id, such as CC-BY-NC-SA-4.0.",
)
@click.option(
    "--id", "corpus_id", metavar="NAME", help="Short name of the corpus. Default: the folder's."
)
@click.option(
    "--transmission",
    metavar="WORD",
    help="Where its open texts may go: local-only, ask, open … Default: what the licence says.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="A label of Local Contexts, such as “TK NC”; may be repeated.",
)
@click.option(
    "--labels",
    "list_labels",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, on: _list_labels(ctx) if on else None,
    help="List the labels, and do nothing else.",
)
def new_(folder: Path, **given: Any) -> None:
    """Start a corpus in FOLDER: one file that knows everything, and corpus.json, which grows.

    What you do not give is asked for. Every further step is its own command and can be stopped anywhere:
    sources, translate, gather, agree, analyse, consent; progress says what comes next. Sentences of secret segments
    are sealed in the folder.
    """
    for name in new_corpus.ASKED:
        given[name] = _given(given, name)
    facts = new_corpus.corpus_facts(folder, given)
    try:
        warned = authoring.check_facts(facts).warnings
    except CorpusError as error:
        print_problems(error.problems)
        click.echo("Nothing was begun. Correct the option of that name; where texts may go is said with --transmission WORD.", err=True)  # fmt: skip
        raise click.exceptions.Exit(2) from None
    project = state.create_project(folder, home(), facts)
    print_problems(warned)
    dataset = project.state.dataset
    languages = [tags.language_name(dataset[f"{side}_language"]) for side in ("source", "target")]
    click.echo(plain(f"Begun: {facts['title']}, {' → '.join(languages)}, in {folder}"))
    click.echo(plain(f"Next: rosetta corpus sources {command_line([str(folder)])} FILE"))


def _given(given: Mapping[str, Any], name: str) -> str:
    """Return what an option says, or what a person at a terminal answers; UsageError where that is empty, or nobody can be asked."""
    option, asked, value = new_corpus.OPTIONS[name], new_corpus.ASKED[name], given[name]
    if value is None and not sys.stdin.isatty():
        raise UsageError(f"{option} is missing: {asked}.")
    answer = _answered(given, name) if value is None else str(value).strip()
    if not answer:
        raise UsageError(f"{option} is empty: {asked}.")
    return answer


def _answered(given: Mapping[str, Any], name: str) -> str:
    """Prompt until the answer is valid, so that an invalid one costs none of those before it."""
    if name == "licence":
        for licence, leads_to in new_corpus.offered_licences().items():
            click.echo(f"  {licence:<21}{leads_to}", err=True)
    while True:
        answer = str(click.prompt(new_corpus.ASKED[name], err=True)).strip()
        answers = {**{question: value for question, value in given.items() if value}, name: answer}
        wrong = new_corpus.look_at(answers).wrong.get(name, ()) if answer else ()
        if not wrong:
            return answer
        for fault in wrong:
            click.echo(plain(fault), err=True)


def _list_labels(ctx: click.Context) -> None:
    for context_label in model_labels.context_labels().values():
        click.echo(
            f"{context_label.identifier:<8}{context_label.name:<32}{model_labels.ADDRESS}{context_label.page}/"
        )
    ctx.exit()
