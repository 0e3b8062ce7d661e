"""``rosetta corpus check``: Say what is wrong with a corpus file, and which minimum requirements it meets."""

from __future__ import annotations

from typing import Any

import click

from rosetta_tui.commands.corpus.sharing import (
    envelope_fields,
    load_told,
    print_requirements,
    print_title,
    requirement_fields,
    terms_fields,
)
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import out_of_vault, print_problems, problem_json, reading
from rosetta_tui.show.json_forms import form_text

with when_used():
    from corpora.checks import requirements
    from harness.consent import given as consent_given
    from harness.store import withdrawn


@click.command("check")
@reading
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_(as_json: bool, **given: Any) -> None:
    """Say what is wrong with FILE, and which minimum requirements it meets.

    REFERENCE is the second of two text files that are aligned line by line.
    """
    loaded = load_told(given, as_json=as_json)
    rows = requirements.requirements(
        loaded, consent_given.consent_of(loaded, withdrawn.now_standing())
    )
    if as_json:
        found = {
            "usable": True,
            "dataset": envelope_fields(loaded),
            "terms": terms_fields(loaded),
            "entries": len(loaded.entries),
            "requirements": [requirement_fields(row) for row in rows],
            "problems": [problem_json(problem) for problem in loaded.warnings],
        }
        click.echo(form_text("corpus-check", found))
        return
    print_problems(loaded.warnings)
    print_title(loaded)
    print_requirements(rows)
