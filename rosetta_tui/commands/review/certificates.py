"""``rosetta review verify``: Recompute a certificate's verdict.
``rosetta review attach``: Attach a certificate to its run.

The word that is taken is that of the key that somebody names, or of this machine's organisation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import CHECK_SIGNS, plain

with when_used():
    from harness.consent import checks as consent_found
    from harness.sealed import keys, phrase, stick, strict_records
    from harness.store import attachments, runs, withdrawn
    from harness.store.sqlite import database as store_database
    from review.files import batch
    from review.office.results import certifying
    from review.office.store import database
    from review.verdict.certificate import certificate as certificates
    from review.verdict.certificate import coarse, verifying
    from review.verdict.certificate import evidence as certificate_evidence
    from review.verdict.certificate import signed as signed_files
    from review.verifying import verdicts
    from rosetta_tui.review.organiser.words import gate

_KEY = re.compile(r"[0-9a-f]{64}")


def as_key(typed: str) -> str | None:
    """Return a public key in its one form, 64 lower-case hexadecimal digits; None where this is none."""
    key = typed.strip().lower()
    return key if _KEY.fullmatch(key) else None


def read_key(named: str, option: str = "--trust") -> str:
    """Read the key that an option gives; UsageError where it is none."""
    key = as_key(named)
    if key is None:
        raise UsageError(f"{option}: a public key has 64 hexadecimal digits. Correct it.")
    return key


def own_key(folder: Path) -> str | None:
    """Return the key of the organisation whose office is in a data folder; None where there is none."""
    if not (folder / database.FILE).exists():
        return None
    return keys.Identity.load(folder, keys.Role.ORGANISATION).public.signing_key


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--evidence", type=click.Path(path_type=Path), help="The .rosetta-evidence file.")
@click.option("--trust", metavar="KEY", help="Public key of the organisation, from another source: exit code 1 where another key signed.")  # fmt: skip
@click.option("--batch", "batches", type=click.Path(path_type=Path), multiple=True, help="A batch file that you kept: exit code 1 where the certificate does not rest on it.")  # fmt: skip
@click.option("--words", multiple=True, metavar="WORDS", help="Six words that a laptop showed with its ratings: exit code 1 where that is not in the evidence.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify_(
    certificate: Path,
    evidence: Path | None,
    trust: str | None,
    batches: Sequence[Path],
    words: Sequence[str],
    as_json: bool,
) -> None:
    """Compute the verdict of CERTIFICATE again, byte for byte. The exit code is 1 if anything does not hold.

    If people have taken ratings back since, signature, log and chains are still checked; the numbers of that day
    cannot be computed again, which is said (and is `"ok": false` in JSON), and is no failure.

    Anybody can sign such a file in any name: compare the key with the organisation's, or name it with --trust. What a
    community holds itself binds the organisation: --batch takes a batch file as it came on the stick, --words the six
    words of a hand-over. Either can be given several times.

    Of a coarse certificate, over secret entries, form and signature are checked; its numbers only where its evidence
    is: on the computer that issued it, or with --evidence.

    CERTIFICATE is NAME.certificate.json or NAME.rosetta-evidence. Without --evidence it is checked against everything
    there is: what this machine's office keeps, and the evidence file beside the certificate.
    """
    trusted = None if trust is None else read_key(trust)
    try:
        evidence_files = certifying.presented(certificate, evidence, store_database.home())
    except certifying.NotInside:
        if batches or words:
            raise
        _outside(certificate, trusted, as_json=as_json)
        return
    kept = [kept_batch(path) for path in batches]
    phrases = [phrase.read_words(word) for word in words]
    done = {
        place: verifying.verify(
            evidence_file.certificate,
            evidence_file.signature,
            evidence_file.evidence,
            evidence_file.program,
            kept,
            phrases,
            evidence_file.coarse,
        )
        for place, evidence_file in evidence_files.items()
    }
    taken = {
        check: None
        for place, verification in done.items()
        for check in _taken_back(verification.certificate, evidence_files[place].evidence)
    }
    worst = max(done.values(), key=lambda verification_done: (verification_done.broken, not verification_done.ok))
    signer = worst.certificate.organisation.signing_key
    known = trusted or own_key(store_database.home())
    checked = {place: verification.ok for place, verification in done.items()}
    document: dict[str, Any] = {
        "ok": worst.ok,
        "outcome": worst.certificate.outcome,
        "run_id": worst.certificate.run.run_id,
        "certificate_sha256": worst.certificate.sha256,
        "signing_key": worst.certificate.organisation.signing_key,
        "contents_missing": worst.missing,
        "outcome_without_them": worst.without,
        "items_not_shown": len(worst.not_shown),
        "items_not_shown_and_not_rated": list(worst.not_shown.values()).count(False),
        "checks": _checks(worst.every),
        "differences": [{"path": d.path, "expected": d.expected, "found": d.found} for d in worst.differences],
        "signer_is_trusted": signer == known,
        "evidence": checked,
    }
    document["consent"] = [check._asdict() for check in taken]
    lines = [
        line
        for place, verification in done.items()
        for line in (f"Evidence: {place}", *gate.verification_lines(verification))
    ]
    lines += [gate.together_words(done)] if len(done) > 1 else []
    lines += _consent_lines(taken)
    lines.append(_whose(signer, known, named=trust is not None))
    lines += [] if kept or phrases else [_NOTHING_KEPT]
    print_form("review-verify", document, lines, as_json=as_json)
    gone = any(check.ok is False for check in taken)
    if worst.broken or gone or (trusted is not None and trusted != signer):
        sys.exit(1)


def _outside(path: Path, trusted: str | None, *, as_json: bool) -> None:
    """Show what can be seen of a coarse certificate where its evidence is not: form, signature, and whose key."""
    signed = keys.Signed(*certifying.read_signed_certificate(path))
    coarse_certificate, checks = verifying.verify_outside(signed, path.name)
    signer, ok = (coarse_certificate.organisation.signing_key, not any(check.ok is False for check in checks))
    known, taken = trusted or own_key(store_database.home()), _taken_back(coarse_certificate)
    document: JsonObject = {
        "ok": ok,
        "outcome": coarse_certificate.outcome,
        "run_id": coarse_certificate.run.run_id,
        "certificate_sha256": coarse_certificate.sha256,
        "signing_key": signer,
        "contents_missing": 0,
        "outcome_without_them": None,
        "items_not_shown": 0,
        "items_not_shown_and_not_rated": 0,
        "checks": _checks(checks),
        "differences": [],
        "signer_is_trusted": signer == known,
        "evidence": {},
        "consent": [check._asdict() for check in taken],
    }
    lines = [
        *gate.outside_lines(coarse_certificate, checks, ok=ok),
        *_consent_lines(taken),
        _whose(signer, known, named=trusted is not None),
    ]
    print_form("review-verify", document, lines, as_json=as_json)
    gone = any(check.ok is False for check in taken)
    if not ok or gone or (trusted is not None and trusted != signer):
        sys.exit(1)


_NOTHING_KEPT = (
    "Nothing that you kept yourself was held against it; a review that the organisation played again with another batch "
    "and invented laptops would look like this, too. Who has the batch file from the stick, or the six words of a "
    "hand-over, names them with --batch and --words."
)


def _taken_back(
    stated: certificates.Certificate | coarse.CoarseCertificate, evidence: certificate_evidence.Evidence | None = None
) -> list[consent_found.Found]:
    """Return what notices that are believed here say of a certificate."""
    if not withdrawn.now_standing():
        return []
    with store_database.opened() as connection:
        return verdicts.taken_back(connection, stated, evidence)


def _consent_lines(taken: Iterable[consent_found.Found]) -> list[str]:
    return [f"{CHECK_SIGNS[check.ok]} consent: {check.words}" for check in taken]


def kept_batch(path: Path) -> batch.Batch:
    """Open a batch file that somebody kept, with this machine's keys or the words on a card where it is sealed."""
    data, folder = stick.read_named(path), store_database.home()
    there = [role for role in keys.Role if any(key_file.exists() for key_file in keys.key_files(folder, role))]
    identities = [keys.Identity.load(folder, role).age for role in there]
    try:
        return batch.open_batch(data, identities)
    except strict_records.FileError as error:
        if error.problem is not strict_records.FileProblem.LOCKED:
            raise UsageError(f"{path}: {error}") from None
    return batch.open_batch(data, identities, click.prompt("The words on the card", hide_input=True))


def _whose(signer: str, known: str | None, *, named: bool) -> str:
    """Return whether the signer is whom one trusts; a signature alone tells nobody's name."""
    if signer == known:
        return "Signed by the key that you named." if named else "Signed here: by this machine's organisation."
    if named:
        return f"NOT signed by the key that you named, but by another ({keys.key_phrase(signer)})."
    return (
        f"Whose key signed it is not said here. Its six words: {keys.key_phrase(signer)} (on cards of earlier versions: "
        f"{keys.key_phrase(signer, earlier=True)}). Ask the organisation, by another way than the certificate came, whether "
        "they are its own."
    )


def _checks(checks: Sequence[signed_files.CertificateCheck]) -> list[dict[str, Any]]:
    return [{"name": c.name, "ok": c.ok, "earlier_version": c.earlier, "words": c.words} for c in checks]


# ---- Attach a certificate to its run ----


@click.command("attach")
@click.argument("certificate", metavar="CERTIFICATE|RUN")
@click.option("--evidence", type=click.Path(path_type=Path), help="The .rosetta-evidence file.")
@click.option("--trust", metavar="KEY", help="Public key of the organisation, 64 hexadecimal digits.")
@click.option(
    "--earlier",
    is_flag=True,
    help="Accept a go from files of an earlier form, which cannot show everything that is checked now.",
)
@click.option("--remove", is_flag=True, help="Take all certificates off RUN.")
def attach_(certificate: str, evidence: Path | None, trust: str | None, earlier: bool, remove: bool) -> None:
    """Attach CERTIFICATE (.certificate.json or .rosetta-evidence) to the run that it is about.

    It is verified first. Its signer must be this machine's organisation, or the key named with --trust. The sealed
    card stays as it is; a newer certificate that is not a go takes away what an earlier one gave.
    """
    if remove:
        _remove(certificate)
        return
    evidence_file = certifying.present(Path(certificate), evidence, store_database.home())
    # Key that is trusted: the one that is named, else that of this machine's organisation.
    folder = store_database.home()
    trusted = own_key(folder) if trust is None else read_key(trust)
    if trusted is None:
        raise UsageError(
            "This machine is no organisation's, so nobody's word is taken here unasked. Ask the organisation for "
            "its public key, by another way than the certificate came, and name it: --trust KEY"
        )
    with store_database.opened() as store:
        now = certifying.attach(store, evidence_file, trusted, earlier=earlier)
    for line in gate.standing_lines(now):
        click.echo(plain(line))
    if now.passed and certifying.unchecked(evidence_file, store_database.home()):
        click.echo(
            f"Not checked: its signer alone says that the run is confirmed, for this computer's ledger has nothing of it. Ask for theirs: rosetta verify {plain(certificate)} --with ledger.jsonl"
        )


def _remove(name: str) -> None:
    with store_database.opened() as store:
        run = runs.find_run(store, name)
        count = attachments.detach_certificates(store, run.id)
    click.echo(f"Run {plain(run.run_id[:8])}: {count} certificate{'s' * (count != 1)} taken away.")
