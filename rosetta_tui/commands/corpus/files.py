"""``rosetta corpus check``: Say what is wrong with a corpus file, and which minimum requirements it meets.
``rosetta corpus show``: Count what the entries of a corpus file have.
``rosetta corpus convert``: Write a corpus, or some entries of it, in another form.
``rosetta corpus terms``: Say where the texts of a corpus may go, or write it beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from corpora.files.json_types import JsonObject
from corpora.files.problems import CorpusError
from corpora.model.corpus import Corpus
from corpora.model.task import TRANSLATION
from corpora.text.messages import percent
from harness.core.failures import UsageError
from harness.method.option_table import WRITTEN
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import print_problems, problem_json, read_corpus, reading, selecting, selection
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from corpora.checks import requirements
    from corpora.formats import write
    from corpora.model import corpus as model_corpus
    from corpora.model import sidecar, vocabularies
    from harness.consent import given as consent_given
    from harness.core import storage
    from harness.project import authoring, state
    from harness.store import withdrawn
    from harness.store.sqlite import database


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
    dataset = loaded.dataset
    parts = (
        dataset.name,
        *([] if dataset.task == TRANSLATION else [f"task {dataset.task}"]),
        dataset.language_pair,
        f"{dataset.source_language} to {dataset.target_language}",
        entry_count(len(loaded.entries)),
        loaded.form.value,
    )
    click.echo(plain(" · ".join(parts)))
    if words := loaded.dataset.terms.words:
        click.echo(plain(f"terms: {words}"))
    for label in vocabularies.label_words((loaded.dataset.model_extra or {}).get("labels")):
        click.echo(plain(f"label: {label}"))


def requirement_fields(row: requirements.Requirement) -> dict[str, Any]:
    """Return a minimum requirement for JSON."""
    return asdict(row) | {"met": row.met, "short_by": row.short_by}


def print_requirements(rows: Sequence[requirements.Requirement]) -> None:
    """Print the minimum requirements as a table."""
    if not rows:
        click.echo("The minimum requirements of a benchmark are of translations; this task has none.")
        return
    click.echo(f"{'requirement':<26}{'needed':>8}{'found':>8}")
    for row in rows:
        verdict = "met" if row.met else f"short by {row.short_by}"
        note = f" ({row.note})" if row.note else ""
        click.echo(f"{row.name:<26}{row.needed:>8}{row.found:>8}  {verdict}{note}")
    met = sum(row.met for row in rows)
    unmet = "" if met == len(rows) else " The corpus can be used; it is no complete benchmark yet."
    click.echo(f"{met} of {len(rows)} minimum requirements met.{unmet}")


# ---- Say what is wrong with a corpus file, and which minimum requirements it meets ----


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
    rows = requirements.requirements(loaded, consent_given.consent_of(loaded, withdrawn.now_standing()))
    if as_json:
        document: JsonObject = {
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
    project = state.read_project(folder, database.home())
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


# ---- Count what the entries of a corpus file have ----


@click.command("show")
@reading
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_(as_json: bool, **given: Any) -> None:
    """Count what the entries of FILE have; their texts are not shown."""
    loaded = load_told(given, as_json=as_json)
    counted = requirements.statistics(_opened(loaded))
    if as_json:
        document = {"dataset": envelope_fields(loaded), "terms": terms_fields(loaded)}
        click.echo(form_text("corpus-show", document | {"statistics": asdict(counted)}))
        return
    print_problems(loaded.warnings)
    print_title(loaded)
    for name in ("segment", "difficulty", "register", "context", "provenance", "variety", "orthography"):
        counts = getattr(counted, f"by_{name}")
        if name not in model_corpus.INHERITED or set(counts) != {requirements.NOT_GIVEN}:
            _print_line(name, _listed(counts.items()))
    _print_line("variants", f"{counted.variants} in {counted.with_variants} entries")
    _print_line("analyses", f"{counted.with_analysis} entries")
    if counted.fields:
        _print_line("fields", _listed(counted.fields.items()))
    for name, side in (("source", counted.source), ("reference", counted.reference)):
        if side.longest or not counted.fields:
            shares = _listed((script, percent(share, 1)) for script, share in side.scripts.items())
            _print_line(f"{name} script", shares or "no letters")
            lengths = f"median {side.median_characters:g} characters, {side.median_words:g} words"
            _print_line(f"{name} length", f"{lengths}; longest {side.longest} characters")
            _print_line(f"{name} form", _listed(side.normal_forms.items()))


def _opened(loaded: model_corpus.Corpus) -> model_corpus.Corpus:
    """Omit what stayed closed in a vault, and say so."""
    if loaded.vault is None:
        return loaded
    opened = tuple(entry for entry in loaded.entries if not entry.not_stored)
    if closed := len(loaded.entries) - len(opened):
        click.echo(f"{entry_count(closed)} of held_out stayed closed, and nothing of them is counted.", err=True)
    return replace(loaded, entries=opened)


def _print_line(name: str, text: str) -> None:
    click.echo(plain(f"{name:<18}{text}"))


def _listed(pairs: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs)


# ---- Write a corpus, or some entries of it, in another form ----


@click.command("convert")
@reading
@selecting
@click.option("--to", "to_form", type=click.Choice(WRITTEN), required=True, help="Form to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--reference-output", type=click.Path(path_type=Path), help="Second file of the parallel form.")
@click.option("--allow-loss", is_flag=True, help="Write although the form cannot carry everything.")
@click.option("--allow-secret", is_flag=True, help="Write entries of secret segments.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def convert_(
    to_form: str,
    output: Path,
    reference_output: Path | None,
    allow_loss: bool,
    allow_secret: bool,
    overwrite: bool,
    **given: Any,
) -> None:
    """Write FILE, or the chosen entries of it, in another form.

    If the form would lose something, that is named, and nothing is written.
    """
    loaded = load_told(given)
    print_problems(loaded.warnings)
    if not overwrite:
        _refuse_existing(output, reference_output)
    try:
        chosen = _chosen(loaded, given)
        write.write(chosen, output, to_form, reference=reference_output, lossy=allow_loss, allow_secret=allow_secret)
    except CorpusError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(2) from None
    click.echo(f"Written: {entry_count(len(chosen.entries))}.", err=True)


def _refuse_existing(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and path.exists():
            name = plain(click.format_filename(path))
            raise click.UsageError(f"{name} exists. Choose another name, or give --overwrite.")


def _chosen(loaded: model_corpus.Corpus, given: dict[str, Any]) -> model_corpus.Corpus:
    positions = selection(given).apply(loaded)
    return replace(loaded, entries=tuple(loaded.entries[position] for position in positions))


# ---- Say where the texts of a corpus may go, or write it beside them ----


@click.command("terms")
@reading
@click.option(
    "--transmission", metavar="WORD|URLS", help="nowhere, local-only, ask, open, or addresses separated by commas."
)
@click.option("--training", type=click.Choice(("yes", "no")), help="Whether a model may learn from the texts.")
@click.option("--owner", metavar="WORDS", help="Who holds the texts, in their own words.")
@click.option("--speakers", metavar="WORDS", help="Whose words the texts are.")
@click.option(
    "--speakers-agreed", type=click.Choice(("yes", "not-yet", "some-said-no")), help="Whether the speakers agreed."
)
@click.option("--consent-record", metavar="PATH", help="File next to it that says who agreed to what, and when.")
@click.option("--license", "licence", metavar="SPDX", help="The licence, best by its SPDX id.")
@click.option("--overwrite", is_flag=True, help="Replace the sidecar that is there.")
def terms_(file: Path, overwrite: bool, licence: str | None, **given: Any) -> None:
    """Show where the texts of FILE may go and why; with options, write them next to it as FILE.champollion.json.

    Such a file makes a corpus stricter than it is on its own, for every tool that reads its form (set/1).
    """
    stated = {name: given.pop(name) for name in _SAID} | {"license": licence}
    loaded = load_told(given | {"file": file})
    if any(stated.values()):
        beside = file.with_name(f"{file.name}{sidecar.MARK_SUFFIX}")
        data = _mark(loaded.sha256, stated, beside.name)
        storage.write_file(beside, data, overwrite=overwrite, mode=storage.PUBLISHED)
        click.echo(plain(f"Written: {click.format_filename(beside)}"), err=True)
        loaded = load_told(given | {"file": file})
    terms = loaded.dataset.terms
    print_title(loaded)
    if not terms.words:
        click.echo("terms: the corpus names no licence and no other term")
    click.echo(plain(f"rule: {terms.rule}"))


_SAID = (
    "transmission", "training", "owner", "speakers", "speakers_agreed", "consent_record",
)  # fmt: skip


def _mark(sha256: str, said: Mapping[str, str | None], name: str) -> bytes:
    """Return the bytes of a sidecar; UsageError where it would make the corpus unusable."""
    try:
        data = sidecar.mark_bytes(sha256, said)
        terms, _ = sidecar.terms_of_mark(data, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for term in terms:
        if term.led_to is None and not term.of_training:
            raise click.UsageError(f"{term.field} {term.said!r} is not understood. Add --transmission.")
    return data
