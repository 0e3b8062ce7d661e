"""``rosetta submission pack``: Make a signed bundle from a folder.
``rosetta submission check``: Say what a submission lacks, and what in it would be refused.
``rosetta submission demo``: Make a small submission, to try everything out.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from harness.core.storage import PUBLISHED, write_file, write_new_file
from harness.method.method_names import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.store import FILE, NAMED, bundle_at, bundle_lines, check_lines, say
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.json_forms import print_form

with when_used():
    from corpora import samples
    from harness import api
    from harness.card import exporting, reading, signing
    from harness.core import storage
    from harness.store import runs
    from harness.store.sqlite import database
    from harness.submission import bundle, foreign, members
    from harness.submission import folder as folders
    from harness.submission.sample import authoring, word_by_word
    from rosetta_tui.app import display
    from rosetta_tui.submission import facts


@click.command()
@click.argument("place", metavar="FOLDER", type=FILE)
@click.option("-o", "--output", type=FILE, metavar=f"NAME{BUNDLE_SUFFIX}", help="Default: the folder's name, next to it.")  # fmt: skip
@click.option("--card", metavar="CARD|RUN", help="The run card over open entries: a file, or a run of the list. Default: card.json in FOLDER.")  # fmt: skip
@click.option("--accept-terms", type=FILE, metavar="FILE", help="Accept the organisation's terms in this file, in the name of the submitter.")  # fmt: skip
@click.option("--from", "theirs", is_flag=True, help="FOLDER (or a bundle, .tar.gz) is one of the reference implementation, with method.json.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def pack(
    place: Path, output: Path | None, card: str | None, accept_terms: Path | None, *, theirs: bool, overwrite: bool
) -> None:
    """Pack FOLDER into one signed file: submission.toml, card.json, README.md, and code/ with wheels/, or data/.

    Afterwards it says what is there of each part, as `rosetta submission check` does. With --from, a folder or bundle
    of the reference implementation is written as such a folder next to it, for you to complete; nothing in it is run,
    and no Dockerfile is read.
    """
    if theirs:
        made = foreign.write_folder(place, output or place.with_name(f"{place.name.partition('.')[0]}-submission"))
        say([f"Written: {made}. Complete {members.SHEET} and README.md there, put card.json beside them, and pack that folder."])  # fmt: skip
        return
    path = output or bundle.packed_beside(place)
    if not path.name.endswith(BUNDLE_SUFFIX):
        raise UsageError(f"{path.name}: a submission is called NAME{BUNDLE_SUFFIX}.")
    identity = signing.own_signer(database.home())
    data = folders.pack_folder(place, identity, None if card is None else _card(card), accept_terms)
    submission = bundle.parse_submission(data)
    write_file(path, data, overwrite=overwrite, mode=PUBLISHED)
    say([f"Written: {path} ({len(data):,} bytes)", *bundle_lines(submission)])
    checks = folders.check_submission(submission)
    say(check_lines(checks))
    if not all(check.ok for check in checks):
        say([facts.INCOMPLETE])


def _card(name: str) -> bytes:
    path = Path(name)
    if path.is_file():
        return storage.read_bytes(path, "a run card", members.MOST_BYTES)
    with database.opened() as connection:
        run = runs.find_run(connection, name)
        if reading.must_be_released(connection, run):
            raise UsageError(f"Run {run.run_id[:8]} is over secret entries, and a submission carries the card of a run over open ones. Choose an open run of the method: rosetta runs list names them, and --card takes one by its number; or make one: rosetta run CORPUS, with its open segments.")  # fmt: skip
        return exporting.export_run(connection, run.id, exporting.ExportForm.CARD)


# ---- Say what a submission lacks, and what in it would be refused ----


@click.command()
@click.argument("submission", metavar=NAMED)
@click.option("--terms", type=FILE, metavar="FILE", help="The organisation's terms, which must be those that were accepted.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(submission: str, terms: Path | None, *, as_json: bool) -> None:
    """Check the signature, every member and each part of a submission; nothing in it is run.

    The exit code is 0 if everything is there, 1 if a part is missing, and 2 if the file is refused; then each member
    that is the reason is named.
    """
    bundle = bundle_at(submission)
    wanted = None if terms is None else folders.terms_sha256(terms)
    checks = folders.check_submission(bundle, wanted)
    document: JsonObject = {
        "number": bundle.sha256[:16],
        "sha256": bundle.sha256,
        "name": bundle.manifest.name,
        "submitter": bundle.manifest.submitter,
        "lane": bundle.manifest.method.lane,
        "complete": all(check.ok for check in checks),
        "parts": [{"part": str(e.part), "ok": e.ok, "words": e.words} for e in checks],
    }
    print_form("submission-check", document, (*bundle_lines(bundle), *check_lines(checks)), as_json=as_json)
    if not document["complete"]:
        raise click.exceptions.Exit(1)


# ---- Make a small submission, to try everything out ----


@click.command()
@click.argument("folder", type=FILE, default=Path("demo"))
@click.option("--lane", type=click.Choice(["code", "data"]), default="code", show_default=True, help="Code for the box, or data alone.")  # fmt: skip
def demo(folder: Path, lane: authoring.SampleLane) -> None:
    """Write a small submission as a FOLDER, and packed next to it: a method for the bundled Esperanto corpus.

    It is run over the open corpus first, for its card. You can read and change everything in it, and pack it again.
    """
    packed = folder.with_name(f"{folder.name}{BUNDLE_SUFFIX}")
    terms = folder.with_name(f"{folder.name}-terms.txt")
    if taken := [target.name for target in (folder, packed, terms) if target.exists()]:
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
    write_new_file(folder / "card.json", _demo_card(folder, lane))
    write_new_file(terms, authoring.sample_terms(), mode=PUBLISHED)
    identity = signing.own_signer(database.home())
    data = folders.pack_folder(folder, identity, terms=terms)
    write_new_file(packed, data, mode=PUBLISHED)
    return len(data)


def _demo_card(folder: Path, lane: authoring.SampleLane) -> bytes:
    """Run the sample over its open corpus in its own store, and return the card; code is run as what it is, a few lines of ours."""
    corpus = api.open_corpus(api.CorpusRequest(authoring.sample_corpus()))
    name = {"method_name": f"Word by word ({lane})"}
    with tempfile.TemporaryDirectory() as place:
        if lane == "data":
            asked = api.ask(corpus, "glossary", {"glossary": folder / "data" / "words.tsv", **name})
        else:
            words = str(samples.sample_path(samples.DEMO_GLOSSARY))
            sources = [entry.source for entry in corpus.reveal_here()]
            texts = word_by_word.WordByWord({"words": words}).translate(sources)
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
