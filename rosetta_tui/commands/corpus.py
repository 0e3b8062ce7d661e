"""``rosetta corpus``: Check, describe and convert corpus files.

Shows counts, ids and tags, never the text of an entry, so it is safe on secret segments too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from corpora.tasks.task import TRANSLATION
from rosetta_tui.commands.naming import NamedCommands, when_used
from rosetta_tui.request.reading import (
    WRITTEN,
    out_of_vault,
    print_problems,
    problem_json,
    read_corpus,
    reading,
    selecting,
    selection,
)
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain
from scoring.core.wording import percent

with when_used():
    from corpora.checks import requirements
    from corpora.formats import write
    from corpora.model import corpus as model_corpus
    from corpora.model import sidecar
    from harness.core import written_files


@click.group(cls=NamedCommands)
def corpus() -> None:
    """Check, describe and convert corpus files."""


@corpus.command()
@reading
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(as_json: bool, **given: Any) -> None:
    """Say what is wrong with FILE, and which minimum requirements it meets.

    REFERENCE is the second of two text files that are aligned line by line.
    """
    loaded = _load(given, as_json=as_json)
    rows = requirements.requirements(loaded)
    if as_json:
        found = {
            "usable": True,
            "dataset": _envelope(loaded),
            "terms": _terms(loaded),
            "entries": len(loaded.entries),
            "requirements": [_requirement(row) for row in rows],
            "problems": [problem_json(problem) for problem in loaded.warnings],
        }
        click.echo(form_text("corpus-check", found))
        return
    print_problems(loaded.warnings)
    _print_title(loaded)
    _print_requirements(rows)


@corpus.command()
@reading
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(as_json: bool, **given: Any) -> None:
    """Count what the entries of FILE carry; their texts are not shown."""
    loaded = _load(given, as_json=as_json)
    counted = requirements.statistics(_opened(loaded))
    if as_json:
        found = {"dataset": _envelope(loaded), "terms": _terms(loaded)}
        click.echo(form_text("corpus-show", found | {"statistics": asdict(counted)}))
        return
    print_problems(loaded.warnings)
    _print_title(loaded)
    _print_statistics(counted)


@corpus.command()
@reading
@selecting
@click.option("--to", "to_form", type=click.Choice(WRITTEN), required=True, help="Form to write.")
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
    **given: Any,
) -> None:
    """Write FILE, or the chosen entries of it, in another form.

    What the form would lose is named and refused.
    """
    loaded = _load(given)
    print_problems(loaded.warnings)
    if not overwrite:
        _refuse_existing(output, reference_output)
    try:
        chosen = _chosen(loaded, given)
        write.write(
            chosen,
            output,
            to_form,
            reference=reference_output,
            lossy=allow_loss,
            allow_secret=allow_secret,
        )
    except CorpusError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(2) from None
    click.echo(f"Written: {_entries(len(chosen.entries))}.", err=True)


@corpus.command()
@reading
@click.option(
    "--transmission",
    metavar="WORD|URLS",
    help="nowhere, local-only, ask, open, or addresses parted by commas.",
)
@click.option(
    "--training", type=click.Choice(("yes", "no")), help="Whether a model may learn from the texts."
)
@click.option("--owner", metavar="WORDS", help="Who holds the texts, in their own words.")
@click.option("--speakers", metavar="WORDS", help="Whose words they are.")
@click.option(
    "--speakers-agreed",
    type=click.Choice(("yes", "not-yet", "some-said-no")),
    help="Whether these people agreed.",
)
@click.option(
    "--consent-record",
    metavar="PATH",
    help="File beside it that says who agreed to what, and when.",
)
@click.option("--license", "licence", metavar="SPDX", help="The licence, best by its SPDX id.")
@click.option("--overwrite", is_flag=True, help="Replace the sidecar that is there.")
def terms(file: Path, overwrite: bool, licence: str | None, **given: Any) -> None:  # fmt: skip
    """Say where the texts of FILE may go and why; with options, write them beside it as FILE.champollion.json.

    A sidecar makes a corpus stricter than it is itself, for every tool that reads its form (set/1).
    """
    said = {name: given.pop(name) for name in _SAID} | {"license": licence}
    loaded = _load(given | {"file": file})
    if any(said.values()):
        beside = file.with_name(f"{file.name}{sidecar.MARK_SUFFIX}")
        data = _mark(loaded.sha256, said, beside.name)
        written_files.write_file(beside, data, overwrite=overwrite, mode=written_files.PUBLISHED)
        click.echo(plain(f"Written: {click.format_filename(beside)}"), err=True)
        loaded = _load(given | {"file": file})
    found = loaded.dataset.terms
    _print_title(loaded)
    if not found.words:
        click.echo("terms: the corpus names no licence and no other term")
    click.echo(plain(f"rule: {found.rule}"))


_SAID = (
    "transmission", "training", "owner", "speakers", "speakers_agreed", "consent_record",
)  # fmt: skip


def _mark(sha256: str, said: Mapping[str, str | None], name: str) -> bytes:
    """Return the bytes of a sidecar; UsageError where it would make the corpus unusable."""
    try:
        data = sidecar.mark_bytes(sha256, said)
        found, _ = sidecar.terms_of_mark(data, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for each in found:
        if each.led_to is None and not each.of_training:
            raise click.UsageError(f"{each.field} {each.said!r} is not understood. Say --transmission too.")  # fmt: skip
    return data


def _refuse_existing(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and path.exists():
            name = plain(click.format_filename(path))
            raise click.UsageError(f"{name} exists. Choose another name, or give --overwrite.")


def _chosen(loaded: model_corpus.Corpus, given: dict[str, Any]) -> model_corpus.Corpus:
    positions = selection(given).apply(loaded)
    return replace(loaded, entries=tuple(loaded.entries[position] for position in positions))


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _load(given: dict[str, Any], *, as_json: bool = False) -> model_corpus.Corpus:
    try:
        return read_corpus(given, given["reference"])
    except CorpusError as error:
        _report_failure(error, as_json=as_json)
        raise click.exceptions.Exit(2) from None


def _opened(loaded: model_corpus.Corpus) -> model_corpus.Corpus:
    """Leave out what stayed closed in a vault, and say so."""
    if loaded.vault is None:
        return loaded
    opened = tuple(each for each in loaded.entries if not each.not_stored)
    if closed := len(loaded.entries) - len(opened):
        click.echo(
            f"{_entries(closed)} of held_out stayed closed, and nothing of them is counted.",
            err=True,
        )
    return replace(loaded, entries=opened)


def _report_failure(error: CorpusError, *, as_json: bool) -> None:
    if as_json:
        problems = [problem_json(problem) for problem in error.problems]
        click.echo(form_text("unusable", {"usable": False, "problems": problems}))
    else:
        print_problems(error.problems)


def _envelope(loaded: model_corpus.Corpus) -> dict[str, Any]:
    envelope = loaded.dataset.model_dump(mode="json", exclude_none=True)
    return envelope | {"sha256": loaded.sha256, "form": loaded.form.value}


def _requirement(row: requirements.Requirement) -> dict[str, Any]:
    return asdict(row) | {"met": row.met, "short_by": row.short_by}


def _terms(loaded: model_corpus.Corpus) -> dict[str, Any]:
    """Return what holds for the texts, and the term that it follows from; None where there is none."""
    terms = loaded.dataset.terms
    return {
        "transmission": terms.transmission.value,
        "because": terms.because or None,
        "rule": terms.rule,
        "licence_class": terms.licence_class or None,
        "endpoints": list(terms.endpoints),
        "segments": {name: each.transmission.value for name, each in terms.segments},
        "training": terms.training,
    }


def _print_title(loaded: model_corpus.Corpus) -> None:
    click.echo(_title(loaded))
    if words := loaded.dataset.terms.words:
        click.echo(plain(f"terms: {words}"))


def _title(loaded: model_corpus.Corpus) -> str:
    dataset = loaded.dataset
    parts = (
        dataset.name,
        *([] if dataset.task == TRANSLATION else [f"task {dataset.task}"]),
        dataset.language_pair,
        f"{dataset.source_language} to {dataset.target_language}",
        _entries(len(loaded.entries)),
        loaded.form.value,
    )
    return plain(" · ".join(parts))


def _print_requirements(rows: Sequence[requirements.Requirement]) -> None:
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


def _print_statistics(counted: requirements.Statistics) -> None:
    for name in (
        "segment",
        "difficulty",
        "register",
        "context",
        "provenance",
        "variety",
        "orthography",
    ):
        counts = getattr(counted, f"by_{name}")
        if name not in model_corpus.INHERITED or set(counts) != {requirements.NOT_GIVEN}:
            _print_line(name, _listed(counts.items()))
    _print_line("variants", f"{counted.variants} in {counted.with_variants} entries")
    _print_line("analyses", f"{counted.with_analysis} entries")
    if counted.fields:
        _print_line("fields", _listed(counted.fields.items()))
    for name, side in (("source", counted.source), ("reference", counted.reference)):
        if side.longest or not counted.fields:
            _print_side(name, side)


def _print_side(name: str, side: requirements.SideStatistics) -> None:
    shares = _listed((script, percent(share, 1)) for script, share in side.scripts.items())
    _print_line(f"{name} script", shares or "no letters")
    lengths = f"median {side.median_characters:g} characters, {side.median_words:g} words"
    _print_line(f"{name} length", f"{lengths}; longest {side.longest} characters")
    _print_line(f"{name} form", _listed(side.normal_forms.items()))


def _print_line(name: str, text: str) -> None:
    click.echo(plain(f"{name:<18}{text}"))


def _listed(pairs: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs)
