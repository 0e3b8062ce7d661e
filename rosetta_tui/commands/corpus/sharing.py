"""What the commands about corpora share: reading FILE, and saying what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from corpora.files.problems import CorpusError
from corpora.tasks.task import TRANSLATION
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import print_problems, problem_json, read_corpus
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from corpora.checks import requirements
    from corpora.model import corpus as model_corpus
    from corpora.model import labels


def entry_count(count: int) -> str:
    """Return how many entries."""
    return "1 entry" if count == 1 else f"{count} entries"


def load_told(given: dict[str, Any], *, as_json: bool = False) -> model_corpus.Corpus:
    """Read the corpus that the options name; what makes it unusable is printed, and ends the command with 2."""
    try:
        return read_corpus(given, given["reference"])
    except CorpusError as error:
        report_failure(error, as_json=as_json)
        raise click.exceptions.Exit(2) from None


def report_failure(error: CorpusError, *, as_json: bool) -> None:
    """Show why a corpus cannot be used."""
    if as_json:
        problems = [problem_json(problem) for problem in error.problems]
        click.echo(form_text("unusable", {"usable": False, "problems": problems}))
    else:
        print_problems(error.problems)


def envelope_fields(loaded: model_corpus.Corpus) -> dict[str, Any]:
    """Return the envelope for JSON, with the file's hash and form."""
    envelope = loaded.dataset.model_dump(mode="json", exclude_none=True)
    return envelope | {"sha256": loaded.sha256, "form": loaded.form.value}


def terms_fields(loaded: model_corpus.Corpus) -> dict[str, Any]:
    """Return what holds for the texts, and the term that it follows from; None where there is none."""
    terms = loaded.dataset.terms
    return {
        "transmission": terms.transmission.value,
        "because": terms.because or None,
        "rule": terms.rule,
        "licence_class": terms.licence_class or None,
        "endpoints": list(terms.endpoints),
        "segments": {name: sending.transmission.value for name, sending in terms.segments},
        "training": terms.training,
    }


def print_title(loaded: model_corpus.Corpus) -> None:
    """Show which corpus it is, and where its texts may go."""
    click.echo(_title(loaded))
    if words := loaded.dataset.terms.words:
        click.echo(plain(f"terms: {words}"))
    for label in labels.label_words((loaded.dataset.model_extra or {}).get("labels")):
        click.echo(plain(f"label: {label}"))


def _title(loaded: model_corpus.Corpus) -> str:
    dataset = loaded.dataset
    parts = (
        dataset.name,
        *([] if dataset.task == TRANSLATION else [f"task {dataset.task}"]),
        dataset.language_pair,
        f"{dataset.source_language} to {dataset.target_language}",
        entry_count(len(loaded.entries)),
        loaded.form.value,
    )
    return plain(" · ".join(parts))


def requirement_fields(row: requirements.Requirement) -> dict[str, Any]:
    """Return a minimum requirement for JSON."""
    return asdict(row) | {"met": row.met, "short_by": row.short_by}


def print_requirements(rows: Sequence[requirements.Requirement]) -> None:
    """Print the minimum requirements as a table."""
    if not rows:
        click.echo(
            "The minimum requirements of a benchmark are of translations; this task has none."
        )
        return
    click.echo(f"{'requirement':<26}{'needed':>8}{'found':>8}")
    for row in rows:
        verdict = "met" if row.met else f"short by {row.short_by}"
        note = f" ({row.note})" if row.note else ""
        click.echo(f"{row.name:<26}{row.needed:>8}{row.found:>8}  {verdict}{note}")
    met = sum(row.met for row in rows)
    unmet = "" if met == len(rows) else " The corpus can be used; it is no complete benchmark yet."
    click.echo(f"{met} of {len(rows)} minimum requirements met.{unmet}")
