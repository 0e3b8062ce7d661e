"""``rosetta review attach``: Attach a certificate to its run."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import home, opened
from harness.store.notes import detach_certificates
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.verify import own_key, read_key
from rosetta_tui.show.text import plain

with when_used():
    from harness.store import runs
    from review.office.results import certifying
    from rosetta_tui.review.organiser.words import gate


@click.command("attach")
@click.argument("certificate", metavar="CERTIFICATE|RUN")
@click.option("--evidence", type=click.Path(path_type=Path), help="The .rosetta-evidence file.")
@click.option(
    "--trust", metavar="KEY", help="Public key of the organisation, 64 hexadecimal digits."
)
@click.option(
    "--earlier",
    is_flag=True,
    help="Accept a go from files of an earlier form, which cannot show everything that is checked now.",
)
@click.option("--remove", is_flag=True, help="Take all certificates off RUN.")
def attach_(
    certificate: str, evidence: Path | None, trust: str | None, earlier: bool, remove: bool
) -> None:
    """Attach CERTIFICATE (.certificate.json or .rosetta-evidence) to the run that it is about.

    It is verified first. Its signer must be this machine's organisation, or the key named with --trust. The sealed
    card stays as it is; a newer certificate that is not a go takes away what an earlier one gave.
    """
    if remove:
        _remove(certificate)
        return
    evidence_file = certifying.present(Path(certificate), evidence, home())
    trusted = _trusted(trust, home())
    with opened() as store:
        now = certifying.attach(store, evidence_file, trusted, earlier=earlier)
    for line in gate.standing_lines(now):
        click.echo(plain(line))
    if now.passed and certifying.unchecked(evidence_file, home()):
        click.echo(
            f"Not checked: its signer alone says that the run is confirmed, for this computer's ledger has nothing of it. Ask for theirs: rosetta verify {plain(certificate)} --with ledger.jsonl"
        )


def _trusted(named: str | None, folder: Path) -> str:
    """Return the key that is trusted: the one that is named, else that of this machine's organisation."""
    key = own_key(folder) if named is None else read_key(named)
    if key is None:
        raise UsageError(
            "This machine is no organisation's, so nobody's word is taken here unasked. Ask the organisation for "
            "its public key, by another way than the certificate came, and name it: --trust KEY"
        )
    return key


def _remove(name: str) -> None:
    with opened() as store:
        run = runs.find_run(store, name)
        count = detach_certificates(store, run.id)
    click.echo(f"Run {plain(run.run_id[:8])}: {count} certificate{'s' * (count != 1)} taken away.")
