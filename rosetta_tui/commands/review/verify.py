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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify_(certificate: Path, evidence: Path | None, as_json: bool) -> None:
    """Compute the verdict of CERTIFICATE again, byte for byte. Exit code 1 where something differs.

    CERTIFICATE is NAME.certificate.json or NAME.rosetta-evidence. Without --evidence it is what this
    machine's office keeps, or what lies beside the certificate.
    """
    from harness.store.database import home
    from review.office.presenting import present
    from review.verdict.verifying import verify
    from rosetta_tui.review.certificate_words import verification_lines

    found = present(certificate, evidence, home())
    done = verify(found.certificate, found.signature, found.evidence)
    if as_json:
        click.echo(json_text(_json(done)))
    else:
        for line in verification_lines(done):
            click.echo(plain(line))
    if not done.ok:
        sys.exit(1)


def _json(done: Verification) -> dict[str, Any]:
    return {
        "ok": done.ok,
        "recomputed": done.recomputed,
        "outcome": done.certificate.outcome,
        "run_id": done.certificate.run.run_id,
        "certificate_sha256": done.certificate.sha256,
        "signing_key": done.certificate.organisation.signing_key,
        "withdrawn": done.withdrawn,
        "without_withdrawn": done.without,
        "checks": [{"name": c.name, "ok": c.ok, "words": c.words} for c in done.checks],
        "differences": [
            {"path": d.path, "expected": d.expected, "found": d.found} for d in done.differences
        ],
    }
