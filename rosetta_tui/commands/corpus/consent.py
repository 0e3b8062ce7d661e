"""``rosetta corpus consent``: Record that the community agreed: who said it, when, and to what."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.user_file import read_bytes, read_text
from harness.store.sqlite.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.front import on_terminal
from rosetta_tui.show.text import plain

with when_used():
    from harness.consent import given as consent_given
    from harness.project import authoring
    from harness.sealed import keys

_MOST_PAPER = 64 * 2**20


@click.command("consent")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--community", required=True, metavar="NAME", help="Whose language it is, in their own words.")
@click.option(
    "--person",
    required=True,
    metavar="WORDS",
    help="Who said it for them, with their office: “Mary Cardinal, chair of the council”.",
)
@click.option("--date", required=True, metavar="YYYY-MM-DD", help="The day on which it was said.")
@click.option(
    "--statement",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE.txt",
    help="What was agreed to, word for word; it becomes part of the corpus.",
)
@click.option(
    "--paper",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A scan of what the person signed; its hash is kept, not the file.",
)
@click.option("--replace", is_flag=True, help="Replace a record that is there, without asking.")
def consent_(folder: Path, community: str, person: str, date: str, statement: Path, paper: Path | None, *, replace: bool) -> None:  # fmt: skip
    """Record in the corpus in FOLDER that its community agreed, signed with this computer's organisation key.

    The record travels with the corpus, so name the person only if they want to be named. A corpus has one record: a
    later one replaces it, after a question. To take consent back: rosetta community withdraw.
    """
    text, _ = read_text(statement, "what was agreed to", 4 * consent_given.MOST_STATEMENT)
    if not text.strip():
        raise UsageError(
            f"{statement}: it is empty, but it has to say what was agreed to, word for word. Write it there."
        )
    scan = "" if paper is None else sha256(read_bytes(paper, "the scan", _MOST_PAPER)).hexdigest()
    with authoring.changing(folder, home()) as project:
        facts = project.state.dataset
        parts = {
            "corpus": facts["id"],
            "source_language": facts["source_language"],
            "target_language": facts["target_language"],
            "community": community,
            "person": person,
            "date": date,
            "statement": text.strip(),
            "paper_sha256": scan,
            "recorded_by": facts["organisation"],
        }
        if facts.get("consent"):
            _say_replaced(facts["consent"], replace=replace)
        identity = keys.Identity.load(home(), keys.Role.ORGANISATION)
        record = consent_given.record_consent(parts, identity, consent_given.newest_day())
        project.change(dataset={**facts, "consent": record.model_dump(mode="json")})
    click.echo(plain(f"Recorded: {community}, said by {person} on {date}."))
    click.echo(f"Signed with the key of these six words: {keys.key_phrase(record.signing_key)}")


def _say_replaced(before: dict[str, Any], *, replace: bool) -> None:
    """Name the record that is there, and ask; without a terminal UsageError unless ``replace``."""
    who = f"{before['community']}, said by {before['person']} on {before['date']}"
    click.echo(plain(f"The corpus has a record already: {who}. The new one would replace it."), err=True)
    if replace:
        return
    if not on_terminal():
        raise UsageError("Nothing was recorded. To replace it with the new record: --replace.")
    click.confirm("Replace it with the new record?", abort=True, err=True)
