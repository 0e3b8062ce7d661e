"""``rosetta sweep``: Run every combination of a plan, and show, stop and list sweeps.
``rosetta sweep begin``: Run every combination of PLAN.toml; `rosetta sweep PLAN.toml` is the same.
``rosetta sweep show``: Show what each run of a sweep has come to.
``rosetta sweep compare``: Compare every method of a sweep with the best of its baselines.
``rosetta sweep stop``: Stop the workers of a sweep after the entries that are under way.
``rosetta sweep resume``: Continue a sweep that was stopped or interrupted.
``rosetta sweep list``: List the sweeps of the store.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.core.storage import write_file
from rosetta_tui.commands.naming import FiledCommands, in_lines, when_used
from rosetta_tui.commands.vault.sharing import telling_ledger
from rosetta_tui.request.vault import out_of_vault, refuse_existing, vault_request, without_method
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from harness.compare import comparing as compare_comparing
    from harness.endpoint import endpoints
    from harness.release import ledger, ledger_records
    from harness.run import vault_opening
    from harness.store import runs, sweeps
    from harness.store.sqlite import database
    from harness.sweep import comparing, expansion, plan, record, working
    from harness.sweep.cluster import carrier, scheduler
    from harness.vault import request
    from rosetta_tui.app import launch, sweeping
    from rosetta_tui.report import sweep as report_sweep
    from rosetta_tui.show import released_words
    from rosetta_tui.sweep import screen as sweep_screen


class SweepCommands(FiledCommands):
    """The commands about sweeps; what is no command of them is a plan."""

    folder = "sweep"
    order = ("begin", "show", "compare", "stop", "resume", "list")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names; ``rosetta sweep PLAN.toml`` begins that plan."""
        if args and args[0].endswith(".toml"):
            args = ["begin", *args]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name; that of a plan is ``begin``."""
        return super().get_command(ctx, "begin" if cmd_name.endswith(".toml") else cmd_name)


@click.group(cls=SweepCommands)
def sweep() -> None:
    """Run every combination of a plan: `rosetta sweep PLAN.toml`."""


SUBMITTER = click.option("--submitter", metavar="NAME", help="Of a sweep over a vault: who learns its one answer, which counts (rosetta vault budget).")  # fmt: skip
OUTPUT = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="With --submitter: where the answer goes."
)


@click.command()
@click.argument("file", metavar="PLAN.toml", type=click.Path(path_type=Path))
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that share the runs.")
@click.option("--race", is_flag=True, help="Stop configurations that cannot be the best before they have all entries.")
@click.option("--scheduler", "address", metavar="tcp://HOST:PORT", help="Have the calls made by the workers of a Dask cluster.")  # fmt: skip
@click.option("--estimate", is_flag=True, help="Run nothing: show what each run and all together would take.")
@click.option("--json", "as_json", is_flag=True, help="With --estimate: print JSON.")
@SUBMITTER
@OUTPUT
@out_of_vault
@in_lines
def begin(
    file: Path,
    workers: int | None,
    race: bool,
    address: str | None,
    style: str | None,
    *,
    estimate: bool,
    as_json: bool,
    submitter: str | None,
    output: Path | None,
    **vault: Any,
) -> None:
    """Run every combination of the axes in PLAN.toml that the store does not have yet, sharing them among workers.

    Run again, the same plan continues where it was interrupted, even while another command is working on it. The
    first Ctrl-C finishes the entries under way and saves, the second stops at once. docs/sweeps.md says what a plan
    can say. `demo.toml` is a plan that comes with the program. With --vault the plan's corpus is one of a vault: its
    keepers allow all runs at once, and what they come to leaves as one answer.
    """
    if as_json and not estimate:
        raise UsageError("--json goes with --estimate. The events of a sweep as JSON: --json-lines.")
    if estimate and (style is not None or submitter is not None):
        raise UsageError("--estimate runs nothing: leave out --plain, --json-lines and --quiet, and --submitter.")
    inside = InsideSweep(vault, "estimate" if estimate else "sweep", submitter, output, shared=bool(workers or race or address))  # fmt: skip
    plan_file = plan.read_plan(plan.plan_path(file), vault=inside.asked is not None)
    if workers is not None:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"workers": workers}))
    if race:
        plan_file = replace(plan_file, plan=plan_file.plan.model_copy(update={"race": True}))
    cells = expansion.expand(plan_file, expansion.open_plan_corpus(plan_file, inside.asked))
    if estimate:
        sweep_estimate = expansion.estimate_sweep(database.default_path(), plan_file.plan, cells)
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        lines = report_sweep.estimate_lines(sweep_estimate, width)
        print_form("sweep-estimate", sweep_estimate.model_dump(mode="json"), lines, as_json=as_json)
        return
    expansion.check_methods(cells, endpoints.find_key if address is None else endpoints.no_key)
    cluster = None
    if address is not None:
        address = scheduler.require_cluster(address, cells)
        cluster = carrier.Cluster(address)
    if words := expansion.scored_apart(cells):
        click.echo(plain(f"Note: {words}"), err=True)
    sweep = working.begin_sweep(database.default_path(), plan_file, cells)
    raise click.exceptions.Exit(inside.carry_out(sweep, cells, partial(sweeping.carry_out, database.default_path(), sweep, style, cluster)))  # fmt: skip


# ---- A sweep over a vault: by one grant, and told as one answer ----


class InsideSweep:
    """The vault of a sweep, and the answer that leaves of it; of any other sweep neither."""

    def __init__(
        self, vault: dict[str, Any], work: str, submitter: str | None, output: Path | None, *, shared: bool = False
    ) -> None:
        """Read the options; UsageError where they do not fit together, before anything is asked or opened."""
        if vault["vault"] and shared:
            raise UsageError("A sweep over a vault is run by one worker in this process: leave out --workers, --race and --scheduler.")  # fmt: skip
        if (submitter is None) is not (output is None) or (submitter and not vault["vault"]):
            raise UsageError("--submitter NAME and -o FILE go together, with --vault FOLDER: they say who learns the answer, and where it goes.")  # fmt: skip
        if output is not None:
            refuse_existing(output)
        self._vault, self._submitter, self._output = vault, submitter, output
        self._openings: list[request.VaultNoting] = []
        asked = vault_request(vault, work)
        self.asked = None if asked is None else replace(asked, opened=self._openings.append)

    def carry_out(self, sweep: sweeps.StoredSweep, cells: tuple[expansion.SweepCell, ...], run: Callable[..., int]) -> int:  # fmt: skip
        """Run a sweep, in this process where its texts are open in it; at its end nothing continues it, and its answer is released."""
        if self.asked is None:
            return run()
        if (code := run(opened_cells=cells)) == 0:
            for opening in self._openings:
                opening.end_sweep()
            if self._submitter is not None:
                self.tell(sweep)
        return code

    def tell(self, sweep: sweeps.StoredSweep, *, again: bool = False) -> None:
        """Write the answer of a sweep; ``again``: its texts are opened for that."""
        asked, known = telling_ledger(self._vault)
        with database.opened() as connection:
            first = runs.find_by_id(connection, sweeps.read_cells(connection, sweep.number)[0].run_id)
            open_texts = None
            if again and first is not None:
                open_texts = partial(vault_opening.open_again, connection, first, asked, "seal")
            with ledger.anchored(known, asked.folder if asked else None):
                data = comparing.release_sweep(connection, sweep, str(self._submitter), known, open_texts)
        write_file(Path(str(self._output)), data, overwrite=False)
        for line in released_words.facts(ledger_records.ReleasedCard.model_validate_json(data)):
            click.echo(plain(line))
        click.echo(plain(f"Written: {self._output}"), err=True)


# ---- Show what each run of a sweep has come to ----


@click.command()
@click.argument("sweep", default="last")
@click.option("--screen", is_flag=True, help="Open the app on a map of two of its axes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(sweep: str, screen: bool, as_json: bool) -> None:
    """Show SWEEP (a name, the beginning of an id, or `last`): state, scores, cost and speed of each run, money and time left,
    and the entries that every complete run misses.

    A run marked * was in the store before the sweep came to it.
    """
    if screen and as_json:
        raise UsageError("--screen opens the app; --json prints. Leave one of them out.")
    with database.opened() as connection:
        wanted = sweeps.find_sweep(connection, sweep)
        summary = None
        if not screen:
            summary = record.with_missed(connection, record.sweep_record(connection, wanted))
    if summary is None:
        launch.open_app(lambda path: [sweep_screen.SweepScreen(path, wanted.id)])
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = report_sweep.sweep_lines(summary, width)
    print_form("sweep", summary.model_dump(mode="json"), lines, as_json=as_json)


# ---- Compare every method of a sweep with the best of its baselines ----


@click.command()
@click.argument("sweep", default="last")
@click.option("--metric", default="composite", show_default=True, metavar="NAME", help="Compare by this metric (chrf, composite …).")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option(
    "--draws", type=click.IntRange(100, 1_000_000), default=1000, show_default=True,
    help="Resamples of the bootstrap; there are ten times as many shuffles.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@SUBMITTER
@OUTPUT
@without_method
def compare(
    sweep: str, metric: str, seed: int, draws: int, as_json: bool, submitter: str | None, output: Path | None, **vault: Any
) -> None:  # fmt: skip
    """Compare every method of SWEEP (a name, the beginning of an id, or `last`) with the best of its baselines.

    Baselines are models as they come (class raw-llm), copies of the source and constants; repetitions of a set-up
    count together. All complete runs take part.

    Of a sweep over a vault only what was released is shown. With --submitter, -o and --vault its answer is released: which set-up is
    clearly the best, if one is, and the scores of one run.
    """
    with database.opened() as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
        is_inside = record.sweep_record(connection, stored_sweep).inside
    if submitter is not None:
        if not is_inside:
            raise UsageError(f"--submitter goes with a sweep over a vault, and {stored_sweep.name!r} is over open entries: its numbers are no secret. Leave it out.")  # fmt: skip
        InsideSweep({**vault, "despite_network": None}, "seal", submitter, output).tell(stored_sweep, again=True)
        return
    by = compare_comparing.metric_asked(metric, "--metric")
    with database.opened() as connection:
        sweep_record = record.sweep_record(connection, stored_sweep)
        comparison = comparing.compare_sweep(connection, sweep_record, by, draws=draws, seed=seed)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = report_sweep.comparison_lines(comparison, width)
    print_form("sweep-compare", comparison.model_dump(mode="json"), lines, as_json=as_json)


# ---- Stop the workers of a sweep after the entries that are under way ----


@click.command()
@click.argument("sweep", default="last")
def stop(sweep: str) -> None:
    """Stop SWEEP (a name, the beginning of an id, or `last`). What is done stays; `rosetta sweep resume` continues it."""
    path = database.default_path()
    with database.opened(path) as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
        if not sweeps.at_work(path, stored_sweep):
            raise UsageError(f"Nobody is working on sweep {stored_sweep.name!r}: there is nothing to stop.")
        sweeps.set_stopping(connection, stored_sweep.number, stopping=True)
    click.echo(plain(f"Sweep {stored_sweep.name} ends after the entries under way."))


# ---- Continue a sweep that was stopped or interrupted ----


@click.command()
@click.argument("sweep", default="last")
@click.option("--budget", type=click.FloatRange(0, min_open=True), help="Another budget, in US dollars, for all its runs.")  # fmt: skip
@click.option("--scheduler", "address", metavar="tcp://HOST:PORT", help="Have the calls made by the workers of a Dask cluster.")  # fmt: skip
@SUBMITTER
@OUTPUT
@out_of_vault
@in_lines
def resume(
    sweep: str, budget: float | None, address: str | None, style: str | None, submitter: str | None, output: Path | None, **vault: Any
) -> None:  # fmt: skip
    """Continue SWEEP (a name, the beginning of an id, or `last`), including the runs that stopped by themselves.

    One over a vault needs --vault and --purpose again, and continues by the grant that it was begun with.
    """
    path = database.default_path()
    with database.opened(path) as connection:
        stored_sweep = sweeps.find_sweep(connection, sweep)
    inside = InsideSweep(vault, "sweep", submitter, output, shared=bool(address))
    cells = working.cells_again(stored_sweep, inside.asked, budget)
    expansion.check_methods(cells, endpoints.find_key if address is None else endpoints.no_key)
    cluster = None
    if address is not None:
        address = scheduler.require_cluster(address, cells)
        cluster = carrier.Cluster(address)
    again = working.plan_of_sweep(stored_sweep, budget)
    stored_sweep = working.begin_sweep(path, again, cells)
    raise click.exceptions.Exit(inside.carry_out(stored_sweep, cells, partial(sweeping.carry_out, path, stored_sweep, style, cluster)))  # fmt: skip


# ---- List the sweeps of the store ----


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List the sweeps of the store, the newest first."""
    with database.opened() as connection:
        sweep_summaries = [
            record.sweep_record(connection, list_sweep).summary for list_sweep in sweeps.list_sweeps(connection)
        ]
    lines = [
        f"{sweep_summary.id}  {sweep_summary.name}  {report_sweep.progress_line(sweep_summary)}"
        for sweep_summary in sweep_summaries
    ]
    rows = [sweep_summary.model_dump(mode="json") for sweep_summary in sweep_summaries]
    print_form("sweep-list", rows, lines or ["There is no sweep yet."], as_json=as_json)
