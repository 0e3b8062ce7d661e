"""``rosetta run``: Translate a corpus with a method, scoring every entry; `--estimate` says what that would take.
``rosetta score``: Score outputs that were made elsewhere.
``rosetta demo``: Run the bundled demo: no key, no network.
``rosetta resume``: Continue a run that was interrupted.
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
from click.core import ParameterSource

from corpora.samples import DEMO_TASKS
from harness.compare import MOST_RUNS
from harness.core.failures import UsageError
from harness.method.method_names import method_names
from harness.method.option_table import RUN, plan_fields
from rosetta_tui.commands.naming import DETACH, in_lines, when_used
from rosetta_tui.commands.publish import SUBMIT, submitter
from rosetta_tui.request.click_options import GroupedCommand, adding_those_of
from rosetta_tui.request.options import (
    CONFIRM,
    asked,
    granted_terms,
    make_request,
    nameless,
    read_scoring_options,
    run_changes,
    typed_options,
)
from rosetta_tui.request.reading import load_corpus, reading_options, selecting, selection
from rosetta_tui.request.vault import OF_VAULT, out_of_vault, vault_request
from rosetta_tui.show.json_forms import form_text, say_preparing
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.card import reading
    from harness.inputs import outputs as made_elsewhere
    from harness.release import ledger
    from harness.run import events, following, rescoring, vault_opening
    from harness.run import following as steering
    from harness.setup import plan
    from harness.setup import scoring_options as setup_scoring_options
    from harness.store import runs as stored
    from harness.store import sweeps
    from harness.store.corpora import entries as corpora_entries
    from harness.store.sqlite import database
    from harness.vault import request
    from rosetta_tui.app import display, launch
    from rosetta_tui.report import cost as report_estimate
    from rosetta_tui.report import run as report_run
    from rosetta_tui.session import trials


class _WithMethods(GroupedCommand):
    """Lists the methods below its options, plug-ins that are installed too."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names of all methods with a word on each."""
        with formatter.section("Methods"):
            formatter.write_dl(
                [*method_names().items(), ("FILE.py", "your own `def translate(text)`, or FILE.py:CLASS")]
            )


@click.command(cls=_WithMethods, params=list(asked.params))
@CONFIRM
@SUBMIT
@click.option("--estimate", is_flag=True, help="Run nothing: show what it would take in calls, tokens, money and time. No key is needed.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="With --estimate: print JSON.")
@DETACH
@in_lines
def run(style: str | None, submit: bool, estimate: bool, as_json: bool, repeats: int | None, **given: Any) -> None:
    """Translate the corpus FILE with a method, or have its questions answered, and score every entry as it comes.

    REFERENCE is the second of two text files that are aligned line by line. On a terminal the run is shown live;
    piped, it prints lines. The first Ctrl-C finishes what is under way and saves, the second stops at once; `rosetta
    resume` continues the run.

    The best guide of an estimate are earlier runs of the same method and model in the store. Where there are none,
    tokens are estimated from the very prompts that would be sent. Each number has its bounds, and nothing is sent.
    """
    if repeats is not None:
        _run_repeats(repeats, style, given, estimate=estimate, submit=submit, as_json=as_json)
    if estimate:
        # Raise UsageError for options of a run that goes.
        if style is not None or submit:
            raise UsageError(
                "--estimate runs nothing: leave out --submit, --plain, --json-lines, --quiet and --detach."
            )
        corpus = load_corpus(given, given["reference"], work="estimate")
        run_estimate = api.estimate(database.default_path(), make_request(corpus, given))
        if as_json:
            click.echo(form_text("estimate", run_estimate.as_json()))
            return
        for label, words in report_estimate.estimate_rows(run_estimate):
            click.echo(plain(f"{label:<9}{words}"))
        return
    if as_json:
        raise UsageError("--json goes with --estimate. The events of a run as JSON: --json-lines.")
    display.refuse_detached(style, given["vault"], submit=submit)
    say_preparing(style, given["file"])
    answers = ledger.own_ledger(database.home()) if given["confirm"] else None
    if answers is not None and given["vault"]:
        ledger.check_anchor(answers, given["vault"])
    corpus = load_corpus(given, given["reference"], terms=granted_terms(given))
    chosen = None if answers is None else api.confirming(corpus, selection(given), answers)
    request = make_request(corpus, given, chosen)
    for option, tag in nameless(request).items():
        click.echo(f"No name is known for the language {plain(tag)}, so that the prompt says its tag. Name it: {option} NAME.", err=True)  # fmt: skip
    display.start_and_show(request, style, submitter(request) if submit else None)


# ---- Repeats of one set-up: a sweep of one cell, which shares its money and resumes as a sweep does ----

with when_used():
    from harness.sweep import expansion, working
    from harness.sweep import plan as sweep_plan
    from rosetta_tui.app import sweeping
    from rosetta_tui.report import sweep as report_sweep


def _run_repeats(repeats: int, style: str | None, given: dict[str, Any], *, estimate: bool, submit: bool, as_json: bool) -> None:  # fmt: skip
    """Run one set-up several times, or show what that would take, and exit with the code that says how it ended."""
    strays = {"--submit": submit, "--confirm": given["confirm"], "--json": as_json, "--detach": style == "detached"}
    for option, value in strays.items():
        if value:
            raise UsageError(f"{option} does not go with --repeats: leave it out. `rosetta sweep` does more.")
    asked = sweep_plan.plan_of_repeats(repeats, given, typed_options(given), selection(given))
    cells = expansion.expand(asked, expansion.open_plan_corpus(asked))
    if estimate:
        for line in report_sweep.estimate_lines(
            expansion.estimate_sweep(database.default_path(), asked.plan, cells), None
        ):
            click.echo(plain(line))
        raise click.exceptions.Exit(0)
    expansion.check_methods(cells)
    sweep = working.begin_sweep(database.default_path(), asked, cells)
    code = sweeping.carry_out(database.default_path(), sweep, style)
    if style != "json-lines":
        with database.opened() as connection:
            ids = [cell.run_id[:8] for cell in sweeps.read_cells(connection, sweep.number) if cell.run_id]
        then = f"rosetta compare {' '.join(ids[:MOST_RUNS])}" if code == 0 else f"rosetta sweep resume {sweep.id}"
        click.echo(f"{'How much the repeats vary' if code == 0 else 'To continue'}: {then}", err=True)
    raise click.exceptions.Exit(code)


# ---- Score outputs that were made elsewhere ----


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.argument("outputs", required=False, type=click.Path(path_type=Path))
@click.option("--rescore", metavar="RUN", help="Score a finished run again; needs no files.")
@click.option("--reference", type=click.Path(path_type=Path), help="Second file of aligned texts.")
@reading_options
@out_of_vault
@selecting
@adding_those_of("score")
@SUBMIT
@click.option("--json", "as_json", is_flag=True, help="Print the run card.")
def score(reference: Path | None, as_json: bool, rescore: str | None, *, submit: bool, **given: Any) -> None:
    """Score OUTPUTS against the corpus FILE; the result is kept as a run.

    OUTPUTS is a text file with one output on each line, in the order of the corpus, or JSONL, TSV or CSV with the
    entry's id. If it is left out, the outputs that the records bring with them are scored (predicted …). With
    --rescore RUN the outputs of a finished run are scored again, with its own metrics and those of --metrics; no
    method is called, and the result is a new run that names the old one. A run from a vault needs --vault and
    --purpose again.
    """
    if rescore is not None:
        if given["file"] is not None:
            raise UsageError("--rescore takes no files: the outputs are those of the run.")
        _refuse_stray()
        options = read_scoring_options(given)
        with database.opened() as connection:
            run = stored.find_run(connection, rescore)
            if as_json:
                reading.refuse_to_leave(connection, [run])
            vault_opening.open_again(connection, run, vault_request(given), "rescore", dict(options))
            # The run's own budget was for its outputs, so that none holds where none is given
            limits = {"budget_usd": None, **run_changes(given)}
            calls = plan.run_options_of(run).model_copy(update=limits)
            prices = None if given["prices"] is None else given["prices"].absolute()
            say = lambda words: click.echo(f"{words} …", err=True)  # noqa: E731
            run_id = rescoring.rescore(connection, run, options, say, _note, calls=calls, prices=prices)
            display.print_card(connection, run_id, as_json=as_json)
            display.say_lacking(connection, run_id)
        return
    if given["file"] is None:
        raise click.UsageError("FILE and OUTPUTS are wanted, or --rescore RUN.")
    given["method"] = "replay"
    corpus = load_corpus(given, reference, work="score", terms=granted_terms(given))
    if given["outputs"] is None and made_elsewhere.own_outputs(corpus.entries) is None:
        raise click.UsageError(
            "FILE and OUTPUTS are wanted, or --rescore RUN. OUTPUTS may be left out where records bring theirs "
            "with them (predicted, predicted_calls, predicted_state)."
        )
    request = make_request(corpus, given)
    at_end = submitter(request) if submit else None
    display.start_and_show(request, "card" if as_json else "summary", at_end)


def _refuse_stray() -> None:
    """Refuse what says how files are read, entries chosen or outputs named: the run has all of that."""
    context = click.get_current_context()
    of_calls = {name for name in RUN.names if plan_fields({name: None}).keys() <= plan.RunOptions.model_fields.keys()}
    allowed = {*setup_scoring_options.ScoringOptions.model_fields, *of_calls, "prices", "rescore", "as_json"}
    allowed |= {"vault", *OF_VAULT}
    for param in context.command.params:
        name = param.name or ""
        if name not in allowed and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(
                f"{param.opts[0]} does not go with --rescore: languages, entries and outputs are those of "
                "the run. Leave it out."
            )


def _note(words: str) -> None:
    for line in words.splitlines():
        click.echo(plain(line), err=True)


# ---- Run the bundled demo: no key, no network ----


@click.command()
@click.option("--system", type=click.Choice(["verda", "griza"]), default="verda", show_default=True)
@click.option(
    "--task",
    type=click.Choice(["translation", *DEMO_TASKS]),
    default="translation",
    show_default=True,
    help="What the system is asked.",
)
@click.option("--fast", is_flag=True, help="Do not wait as long as the system once took.")
@in_lines
def demo(system: str, task: str, fast: bool, style: str | None) -> None:
    """Evaluate an imaginary system on a bundled Esperanto corpus.

    Verda is the better one, Griza translates nearly word by word. With --task they answer questions, write down
    speech, or call functions. The recorded outputs come at the
    pace at which they were once made, so that there is something to watch; piped, they come at once.
    """
    say_preparing(style)
    ready = api.start(database.default_path(), trials.demo_run(system, task))
    watched = style is None and sys.stdout.isatty()
    display.show(ready.with_method(trials.Paced(ready.method)) if watched and not fast else ready, style)


# ---- Continue a run that was interrupted ----


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
    if retry_failed and given["keep_failed"]:
        raise click.UsageError("--retry-failed and --keep-failed exclude each other.")
    display.refuse_detached(style, given["vault"])
    display.resume_and_show(run, plan.Resumption(run_changes(given), retry_failed), style, vault_request(given))


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
    display.refuse_detached(style, given["vault"])
    vault = vault_request({name: given.pop(name) for name in ("vault", *OF_VAULT)})
    display.retry_and_show(run, plan_fields(typed_options(given)), style, vault)


# ---- Watch a run of another terminal, and control it ----


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
        click.echo(plain(steering.ask(database.default_path(), run, steering.ControlRequest(wish))))
    elif calls is not None:
        click.echo(plain(steering.ask(database.default_path(), run, steering.ControlRequest.LIMIT, calls)))
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
        click.echo(f"Left. The run continues unless its own terminal ends it: `rosetta watch {run_id[:8]} --stop` stops it.", err=True)  # fmt: skip
        raise click.exceptions.Exit(130) from None


def _follow(name: str, style: str | None, vault: request.VaultRequest | None) -> None:
    """Follow a run to its end, or until its person leaves; ``vault``: what its sealed texts are opened with.

    Exits 0 where it was followed to its seal, or left; 1 where it stopped.
    """
    path = database.default_path()
    with database.opened(path) as connection:
        run = stored.find_run(connection, name)
        if vault is not None:
            vault_opening.open_again(connection, run, vault, "look")
    if _on_screen(style):
        launch.watch_other(path, run.run_id, complete=run.state == "complete")
        return
    with database.opened(path) as connection:
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
