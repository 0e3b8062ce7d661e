"""A submission's run over secret entries: noted before the texts are opened, judged by whose fault its end is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from corpora.model.corpus import Selection
from corpora.model.entry import Segment
from harness import api
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawn, standing
from harness.core.failures import HarnessError, UsageError
from harness.method.method import Method
from harness.release.ledger import check_anchor, own_ledger
from harness.run.vault_opening import ask_keepers, run_terms
from harness.setup.scoring_options import ScoringOptions
from harness.store.sqlite.database import default_path, home, opened
from harness.submission import rehearsal
from harness.submission.bundle import Submission
from harness.submission.desk import KeptSubmission, SubmissionEvent
from harness.submission.rehearsal import LanePlan, ModelHere, run_outcome
from harness.vault.request import VaultNoting
from harness.vault.vault_records import MOST_WORDS, RunTerms
from rosetta_tui.app.display import to_the_end
from rosetta_tui.commands.submission.store import desk, say
from rosetta_tui.request.reading import read_corpus
from rosetta_tui.request.vault import vault_request

_NOT_TOLD: Mapping[str, Any] = {"form": None, "corpus_id": None, "source_language": None, "target_language": None}
"""Options of reading a corpus that a submission's run does not have."""


def over_secrets(
    found: KeptSubmission,
    place: Path,
    plan: LanePlan,
    model: ModelHere | None,
    given: Mapping[str, Any],
    style: str | None,
) -> int:
    """Run a submission over secret entries; return 0 where there is something to tell its maker, else an exit code.

    The desk has it before the texts are opened. What keeps it from running is noted as such, and raised.
    """
    name, openings = str(given["file"]), list[VaultNoting]()
    if given["vault"] is not None:
        check_anchor(own_ledger(home()), given["vault"])
    rehearsal.require_kept_here(found.submission, place, plan, model, trusted=given["trust_local_server"])
    # Raise Withdrawn for a corpus that was taken back, before a vault is opened for it: by its
    # name, in the languages of the submission.
    facts = CorpusFacts("", name, found.manifest.source_language, found.manifest.target_language)
    if (notice := standing(home()).of_corpus(facts)) is not None:
        raise Withdrawn(f"Corpus {name}", notice)
    if found.state.what is SubmissionEvent.SCORED:
        say([f"Its maker was not told the scores of run {found.state.run[:8]} yet: rosetta submission tell {found.number}. This is another run."])  # fmt: skip
    if (vault := vault_request(given)) is not None:
        ask_keepers(name, vault, _terms(found, model, given))
    desk().note(found.submission, SubmissionEvent.BEGUN, corpus=name)
    with ExitStack() as log:
        with _noted(found.submission, SubmissionEvent.NOT_BEGUN, name, "The command was refused."):
            request = _request(found, plan, model, given, openings)
            cleared = rehearsal.cleared_method(found.submission, place, model, request, open_data=False)
            ready = api.start(default_path(), request, cleared)
            log.enter_context(_in_log(openings, ready.run_id, ready.method))
        with _noted(found.submission, SubmissionEvent.NOT_RUN, name, "This program ended on the way."):
            finished, code = to_the_end(ready, style)
    with opened() as connection:
        came = run_outcome(connection, finished, ready.method, interrupted=code == 130)
    words = came.stage or came.words
    desk().note(found.submission, came.act, finished.run_id, request.corpus.dataset.id, words)
    if came.act is SubmissionEvent.NOT_RUN:
        say([f"Not run, and not the submission's fault: {came.words} It does not count as an answer. A grant that was used is gone: when that is fixed, the same command asks the keepers for another."])  # fmt: skip
    elif came.act is SubmissionEvent.REFUSED:
        say([f"Nothing in it could be scored. {came.words}"])
    return (code or 1) if came.act is SubmissionEvent.NOT_RUN else 0


@contextmanager
def _in_log(openings: list[VaultNoting], run_id: str, method: Method) -> Iterator[None]:
    """Record in a vault's log that a method may ask a model, before it does, and in the end how often it did.

    Nothing is written of one that asks none, or of texts out of a file. After a kill the log has the first line alone.
    """
    if method.endpoint is None or not openings:
        yield
        return
    what = (run_id, method.endpoint[:MOST_WORDS], method.setup.model_slug[:MOST_WORDS])
    openings[-1].note_model(*what)
    try:
        yield
    finally:
        try:
            openings[-1].note_model(*what, calls=rehearsal.asked_by(method))
        except HarnessError as error:
            say([f"The vault's log could not be told how often the model was asked ({rehearsal.asked_by(method):,} times): {error}"])  # fmt: skip


@contextmanager
def _noted(submission: Submission, act: SubmissionEvent, corpus: str, words: str) -> Iterator[None]:
    """Record what an error or Ctrl-C makes of a run; in these words, for those of an error may hold a sentence."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        desk().note(submission, act, corpus=corpus, words=words)
        raise


def _request(
    found: KeptSubmission,
    plan: LanePlan,
    model: ModelHere | None,
    given: Mapping[str, Any],
    openings: list[VaultNoting],
) -> api.RunRequest:
    """Open the corpus and ask for the run; a vault is opened for exactly this bundle, by its hash, and ``openings`` has by whom."""
    selection, terms = _selection(given), None
    if given.get("vault") is not None:
        terms = _terms(found, model, given)
    corpus = read_corpus({**_NOT_TOLD, **given}, None, work="run", terms=terms, opened=openings.append)
    if given["confirm"]:
        selection = api.confirming(corpus, selection, own_ledger(home()))
    more = {"trust_local_server": True} if given["trust_local_server"] else {}
    request = api.ask(corpus, plan.method, {**plan.told, **more}, selection)
    if not request.secret:
        raise UsageError("These entries are open, and a submission is held against its claim on open ones already: name a corpus with secret entries.")  # fmt: skip
    return request


def _selection(given: Mapping[str, Any]) -> Selection:
    return Selection(segments=tuple(Segment(name) for name in given["segment"]))


def _terms(found: KeptSubmission, model: ModelHere | None, given: Mapping[str, Any]) -> RunTerms:
    """Return what the keepers allow: exactly this bundle by its hash, with this model and these entries."""
    asked = {} if model is None else {"endpoint": model.endpoint, "model": model.model}
    return run_terms(str(found.path), asked, ScoringOptions(), _selection(given))
