"""``rosetta community export``: Write everything that belongs to a community into a folder of open files."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from corpora.text.messages import counted
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import signing
    from harness.sealed import keys
    from harness.store.sqlite import database
    from harness.vault import keepers, opening
    from review.community import export as community
    from review.office.store import database as office_file
    from review.office.store import store

_FILE = click.Path(path_type=Path)


@click.command("export")
@click.argument("folder", type=_FILE)
@click.option("--corpus", "corpora", multiple=True, required=True, metavar="CORPUS", help="A corpus of the community: a file, an id, or store:HASH. May be repeated.")  # fmt: skip
@click.option("--vault", type=_FILE, metavar="FOLDER", help="The community's vault; it is copied, sealed as it is.")
@click.option("--method", "methods", multiple=True, type=click.Path(path_type=Path, exists=True), metavar="PATH", help="A method that was submitted: a file or folder, copied as it is.")  # fmt: skip
@click.option("--review", "reviews", multiple=True, metavar="REVIEW", help="A review besides those of its runs, such as one that asked for translations.")  # fmt: skip
@click.option("--open-secrets", is_flag=True, help="Write secret texts too, readable by anyone who has the folder; the vault's log records that first.")  # fmt: skip
@click.option("--purpose", default="", metavar="WORDS", help="Why it is done; needed with --open-secrets. The vault's log keeps these words.")  # fmt: skip
@click.option("--key", type=_FILE, metavar="FILE", help="A file with a keeper's keys, such as the recovery key.")
def export_(
    folder: Path,
    corpora: tuple[str, ...],
    vault: Path | None,
    methods: tuple[Path, ...],
    reviews: tuple[str, ...],
    purpose: str,
    key: Path | None,
    *,
    open_secrets: bool,
) -> None:
    """Write everything that belongs to some corpora to FOLDER: corpora, runs, methods, reviews, logs, consent, public keys.

    All files are JSON, tables or text; README.txt and index.html say what each is. Run it again to bring FOLDER up to
    date. Nothing of other corpora is in it. Secret texts are left out, and named as left out, unless you say
    --open-secrets.
    """
    home = database.home()
    keeper = keepers.own_identity(home, key) if key or keys.Identity.known(home, keys.Role.KEEPER) else None
    wanted = community.Wanted(
        corpora=corpora,
        methods=methods,
        reviews=reviews,
        vault=None if vault is None else opening.vault_at(vault, home),
        keeper=keeper,
        purpose=purpose,
        open_secrets=open_secrets,
    )
    with ExitStack() as stack:
        connection = stack.enter_context(database.opened())
        there = (home / office_file.FILE).exists()
        office = stack.enter_context(store.Office.open(home)) if there else None
        done = community.export_community(folder, wanted, connection, office, home, signing.own_signer(home))
    for reason in done.left_out:
        click.echo(plain(f"Left out: {reason}"), err=True)
    files = counted(done.files, "file")
    outcome = "had all of this already" if done.unchanged else f"holds {files}; begin with README.txt"
    click.echo(plain(f"{folder} {outcome}."), err=True)
