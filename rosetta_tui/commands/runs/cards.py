"""``rosetta runs verify``: Check a card's seals, and compute its numbers again.
``rosetta runs lint``: Point out what in a run's outputs somebody ought to look at.
``rosetta runs sign``: Sign the card of a run, which stays here.
``rosetta runs attach``: Put the record of a reproduction beside the run that it is about.
``rosetta runs reproduce``: Run a card's set-up once more, and compare the scores with the card's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.core.failures import UsageError
from harness.core.storage import PUBLISHED, write_file
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.certificates import read_key
from rosetta_tui.request.click_options import adding_those_of
from rosetta_tui.request.options import typed_options
from rosetta_tui.request.vault import out_of_vault, vault_request
from rosetta_tui.show.json_forms import form_text, print_form
from rosetta_tui.show.text import CHECK_SIGNS, plain

if TYPE_CHECKING:
    import sqlite3

    from harness.card.checking.lint_subject import LintSubject
    from harness.card.checking.verdict import CardVerdict
    from harness.vault.log import LogLine
    from harness.vault.request import VaultRequest


with when_used():
    from harness import api
    from harness import reproduce as reproduction
    from harness.card import reading, rows, signing
    from harness.card.checking import lint_subject, linting, signed
    from harness.core import canonical
    from harness.run import vault_opening
    from harness.sealed import keys
    from harness.store import attachments, runs
    from harness.store.corpora import entries
    from harness.store.sqlite import database
    from harness.vault import folder, opening
    from rosetta_tui.app import display
    from rosetta_tui.report import paragraphs


_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("card", metavar="CARD|RUN|PROOF|RECORD")
@click.option("--words", default="", metavar="WORDS", help="The six words of anyone who should have signed it, as they read them to you.")  # fmt: skip
@click.option("--vault", type=_FILE, metavar="FOLDER", help="The vault that the run came from: its log shows when it was sealed.")  # fmt: skip
@click.option("--card", "against", type=_FILE, metavar="CARD", help="Check the proof of a row, or a record of a reproduction, against this card.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(card: str, words: str, vault: Path | None, against: Path | None, *, as_json: bool) -> None:
    """Check the hash of a card and the seal next to it, and compute every number again from its outputs.

    Give the file of a card, a run of the list, the proof of a row, or the record of a reproduction. The exit code is
    1 if something differs.
    """
    lines = () if vault is None else folder.read_state(vault).lines
    known = signed.KnownSigners(keys=_keepers(lines), words=words, log=lines)
    verdict = api.verify(database.default_path(), card, known, against)
    if as_json:
        click.echo(form_text("runs-verify", _verdict_json(verdict)))
    else:
        for line in _verdict_lines(verdict):
            click.echo(plain(line))
    if not verdict.ok:
        sys.exit(1)


def _keepers(lines: Sequence[LogLine]) -> dict[str, str]:
    """Return the keys of all who ever were keepers by a vault's log."""
    acts = [line.record.act for line in lines]
    came = [k for act in acts for k in (*getattr(act, "keepers", ()), getattr(act, "keeper", None))]
    keepers = [keeper for keeper in came if keeper is not None and not isinstance(keeper, str)]
    return {k.signing_key: f"the key of {k.name}, by its log a keeper of this vault" for k in keepers}


def _verdict_json(verdict: CardVerdict) -> dict[str, Any]:
    first = verdict.first_difference
    return {
        "ok": verdict.ok,
        "first_difference": None
        if first is None
        else {"path": first.path, "expected": first.expected, "found": first.found},
        "differences": len(verdict.differences),
        "checks": paragraphs.checks_json(verdict.checks),
    }


def _verdict_lines(verdict: CardVerdict) -> Iterator[str]:
    for check in verdict.checks:
        yield f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}"
    if verdict.first_difference is not None:
        yield f"First difference: {verdict.first_difference}"
    skipped = any(check.ok is None for check in verdict.checks)
    if not verdict.ok:
        yield "This does not hold."
    elif skipped:
        yield "What could be checked holds; lines with – could not be checked."
    else:
        yield "Everything holds."


# ---- Sign the card of a run, which stays here ----


@click.command()
@click.argument("run")
@out_of_vault
def sign(run: str, **vault: Any) -> None:
    """Sign the card of RUN and keep the seal next to it; nothing leaves. `rosetta runs verify RUN` checks it.

    In this way the card and rows of a run with secret entries can be checked on this computer. With --vault the seal
    names the last line of the vault's log, and the next line names the seal.
    """
    asked, home = vault_request(vault), database.home()
    with database.opened() as connection:
        stored_run = runs.find_run(connection, run)
        rows.load_head(connection, stored_run.id)  # whose own hash holds
        if asked is None:
            vault_opening.open_again(connection, stored_run, None, "seal")
            signer = signing.own_signer(home)
            signing.sign_run(connection, stored_run.id, signer, datetime.now(UTC))
        else:
            made = opening.vault_at(asked.folder, home, clock_was_wrong=asked.clock_was_wrong)
            dataset = entries.read_dataset(connection, stored_run.corpus)
            if (dataset.opened_from or "").partition("/")[0] != made.read().head.vault:
                raise UsageError(f"This run is not over texts of the vault in {asked.folder}. Leave --vault out.")
            signer = opening.who_signs(made, home, asked.others)
            vault_opening.open_again(connection, stored_run, asked, "seal")
            signing.sign_vault_run(made, connection, stored_run.id, signer)
    whose = "a keeper's key, and the vault's log has it" if asked else f"the key of this {signer.role}"
    click.echo(plain(f"Signed with {whose}. Its six words are: {signer.public.phrase}"), err=True)


# ---- Put the record of a reproduction beside the run that it is about ----


@click.command()
@click.argument("record", metavar="RECORD|RUN")
@click.option("--trust", metavar="KEY", help="Public key of anyone who ran it again, 64 hexadecimal digits.")
@click.option("--remove", is_flag=True, help="Take all records off RUN.")
def attach(record: str, trust: str | None, *, remove: bool) -> None:
    """Attach RECORD (`rosetta runs reproduce … --sign`) to its run, which is shown as gds-verified from then on.

    Its signer must be this computer, or the key named with --trust, and never anyone who made or signed the card.
    """
    with database.opened() as connection:
        if remove:
            run = runs.find_run(connection, record)
            count = attachments.detach_reproductions(connection, run.id)
            click.echo(f"Run {plain(run.run_id[:8])}: {count} record{'s' * (count != 1)} taken away.")
            return
        key = None if trust is None else read_key(trust)
        signed_reproduction = reproduction.attach(
            connection, reading.read_card_bytes(Path(record)), key, database.home()
        )
    words = f"Run {signed_reproduction.claimed.run_id[:8]} shows as gds-verified, by the key with the six words: {keys.key_phrase(signed_reproduction.by)}"
    click.echo(plain(words))


# ---- Run a card's set-up once more, and compare the scores with the card's ----


@click.command()
@adding_those_of("reproduce")
@click.argument("card", metavar="CARD|RUN")
@click.option("--corpus", required=True, help="The corpus file that the card names by its hash, or one of the store.")
@click.option("--reference", type=_FILE, help="Second file of aligned texts.")
@click.option("--method", "-m", help="The plug-in, FILE.py:CLASS, where the card names one by its hash.")
@click.option("--with", "finished", metavar="RUN", help="Compare this finished run with the card; nothing is run.")
@click.option("--sign", is_flag=True, help="Sign the result, with the key of this organisation or computer.")
@click.option("-o", "--output", type=_FILE, help="Write the comparison here, signed with --sign.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing of the run.")
@click.option("--plain", "style", flag_value="plain", help="Lines instead of the live screen.")
def reproduce(
    card: str,
    corpus: str,
    reference: Path | None,
    method: str | None,
    finished: str | None,
    output: Path | None,
    style: str | None,
    *,
    sign: bool,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run the set-up of CARD once more, and say for each score whether it is within 2 % of the one claimed.

    CARD is a file, or a run of the list. What it names only by its hash (plug-in, coaching, prompt, analyser …) you
    give with an option each. Nothing is taken from earlier answers. The exit code is 0 where composite and chrF++ are
    within 2 %, and 1 where they are not. A run that was interrupted is continued with `rosetta resume`; --with RUN
    then compares it with the card.
    """
    if sign and output is None:
        raise click.UsageError("--sign writes a file: name it with -o FILE.")
    if output is not None and output.exists() and not overwrite:
        raise UsageError(f"{output.name} is there already. Choose another name, or add --overwrite.")
    with database.opened() as connection:
        claimed = reproduction.claimed_card(connection, card)
        if sign:
            reproduction.refuse_to_sign(connection, claimed, database.home())
        request = (
            _request(connection, claimed, corpus, reference, {**given, "method": method}) if finished is None else None
        )

    def at_end(_store: Path, run_id: str) -> int:
        # Show the outcome, write it where asked, and return the exit code.
        with database.opened() as connection:
            reproduction_comparison = reproduction.compared(connection, claimed.card, run_id)
            made = (
                reproduction.signed(connection, claimed, reproduction_comparison, database.home())
                if sign
                else reproduction_comparison
            )
        if output is not None:
            data = canonical.canonical_bytes(made.model_dump(mode="json")) + b"\n"
            write_file(output, data, overwrite=overwrite, mode=PUBLISHED)
            click.echo(f"Written: {plain(str(output))}", err=True)
        if as_json:
            click.echo(form_text("runs-reproduce", paragraphs.reproduction_json(made)))
        else:
            for line in paragraphs.reproduction_lines(made):
                click.echo(plain(line))
        return 0 if reproduction_comparison.reproduced else 1

    if request is None:
        raise click.exceptions.Exit(at_end(Path(), str(finished)))
    display.start_and_show(request, "quiet" if as_json else style, at_end)


def _request(
    connection: sqlite3.Connection,
    claimed: reproduction.ClaimedCard,
    corpus: str,
    reference: Path | None,
    given: dict[str, Any],
) -> api.RunRequest:
    dataset = claimed.card.dataset
    corpus_opened = api.open_corpus(
        api.CorpusRequest(
            corpus,
            () if reference is None else (reference,),
            id=dataset.id,
            source_language=dataset.source_language,
            target_language=dataset.target_language,
        )
    )
    options = typed_options(given)
    if given["method"]:
        options["method"] = given["method"]
    made = reproduction.rebuild(connection, claimed.card, corpus_opened, options)
    for difference in made.scored_otherwise:
        click.echo(plain(f"Scored differently from the card: {difference}."), err=True)
    return made.request


# ---- Point out what in a run's outputs somebody ought to look at ----


@click.command()
@click.argument("names", metavar="RUN|CARD…", nargs=-1, required=True)
@out_of_vault
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def lint(names: tuple[str, ...], *, as_json: bool, **given: Any) -> None:
    """Find what the rules of legitimacy ask about (benchmark-specification §9.2–9.3).

    Give runs of the list, or files of cards. A finding names entries by their id and says what it does not prove. It
    is no verdict, so the exit code is 0 with findings as well. A run with secret entries has no JSON. One out of a
    vault is opened with it (--vault and --purpose).
    """
    asked = vault_request(given, "look")
    with database.opened() as connection:
        lint_reports = [linting.lint(_subject(connection, name, asked, as_json=as_json)) for name in names]
    rows = [lint_report.model_dump(mode="json") for lint_report in lint_reports]
    print_form("runs-lint", rows, paragraphs.lint_lines(lint_reports), as_json=as_json)


def _subject(connection: sqlite3.Connection, name: str, asked: VaultRequest | None, *, as_json: bool) -> LintSubject:
    if (path := Path(name)).suffix == ".json" or path.is_file():
        return lint_subject.filed_subject(connection, path)
    run = runs.find_run(connection, name)
    if as_json:
        reading.refuse_to_leave(connection, [run])
    vault_opening.open_again(connection, run, asked, "look")
    return lint_subject.stored_subject(connection, run)
