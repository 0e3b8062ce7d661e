"""``rosetta corpus check``: Say what is wrong with a corpus file, and which minimum requirements it meets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from corpora.model.corpus import Corpus
from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.corpus.sharing import (
    entry_count,
    envelope_fields,
    load_told,
    print_requirements,
    print_title,
    report_failure,
    requirement_fields,
    terms_fields,
)
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import print_problems, problem_json, reading
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.json_forms import form_text

with when_used():
    from corpora.checks import requirements
    from harness.consent import given as consent_given
    from harness.project import authoring, state
    from harness.store import withdrawn


@click.command("check")
@reading
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_(as_json: bool, **given: Any) -> None:
    """Show what is wrong with FILE, and which minimum requirements it meets.

    REFERENCE is the second of two text files that are aligned line by line. FILE may be the folder of a corpus in the making: all of its
    translations are checked, in memory.
    """
    loaded = _load(given, as_json=as_json)
    second = requirements.looked_over(loaded)
    rows = requirements.requirements(
        loaded, consent_given.consent_of(loaded, withdrawn.now_standing())
    )
    if as_json:
        document = {
            "usable": True,
            "dataset": envelope_fields(loaded),
            "terms": terms_fields(loaded),
            "entries": len(loaded.entries),
            "requirements": [requirement_fields(row) for row in rows],
            "second_speaker": None if second is None else asdict(second),
            "problems": [problem_json(problem) for problem in loaded.warnings],
        }
        click.echo(form_text("corpus-check", document))
        return
    print_problems(loaded.warnings)
    print_title(loaded)
    print_requirements(rows)
    if rows:
        click.echo(_second_speaker(second))


def _load(given: dict[str, Any], *, as_json: bool) -> Corpus:
    """Read the corpus that the options name; where that is the folder of one in the making, all that has a translation."""
    folder: Path = given["file"]
    if given["vault"] is not None or not state.is_project(folder):
        return load_told(given, as_json=as_json)
    project = state.read_project(folder, home())
    if (went := project.state.vault) is not None and went.done:
        raise UsageError(
            f"{folder} went into a vault on {went.on}. Check it there: rosetta corpus check {went.corpus} --vault VAULT --purpose WORDS. Its open part "
            f"is {folder / state.CORPUS}."
        )
    try:
        return authoring.whole_corpus(project)
    except CorpusError as error:
        report_failure(error, as_json=as_json)
        raise click.exceptions.Exit(2) from None


def _second_speaker(found: requirements.LookedOver | None) -> str:
    if found is None:
        return "No entry says whether a second speaker looked it over."
    closed = f" {found.closed} closed ones were not examined." if found.closed else ""
    return f"A second speaker looked over {found.entries} of {entry_count(found.of)}.{closed}"
