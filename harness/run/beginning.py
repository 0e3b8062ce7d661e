"""Beginning a run, and making the method of a run that continues."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from corpora.files.json_types import JsonObject
from corpora.files.packed_list import PlaceMap
from corpora.model.corpus import Corpus
from corpora.model.entry import AnyEntry, secrets_among
from corpora.text.comparison import FORM, FORMS
from harness.card.material import fingerprint
from harness.compare.pairs import baseline_of
from harness.consent.checks import refuse_withdrawn_method
from harness.core.failures import HarnessError, RunState, UsageError
from harness.core.storage import usage_errors
from harness.core.version import VERSION
from harness.endpoint.endpoints import KeySource, find_key
from harness.method.method import Method, Priced, Setup
from harness.method.options import refuse_written_keys
from harness.privacy import ClearedMethod, Make, clear
from harness.setup.plan import (
    Plan,
    Resumption,
    RunOptions,
    corpus_folder_of,
    plan_of,
    run_options_of,
    scoring_of,
    told_of,
)
from harness.setup.preparing import prepare
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools, changes, floor_fields, require_same, stated_setup, stored_setup
from harness.store.corpora.entries import find_corpus, read_dataset, read_entries, save_corpus
from harness.store.corpora.secrecy import note_secrets, refuse_known_secrets, refuse_widened
from harness.store.mixed_setups import asked_with
from harness.store.replies import StoredFindings
from harness.store.results import failed_attempts
from harness.store.runs import Run, create_run, forget_failed, read_run, set_live
from harness.store.sqlite.database import store_path
from harness.store.sqlite.openings import Live, RunOpening, find_openings, set_opening, set_plan
from harness.store.sqlite.sealing import ready_to_seal
from harness.store.sqlite.trouble import transaction
from harness.store.withdrawn import now_standing
from scoring.card.claim import FLOORS_VERSION


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run that may begin, with all that is stored of its beginning; ``prepare_run`` makes it."""

    corpus: Corpus
    chosen: PlaceMap[AnyEntry]
    setup: Setup
    plan: Plan
    opening: RunOpening


def prepare_run(
    connection: sqlite3.Connection,
    corpus: Corpus,
    chosen: PlaceMap[AnyEntry],
    cleared: ClearedMethod,
    tools: ScoringTools,
) -> PreparedRun:
    """Check what could keep a run from beginning, then build what it shows from its first moment; nothing is stored.

    ``chosen``: its entries. ``tools``: those that ``tools_for`` gave. No text is scored before all is checked: annotators write to the store.
    """
    setup, plan = cleared.method.setup, cleared.plan.model_copy(update={"corpus_files": corpus.files})
    refuse_written_keys(plan.options)
    refuse_withdrawn_method(setup.model_dump(mode="json"), now_standing())
    refuse_widened(connection, corpus)
    check_budget(cleared.method, plan)
    refuse_known_secrets(connection, chosen.in_order)
    if plan.run.budget_usd is not None:
        tools.check_budget()
    plan = plan.model_copy(update={"run": _compared(connection, corpus, chosen, plan.run, tools)})
    reason = "" if corpus.vault is None else corpus.vault.despite_network
    network = {"despite_network": reason} if reason else {}
    opening = _opening(connection, corpus, chosen.places, tools).changed(budget_usd=plan.run.budget_usd, **network)
    return PreparedRun(corpus, chosen, setup, plan, opening)


def _compared(
    connection: sqlite3.Connection, corpus: Corpus, chosen: PlaceMap[AnyEntry], options: RunOptions, tools: ScoringTools
) -> RunOptions:
    """Return the options with the whole id of the run that the new one is compared with; UsageError where it is none."""
    if options.against is None:
        if options.stop_when is not None:
            raise UsageError("--stop-when goes with --against RUN, the run that this one is compared with.")
        return options
    secret = any(secrets_among(chosen.in_order))
    baseline = baseline_of(connection, options.against, corpus.sha256, tools.scorer, secret=secret)
    return options.model_copy(update={"against": baseline.run_id})


def begin(connection: sqlite3.Connection, prepared: PreparedRun, run_id: str | None = None) -> tuple[int, str]:
    """Store the beginning of a run and return its number and id; nothing is asked of its method yet.

    ``run_id``: a new id that the caller knows already.
    """
    corpus, setup = prepared.corpus, prepared.setup
    print_ = fingerprint(setup, corpus.sha256, VERSION)
    run_id = (corpus.vault and corpus.vault.run_id) or run_id or str(uuid.uuid4())
    secret = [*secrets_among(corpus.entries)]
    if secret:
        ready_to_seal(connection)
    with transaction(connection):
        stored = save_corpus(connection, corpus, prepared.chosen.places)
        note_secrets(connection, stored, secret)
        number = create_run(
            connection,
            run_id=run_id,
            corpus=stored,
            positions=prepared.chosen.places,
            setup=setup,
            setup_hash=print_.setup_hash or print_.hash,
            fingerprint_hash=print_.hash,
            plan=prepared.plan.model_dump(mode="json"),
            opening=prepared.opening,
            dataset_id=corpus.dataset.id,
            language_pair=corpus.dataset.language_pair,
            harness_version=VERSION,
        )
    return number, run_id


class NewIdentity(TypedDict):
    """By what a new run is another than the run it is like."""

    run_id: str
    created: float


def new_identity() -> NewIdentity:
    """Return a new run's id and the time of its beginning, by name of the field."""
    return {"run_id": str(uuid.uuid4()), "created": time.time()}


def begin_like(connection: sqlite3.Connection, run: Run) -> int:
    """Store the beginning of a new run like a given one; gives its number.

    What differs from the stored run, its ``new_identity`` above all, is put into ``run`` by
    ``dataclasses.replace``.
    """
    fields = {name: getattr(run, name) for name in _LIKE}
    return create_run(connection, **fields, harness_version=VERSION)


_LIKE = (
    "run_id", "created", "corpus", "positions", "setup", "setup_hash", "fingerprint_hash", "plan", "opening",
    "dataset_id", "language_pair",
)  # fmt: skip


def check_budget(method: Method, plan: Plan) -> None:
    """Refuse a budget that cannot be kept, where the method knows beforehand what its calls cost."""
    if plan.run.budget_usd is not None and isinstance(method, Priced):
        method.check_budget()


def tools_for(connection: sqlite3.Connection, corpus: Corpus, chosen: Sequence[AnyEntry], plan: Plan) -> ScoringTools:
    """Find what a run over some entries of a corpus is scored with."""
    return prepare(
        corpus.dataset,
        chosen,
        corpus.entries,
        plan.scoring,
        StoredFindings(store_path(connection)),
        coaching=plan.options.coaching,
        prices=plan.options.prices,
        offline=plan.run.offline,
        folder=corpus.files[0].parent if corpus.files else None,
    )


def begun_with(connection: sqlite3.Connection, run: Run) -> ScoringTools:
    """Find again what a run is scored with; raises HarnessError where it is no longer the same."""
    scoring_tools = tools_of(connection, run)
    stored = stored_setup(run, scoring_tools.setup.target_language, scoring_tools.resources.covered)
    require_same(stored, scoring_tools.setup)
    columns = run.opening.packed
    if columns is not None and list(columns) != list(scoring_tools.scorer.packed):
        raise HarnessError(
            "The run began with other versions of its metrics. Continue with the Rosetta that began it, or "
            "begin a new run."
        )
    return scoring_tools


def tools_of(connection: sqlite3.Connection, run: Run) -> ScoringTools:
    """Find what the plan of a stored run asks to score with, as it is here now.

    A run that was begun before look-alikes were made one is scored to its end without.
    """
    stated = stated_setup(run.opening.scoring)
    form = FORM if stated is None or stated.text_form not in ("", *FORMS) else stated.text_form
    return tools_with(connection, run, scoring_of(run), text_form=form)


def tools_with(
    connection: sqlite3.Connection,
    run: Run,
    options: ScoringOptions,
    prices: Path | None = None,
    *,
    text_form: str = FORM,
) -> ScoringTools:
    """Find what these options ask to score a stored run with; an imported one tells no coaching.

    ``prices``: a price table in place of the run's own. ``text_form``: as of ``prepare``.
    """
    dataset = read_dataset(connection, run.corpus)
    entries = read_entries(connection, run.corpus, dataset=dataset)
    coaching = coaching_of(run)
    return prepare(
        dataset,
        entries.at(run.positions).in_order,
        entries.in_order,
        options,
        StoredFindings(store_path(connection)),
        coaching=coaching,
        prices=prices or told_of(run).prices,
        offline=run_options_of(run).offline,
        folder=corpus_folder_of(run),
        text_form=text_form,
    )


def coaching_of(run: Run) -> Path | None:
    """Return the coaching data whose terms a stored run is scored with."""
    if "terms_from" in run.opening.model_fields_set:
        return run.opening.terms_from
    return told_of(run).coaching


def _opening(
    connection: sqlite3.Connection, corpus: Corpus, positions: Sequence[int], tools: ScoringTools
) -> RunOpening:
    """Return what a run shows from its first moment: what will be missing, the setup, and the floors where they are known.

    An earlier run on the same entries with the same setup has worked them out already; else the run does that
    while it is under way. Annotators may write to the store meanwhile, so this is no part of a transaction.
    """
    number = find_corpus(connection, corpus)
    known = None if number is None else known_opening(connection, number, positions, tools)
    if known is not None:
        return known.of_entries().changed(**_scored_with(tools))
    floors = {} if tools.scorer.mixes else floor_fields({})
    return RunOpening(**floors, missing=tools.missing(), **_scored_with(tools))


def known_opening(
    connection: sqlite3.Connection, corpus: int, positions: Sequence[int], tools: ScoringTools
) -> RunOpening | None:
    """Return the opening of an earlier run on the same entries, with the same setup, whose floors are known."""
    for known in find_openings(connection, corpus, positions, VERSION):
        stated = stated_setup(known.scoring)
        if known.floors is None or known.floors_version != FLOORS_VERSION or stated is None:
            continue
        if not changes(stated, tools.setup):
            return known
    return None


def _scored_with(tools: ScoringTools) -> dict[str, JsonObject | tuple[tuple[str, int | None], ...]]:
    """Return the set-up, and what the packed statistics of a run with these tools hold."""
    return {"scoring": tools.setup.model_dump(mode="json"), "packed": tuple(tools.scorer.packed)}


def resume_method(
    connection: sqlite3.Connection,
    run: Run,
    may_send: str | None = None,
    find_key: KeySource = find_key,
    make: Make | None = None,
) -> ClearedMethod:
    """Make the method of a run again.

    ``may_send``: a person's words that its texts may be sent, where it was begun without. ``make`` as in ``clear``. Raises UsageError where the run has nothing left to do, came from elsewhere, or where the method
    is no longer the same: a run is one experiment.
    """
    require_going_on(run)
    plan = plan_of(run)
    if may_send is not None:
        run_options = plan.run.model_copy(update={"may_send": may_send})
        plan = plan.model_copy(update={"run": run_options})
    dataset = read_dataset(connection, run.corpus)
    entries = read_entries(connection, run.corpus, dataset=dataset)
    cleared = clear(dataset, entries.at(run.positions), plan, entries.in_order, find_key, make, answered_before=True)
    # an analyser is known by its SHA-256: `fst_version` also names the engine, and all engines agree
    then, now = asked_with(run).model_dump(), cleared.method.setup.model_dump()
    if changed := [name for name in then if then[name] != now[name] and name != "fst_version"]:
        raise UsageError(
            f"The method is no longer what it was when the run began: {', '.join(changed)} "
            "changed. Restore it, or begin a new run."
        )
    return cleared


def require_going_on(run: Run) -> None:
    """Raise UsageError where a run cannot continue here, before its texts are opened: it is over, or of a submission."""
    _refuse_complete(run)
    refuse_submitted(run)


def refuse_submitted(run: Run) -> None:
    """Raise UsageError for the run of a submission: what its maker handed in is unpacked for one run alone."""
    if run.submission:
        raise UsageError(
            f"Run {run.run_id[:8]} is of submission {run.submission}, which is run as a whole. Run it again: "
            f"{run.goes_on_with}, over secret texts with CORPUS --terms FILE."
        )


def _refuse_complete(run: Run) -> None:
    if run.imported:
        raise UsageError("The run was imported as a card; it cannot continue here.")
    if run.state is RunState.COMPLETE:
        raise UsageError(f"Run {run.run_id[:8]} is complete; there is nothing to continue with.")


def take_up(connection: sqlite3.Connection, number: int, method: Method, resumption: Resumption) -> Run:
    """Return a run as it is now, with a person's changes made; the caller holds the run's lock.

    Why it stopped before is forgotten then, for the changes may have mended it, and its score so far where
    rows of it are forgotten. Raises UsageError where
    another process brought it to its end meanwhile, or a change cannot be made.
    """
    run = read_run(connection, number)
    _refuse_complete(run)
    if resumption.options:
        # Change how a run goes about its calls (budget, concurrency); never the requests.
        plan = plan_of(run)
        with usage_errors("Options"):
            options = type(plan.run).model_validate({**plan.run.model_dump(), **resumption.options})
        changed = plan.model_copy(update={"run": options})
        check_budget(method, changed)
        opening = run.opening.changed(budget_usd=options.budget_usd)
        set_plan(connection, run.id, changed.model_dump(mode="json"), opening)
    if resumption.retry_failed:
        # forget the rows of failed entries, but not how often each was tried
        with transaction(connection):
            opening = read_run(connection, number).opening
            tried = {**dict(opening.tried), **failed_attempts(connection, number)}
            opening = opening.changed(tried=tuple(sorted(tried.items())))
            set_opening(connection, number, opening)
            forget_failed(connection, number)
    live = Live(so_far={} if resumption.retry_failed or run.live is None else run.live.so_far)
    set_live(connection, number, RunState.STOPPED, live)
    if resumption.options or resumption.retry_failed:
        return read_run(connection, number)
    return run._replace(state=RunState.STOPPED, live=live)
