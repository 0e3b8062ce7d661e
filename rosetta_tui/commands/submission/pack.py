"""``rosetta submission pack``: Make a signed bundle from a folder."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.core.written_files import PUBLISHED, write_file
from harness.method.shipped import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import FILE, bundle_lines, check_lines, say

with when_used():
    from harness.card import exporting
    from harness.card.signing import signed_run
    from harness.core import user_file
    from harness.store import runs
    from harness.store.file import database
    from harness.submission import bundle, checking, folder, foreign, members
    from rosetta_tui.submission import messages


@click.command()
@click.argument("place", metavar="FOLDER", type=FILE)
@click.option("-o", "--output", type=FILE, metavar=f"NAME{BUNDLE_SUFFIX}", help="Default: the folder's name, next to it.")  # fmt: skip
@click.option("--card", metavar="CARD|RUN", help="The run card over open entries: a file, or a run of the list. Default: card.json in FOLDER.")  # fmt: skip
@click.option("--accept-terms", type=FILE, metavar="FILE", help="Accept the organisation's terms in this file, in the name of the submitter.")  # fmt: skip
@click.option("--from", "theirs", is_flag=True, help="FOLDER (or a bundle, .tar.gz) is one of the reference implementation, with method.json.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def pack(
    place: Path,
    output: Path | None,
    card: str | None,
    accept_terms: Path | None,
    *,
    theirs: bool,
    overwrite: bool,
) -> None:
    """Pack FOLDER into one signed file: submission.toml, card.json, README.md, and code/ with wheels/, or data/.

    Afterwards it says what is there of each part, as `rosetta submission check` does. With --from, a folder or bundle
    of the reference implementation is written as such a folder next to it, for you to complete; nothing in it is run,
    and no Dockerfile is read.
    """
    if theirs:
        made = foreign.write_folder(place, output or place.with_name(f"{place.name.partition('.')[0]}-submission"))  # fmt: skip
        say([f"Written: {made}. Complete {members.SHEET} and README.md there, put card.json beside them, and pack that folder."])  # fmt: skip
        return
    path = output or bundle.packed_beside(place)
    if not path.name.endswith(BUNDLE_SUFFIX):
        raise UsageError(f"{path.name}: a submission is called NAME{BUNDLE_SUFFIX}.")
    identity = signed_run.own_signer(database.home())
    data = folder.pack_folder(place, identity, None if card is None else _card(card), accept_terms)
    submission = bundle.parse_submission(data)
    write_file(path, data, overwrite=overwrite, mode=PUBLISHED)
    say([f"Written: {path} ({len(data):,} bytes)", *bundle_lines(submission)])
    checks = checking.check_submission(submission)
    say(check_lines(checks))
    if not all(check.ok for check in checks):
        say([messages.INCOMPLETE])


def _card(name: str) -> bytes:
    path = Path(name)
    if path.is_file():
        return user_file.read_bytes(path, "a run card", members.MOST_BYTES)
    with database.opened() as connection:
        run = runs.find_run(connection, name)
        if exporting.must_be_released(connection, run):
            raise UsageError(f"Run {run.run_id[:8]} is over secret entries, and a submission carries the card of a run over open ones. Choose an open run of the method: rosetta runs list names them, and --card takes one by its number; or make one: rosetta run CORPUS, with its open segments.")  # fmt: skip
        return exporting.export_run(connection, run.id, exporting.ExportForm.CARD)
