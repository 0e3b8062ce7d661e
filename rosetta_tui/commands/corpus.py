"""``rosetta corpus``: check, describe and convert corpus files.

Shows counts, ids and tags, never the text of an entry, so it is safe on secret segments too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rosetta_tui.text import plain

if TYPE_CHECKING:
    from corpora.corpus import Corpus
    from corpora.problems import CorpusError, Problem
    from corpora.requirements import Requirement
    from corpora.statistics import Side, Statistics

FORMS = ("specification", "legacy", "reference-implementation", "jsonl", "csv", "tsv", "parallel")
MOST_LINES = 100
"""Problems printed before the rest is only counted; ``--json`` prints all."""

Command = TypeVar("Command", bound=Callable[..., Any])


def _reading(command: Command) -> Command:
    """Add the arguments and options of every command that reads a corpus."""
    for add in (
        click.option("--id", "corpus_id", help="Id of a corpus whose file gives none."),
        click.option("--target-language", metavar="TAG", help="Language of the references."),
        click.option("--source-language", metavar="TAG", help="Language of the sources."),
        click.option("--form", type=click.Choice(FORMS), help="Default: found out from the file."),
        click.argument("reference", required=False, type=click.Path(path_type=Path)),
        click.argument("file", type=click.Path(path_type=Path)),
    ):
        command = add(command)
    return command


@click.group()
def corpus() -> None:
    """Check, describe and convert corpus files."""


@corpus.command()
@_reading
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(as_json: bool, **reading: Any) -> None:
    """Say what is wrong with FILE, and which minimum requirements it meets.

    REFERENCE is the second of two text files that are aligned line by line.
    """
    from corpora.requirements import requirements

    loaded = _load(reading, as_json=as_json)
    rows = requirements(loaded)
    if as_json:
        _print_json(
            {
                "usable": True,
                "dataset": _envelope(loaded),
                "entries": len(loaded.entries),
                "requirements": [_requirement(row) for row in rows],
                "problems": [asdict(problem) for problem in loaded.warnings],
            }
        )
        return
    _print_problems(loaded.warnings)
    click.echo(_title(loaded))
    _print_requirements(rows)


@corpus.command()
@_reading
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(as_json: bool, **reading: Any) -> None:
    """Count what the entries of FILE carry; their texts are not shown."""
    from corpora.statistics import statistics

    loaded = _load(reading, as_json=as_json)
    counted = statistics(loaded)
    if as_json:
        _print_json({"dataset": _envelope(loaded), "statistics": asdict(counted)})
        return
    _print_problems(loaded.warnings)
    click.echo(_title(loaded))
    _print_statistics(counted)


@corpus.command()
@_reading
@click.option("--to", "to_form", type=click.Choice(FORMS), required=True, help="Form to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option(
    "--reference-output",
    type=click.Path(path_type=Path),
    help="Second file of the parallel form.",
)
@click.option("--allow-loss", is_flag=True, help="Write although the form cannot carry everything.")
@click.option("--allow-secret", is_flag=True, help="Write entries of secret segments.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def convert(
    to_form: str,
    output: Path,
    reference_output: Path | None,
    allow_loss: bool,
    allow_secret: bool,
    overwrite: bool,
    **reading: Any,
) -> None:
    """Write FILE in another form; what the form would lose is named and refused."""
    from corpora.problems import CorpusError
    from corpora.write import write

    loaded = _load(reading)
    _print_problems(loaded.warnings)
    for path in (output, reference_output):
        if path is not None and path.exists() and not overwrite:
            name = plain(click.format_filename(path))
            raise click.UsageError(f"{name} exists. Choose another name, or give --overwrite.")
    try:
        write(
            loaded,
            output,
            to_form,
            reference=reference_output,
            lossy=allow_loss,
            allow_secret=allow_secret,
        )
    except CorpusError as error:
        _print_problems(error.problems)
        raise click.exceptions.Exit(2) from None
    click.echo(f"Wrote {len(loaded.entries)} entries.", err=True)


def _load(reading: dict[str, Any], *, as_json: bool = False) -> Corpus:
    from corpora.load import load
    from corpora.problems import CorpusError

    given = {
        "id": reading["corpus_id"],
        "source_language": reading["source_language"],
        "target_language": reading["target_language"],
    }
    try:
        return load(reading["file"], reading["reference"], form=reading["form"], dataset=given)
    except CorpusError as error:
        _report_failure(error, as_json=as_json)
        raise click.exceptions.Exit(2) from None


def _report_failure(error: CorpusError, *, as_json: bool) -> None:
    if as_json:
        problems = [asdict(problem) for problem in error.problems]
        _print_json({"usable": False, "problems": problems})
    else:
        _print_problems(error.problems)


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems[:MOST_LINES]:
        click.echo(plain(str(problem)), err=True)
    if len(problems) > MOST_LINES:
        click.echo(f"… and {len(problems) - MOST_LINES} more; --json lists all.", err=True)


def _print_json(value: Any) -> None:
    """Print ASCII only, so that nothing inside can act on a terminal."""
    click.echo(json.dumps(value, indent=2))


def _envelope(loaded: Corpus) -> dict[str, Any]:
    envelope = loaded.dataset.model_dump(mode="json", exclude_none=True)
    return envelope | {"sha256": loaded.sha256, "form": loaded.form.value}


def _requirement(row: Requirement) -> dict[str, Any]:
    return asdict(row) | {"met": row.met, "short_by": row.short_by}


def _title(loaded: Corpus) -> str:
    dataset = loaded.dataset
    parts = (
        f"{dataset.id} {dataset.version}",
        dataset.language_pair,
        f"{dataset.source_language} to {dataset.target_language}",
        f"{len(loaded.entries)} entries",
        loaded.form.value,
    )
    return plain(" · ".join(parts))


def _print_requirements(rows: Sequence[Requirement]) -> None:
    click.echo(f"{'requirement':<26}{'needed':>8}{'found':>8}")
    for row in rows:
        verdict = "met" if row.met else f"short by {row.short_by}"
        note = f" ({row.note})" if row.note else ""
        click.echo(f"{row.name:<26}{row.needed:>8}{row.found:>8}  {verdict}{note}")
    met = sum(row.met for row in rows)
    unmet = "" if met == len(rows) else " The corpus can be used; it is no complete benchmark yet."
    click.echo(f"{met} of {len(rows)} minimum requirements met.{unmet}")


def _print_statistics(counted: Statistics) -> None:
    for name in ("segment", "difficulty", "register", "context", "provenance"):
        _print_line(name, _listed(getattr(counted, f"by_{name}").items()))
    _print_line("variants", f"{counted.variants} in {counted.with_variants} entries")
    _print_line("analyses", f"{counted.with_analysis} entries")
    _print_side("source", counted.source)
    _print_side("reference", counted.reference)


def _print_side(name: str, side: Side) -> None:
    shares = _listed((script, f"{share:.1%}") for script, share in side.scripts.items())
    _print_line(f"{name} script", shares or "no letters")
    lengths = f"median {side.median_characters:g} characters, {side.median_words:g} words"
    _print_line(f"{name} length", f"{lengths}; longest {side.longest} characters")
    _print_line(f"{name} form", _listed(side.normal_forms.items()))


def _print_line(name: str, text: str) -> None:
    click.echo(plain(f"{name:<18}{text}"))


def _listed(pairs: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs)
