"""``rosetta corpus show``: Count what the entries of a corpus file have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import click

from rosetta_tui.commands.corpus.sharing import (
    entry_count,
    envelope_fields,
    load_told,
    print_title,
    terms_fields,
)
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import print_problems, reading
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain
from scoring.core.messages import percent

with when_used():
    from corpora.checks import requirements
    from corpora.model import corpus as model_corpus


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
    _print_statistics(counted)


def _opened(loaded: model_corpus.Corpus) -> model_corpus.Corpus:
    """Omit what stayed closed in a vault, and say so."""
    if loaded.vault is None:
        return loaded
    opened = tuple(entry for entry in loaded.entries if not entry.not_stored)
    if closed := len(loaded.entries) - len(opened):
        click.echo(
            f"{entry_count(closed)} of held_out stayed closed, and nothing of them is counted.",
            err=True,
        )
    return replace(loaded, entries=opened)


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
