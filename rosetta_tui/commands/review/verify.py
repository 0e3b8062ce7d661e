"""``rosetta review verify``: compute a certificate's verdict again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosetta_tui.text import json_text, plain

if TYPE_CHECKING:
    from review.verdict.verifying import Verification


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--evidence", type=click.Path(path_type=Path), help="The .rosetta-evidence file.")
@click.option("--trust", metavar="KEY", help="Public key of the organisation, from another source: exit code 1 where another key signed.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify_(certificate: Path, evidence: Path | None, trust: str | None, as_json: bool) -> None:
    """Compute the verdict of CERTIFICATE again, byte for byte. Exit code 1 where anything does not hold.

    Where people took ratings back since, signature, log and chains are still checked; the numbers of that day
    cannot be computed again, which is said (and is `"ok": false` in JSON), and breaks nothing.

    Anybody can sign such a file in any name: compare the key with the organisation's, or name it with --trust.

    CERTIFICATE is NAME.certificate.json or NAME.rosetta-evidence. Without --evidence it is checked against all
    that is there: what this machine's office keeps, and the evidence file beside the certificate.
    """
    from harness.store.database import home
    from review.office.presenting import presented
    from review.verdict.verifying import verify
    from rosetta_tui.commands.review.trust import own_key, read_key
    from rosetta_tui.review.certificate_words import verification_lines

    trusted = None if trust is None else read_key(trust)
    found = presented(certificate, evidence, home())
    done = {
        place: verify(each.certificate, each.signature, each.evidence)
        for place, each in found.items()
    }
    worst = max(done.values(), key=lambda each: (each.broken, not each.ok))
    signer = worst.certificate.organisation.signing_key
    known = trusted or own_key(home())
    if as_json:
        checked = {place: each.ok for place, each in done.items()}
        said = _json(worst) | {"signer_is_trusted": signer == known, "evidence": checked}
        click.echo(json_text(said))
    else:
        for place, each in done.items():
            click.echo(plain(f"Evidence: {place}"))
            for line in verification_lines(each):
                click.echo(plain(line))
        click.echo(_whose(signer, known, named=trust is not None))
    if worst.broken or (trusted is not None and trusted != signer):
        sys.exit(1)


def _whose(signer: str, known: str | None, *, named: bool) -> str:
    """Say whether the signer is whom one trusts; a signature alone tells nobody's name."""
    from review.files.keys import key_phrase

    if signer == known:
        return (
            "Signed by the key that you named."
            if named
            else "Signed here: by this machine's organisation."
        )
    if named:
        return f"NOT signed by the key that you named, but by another ({key_phrase(signer)})."
    return (
        f"Whose key signed it is not said here. Its six words: {key_phrase(signer)}. Ask the organisation, by another "
        "way than the certificate came, whether they are its own."
    )


def _json(done: Verification) -> dict[str, Any]:
    return {
        "ok": done.ok,
        "outcome": done.certificate.outcome,
        "run_id": done.certificate.run.run_id,
        "certificate_sha256": done.certificate.sha256,
        "signing_key": done.certificate.organisation.signing_key,
        "contents_missing": done.missing,
        "outcome_without_them": done.without,
        "checks": [{"name": c.name, "ok": c.ok, "words": c.words} for c in done.checks],
        "differences": [
            {"path": d.path, "expected": d.expected, "found": d.found} for d in done.differences
        ],
    }
