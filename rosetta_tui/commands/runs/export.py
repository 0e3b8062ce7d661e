"""``rosetta runs export``: Write a run to a file.
``rosetta runs import``: Take run cards and test reports into the list of runs.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from harness.core.failures import KeyStoreError, UsageError
from harness.core.storage import PRIVATE, PUBLISHED, write_file
from rosetta_tui.commands.naming import error_lines, when_used
from rosetta_tui.commands.vault.sharing import telling_ledger
from rosetta_tui.request.vault import out_of_vault, vault_request
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.card import exporting, importing, reading, rows, signing
    from harness.leaderboard import official
    from harness.publish import cards
    from harness.release import ledger, ledger_records, releasing
    from harness.run import vault_opening
    from harness.sealed import keys, strict_records
    from harness.store import attachments, runs
    from harness.store.sqlite import database
    from review.verdict.certificate import coarse
    from rosetta_tui.review.organiser import export_files
    from rosetta_tui.show import card_fields, released_words


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="- is stdout.")
@click.option(
    "--form",
    type=click.Choice(["card", "jsonl", "csv", "parquet", "sacrebleu", "mtme"]),
    help="Default: by the ending of FILE (.csv, .jsonl, .parquet, .sacrebleu.json, .mtme); else the card.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
@click.option(
    "--as",
    "role",
    type=click.Choice(["organisation", "keeper", "computer"]),
    help="Whose key signs the card. Default: the organisation's where this computer has it, else the computer's own.",
)
@click.option("--submitter", metavar="NAME", help="For a run with secret entries: who learns its scores. Each answer counts (rosetta vault budget).")  # fmt: skip
@click.option("--row", "entry", metavar="ENTRY", help="Instead of the card, prove that the row of this entry (its id) is on it.")  # fmt: skip
@click.option("--unsigned", is_flag=True, help="Write the card without a signature.")
@out_of_vault
def export(
    names: Sequence[str],
    output: Path,
    form: str | None,
    role: str | None,
    submitter: str | None,
    entry: str | None,
    *,
    overwrite: bool,
    unsigned: bool,
    **vault: Any,
) -> None:
    """Write RUN to a file. Texts of secret segments are never written.

    The card is the whole run. Its entries with every metric: .csv, .jsonl, or .parquet with typed columns. What
    sacreBLEU prints for its texts: .sacrebleu.json. A folder as MT Metrics Eval reads it, of one RUN or several: .mtme.

    Beside a card its seal is written, signed with a key of this computer (NAME.seal.json), and the certificate of its
    review if one is attached. For a run with secret entries a released card is written, for the submitter who is
    named: rounded scores, signed and counted; after the first answer new ones only where they beat the best told. The card of a run
    from a vault, released or sealed, needs --vault and --purpose; without its seal (--unsigned) it does not.

    The proof of a row holds that row with its texts, and hashes that tell nothing of the others. Anyone who has it
    checks it with `rosetta runs verify FILE --card CARD`.
    """
    form = _checked_form(names, output, form, card_options=bool(submitter or role or unsigned), row=entry is not None)
    if form == exporting.MTME:
        _write_folder(names, output, overwrite=overwrite)
        return
    [run] = names
    if submitter is not None:
        _refuse_other_forms(output, form, role, overwrite=overwrite, unsigned=unsigned)
    with database.opened() as connection:
        number = runs.find_run(connection, run).id
        beside: dict[Path, bytes] = {}
        data: Iterable[bytes] | bytes
        if entry is not None:
            data = _row_proof(connection, number, run, entry)
        elif submitter is not None:
            data = _released(connection, number, submitter, vault)
            card = ledger_records.ReleasedCard.model_validate_json(data)
            for words in filter(None, (released_words.repeated(card), released_words.confirmation(card.shortfall))):
                click.echo(words, err=True)
        else:
            data = exporting.exported_pieces(connection, number, exporting.ExportForm(form))
            if form == "card" and str(output) != "-":
                beside = _certificate_files(connection, number, output)
                if not unsigned:
                    _open_again(connection, number, vault)
                    beside |= _seal_file(connection, number, output, role)
        _write(data, beside, output, overwrite=overwrite)


def _checked_form(names: Sequence[str], output: Path, form: str | None, *, card_options: bool, row: bool) -> str:
    """Return the form that is wanted; UsageError for options that do not go together."""
    if str(output) == "-" and sys.stdout.isatty():
        raise UsageError("Outputs may hold characters that act on a terminal. Give a file, or pipe: … -o - | less")
    if row and (form or card_options):
        raise UsageError(
            "The proof of a row has one form, signed as its card is: leave --form, --as, --submitter and --unsigned out."
        )
    form = form or exporting.form_of(output.name)
    if form != exporting.MTME and len(names) > 1:
        raise UsageError("Only a folder of MT Metrics Eval has several runs: name it NAME.mtme, or add --form mtme.")
    if form == exporting.MTME and (card_options or row or str(output) == "-"):
        raise UsageError(
            "A folder of MT Metrics Eval has no card and is no stream: name a folder, and no option but --overwrite."
        )
    return form


def _write_folder(names: Sequence[str], folder: Path, *, overwrite: bool) -> None:
    """Write runs over the same entries as a folder; UsageError where a file of it is there that may not be replaced."""
    if str(folder) == "-":
        raise UsageError("A folder of MT Metrics Eval is no stream. Name a folder.")
    with database.opened() as connection:
        numbers = dict.fromkeys(runs.find_run(connection, name).id for name in names)
        files = exporting.export_mtme(connection, numbers)
    written = export_files.write_export(export_files.ExportFiles(files), folder, overwrite=overwrite)
    click.echo(f"Written: {plain(str(folder))} ({len(written)} files)", err=True)


def _write(data: Iterable[bytes] | bytes, beside: Mapping[Path, bytes], output: Path, *, overwrite: bool) -> None:
    """Write what leaves, or print it where the output is -; UsageError where a file is there that may not be replaced."""
    if str(output) == "-":
        for piece in [data] if isinstance(data, bytes) else data:
            click.echo(piece, nl=False)
        return
    again = {path for path, content in beside.items() if _is_replaceable(path, content)}
    if taken := [path.name for path in (output, *beside) if path.exists() and not (overwrite or path in again)]:
        raise UsageError(f"{taken[0]} is there already. Choose another name, or add --overwrite.")
    for path, content in {output: data, **beside}.items():
        mode = PUBLISHED if ".certificate" in path.suffixes else PRIVATE
        write_file(path, content, overwrite=overwrite or path in again, mode=mode)
        click.echo(f"Written: {plain(str(path))}", err=True)


def _row_proof(connection: sqlite3.Connection, number: int, run: str, entry: str) -> bytes:
    """Return the proof that an entry's row is on the card of a run, which is signed for it if it was not yet."""
    data = exporting.export_run(connection, number, exporting.ExportForm.CARD)
    card = reading.parse_object(data, run)
    if not card.get("results"):
        raise UsageError(
            "The card of this run has no rows: of a run with secret entries none leaves this machine, and some "
            "cards from elsewhere came without."
        )
    kept = signing.kept_seals(connection, number, card)
    if not kept:
        kept = [signing.sign_run(connection, number, signing.own_signer(database.home()), datetime.now(UTC))]
    return signing.prove_row(kept[0], reading.objects(card, "results"), entry).data()


def _is_replaceable(path: Path, content: bytes) -> bool:
    """Return whether a file beside a card may be written over: it is the same, or an older seal of the card by this key."""
    try:
        with path.open("rb") as file:
            present = file.read(len(content) + signing.MOST_BYTES)
        if present == content:
            return True
        older, newer = (signing.read_seal(seal_bytes).seal for seal_bytes in (present, content))
    except (OSError, strict_records.FileError):
        return False
    return (older.card, older.by) == (newer.card, newer.by)


def _open_again(connection: sqlite3.Connection, number: int, vault: Mapping[str, Any]) -> None:
    """Open the texts of a run from a vault, over which its card is signed."""
    asked = vault_request(vault)
    vault_opening.open_again(connection, runs.read_run(connection, number), asked, "seal")


def _refuse_other_forms(output: Path, form: str, role: str | None, *, overwrite: bool, unsigned: bool) -> None:
    """Refuse what does not go with a released card, and a name that is taken, before an answer is counted."""
    if form != "card" or role is not None or unsigned:
        raise UsageError(
            "A released card has one form, signed with the key of this computer's keeper: leave --form, --as and --unsigned out, and name a file that ends in .json."
        )
    if str(output) != "-" and output.exists() and not overwrite:
        raise UsageError(f"{output.name} is there already. Choose another name, or add --overwrite.")


def _released(connection: sqlite3.Connection, number: int, submitter: str, vault: Mapping[str, Any]) -> bytes:
    """Return the released card, for which the texts of a run from a vault are opened."""
    run = runs.read_run(connection, number)
    if not reading.must_be_released(connection, run):
        raise UsageError(
            "--submitter goes with a run of this store that has secret entries. Leave it out: this one is exported whole."
        )
    asked, known = telling_ledger(vault)
    open_texts = partial(vault_opening.open_again, connection, run, asked, "seal")
    with ledger.anchored(known, asked.folder if asked else None):
        return releasing.release_run(connection, number, submitter, known, open_texts)


def _seal_file(connection: sqlite3.Connection, number: int, output: Path, role: str | None) -> dict[Path, bytes]:
    """Return the seal of a card by the path next to it; for an imported one the seal that came with it, if any.

    Says whose key signed, and why none did where the keys cannot be read.
    """
    run = runs.read_run(connection, number)
    if run.imported:
        card = rows.raw_card(connection, run)
        sealed = next(iter(signing.kept_seals(connection, number, card)), None)
    else:
        try:
            signer = signing.own_signer(database.home(), None if role is None else keys.Role(role))
        except KeyStoreError as error:
            if role is not None:
                raise
            click.echo(plain(f"warning: The card is not signed. {error}"), err=True)
            return {}
        sealed = signing.sign_run(connection, number, signer, datetime.now(UTC))
        words = signer.public.phrase
        click.echo(plain(f"Signed with the key of this {signer.role}. Its six words are: {words}"), err=True)
        card = rows.streamed_card(connection, run)
    if sealed is None:
        return {}
    return {output.with_suffix(signing.SUFFIX): signing.outgoing(sealed, card).data()}


def _certificate_files(connection: sqlite3.Connection, number: int, output: Path) -> dict[Path, bytes]:
    """Return the certificate that speaks for a run and its signature, by the paths beside its card.

    None over secret entries, which stays inside.
    """
    beside = attachments.attached_to(connection, number)
    review = card_fields.review_of(runs.read_card(connection, number) or {}, beside)
    if review is None or review.suspended:
        return {}
    if coarse.over_secret(review.certificate):
        return {}
    chosen = next(attached for attached in beside if attached.sha256 == review.certificate.sha256)
    return {
        output.with_suffix(".certificate.json"): chosen.certificate,
        output.with_suffix(".certificate.sig"): chosen.signature,
    }


# ---- Take run cards and test reports into the list of runs ----


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--unverified", is_flag=True, help="Take cards whose seal is absent or broken too, marked as such.")
@click.option("--corpus", metavar="FILE", help="The corpus of the cards; their texts are checked against it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(files: Sequence[Path], unverified: bool, corpus: str | None, as_json: bool) -> None:
    """Import run cards from FILES into the list of runs.

    The outputs on a card are scored again here. Its scores count as stated until its texts have been checked against
    its corpus too: one in the list of corpora, or --corpus, also for a card that was imported before. A card whose
    outputs give other scores has no rank.

    Test reports, run logs and published rows of the reference implementation are read too.
    """
    done: list[dict[str, Any]] = []
    refused = 0
    pinned = None if corpus is None else api.open_corpus(api.CorpusRequest(corpus))
    with database.opened() as connection:
        for file in files:
            if file.name.endswith(signing.SUFFIX):
                click.echo(plain(f"{file.name}: the seal of a card, which is imported with its card."), err=True)
                continue
            try:
                data = reading.read_card_bytes(file)
                if cards.is_released(reading.parse_object(data, file.name)):
                    card = official.take(database.home(), data, file.name, connection)
                    done.append({"file": str(file), "run_id": card.run, "released": True})
                    if not as_json:
                        click.echo(_released_words(file, card))
                    continue
                imported = importing.import_card(connection, data, file.name, unverified=unverified, corpus=pinned)
            except UsageError as error:
                refused += 1
                for line in error_lines(str(error)):
                    click.echo(line, err=True)
                continue
            _take_seal(connection, file, data, imported)
            done.append({"file": str(file), **_fields(imported)})
            if not as_json:
                click.echo(_import_words(file, imported))
    if as_json:
        click.echo(form_text("runs-import", done))
    if refused:
        sys.exit(2)


def _released_words(file: Path, card: ledger_records.ReleasedCard) -> str:
    return plain(
        f"{file}: the released card of run {card.run[:8]}, {card.corpus.id}, signed by the key with the six words: {keys.key_phrase(card.by)}. "
        "`rosetta leaderboard` has it."
    )


def _take_seal(connection: sqlite3.Connection, file: Path, data: bytes, imported: importing.Imported) -> None:
    """Store the seal that is next to a card, and show why where it is not accepted."""
    beside = file.with_suffix(signing.SUFFIX)
    run = runs.find_by_id(connection, imported.run_id)
    if not beside.is_file() or run is None or not run.imported:
        return
    try:
        card = reading.parse_object(data, file.name)
        signing.keep_others_seal(connection, run.id, card, reading.read_card_bytes(beside))
    except UsageError as error:
        click.echo(plain(f"warning: {beside.name} was not taken. {error}"), err=True)


def _fields(imported: importing.Imported) -> dict[str, Any]:
    return {
        "run_id": imported.run_id,
        "known": imported.known,
        "back": imported.back,
        "unverified": imported.unverified,
        "note": imported.note,
        "scored_again": None
        if imported.recount is None
        else {"pinned": imported.recount.pinned, "differences": list(imported.recount.differences)},
    }


def _import_words(file: Path, imported: importing.Imported) -> str:
    outcome = "was there already, nothing to do" if imported.known else "imported"
    if imported.back:
        outcome = "had been deleted, and is back"
    parts = [f"{file.name}: run {imported.run_id[:8]} {outcome}."]
    if imported.unverified:
        parts.append(f"UNVERIFIED: {imported.unverified}")
    if imported.note and not imported.known:
        parts.append(imported.note)
    parts.append(_counted(imported))
    return plain(" ".join(filter(None, parts)))


def _counted(imported: importing.Imported) -> str:
    """Return what scoring the outputs again gave."""
    recount = imported.recount
    if recount is None:
        return ""
    if recount.differences:
        return f"SCORED AGAIN, DIFFERENTLY: {'; '.join(recount.differences)}. It has no rank."
    if not recount.pinned:
        return "Its outputs give its scores; they count as stated until its corpus is here (--corpus FILE)."
    return "Scored again with its corpus: as stated."
