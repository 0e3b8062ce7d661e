"""``rosetta submission demo``: Make a small submission, to try everything out."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.core.written_files import PUBLISHED, write_new_file
from harness.method.shipped import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import FILE, say
from rosetta_tui.show.clipboard import command_line

with when_used():
    from corpora import samples
    from harness import api
    from harness.card import exporting
    from harness.card.signing import signed_run
    from harness.store import runs
    from harness.store.file import database
    from harness.submission import folder as folders
    from harness.submission.sample import authoring, word_by_word
    from rosetta_tui.app import display


@click.command()
@click.argument("folder", type=FILE, default=Path("demo"))
@click.option("--lane", type=click.Choice(["code", "data"]), default="code", show_default=True, help="Code for the box, or data alone.")  # fmt: skip
def demo(folder: Path, lane: authoring.SampleLane) -> None:
    """Write a small submission as a FOLDER, and packed next to it: a method for the bundled Esperanto corpus.

    It is run over the open corpus first, for its card. You can read and change everything in it, and pack it again.
    """
    packed = folder.with_name(f"{folder.name}{BUNDLE_SUFFIX}")
    terms = folder.with_name(f"{folder.name}-terms.txt")
    if taken := [each.name for each in (folder, packed, terms) if each.exists()]:
        raise UsageError(f"{taken[0]} is there already. Name another folder.")
    try:
        size = _write(folder, packed, terms, lane)
    except BaseException:  # Ctrl-C too: what is half written would be in the way of the next try
        shutil.rmtree(folder, ignore_errors=True)
        for path in (packed, terms):
            path.unlink(missing_ok=True)
        raise
    named = command_line([str(packed)])
    say([
        f"Written: {folder}/, {terms} (terms to accept) and {packed} ({size:,} bytes).",
        f"Next: rosetta submission check {named}; rosetta submission run {named}",
    ])  # fmt: skip


def _write(folder: Path, packed: Path, terms: Path, lane: authoring.SampleLane) -> int:
    """Write the three, and return the size of the packed one in bytes."""
    authoring.write_sample(folder, lane)
    write_new_file(folder / "card.json", _card(folder, lane))
    write_new_file(terms, authoring.sample_terms(), mode=PUBLISHED)
    identity = signed_run.own_signer(database.home())
    data = folders.pack_folder(folder, identity, terms=terms)
    write_new_file(packed, data, mode=PUBLISHED)
    return len(data)


def _card(folder: Path, lane: authoring.SampleLane) -> bytes:
    """Run the sample over its open corpus in its own store, and return the card; code is run as what it is, a few lines of ours."""
    corpus = api.open_corpus(api.CorpusRequest(authoring.sample_corpus()))
    name = {"method_name": f"Word by word ({lane})"}
    with tempfile.TemporaryDirectory() as place:
        if lane == "data":
            asked = api.ask(corpus, "glossary", {"glossary": folder / "data" / "words.tsv", **name})
        else:
            words = str(samples.sample_path(samples.DEMO_GLOSSARY))
            texts = word_by_word.WordByWord({"words": words}).translate([entry.source for entry in corpus.entries])  # fmt: skip
            outputs = Path(place) / "outputs.txt"
            outputs.write_text("".join(f"{text}\n" for text in texts), "utf-8")
            asked = api.ask(corpus, "replay", {"outputs": outputs, **name})
        store = Path(place) / "store.sqlite"
        finished, code = display.to_the_end(api.start(store, asked), "quiet")
        if not finished.card_hash:
            raise click.exceptions.Exit(code or 1)
        with database.opened(store) as connection:
            run = runs.find_run(connection, finished.run_id)
            return exporting.export_run(connection, run.id, exporting.ExportForm.CARD)
