"""``rosetta compare``: Tell which run is better, and how sure that is.
``rosetta calibrate``: Compare scores with people's ratings.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.core.version import VERSION
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.vault import OF_VAULT, out_of_vault, vault_request
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import json_text, plain

with when_used():
    from harness.card import reading as card_reading
    from harness.card import signing
    from harness.compare import comparing, comparison, rows
    from harness.run import vault_opening
    from harness.sealed import keys
    from harness.store import runs as stored_runs
    from harness.store.sqlite import database
    from harness.vault import request
    from review.calibration import evidence as calibration_evidence
    from review.calibration import proposal
    from review.calibration import ratings as calibration_ratings
    from review.office.results import certifying, results
    from review.office.store import store
    from rosetta_tui.compare import lines
    from rosetta_tui.report import calibration
    from rosetta_tui.review.organiser.words import gate
    from scoring.calibration import calibration as scoring_calibration
    from scoring.core import inventory, packs
    from scoring.packs import views


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME",
    help="Compare by this metric only (chrf, composite, lbrag.f1, wer …); may be given several times.",
)  # fmt: skip
@click.option("--baseline", metavar="RUN", help="Compare every other run with this one only.")
@click.option(
    "--entries", "most", type=click.IntRange(0), default=0, metavar="N",
    help="Show the N entries on which the runs differ most.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option(
    "--draws", type=click.IntRange(100, 1_000_000), default=1000, show_default=True,
    help="Resamples of the bootstrap; there are ten times as many shuffles.",
)  # fmt: skip
@click.option(
    "--view", metavar="PACK",
    help="Print the numbers as the document of a pack reports them (lbrag, au, nest); one RUN will do.",
)  # fmt: skip
@click.option(
    "--form", type=click.Choice(["lbrag-metrics"]),
    help="Print the content of the metrics.json of lbrag.",
)  # fmt: skip
@click.option("--fail-if-worse", is_flag=True, help="Exit code 1 where a run is worse than the first by any metric, beyond chance.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    runs: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None,
    most: int,
    seed: int,
    draws: int,
    view: str | None,
    form: str | None,
    fail_if_worse: bool,
    as_json: bool,
) -> None:
    """Compare two to six RUNs on the entries that all of them have.

    A RUN is an id, its beginning, `last`, or `last~1` for the one before. Runs that do not compare are named
    with the reason. Texts of secret entries are never printed.
    """
    if view is not None or form is not None:
        if metrics or most or as_json or fail_if_worse:
            raise UsageError("--view goes with --baseline and --form only: it prints all numbers of a pack.")
        _report(runs, view or "lbrag", baseline, form)
        return
    metrics = [comparing.metric_asked(words, "--metric") for words in metrics]
    with database.opened() as connection:
        comparison = comparing.compare_runs(
            connection, runs, metrics=metrics or None, baseline=baseline, draws=draws, trials=10 * draws, seed=seed
        )
        comparing.require_two(comparison)
        _show(connection, comparison, most, metrics, as_json=as_json)
    if comparison.refused:
        sys.exit(2)
    first = comparison.runs[0].run_id if comparison.baseline is None else comparison.baseline
    pairs = [pair for pair in comparison.pairs if first in {pair.first.run_id, pair.second.run_id}]
    if fail_if_worse and any(
        better is not None and better.run_id == first for pair in pairs for better in map(pair.better, pair.by_metric)
    ):
        sys.exit(1)


def _report(runs: Sequence[str], view: str, baseline: str | None, form: str | None) -> None:
    """Print runs as the document of a pack reports its metrics."""
    pack = packs.pack_named(inventory.pack_called(view) or view)
    if pack is None or not pack.view:
        known = ", ".join(shipped_pack.name for shipped_pack in packs.shipped_packs() if shipped_pack.view)
        raise UsageError(f"--view: there is no view {view[:40]!r}; there are {known}.")
    if form is not None and pack.name != "lbrag":
        raise UsageError("--form lbrag-metrics goes with --view lbrag.")
    with database.opened() as connection:
        reported_runs = rows.reported_runs(connection, runs, pack, baseline)
        inside = form and any(
            card_reading.must_be_released(connection, reported_run.run) for reported_run in reported_runs
        )
    systems = {reported_run.name: reported_run.totals for reported_run in reported_runs}
    if form is not None:
        if inside:
            raise UsageError(_INSIDE)
        click.echo(json_text(views.lbrag_metrics(systems)))
        return
    if pack.name == "lbrag":
        lines = list(views.lbrag_summary(systems))
    else:
        shown = {name: views.figure_lines(views.figures(pack, totals)) for name, totals in systems.items()}
        lines = [line for name, figures in shown.items() for line in (name, *(f"  {figure}" for figure in figures))]
    for line in lines:
        click.echo(plain(line))


def _show(
    connection: sqlite3.Connection, found: comparison.Comparison, most: int, metrics: Sequence[str], *, as_json: bool
) -> None:
    metric = ""
    if most:  # the first metric asked for that single entries have, else chrF++
        asked = (*metrics, "chrf_plus_plus", *found.entries.values)
        metric = next((name for name in asked if name in found.entries.values), "")
        if not metric:
            raise UsageError(
                "--entries: single entries have no value of this metric; it is one of a whole corpus. Name another "
                "one, such as --metric chrf_plus_plus."
            )
    places = found.entries.spread_first(metric)[:most] if most else []
    texts = comparison.open_texts(connection, found.entries, found.sides, places)
    if as_json:
        if found.entries.secret.any():
            raise UsageError(_INSIDE)
        shown = dict(lines.comparison_json(found))
        if most:
            shown["biggest_differences"] = lines.entries_json(found, metric, places, texts)
        click.echo(form_text("compare", shown))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines.comparison_lines(found, width):
        click.echo(line)
    if most:
        for line in lines.entry_lines(found, metric, places, texts):
            click.echo(line)
    for line in lines.refusals(found):
        click.echo(line, err=True)


_INSIDE = (
    "These runs have secret entries: how they differ leaves in no file or pipe but as a signed, coarse and counted difference: "
    "rosetta vault compare RUN RUN -o FILE. Without --json it is shown here."
)


# ---- Compare scores with people's ratings ----

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--ratings", type=_FILE, help="Ratings made elsewhere (.csv, .tsv, .jsonl).")
@click.option("--review", metavar="NAME", help="A review of yours instead of a file.")
@click.option("--scale", metavar="WORST:BEST", help="Scale of a file's numbers. Default: 0:3 or words.")
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
    if not 0 < level < 1:  # what is no number is not between them either
        raise UsageError("--level: a share between 0 and 1 is wanted, such as 0.7.")
    if to_sign is not None:
        alone = not runs and given["ratings"] is None and given["review"] is None
        _sign(to_sign, output if alone else None, overwrite=overwrite)
        return
    _refuse_taken(output, overwrite=overwrite)
    vault = vault_request({name: given.pop(name) for name in ("vault", *OF_VAULT)}, "calibrate")
    evidence = _evidence(runs, _ratings(**given), vault, leaves=as_json or output is not None)
    calibrated = _calibrated(evidence, level, seed)
    if given["review"] is not None:
        # Write down, before anything is shown, that the ratings of a review are examined.
        review = str(given["review"])
        with store.Office.open(database.home()) as office:
            new = certifying.look_at_ratings(office, office.review(review))
        for note in gate.look_notes(new):
            click.echo(note, err=True)
    if as_json:
        click.echo(form_text("calibrate", calibration.calibration_json(calibrated, evidence)))
    else:
        for line in calibration.calibration_lines(calibrated, evidence):
            click.echo(line)
    if output is not None:
        _write(output, calibrated, evidence, overwrite=overwrite)


def _sign(proposal_file: Path, output: Path | None, *, overwrite: bool) -> None:
    """Sign a proposal as this computer's organisation and write what ``--scoring`` takes; UsageError without ``output``."""
    if output is None:
        raise UsageError(
            "--sign takes a proposal and writes the signed file, and nothing else: rosetta calibrate --sign PROPOSAL -o FILE"
        )
    _refuse_taken(output, overwrite=overwrite)
    signer = signing.own_signer(database.home(), keys.Role.ORGANISATION)
    data = proposal.signed_scoring(proposal_file, signer)
    write_file(output, data, overwrite=overwrite)
    click.echo(f"Written: {plain(str(output))}", err=True)
    click.echo(
        f"Signed with the key of this organisation. Its six words are: {signer.public.phrase}\n"
        f'Others take it once settings.toml has: trusted_signers = ["{signer.public.signing_key}"]',
        err=True,
    )


def _refuse_taken(output: Path | None, *, overwrite: bool) -> None:
    """Refuse a name that is taken before the work is done, not after."""
    if output is not None and output.exists() and not overwrite:
        raise UsageError(f"{output.name} is there already. Choose another name, or add --overwrite.")


def _ratings(
    ratings: Path | None, review: str | None, scale: str | None, acceptable_from: float | None
) -> calibration_ratings.Ratings:
    if (ratings is None) == (review is None):
        raise UsageError("Give people's ratings: either --ratings FILE or --review NAME.")
    if ratings is not None:
        return calibration_ratings.read_ratings(ratings, calibration_ratings.read_scale(scale, acceptable_from))
    if scale is not None or acceptable_from is not None:
        raise UsageError("--scale and --acceptable-from go with --ratings: a review has its own.")
    with store.Office.open(database.home()) as office:
        reviewed = office.review(str(review))
        results.refuse_withdrawn(reviewed)
        return calibration_ratings.from_review(reviewed.name, results.rated_items(office, reviewed))


def _evidence(
    runs: Sequence[str], ratings: calibration_ratings.Ratings, vault: request.VaultRequest | None, *, leaves: bool
) -> calibration_evidence.CalibrationEvidence:
    with database.opened() as connection:
        for run in calibration_evidence.rated_runs(connection, runs, ratings):
            vault_opening.open_again(connection, run, vault, "calibrate")
        evidence = calibration_evidence.gather(connection, runs, ratings)
        if leaves:
            rated = (stored_runs.find_run(connection, run.run_id) for run in evidence.runs)
            card_reading.refuse_to_leave(connection, rated)
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
        evidence.judgements, evidence.profile, languages=evidence.languages, level=level, seed=seed, tell=tell
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
    if not proposal.proposes(found):
        click.echo(f"Nothing is proposed, so {plain(output.name)} was not written.", err=True)
        return
    made = proposal.proposal(found, evidence, VERSION)
    write_file(output, proposal.toml_text(made).encode(), overwrite=overwrite)
    click.echo(f"Written: {plain(str(output))} ({proposal.HASH_FIELD} {made[proposal.HASH_FIELD]})", err=True)
