"""``rosetta corpus terms``: Say where the texts of a corpus may go, or write it beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.corpus.sharing import load_told, print_title
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import reading
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import sidecar
    from harness.core import written_files


@click.command("terms")
@reading
@click.option(
    "--transmission",
    metavar="WORD|URLS",
    help="nowhere, local-only, ask, open, or addresses separated by commas.",
)
@click.option(
    "--training", type=click.Choice(("yes", "no")), help="Whether a model may learn from the texts."
)
@click.option("--owner", metavar="WORDS", help="Who holds the texts, in their own words.")
@click.option("--speakers", metavar="WORDS", help="Whose words the texts are.")
@click.option(
    "--speakers-agreed",
    type=click.Choice(("yes", "not-yet", "some-said-no")),
    help="Whether the speakers agreed.",
)
@click.option(
    "--consent-record",
    metavar="PATH",
    help="File next to it that says who agreed to what, and when.",
)
@click.option("--license", "licence", metavar="SPDX", help="The licence, best by its SPDX id.")
@click.option("--overwrite", is_flag=True, help="Replace the sidecar that is there.")
def terms_(file: Path, overwrite: bool, licence: str | None, **given: Any) -> None:  # fmt: skip
    """Show where the texts of FILE may go and why; with options, write them next to it as FILE.champollion.json.

    Such a file makes a corpus stricter than it is on its own, for every tool that reads its form (set/1).
    """
    stated = {name: given.pop(name) for name in _SAID} | {"license": licence}
    loaded = load_told(given | {"file": file})
    if any(stated.values()):
        beside = file.with_name(f"{file.name}{sidecar.MARK_SUFFIX}")
        data = _mark(loaded.sha256, stated, beside.name)
        written_files.write_file(beside, data, overwrite=overwrite, mode=written_files.PUBLISHED)
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
            raise click.UsageError(f"{term.field} {term.said!r} is not understood. Add --transmission.")  # fmt: skip
    return data
