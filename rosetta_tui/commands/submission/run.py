"""``rosetta submission run``: Rehearse a submission on open texts, then run it over secret ones and report the result.
``rosetta submission tell``: Write the report of a submission's last run to its maker.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import click

from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.method.method_names import BUNDLE_SUFFIX
from harness.method.option_table import SEGMENTS
from rosetta_tui.commands.naming import in_lines, when_used
from rosetta_tui.commands.submission.store import FILE, NAMED, SUBMITTER, bundle_lines, check_lines, desk, kept, say
from rosetta_tui.request.click_options import adding
from rosetta_tui.request.options import CONFIRM
from rosetta_tui.request.vault import out_of_vault, vault_request

# ---- The report to the maker of a submission: a released card or a released refusal, in a file,
# counted in the budget.

with when_used():
    from harness import api
    from harness.method import method as methods
    from harness.release import budget, ledger, ledger_records, releasing
    from harness.run import vault_opening
    from harness.store import runs
    from harness.store.sqlite import database
    from harness.submission import desk as desks
    from harness.submission import folder, rehearsal
    from harness.vault import request as requests
    from rosetta_tui.app import display
    from rosetta_tui.commands.submission import secret_run
    from rosetta_tui.report import paragraphs as run_records
    from rosetta_tui.show import released_words


def require_free(output: Path | None) -> None:
    """Refuse a name that is taken, or a folder that takes nothing, before anything is run or an answer is counted."""
    if output is not None and output.exists():
        raise UsageError(f"{output.name} is there already. Choose another name.")
    if output is not None and not os.access(output.absolute().parent, os.W_OK | os.X_OK):
        raise UsageError(
            f"{output.absolute().parent}: not a folder that you may write to. Make it, or name another with -o."
        )


def tell_of(
    kept: desks.KeptSubmission,
    output: Path | None,
    submitter: str | None,
    vault: Mapping[str, Any],
    open_texts: Callable[[sqlite3.Connection, runs.Run], None] | None = None,
) -> bool:
    """Write the report of a submission's last run to its maker, and return whether anything is released; else print why not.

    ``submitter``: whose budget it counts in; None: that of the name in the bundle. ``vault``: the options that name one. ``open_texts`` opens the texts of the run, where they are not open; what is withheld without them is withheld before. The ledger has it first. The same run gives the same file again, and counts once.
    """
    last = kept.judged
    name = submitter or kept.manifest.submitter
    known = ledger.own_ledger(database.home(), clock_was_wrong=bool(vault["clock_was_wrong"]))
    before = len(known.read().answers)
    try:
        with database.opened() as connection, ledger.anchored(known, vault["vault"]):
            run = runs.find_run(connection, last.run)
            if last.what is desks.SubmissionEvent.REFUSED:
                stage = next(stage for stage in get_args(ledger_records.RefusedStage) if stage == last.words)
                data = releasing.release_refusal(connection, run.id, name, stage, known)
            else:
                opening = None if open_texts is None else partial(open_texts, connection, run)
                data = releasing.release_run(connection, run.id, name, known, opening)
    except budget.NotReleased as kept_back:
        unwritten = "" if output is None else f" {output} was not written."
        waits = isinstance(kept_back, budget.NotYetReleased)
        later = f" Later: rosetta submission tell {kept.number}" if waits else ""
        say([f"Its scores are not released{' now' if waits else ''}: {kept_back}{unwritten}{later}"])
        return False
    path = output or kept.folder / f"{last.run[:8]}.told.json"
    _write(path, data, kept.number, overwrite=output is None)
    released = json.loads(data)
    words = last.words if "stage" in released else released["shortfall"] or released["confirmation"]
    desk().note(kept.submission, desks.SubmissionEvent.TOLD, last.run, last.corpus, words)
    counts = "It counts as an answer" if len(known.read().answers) > before else "It is the same answer as before, and counts once"  # fmt: skip
    say([f"The report for {name}: {path}. {counts}; `rosetta report released {path} -o page.html` makes a page of it."])
    if "stage" not in released:
        card = ledger_records.ReleasedCard.model_validate_json(data)
        say(filter(None, [released_words.repeated(card), released_words.confirmation(card.shortfall)]))
    return True


def _write(path: Path, data: bytes, number: str, *, overwrite: bool) -> None:
    """Write a report, which is counted by now; where it cannot be written, print how to have it again."""
    try:
        write_file(path, data, overwrite=overwrite)
    except UsageError as error:
        raise UsageError(
            f"{error} The answer is counted; the same again, which does not count: rosetta submission tell {number} -o FILE, with "
            "--vault and --purpose where the corpus is in a vault."
        ) from None


_NOT_KEPT: Final = (
    "For you, and not for its maker: sentences of this open corpus are secret in another one on this computer. The rehearsal "
    "runs all the same, on this computer alone, keeps no texts and is in no list of runs; nothing has to be erased."
)


@click.command()
@click.argument("submission", metavar=NAMED)
@click.argument("corpus", required=False, metavar="[CORPUS]")
@click.option("--rehearse-on", type=FILE, metavar="FILE", help="The open corpus that its card is about, where this computer does not have it.")  # fmt: skip
@click.option("--rehearse-again", is_flag=True, help="Rehearse it even if it was rehearsed before.")
@click.option("--terms", type=FILE, metavar="FILE", help="Your terms: those that must have been accepted. CORPUS needs them.")  # fmt: skip
@click.option("--segment", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment.")
@CONFIRM
@click.option("--endpoint", help="Where on this computer it may ask a model.")
@click.option("--model", help="The model that it may ask there.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="The report for its maker. Default: a file next to the submission in the data folder.")  # fmt: skip
@SUBMITTER
@adding("trust_local_server")
@out_of_vault
@in_lines
def run(
    submission: str,
    corpus: str | None,
    rehearse_on: Path | None,
    terms: Path | None,
    output: Path | None,
    submitter: str | None,
    style: str | None,
    *,
    rehearse_again: bool,
    **given: Any,
) -> None:
    """Run a submission over the open entries of its card, and compare the scores with those that it claims.

    With CORPUS it is then run over the secret entries of that corpus: a file, or with --vault the name of a corpus
    there; the keepers are asked only now. Where several open it together, the request is written next to FILE, and
    their answers are waited for there; without a terminal the command ends, and the same one continues with them. Code
    runs in a box, data through this program's own methods. Its maker gets coarse scores and five caveats as yes or no,
    or where it stopped; both count as an answer (rosetta vault budget). A failure of this computer does not count as an
    answer, and the submission may be run again.
    """
    if corpus is None and given["vault"] is not None:
        raise click.UsageError("--vault goes with CORPUS, the name of a corpus in it.")
    if corpus is None and output is not None:
        raise click.UsageError("-o goes with CORPUS: a rehearsal has no report.")
    if corpus is not None and terms is None:
        raise click.UsageError("CORPUS needs --terms FILE: your terms, which its maker must have accepted.")
    if corpus is None and given["confirm"]:
        raise click.UsageError("--confirm goes with CORPUS: a rehearsal confirms nothing.")
    require_free(output)
    kept_submission = kept(submission)
    say(bundle_lines(kept_submission.submission))
    checks = folder.check_submission(kept_submission.submission, None if terms is None else folder.terms_sha256(terms))
    say(check_lines(checks))
    folder.require_parts(checks, for_secrets=corpus is not None)
    model = _model(given)
    with rehearsal.unpacked(kept_submission.submission, database.home()) as place:
        plan = rehearsal.lane_plan(kept_submission.submission, place, model)
        if rehearse_again or not kept_submission.rehearsed_with(str(model or "")):
            _rehearse(kept_submission, place, plan, model, rehearse_on, style, given)
        else:
            say([f"It was rehearsed before, and its claim held ({kept_submission.number})."])
        if corpus is not None:
            beside = Path(submission).parent if Path(submission).exists() else Path()
            request = beside / kept_submission.path.name.replace(BUNDLE_SUFFIX, requests.REQUEST_SUFFIX)
            asked = {**given, "file": corpus, "request": request}
            code = secret_run.over_secrets(kept_submission, place, plan, model, asked, style)
            if not code:
                tell_of(desk().find(kept_submission.number), output, submitter, given)
            raise click.exceptions.Exit(code)
    say([f"Next, over secret texts: rosetta submission run {kept_submission.number} CORPUS --terms FILE, with --vault FOLDER and --purpose WORDS if it is in a vault."])  # fmt: skip


def _model(given: Mapping[str, Any]) -> rehearsal.ModelHere | None:
    endpoint, model = given["endpoint"], given["model"]
    if (endpoint is None) != (model is None):
        raise click.UsageError("--endpoint and --model go together.")
    return None if endpoint is None else rehearsal.ModelHere(endpoint, model)


def _rehearse(
    found: desks.KeptSubmission,
    place: Path,
    plan: rehearsal.LanePlan,
    model: rehearsal.ModelHere | None,
    on: Path | None,
    style: str | None,
    given: Mapping[str, Any],
) -> None:
    """Run it over the open entries of its card; exits where it does not give the scores that it claims."""
    corpus = rehearsal.rehearsal_corpus(found.submission, on)
    more = {"trust_local_server": True} if given["trust_local_server"] else {}
    request = rehearsal.rehearsal_request(found.submission, plan, corpus, more)
    say([f"Rehearsal over {len(request.entries):,} open entries of {corpus.dataset.id}."])
    request, store = rehearsal.rehearsal_place(request, database.default_path(), place)
    kept_here = store == database.default_path()
    if not kept_here:
        say([_NOT_KEPT])
        rehearsal.require_kept_here(found.submission, place, plan, model, trusted=given["trust_local_server"])
    cleared = rehearsal.cleared_method(found.submission, place, model, request, open_data=True)
    finished, code = display.to_the_end(api.start(store, request, cleared), style)
    if not finished.card_hash:
        say([f"The rehearsal did not finish: {finished.reason or 'it was stopped'}", *_words(cleared.method)])
        raise click.exceptions.Exit(code or 1)
    with database.opened(store) as connection:
        rehearsed = rehearsal.rehearsed(connection, found.submission, finished.run_id)
    rehearsed = rehearsed if kept_here else replace(rehearsed, run="")
    rehearsal.note_rehearsal(desk(), found.submission, rehearsed, corpus.dataset.id, model)
    say(run_records.deviation_lines(rehearsed.found, rehearsed.claimed), aside=False)
    if not rehearsed.repeated:
        card = f", and the run's card: rosetta runs export {rehearsed.run[:8]}" if kept_here else ""
        say([f"Its claim does not hold here, so no keeper is asked. Send its maker these numbers{card}.", *_words(cleared.method)])  # fmt: skip
        raise click.exceptions.Exit(1)
    say(["Its claim holds here, within 2 %."], aside=False)


def _words(method: methods.Method) -> list[str]:
    """Return what code wrote at a rehearsal before it failed; it saw open texts only."""
    words = getattr(method, "words", "")
    return [f"It wrote: {line}" for line in str(words).splitlines()[-20:]]


# ---- Write the report of a submission's last run to its maker ----


@click.command()
@click.argument("submission", metavar=NAMED)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Default: a file beside the submission in the data folder.")  # fmt: skip
@SUBMITTER
@out_of_vault
def tell(submission: str, output: Path | None, submitter: str | None, **vault: Any) -> None:
    """Write the released card of the last run over secret entries, or the refusal, if the budget held it back before.

    The same run gives the same file again, and counts once. The scores of a run from a vault need --vault and
    --purpose. If there is nothing to tell yet, no file is written, and the exit code is 1.
    """
    require_free(output)
    submitted = kept(submission)

    def open_texts(connection: sqlite3.Connection, run: runs.Run) -> None:
        vault_opening.open_again(connection, run, vault_request(vault), "seal")

    if not tell_of(submitted, output, submitter, vault, open_texts):
        raise click.exceptions.Exit(1)
