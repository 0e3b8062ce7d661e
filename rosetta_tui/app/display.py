"""Starts or resumes a run and shows it: live on a terminal, as lines where it is piped."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

import click

from corpora.text.messages import near_names, one_of
from harness import api
from harness.api import Ready, RunRequest
from harness.card.reading import block, refuse_inside
from harness.card.rows import load_card
from harness.core.failures import RunState, UsageError
from harness.endpoint import offline
from harness.endpoint.endpoints import list_models
from harness.method.option_table import LIMITS, OptionKind, of_command
from harness.privacy import NobodyAnswersForServer, NobodySaidWhetherToSend, remember
from harness.run.events import Control, Event, Failed, Finished, Progress
from harness.run.final_scores import unconnected, unconnected_words
from harness.run.loop import NOT_FOUND
from harness.settings import read_settings
from harness.setup.plan import PlanChanges, Resumption, run_options_of, scoring_of, told_of
from harness.store.runs import Run, find_open_run, find_run, read_card, runs_back
from harness.store.sqlite.database import default_path, home, opened
from harness.vault.request import VaultRequest
from rosetta_tui.app.launch import run_detached, watch
from rosetta_tui.report.card import card_in_short
from rosetta_tui.report.run import JsonLines, PlainLines, finished_line
from rosetta_tui.session.engine import PATIENCE_SECONDS, Engine
from rosetta_tui.show.json_forms import say_preparing
from rosetta_tui.show.terminal_notices import TerminalNotices
from rosetta_tui.show.text import json_text, plain

LOOK_SECONDS = 0.1
MOST_SERVED = 8  # models of an endpoint that are named at most


AtEnd = Callable[[Path, str], int]  # is called with a complete run; returns an exit code


def start_and_show(asked: RunRequest, style: str | None, at_end: AtEnd | None = None) -> None:
    """Start a run and show it until its end; exits with the code that says how it ended."""
    if style == "card" and asked.secret:
        raise UsageError(
            "These entries are secret, so their scores leave as a released card only. Leave --json out; afterwards: "
            "rosetta runs export RUN --submitter NAME -o FILE."
        )
    terms = asked.corpus.dataset.terms
    if terms.local_only and style != "json-lines":
        click.echo(plain(f"Terms of the corpus: {terms.words}."), err=True)
    if asked.secret and style != "json-lines" and (ways := offline.network_routes()):
        click.echo(plain(offline.notice(ways)), err=True)
    try:
        cleared = asked.clear()
    except NobodySaidWhetherToSend as unknown:
        if not can_be_asked(style) or not sys.stderr.isatty():
            raise
        click.echo(plain(str(unknown)), err=True)
        words = click.prompt("Why may they be sent, and who allows it? (Ctrl-C: they may not)", err=True)
        start_and_show(asked.allowed(words), style, at_end)
        return
    except NobodyAnswersForServer as unknown:
        if style == DETACHED or not sys.stdin.isatty() or not sys.stderr.isatty():
            raise
        click.echo(plain(str(unknown)), err=True)
        click.confirm("Does it keep all texts on this machine?", abort=True, err=True)
        remember(unknown.url)
        start_and_show(asked, style, at_end)
        return
    show(api.start(default_path(), asked, cleared), style, at_end)


def resume_and_show(name: str, resumption: Resumption, style: str | None, vault: VaultRequest | None) -> None:
    """Continue with a run and show it until its end; ``vault``: where its corpus was opened out of one."""
    path = default_path()
    with opened(path) as connection:
        back = runs_back(name)
        run = find_run(connection, name) if back is None else find_open_run(connection, back)
    say_preparing(style)
    ready = api.resume(path, run.run_id, resumption, vault=vault)
    if not (resumption.retry_failed or resumption.options.get("keep_failed")):
        with opened(path) as connection:
            again = _again(connection, run, style)
        if again is not None:
            resumption = resumption.answered(again=again)
    show(replace(ready, resumption=resumption), style)


def _again(connection: sqlite3.Connection, run: Run, style: str | None) -> bool | None:
    """Return a person's answer whether entries that failed offline are retried, None if none did; UsageError where nobody can be asked."""
    count = unconnected(connection, run.id)
    if not count or run_options_of(run).keep_failed:
        return None
    words = unconnected_words(count)
    if not can_be_asked(style):
        raise UsageError(
            f"{words}. `rosetta resume {run.run_id[:8]} --retry-failed` asks for them again, --keep-failed "
            "keeps them as they are."
        )
    return click.confirm(f"{words}. Ask for them again?", default=True, err=True)


def can_be_asked(style: str | None) -> bool:
    """Return whether a person sits at the other end."""
    return style not in {"json-lines", DETACHED} and sys.stdin.isatty()


def retry_and_show(name: str, changes: PlanChanges, style: str | None, vault: VaultRequest | None) -> None:
    """Retry a run's failed entries as a new run, and show that until its end; ``vault`` as above."""
    say_preparing(style)
    ready = api.retry(default_path(), name, changes, vault)
    if style != "json-lines":
        total = ready.asked_again + ready.kept
        click.echo(plain(f"Asking again for {ready.asked_again:,} of {total:,} entries."), err=True)
    show(ready, style)


def show(ready: Ready, style: str | None, at_end: AtEnd | None = None) -> None:
    """Run a run and show it; exits 0 when it is complete, 1 when it stopped, 130 when interrupted, or as ``at_end`` says.

    A detached run is left to a separate process.
    """
    if style == DETACHED:
        secret = bool(ready.cleared.clearance.secret)
        log = run_detached(ready.path, ready.run_id, _again_words(ready.resumption), secret=secret)
        click.echo(ready.run_id)
        short = ready.run_id[:8]
        click.echo(plain(f"It runs on without this terminal. `rosetta watch {short}` shows it, `rosetta watch {short} --stop` ends it. {'No log is kept of secret entries.' if secret else f'Its log, without texts: {log}'}"), err=True)  # fmt: skip
        return
    finished, code = to_the_end(ready, style)
    _close(ready.path, finished, style)
    if at_end is not None and finished.card_hash:
        code = at_end(ready.path, finished.run_id) or code
    raise click.exceptions.Exit(code)


DETACHED = "detached"
"""Style of a run that needs no terminal."""


def refuse_detached(style: str | None, vault: object, *, submit: bool = False) -> None:
    """Raise UsageError where a run cannot do without its terminal, before anything is opened or stored."""
    if style == DETACHED and vault:
        raise UsageError("A vault is open in the process that its keeper opened it in: leave --detach out.")
    if style == DETACHED and submit:
        raise UsageError("--submit publishes at the end, in this process: leave it out, and use `rosetta publish RUN` when the run is complete.")  # fmt: skip


def _again_words(resumption: Resumption) -> Iterator[str]:
    """Yield the options with which another process resumes a run in the same way."""
    for option in of_command("resume"):
        if value := resumption.options.get(LIMITS.get(option.name, option.name)):
            yield option.opt if option.kind is OptionKind.SWITCH else f"{option.opt}={value}"
    if resumption.retry_failed:
        yield "--retry-failed"


def to_the_end(ready: Ready, style: str | None) -> tuple[Finished, int]:
    """Run a run and show it until it ends; return its last event, and the exit code that says how it ended."""
    engine = Engine(ready)
    if style is None and sys.stdout.isatty() and sys.stdin.isatty():
        watch(ready.path, engine)
        interrupted = False
    else:
        write = listener_of(style, ready.cleared.clearance.secret)
        with _interruptible(engine) as signals, closing(_notices(style)) as notices:

            def listener(event: Event) -> None:
                write(event)
                match event:
                    case Progress():
                        notices.progress(event.run_id, event.done, event.total, event.failed)
                    case Finished() | Failed():
                        notices.over(event.run_id, event if isinstance(event, Finished) else None)

            engine.start()
            try:
                while not engine.wait(LOOK_SECONDS):
                    for event in engine.events.drain():
                        listener(event)
                for event in engine.events.drain():
                    listener(event)
            except OSError:
                # nobody reads any more: what is under way is paid for, so it is still stored
                engine.control.drain()
                while not engine.wait(LOOK_SECONDS):
                    pass
                raise
        interrupted = bool(signals)
    finished = engine.result()
    return finished, exit_code(finished, engine.control, interrupted)


def _notices(style: str | None) -> TerminalNotices:
    """Return what speaks around the lines of a run, where standard output is a terminal."""
    on = style != "json-lines" and sys.stdout.isatty()
    with suppress(UsageError):  # a damaged file is spoken of elsewhere
        on = on and read_settings(home()).notices != "off"
    return TerminalNotices(lambda text: click.echo(text, nl=False), on=on)


def exit_code(finished: Finished, control: Control, interrupted: bool) -> int:
    """A run that ended early was interrupted where a person asked for it, by a signal or on the screen."""
    asked = control.state in {RunState.DRAINING, RunState.STOPPED} and finished.reason is None
    return 0 if finished.card_hash else 130 if interrupted or asked else 1


def listener_of(style: str | None, secret: Collection[int]) -> Callable[[Event], None]:
    """Return what prints a run's events in a style; ``secret`` are places whose texts are not printed."""
    if style == "json-lines":
        return JsonLines(click.echo, secret)
    if style in {"card", "summary", "quiet"}:
        return lambda _: None  # only the end matters
    return PlainLines(click.echo, secret)


@contextmanager
def _interruptible(engine: Engine) -> Iterator[list[int]]:
    """Handle Ctrl-C: the first drains, the second stops, later ones do nothing; yield the signals that came."""
    seen: list[int] = []

    def heed(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if seen == [signal.SIGINT]:
            engine.control.drain()
            _say_aside("Finishing what is under way. Ctrl-C again stops at once.")
        elif len(seen) == 2 or seen == [signal.SIGTERM]:
            engine.stop_from_aside()
            wait = f"{PATIENCE_SECONDS:g} s"
            _say_aside(f"Stopping. A method that does not come back is cut off after {wait}.")

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if seen else handler)


def _say_aside(words: str) -> None:
    """Print something from within a signal's handler.

    The signal may have come in the middle of a write, of the handler's own for the signal before too, and Python
    refuses to enter a buffered stream again.
    """
    with suppress(OSError):
        os.write(2, f"{words}\n".encode())


def _close(path: Path, finished: Finished, style: str | None) -> None:
    """Print the scores of a complete run; say how a stopped one continues."""
    if not finished.card_hash:
        if style != "json-lines":
            with opened(path) as connection:
                run = find_run(connection, finished.run_id)
            click.echo(plain(finished_line(finished, run.submission)), err=True)
            if served := _served_words(run, finished.reason or ""):
                click.echo(plain(served), err=True)
        return
    with opened(path) as connection:
        if style not in {"json-lines", "quiet"}:
            print_card(connection, finished.run_id, as_json=style == "card")
        say_lacking(connection, finished.run_id)


def _served_words(run: Run, reason: str) -> str:
    """Return which models a local endpoint serves where it did not find the run's; empty where that is not known."""
    endpoint, model = told_of(run).endpoint, run.setup.model_slug
    if NOT_FOUND not in reason or not endpoint:
        return ""
    try:
        served = list_models(endpoint)
    except UsageError:
        return ""
    if not served or model in served:
        return ""
    near = near_names(model, served)
    guess = f" Did you mean {one_of(near)}?" if near else ""
    more = ", …" if len(served) > MOST_SERVED else ""
    return f"{endpoint} serves no {model}.{guess} Served: {', '.join(served[:MOST_SERVED])}{more}."


def say_lacking(connection: sqlite3.Connection, run_id: str) -> None:
    """Print on standard error which metrics a sealed run was asked for and does not have, and why."""
    run = find_run(connection, run_id)
    asked = scoring_of(run).asked_for
    reasons = block(block(read_card(connection, run.id) or {}, "scores"), "reasons")
    for id_, reason in reasons.items():
        if id_ in asked:
            click.echo(plain(f"No {id_}: {reason}"), err=True)


def print_card(connection: sqlite3.Connection, run_id: str, *, as_json: bool) -> None:
    """Print a sealed card as JSON, or in a few lines what it came to."""
    number = find_run(connection, run_id).id
    if as_json:
        card = load_card(connection, number).as_json()
        refuse_inside(card, run_id)
        click.echo(json_text(card))
    else:
        click.echo(card_in_short(read_card(connection, number) or {}))
