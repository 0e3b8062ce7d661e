"""``rosetta resume``: Continue a run that was interrupted.
``rosetta retry``: Ask again for a run's failed entries.
``rosetta watch``: Watch a run of another terminal, and control it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import click

from harness.store.runs import find_run
from harness.store.sqlite.database import default_path, opened
from rosetta_tui.commands.naming import DETACH, in_lines, when_used
from rosetta_tui.request.click_options import adding_those_of
from rosetta_tui.request.options import pairs, run_changes
from rosetta_tui.request.vault import OF_VAULT, out_of_vault, vault_request
from rosetta_tui.show.text import plain


@click.command()
@click.argument("run", default="last")
@click.option("--retry-failed", is_flag=True, help="Ask for failed entries again.")
@adding_those_of("resume")
@out_of_vault
@DETACH
@in_lines
def resume(
    run: str,
    *,
    retry_failed: bool,
    style: str | None,
    **given: Any,
) -> None:
    """Continue RUN (an id, its beginning, or `last`: the newest that waits; `last~1` is the one before).

    Entries that failed because there was no connection are asked for again, or kept as failures, which count as 0: a
    terminal asks which, scripts say --retry-failed or --keep-failed. A run from a vault needs --vault and --purpose
    again.
    """
    from harness.setup.plan import Resumption
    from rosetta_tui.app.display import refuse_detached, resume_and_show

    if retry_failed and given["keep_failed"]:
        raise click.UsageError("--retry-failed and --keep-failed exclude each other.")
    refuse_detached(style, given["vault"])
    resume_and_show(run, Resumption(run_changes(given), retry_failed), style, vault_request(given))


# ---- Ask again for a run's failed entries ----


@click.command()
@click.argument("run", default="last")
@adding_those_of("retry")
@out_of_vault
@DETACH
@in_lines
def retry(run: str, style: str | None, **given: Any) -> None:
    """Retry the failed entries of RUN (an id, its beginning, `last`, `last~1` …), which is complete.

    The result is a new run with the good rows of RUN, because a sealed card never changes. What you do not change
    stays as in RUN. Where the settings differ, the new run belongs to neither set-up: its card names both, and which
    entries came from which. A run that was interrupted is continued with `rosetta resume`. A run from a vault needs
    --vault and --purpose again.
    """
    from rosetta_tui.app.display import refuse_detached, retry_and_show

    refuse_detached(style, given["vault"])
    vault = vault_request({name: given.pop(name) for name in ("vault", *OF_VAULT)})
    no_cache, body = given.pop("no_cache"), given.pop("body")
    changes = {
        _OTHERWISE.get(name, name): (value.expanduser().absolute() if isinstance(value, Path) else value)
        for name, value in given.items()
        if not (value is None or value is False)
    }
    if changes.get("temperature") == "none":
        changes["temperature"] = None
    if no_cache:
        changes["use_cache"] = False
    if body:
        changes["body"] = pairs("body", body)
    retry_and_show(run, changes, style, vault)


_OTHERWISE = {"budget": "budget_usd", "timeout": "timeout_seconds", "attempts": "most_attempts"}
"""Option → the field of a run's plan, where it is called otherwise."""


# ---- Watch a run of another terminal, and control it ----

with when_used():
    from harness.run import events, following, vault_opening
    from harness.run import following as steering
    from harness.store.corpora import entries as corpora_entries
    from harness.vault import request
    from rosetta_tui.app import display, launch
    from rosetta_tui.report import run as report_run


@click.command()
@click.argument("run", default="last")
@click.option("--pause", "wish", flag_value="pause", help="Begin no further entries until --go-on.")
@click.option("--go-on", "wish", flag_value="go_on", help="End a pause.")
@click.option("--drain", "wish", flag_value="drain", help="Finish what is under way, then stop.")
@click.option("--stop", "wish", flag_value="stop", help="Stop now; what is done stays stored.")
@click.option("--calls", type=click.IntRange(1, 1024), help="Make at most this many calls at once.")
@out_of_vault
@in_lines
def watch(run: str, *, wish: str | None, calls: int | None, style: str | None, **given: Any) -> None:
    """Watch RUN (an id, its beginning, or `last`), whichever terminal began it, and control it.

    On the screen the same keys work as where it was begun. With --pause, --go-on, --drain, --stop or --calls the
    command asks for just that, says what the run's own process answered, and ends. Leaving a watched run does not
    stop it. With --vault the sealed texts of a run from a vault can be read on its screens until you leave; the
    vault's log records that first.
    """
    vault = vault_request(given, "look")
    if vault is not None and (wish is not None or calls is not None or not _on_screen(style)):
        raise click.UsageError("--vault is for reading on the screen of a terminal. Leave it out.")
    if wish is not None and calls is not None:
        raise click.UsageError("Ask for one thing at a time.")
    if (wish is not None or calls is not None) and style is not None:
        raise click.UsageError("--plain and --json-lines are for watching.")
    if wish is not None:
        click.echo(plain(steering.ask(default_path(), run, steering.ControlRequest(wish))))
    elif calls is not None:
        click.echo(plain(steering.ask(default_path(), run, steering.ControlRequest.LIMIT, calls)))
    else:
        _follow(run, style, vault)


LOOK_SECONDS = 0.1


def _on_screen(style: str | None) -> bool:
    return style is None and sys.stdout.isatty() and sys.stdin.isatty()


@contextmanager
def _leaving(run_id: str) -> Iterator[None]:
    """End without ending the run at Ctrl-C, and say so."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"Left. It goes on unless its own terminal ends it: `rosetta watch {run_id[:8]} --stop` stops it.", err=True)  # fmt: skip
        raise click.exceptions.Exit(130) from None


def _follow(name: str, style: str | None, vault: request.VaultRequest | None) -> None:
    """Follow a run to its end, or until its person leaves; ``vault``: what its sealed texts are opened with.

    Exits 0 where it was followed to its seal, or left; 1 where it stopped.
    """
    path = default_path()
    with opened(path) as connection:
        run = find_run(connection, name)
        if vault is not None:
            vault_opening.open_again(connection, run, vault, "look")
    if _on_screen(style):
        launch.watch_other(path, run.run_id, complete=run.state == "complete")
        return
    with opened(path) as connection:
        secret = corpora_entries.secret_positions(connection, run.corpus)
    listener = display.listener_of(style, secret)
    with closing(following.Follower(path, run.run_id)) as follower, _leaving(run.run_id):
        while True:
            for event in follower.drain():
                listener(event)
                if isinstance(event, events.Finished):
                    if event.card_hash:
                        return
                    if style != "json-lines":
                        click.echo(plain(report_run.finished_line(event, run.submission)), err=True)
                    raise click.exceptions.Exit(1)
            time.sleep(LOOK_SECONDS)
