"""``rosetta corpus progress``: Say how far a corpus in the making is, what it lacks, and what comes next."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.corpus.sharing import requirement_fields
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.project import authoring, state
    from review.office.results import working_time
    from rosetta_tui.report import project as report_project


_TOLD = ("id", "version", "language_pair", "source_language", "target_language")


@click.command("progress")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def progress_(folder: Path, *, as_json: bool) -> None:
    """Count what the corpus in FOLDER has by segment, difficulty and register, beside what a benchmark needs (§11.1).

    Below that: what is worth having beyond it (§11.2), what a language takes in hours and money (§10.3), how long
    speakers have worked so far, and the next step. No text is shown.
    """
    project = state.read_project(folder, home())
    found, worked = authoring.progress_of(project), working_time.worked_until_now(project)
    value = {
        "dataset": {name: getattr(found.dataset, name) for name in _TOLD},
        "segments": [report_project.segment_fields(segment) for segment in found.segments],
        "by_difficulty": found.by_difficulty,
        "by_register": found.by_register,
        "by_origin": found.by_origin,
        "requirements": [requirement_fields(requirement) for requirement in found.requirements],
        "analysed": found.analysed,
        "with_class": found.with_class,
        "with_variants": found.with_variants,
        "waiting": list(found.waiting),
        "worked": None if worked is None else [asdict(each) for each in worked],
        "with_speakers": [asdict(each) for each in found.out],
        "consent": {"documented": found.consent.documented, "note": found.consent.note},
        "in_vault": found.in_vault,
        "warnings": found.warnings,
    }
    lines = report_project.progress_lines(found, folder, worked)
    print_form("corpus-progress", value, lines, as_json=as_json)
