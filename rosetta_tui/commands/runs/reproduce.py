"""``rosetta runs reproduce``: Run a card's set-up once more, and compare the scores with the card's."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.written_files import PUBLISHED, write_file
from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.options import asked, told
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.core import canonical
    from harness.reproduce import comparing, rebuild
    from rosetta_tui.app import display
    from rosetta_tui.report import reproduction

_FILE = click.Path(path_type=Path)

_TAKEN = frozenset(
    [
        "endpoint",
        "prompt",
        "coaching",
        "prices",
        "glossary",
        "word_list",
        "model_folder",
        "outputs",
        "analyser",
        "source_name",
        "target_name",
        "settings",
        "language_card",
        "gloss_dictionary",
        "terms",
        "scoring",
        "embeddings",
        "embeddings_model",
        "judge",
        "judge_model",
        "comet",
        "bertscore",
        "concurrency",
        "budget",
        "timeout",
        "attempts",
        "keep_failed",
        "offline",
        "trust_local_server",
        "may_send",
    ]
)
"""Options of ``rosetta run`` that bring what a card only names, or say how the run goes about its calls."""


@click.command(params=[param for param in asked.params if param.name in _TAKEN])
@click.argument("card", metavar="CARD|RUN")
@click.option("--corpus", required=True, help="The corpus file that the card names by its hash, or one of the store.")  # fmt: skip
@click.option("--reference", type=_FILE, help="Second file of aligned texts.")
@click.option("--method", "-m", help="The plug-in, FILE.py:CLASS, where the card names one by its hash.")  # fmt: skip
@click.option("--with", "finished", metavar="RUN", help="Compare this finished run with the card; nothing is run.")  # fmt: skip
@click.option("--sign", is_flag=True, help="Sign the result, with the key of this organisation or computer.")  # fmt: skip
@click.option("-o", "--output", type=_FILE, help="Write the comparison here, signed with --sign.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing of the run.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
def reproduce(
    card: str,
    corpus: str,
    reference: Path | None,
    method: str | None,
    finished: str | None,
    output: Path | None,
    style: str | None,
    *,
    sign: bool,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run the set-up of CARD once more, and say for each score whether it is within 2 % of the one claimed.

    CARD is a file, or a run of the list. What it names only by its hash (plug-in, coaching, prompt, analyser …) you
    give with an option each. Nothing is taken from earlier answers. The exit code is 0 where composite and chrF++ are
    within 2 %, and 1 where they are not. A run that was interrupted is continued with `rosetta resume`; --with RUN
    then compares it with the card.
    """
    if sign and output is None:
        raise click.UsageError("--sign writes a file: name it with -o FILE.")
    if output is not None and output.exists() and not overwrite:
        raise UsageError(
            f"{output.name} is there already. Choose another name, or add --overwrite."
        )
    with opened() as connection:
        claimed = comparing.claimed_card(connection, card)
        if sign:
            comparing.refuse_to_sign(connection, claimed, home())
        request = (
            _request(connection, claimed, corpus, reference, {**given, "method": method})
            if finished is None
            else None
        )

    def at_end(_store: Path, run_id: str) -> int:
        return _told(claimed, run_id, output, sign=sign, overwrite=overwrite, as_json=as_json)

    if request is None:
        raise click.exceptions.Exit(at_end(Path(), str(finished)))
    display.start_and_show(request, "quiet" if as_json else style, at_end)


def _request(
    connection: sqlite3.Connection,
    claimed: comparing.ClaimedCard,
    corpus: str,
    reference: Path | None,
    given: dict[str, Any],
) -> api.RunRequest:
    dataset = claimed.card.dataset
    corpus_opened = api.open_corpus(
        api.CorpusRequest(
            corpus,
            () if reference is None else (reference,),
            id=dataset.id,
            source_language=dataset.source_language,
            target_language=dataset.target_language,
        )
    )
    options = {name: value for name, value in told(given).items() if value not in ({}, False)}
    options.pop("use_cache", None)
    if given["method"]:
        options["method"] = given["method"]
    made = rebuild.rebuild(connection, claimed.card, corpus_opened, options)
    for difference in made.scored_otherwise:
        click.echo(plain(f"Scored differently from the card: {difference}."), err=True)
    return made.request


def _told(
    claimed: comparing.ClaimedCard,
    run_id: str,
    output: Path | None,
    *,
    sign: bool,
    overwrite: bool,
    as_json: bool,
) -> int:
    """Show the outcome, write it where asked, and return the exit code."""
    with opened() as connection:
        reproduction_comparison = comparing.compared(connection, claimed.card, run_id)
        made = (
            comparing.signed(connection, claimed, reproduction_comparison, home())
            if sign
            else reproduction_comparison
        )
    if output is not None:
        data = canonical.canonical_bytes(made.model_dump(mode="json")) + b"\n"
        write_file(output, data, overwrite=overwrite, mode=PUBLISHED)
        click.echo(f"Written: {plain(str(output))}", err=True)
    if as_json:
        click.echo(form_text("runs-reproduce", reproduction.reproduction_json(made)))
    else:
        for line in reproduction.reproduction_lines(made):
            click.echo(plain(line))
    return 0 if reproduction_comparison.reproduced else 1
