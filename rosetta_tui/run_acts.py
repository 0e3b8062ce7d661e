"""What a person does with a run of the list: each act works in a thread and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.screen import Screen

from rosetta_tui import figures
from rosetta_tui.messages import NewRunAsked, RunChosen, RunResumed, RunRetried
from rosetta_tui.run_facts import setup_words
from rosetta_tui.screens.confirm import ConfirmScreen
from rosetta_tui.screens.notes import NotesScreen, Words
from rosetta_tui.text import plain, show
from rosetta_tui.waiting import may_resume, may_retry

if TYPE_CHECKING:
    import sqlite3

    from harness.store.runs import RunSummary
    from rosetta_tui.screens.score_again import ScoredAgain

Work = Callable[["sqlite3.Connection"], str]
"""Does something in the store and gives the words that tell of it; called in a thread."""


ACTS = frozenset({"mark", "compare", "notes", "put_away", "like", "sort", "filter", "search"})
"""What can be done with any run."""

SOMETIMES = ACTS | {"resume", "retry", "score_again", "bring_back"}
"""What cannot always be done on a screen with a list of runs."""


def possible(run: RunSummary | None, *, deleted: bool, any_run: bool) -> frozenset[str]:
    """Give what can be done now of SOMETIMES, with this run under the cursor.

    ``deleted`` says whether a run can be brought back, ``any_run`` whether there is one, shown or not.
    """
    can = {"bring_back"} if deleted else set()
    can |= {"search"} if any_run else set()
    if run is not None:
        can |= ACTS
        can |= {"resume"} if may_resume(run) else {"retry"} if may_retry(run) else set()
        can |= {"score_again"} if run.card is not None else set()
    return frozenset(can)


class RunActs:
    """Belongs to a screen, which reads its list again after each act."""

    def __init__(self, screen: Screen[None], path: Path, after: Callable[[], None]) -> None:
        self._screen = screen
        self._path = path
        self._after = after

    def put_away(self, run: RunSummary) -> None:
        """Delete a run so that it can be brought back; one with secret texts only for good, after a question."""
        self._do("Delete", partial(self._put_away, run))

    def _put_away(self, run: RunSummary, store: sqlite3.Connection) -> str:
        from harness.store.deletion import HoldsSecrets, put_away

        try:
            put_away(store, run.number)
        except HoldsSecrets:
            self._screen.app.call_from_thread(self._ask_to_erase, run)
            return ""
        return f"Deleted: {_name(run)}. It can be brought back for a week."

    def _ask_to_erase(self, run: RunSummary) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                self._do("Delete", partial(_erase, run))

        question = Content.assemble(
            ("Erase this run for good?\n\n", "bold"),
            show(_name(run)),
            f"\nIt holds texts of a secret segment, so it is not kept for an undo: "
            f"{figures.count(run.done)} outputs, their scores",
            " and the sealed card" if run.card is not None else "",
            " go at once.",
        )
        self._screen.app.push_screen(ConfirmScreen(question, "Erase"), answered)

    def bring_back(self) -> None:
        """Bring back the run that was deleted last."""
        self._do("Undo", _bring_back)

    def notes(self, run: RunSummary) -> None:
        """Ask for tags and a note."""

        def answered(kept: bool | None) -> None:
            if kept:
                self._screen.notify("Tags and note are kept.", markup=False)
                self._after()

        keep = partial(_keep_words, self._path, run.number)
        self._screen.app.push_screen(NotesScreen(_name(run), run.tags, run.note, keep), answered)

    def score_again(self, run: RunSummary) -> None:
        """Ask with what a run's outputs are to be scored again; no method is called."""
        self._do("Score again", partial(self._ask_to_score, run))

    def _ask_to_score(self, run: RunSummary, store: sqlite3.Connection) -> str:
        from harness.store.runs import read_run
        from rosetta_tui.screens.score_again import ScoreAgainScreen, fields_of

        before = fields_of(read_run(store, run.number).plan)
        screen = ScoreAgainScreen(self._path, run.number, _name(run), before)
        self._screen.app.call_from_thread(self._screen.app.push_screen, screen, self._scored)
        return ""

    def _scored(self, made: ScoredAgain | None) -> None:
        if made is None:
            return
        self._after()
        said = "\n".join(["Scored again: this is a new run that names the old one.", *made.notes])
        self._screen.notify(plain(said), markup=False)
        self._screen.post_message(RunChosen(made.run_id, True))

    def resume(self, run_id: str, reason: str = "") -> None:
        """Go on with a run that stopped; ask first what becomes of failed entries and of the budget.

        ``reason`` says why it stopped, where that is known.
        """
        self._do("Go on", partial(self._resume, run_id, reason))

    def _resume(self, run_id: str, reason: str, store: sqlite3.Connection) -> str:
        from harness.store.runs import read_run
        from harness.store.stretches import spent_usd
        from rosetta_tui.screens.go_on import GoOn, GoOnScreen, Stop

        run = _summary(store, run_id)
        stop = Stop(
            run_id=run_id,
            name=_name(run),
            waiting=run.total - run.done,
            failed=run.failed,
            budget_usd=read_run(store, run.number).plan.get("run", {}).get("budget_usd"),
            spent_usd=spent_usd(store, run.number),
            reason=reason,
        )

        def answered(how: GoOn | None) -> None:
            if how is not None:
                self._screen.post_message(RunResumed(run_id, how.options, how.retry_failed))

        app = self._screen.app
        if stop.asks:
            app.call_from_thread(app.push_screen, GoOnScreen(stop), answered)
        else:
            app.call_from_thread(answered, GoOn({}, retry_failed=False))
        return ""

    def retry(self, run_id: str) -> None:
        """Ask how the failed entries of a run are to be asked for again."""
        self._do("Retry", partial(self._retry, run_id))

    def _retry(self, run_id: str, store: sqlite3.Connection) -> str:
        from harness.plan import Plan
        from harness.retrying import changed_plan
        from harness.store.runs import read_run
        from rosetta_tui.screens.retry import RetryScreen, settings_of

        summary = _summary(store, run_id)
        plan = read_run(store, summary.number).plan
        check = partial(changed_plan, Plan.model_validate(plan))
        kept = summary.total - summary.failed
        screen = RetryScreen(_name(summary), summary.failed, kept, settings_of(plan), check)

        def answered(changes: dict[str, Any] | None) -> None:
            if changes is not None:
                self._screen.post_message(RunRetried(run_id, changes))

        self._screen.app.call_from_thread(self._screen.app.push_screen, screen, answered)
        return ""

    def like(self, run: RunSummary) -> None:
        """Open the form of a new run with everything as in this one."""
        self._do("New run", partial(self._like, run))

    def _like(self, run: RunSummary, store: sqlite3.Connection) -> str:
        from harness.store.runs import read_run
        from rosetta_tui.run_draft import RunDraft

        draft = RunDraft.of_run(read_run(store, run.number), store)
        self._screen.app.call_from_thread(self._screen.post_message, NewRunAsked(draft))
        return ""

    def _do(self, title: str, work: Work) -> None:
        self._screen.run_worker(partial(self._work, title, work), thread=True, group="acts")

    def _work(self, title: str, work: Work) -> None:
        from corpora.problems import CorpusError
        from harness.failures import HarnessError
        from harness.store.database import opened

        app = self._screen.app
        try:
            with opened(self._path) as store:
                said = work(store)
        except (CorpusError, HarnessError) as error:
            app.notify(plain(str(error)), title=title, severity="error", markup=False)
        else:
            if said:
                app.notify(plain(said), markup=False)
            app.call_from_thread(self._after)


def any_deleted(store: sqlite3.Connection) -> bool:
    """Tell whether there is a run that can be brought back."""
    from harness.failures import UsageError
    from harness.store.runs import find_put_away

    try:
        find_put_away(store, "last")
    except UsageError:
        return False
    return True


def _name(run: RunSummary) -> str:
    return f"{run.dataset_id} · {setup_words(run)} · {run.run_id[:8]}"


def _summary(store: sqlite3.Connection, run_id: str) -> RunSummary:
    """Give the line of a run; UsageError where another process deleted it meanwhile."""
    from harness.failures import UsageError
    from harness.store.runs import list_runs

    for run in list_runs(store, brief=True):
        if run.run_id == run_id:
            return run
    raise UsageError("This run is gone: it was deleted meanwhile.")


def _erase(run: RunSummary, store: sqlite3.Connection) -> str:
    from harness.store.deletion import erase
    from harness.store.runs import read_run

    erase(store, read_run(store, run.number))
    return f"Erased: {_name(run)}."


def _bring_back(store: sqlite3.Connection) -> str:
    from harness.store.deletion import bring_back
    from harness.store.runs import find_put_away

    run = find_put_away(store, "last")
    bring_back(store, run.id)
    return f"Brought back: {run.dataset_id} · {run.run_id[:8]}."


def _keep_words(path: Path, run: int, words: Words) -> None:
    from harness.store.database import opened
    from harness.store.notes import change_words

    with opened(path) as store:
        change_words(store, run, note=words.note, add=words.add, remove=words.remove)
