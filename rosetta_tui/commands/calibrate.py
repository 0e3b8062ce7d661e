"""``rosetta calibrate``: Compare scores with people's ratings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.version import VERSION
from harness.core.written_files import write_file
from harness.store.file.database import home, opened
from harness.store.runs import find_run
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import OF_VAULT, out_of_vault, vault_request
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness.card import exporting
    from harness.card.signing import signed_run
    from harness.run import vault_opening
    from harness.sealed import keys
    from harness.vault import request
    from review.calibration import evidence as calibration_evidence
    from review.calibration import proposal as proposals
    from review.calibration import ratings as calibration_ratings
    from review.calibration import signing
    from review.office.results import certifying, rating_rows, results
    from review.office.store import store
    from rosetta_tui.report import calibration
    from rosetta_tui.review.organiser.words import gate
    from scoring.calibration import calibration as scoring_calibration

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--ratings", type=_FILE, help="Ratings made elsewhere (.csv, .tsv, .jsonl).")
@click.option("--review", metavar="NAME", help="A review of yours instead of a file.")
@click.option(
    "--scale", metavar="WORST:BEST", help="Scale of a file's numbers. Default: 0:3 or words."
)
@click.option("--acceptable-from", type=float, help="Default: 2, or the middle of --scale.")
@click.option(
    "--level", type=float, default=0.7, show_default=True,
    help="Share of ratings that must be acceptable or better.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option("-o", "--output", type=_FILE, help="Write what is proposed as TOML.")
@click.option(
    "--sign", "to_sign", type=_FILE, metavar="PROPOSAL",
    help="Sign a proposal with this organisation's key, and write it to -o, for --scoring.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@out_of_vault
def calibrate(
    runs: Sequence[str],
    output: Path | None,
    to_sign: Path | None,
    overwrite: bool,
    as_json: bool,
    level: float,
    seed: int,
    **given: Any,
) -> None:
    """Compare the scores of RUNs with people's ratings of their outputs.

    A file of ratings has the columns entry_id and rating (reject, gist, acceptable, excellent, or 0 to 3), and
    reviewer and run where they matter. RUNs may be left out where the ratings name them. Nothing is changed: new
    weights and thresholds are a proposal, and are made only where there are enough ratings. The organisation may sign
    it (--sign), and runs may then be scored by it (--scoring). With a review of yours, this is a look at its ratings,
    which is written down and counts at the gate. For runs with secret entries the result is shown here, and written
    to no file and no JSON; runs from a vault need --vault and --purpose again.
    """
    _check_level(level)
    if to_sign is not None:
        _sign(to_sign, output, runs, given, overwrite=overwrite)
        return
    _refuse_taken(output, overwrite=overwrite)
    vault = vault_request({name: given.pop(name) for name in ("vault", *OF_VAULT)}, "calibrate")
    evidence = _evidence(runs, _ratings(**given), vault, leaves=as_json or output is not None)
    calibrated = _calibrated(evidence, level, seed)
    if given["review"] is not None:
        _look(str(given["review"]))
    if as_json:
        click.echo(form_text("calibrate", calibration.calibration_json(calibrated, evidence)))
    else:
        for line in calibration.calibration_lines(calibrated, evidence):
            click.echo(line)
    if output is not None:
        _write(output, calibrated, evidence, overwrite=overwrite)


def _sign(
    proposal_file: Path,
    output: Path | None,
    runs: Sequence[str],
    given: dict[str, Any],
    *,
    overwrite: bool,
) -> None:
    """Sign a proposal as this computer's organisation and write what ``--scoring`` takes."""
    if output is None or runs or given["ratings"] is not None or given["review"] is not None:
        raise UsageError(
            "--sign takes a proposal and writes the signed file, and nothing else: rosetta calibrate --sign PROPOSAL -o FILE"
        )
    _refuse_taken(output, overwrite=overwrite)
    signer = signed_run.own_signer(home(), keys.Role.ORGANISATION)
    data = signing.signed_scoring(proposal_file, signer)
    write_file(output, data, overwrite=overwrite)
    click.echo(f"Written: {plain(str(output))}", err=True)
    click.echo(
        f"Signed with the key of this organisation. Its six words are: {signer.public.phrase}\n"
        f'Others take it once settings.toml has: trusted_signers = ["{signer.public.signing_key}"]',
        err=True,
    )


def _check_level(level: float) -> None:
    if not 0 < level < 1:  # what is no number is not between them either
        raise UsageError("--level: a share between 0 and 1 is wanted, such as 0.7.")


def _refuse_taken(output: Path | None, *, overwrite: bool) -> None:
    """Refuse a name that is taken before the work is done, not after."""
    if output is not None and output.exists() and not overwrite:
        raise UsageError(
            f"{output.name} is there already. Choose another name, or add --overwrite."
        )


def _ratings(
    ratings: Path | None, review: str | None, scale: str | None, acceptable_from: float | None
) -> calibration_ratings.Ratings:
    if (ratings is None) == (review is None):
        raise UsageError("Give people's ratings: either --ratings FILE or --review NAME.")
    if ratings is not None:
        return calibration_ratings.read_ratings(
            ratings, calibration_ratings.read_scale(scale, acceptable_from)
        )
    if scale is not None or acceptable_from is not None:
        raise UsageError("--scale and --acceptable-from go with --ratings: a review has its own.")
    with store.Office.open(home()) as office:
        reviewed = office.review(str(review))
        results.refuse_withdrawn(reviewed)
        return calibration_ratings.from_review(
            reviewed.name, rating_rows.rated_items(office, reviewed)
        )


def _look(review: str) -> None:
    """Write down, before anything is shown, that the ratings of a review are examined."""
    with store.Office.open(home()) as office:
        new = certifying.look_at_ratings(office, office.review(review))
    for note in gate.look_notes(new):
        click.echo(note, err=True)


def _evidence(
    runs: Sequence[str],
    ratings: calibration_ratings.Ratings,
    vault: request.VaultRequest | None,
    *,
    leaves: bool,
) -> calibration_evidence.CalibrationEvidence:
    with opened() as connection:
        for run in calibration_evidence.rated_runs(connection, runs, ratings):
            vault_opening.open_again(connection, run, vault, "calibrate")
        evidence = calibration_evidence.gather(connection, runs, ratings)
        if leaves:
            rated = (find_run(connection, run.run_id) for run in evidence.runs)
            exporting.refuse_to_leave(connection, rated)
    if len(evidence.judgements) > scoring_calibration.MOST_OUTPUTS:
        raise UsageError(
            f"{len(evidence.judgements):,} rated outputs are more than can be compared pair by pair "
            f"({scoring_calibration.MOST_OUTPUTS:,}). Name fewer runs, or take a part of the ratings."
        )
    return evidence


def _calibrated(
    evidence: calibration_evidence.CalibrationEvidence, level: float, seed: int
) -> scoring_calibration.Calibration:
    watched = sys.stderr.isatty()

    def tell(what: str) -> None:
        if watched:  # one line, written over; a pipe or a log wants none of it
            click.echo(f"\r\x1b[Kat work on: {plain(what)} …", err=True, nl=False)

    calibration = scoring_calibration.calibrate(
        evidence.judgements,
        evidence.profile,
        languages=evidence.languages,
        level=level,
        seed=seed,
        tell=tell,
    )
    if watched:
        click.echo("\r\x1b[K", err=True, nl=False)
    return calibration


def _write(
    output: Path,
    found: scoring_calibration.Calibration,
    evidence: calibration_evidence.CalibrationEvidence,
    *,
    overwrite: bool,
) -> None:
    if not proposals.proposes(found):
        click.echo(f"Nothing is proposed, so {plain(output.name)} was not written.", err=True)
        return
    made = proposals.proposal(found, evidence, VERSION)
    write_file(output, proposals.toml_text(made).encode(), overwrite=overwrite)
    click.echo(
        f"Written: {plain(str(output))} ({proposals.HASH_FIELD} {made[proposals.HASH_FIELD]})",
        err=True,
    )
