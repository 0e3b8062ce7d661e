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
    project_progress, worked = (
        authoring.progress_of(project),
        working_time.worked_until_now(project),
    )
    value = {
        "dataset": {name: getattr(project_progress.dataset, name) for name in _TOLD},
        "segments": [
            report_project.segment_fields(segment) for segment in project_progress.segments
        ],
        "by_difficulty": project_progress.by_difficulty,
        "by_register": project_progress.by_register,
        "by_origin": project_progress.by_origin,
        "requirements": [
            requirement_fields(requirement) for requirement in project_progress.requirements
        ],
        "analysed": project_progress.analysed,
        "with_class": project_progress.with_class,
        "with_variants": project_progress.with_variants,
        "waiting": list(project_progress.waiting),
        "worked": None if worked is None else [asdict(working_time) for working_time in worked],
        "with_speakers": [asdict(out_review) for out_review in project_progress.out],
        "consent": {
            "documented": project_progress.consent.documented,
            "note": project_progress.consent.note,
        },
        "in_vault": project_progress.in_vault,
        "warnings": project_progress.warnings,
    }
    lines = report_project.progress_lines(project_progress, folder, worked)
    print_form("corpus-progress", value, lines, as_json=as_json)
