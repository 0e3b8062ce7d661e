"""``rosetta vault budget``: Show and set how often a submitter learns scores over secret entries.
``rosetta vault compare``: Write how two runs over secret entries differ, for their submitters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from corpora.text.messages import counted, pause_words
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.vault.sharing import FILE, ledger, telling_ledger
from rosetta_tui.request.vault import out_of_vault
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain
from scoring.core.inventory import short_title

with when_used():
    from harness.core import failures, storage
    from harness.leaderboard import official
    from harness.release import budget, ledger_records, releasing
    from harness.release import ledger as release_ledger
    from harness.run import vault_opening
    from harness.store import run_list, runs
    from harness.store.sqlite import database
    from rosetta_tui.show import released_words


@click.command("budget")
@click.option("--submitter", default="", metavar="NAME", help="For whom. Default: everybody.")
@click.option("--corpus", default="", metavar="ID", help="About which corpus. Default: every one.")
@click.option("--count", type=click.IntRange(1, 10_000), help="How many answers in all.")
@click.option("--pause", type=click.FloatRange(0, 100_000), metavar="HOURS", help="Hours between two answers.")
@click.option("--everybody", type=click.IntRange(1, 10_000), help="How many answers all submitters get together.")
@click.option("--policy", type=click.Choice(["official", "strict", "blind", "trusted"]), help="What is released: official (all fields, rounded), strict (chrF++ in steps of 5 and the tier, once), blind (nothing before --opens) or trusted (one decimal).")  # fmt: skip
@click.option("--opens", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="With a blind policy: from when scores are released (UTC).")  # fmt: skip
@click.option("--together", nargs=2, metavar="NAME NAME", help="Count two names as one submitter, from now on and for everything released before.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def budget_(
    submitter: str,
    corpus: str,
    count: int | None,
    pause: float | None,
    everybody: int | None,
    policy: str | None,
    opens: datetime | None,
    together: tuple[str, str] | None,
    *,
    as_json: bool,
) -> None:
    """Show how many answers about secret entries each submitter has had, and out of how many; or set that.

    Everything is in a signed ledger beside the store, so deleting a run gives no answer back. Two names count as two
    submitters unless you put them together.
    """
    book = ledger()
    if policy == "blind" and opens is None:
        raise failures.UsageError("--policy blind: name the day from which scores are released, with --opens.")
    rule = ledger_records.Rule.model_validate({
        "submitter": submitter.strip(), "corpus": corpus, "count": count, "pause_hours": pause, "policy": policy,
        "everybody": everybody, "opens": opens and f"{opens:%Y-%m-%d}",
    })  # fmt: skip
    given = any(option is not None for option in (count, pause, everybody, policy, opens))
    if given and corpus:
        _require_known(corpus, book.read())
    if given or together:
        with book.changing() as change:
            if given:
                change.write(rule)
            if together:
                one, other = (" ".join(name.split()) for name in together)
                if not (one and other):
                    raise failures.UsageError("--together: name two submitters.")
                change.write(ledger_records.Together(names=(one, other)))
    history = book.read()
    general = history.policy(submitter, corpus)
    names = history.names_of(submitter)
    with database.opened() as store:
        withdrawn = official.withdrawn_of(history, store)
    shown = [
        use
        for use in released_words.uses(history, withdrawn)
        if corpus in {"", use.corpus} and (not submitter or any(history.names_of(name) & names for name in use.names))
    ]
    rows = [_row(use) for use in shown]
    document = {
        "count": general.count,
        "pause_hours": general.pause_hours,
        "everybody": general.everybody,
        "policy": general.name,
        "opens": general.opens or None,
        "words": released_words.policy_words(general),
        "submitters": rows,
    }
    print_form("vault-budget", document, _lines(general, shown, submitter, corpus), as_json=as_json)


def _require_known(corpus: str, told: budget.History) -> None:
    """Raise UsageError where no run here is over a corpus and nothing was released of it: a rule for it would hold for nothing."""
    with database.opened() as store:
        there = {run.dataset_id for run in run_list.list_runs(store, brief=True)}
    there |= {use.corpus for use in released_words.uses(told)}
    if corpus not in there:
        known = f"There are runs over {', '.join(sorted(there))}." if there else "No run is stored yet."
        raise failures.UsageError(
            f"--corpus: no run here is over a corpus {corpus!r}. {known} Name it by the id that its runs have (rosetta runs list); "
            "without --corpus the rule is for all of them."
        )


def _row(use: released_words.BudgetUse) -> dict[str, Any]:
    best = None if use.best is None else use.best.card
    return {
        "names": list(use.names),
        "corpus": use.corpus,
        "answers": use.answers,
        "version": use.version,
        "of": use.policy.count,
        "pause_hours": use.policy.pause_hours,
        "bits": use.bits,
        "headline": None if best is None else best.headline,
        "best": None if best is None else best.scores[best.headline].value,
        "last": use.last,
        "smallest_difference": None if best is None else best.smallest_difference,
    }


def _lines(general: budget.Policy, shown: list[released_words.BudgetUse], submitter: str, corpus: str) -> Iterator[str]:
    about = repr(corpus) if corpus else "each corpus"
    yield (
        f"{submitter or 'Each submitter'}: {counted(general.count, 'answer')} about {about}, "
        f"{pause_words(general.pause_hours)} between two"
    )
    yield released_words.policy_words(general)
    for use in shown:
        row = _row(use)
        best = ", consent to the released scores is withdrawn" if use.withdrawn else ""
        best = best if row["best"] is None else f", last released {short_title(row['headline'])} {row['best']:g}"
        if (least := row["smallest_difference"]) is not None:
            best += f" (differences below {least:g} chrF++ cannot be told apart by these entries)"
        yield (
            f"  {' = '.join(row['names'])} about {row['corpus']}: {row['answers']} of {row['of']} answers{best}; {counted(use.bits, 'bit')} told at most; "
            f"the last at {row['last']}"
        )
    if not shown:
        names = " under these names; `rosetta vault budget` shows which there are" if submitter or corpus else ""
        yield f"  nothing was released yet{names}"


# ---- Write how two runs over secret entries differ, for their submitters ----


@click.command("compare")
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("-o", "--output", required=True, type=FILE)
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
@out_of_vault
def compare_(first: str, second: str, output: Path, *, overwrite: bool, **vault: Any) -> None:
    """Show whether the second of two RUNs over secret entries is better, and write that to a signed file.

    Better, worse or cannot be told apart, by a paired test: one-sided at 5 %, corrected for all runs of the submitters
    that were released. Both runs must have been released before (rosetta runs export --submitter); each submitter has as
    many comparisons as answers. Runs from a vault need --vault and --purpose; its log records both runs.
    """
    if output.exists() and not overwrite:
        raise failures.UsageError(f"{output.name} is there already. Choose another name, or add --overwrite.")
    with database.opened() as connection:
        stored_runs = [runs.find_run(connection, name) for name in (first, second)]
        asked, known = telling_ledger(vault)

        def open_texts() -> None:
            for run in stored_runs:
                vault_opening.open_again(connection, run, asked, "compare")

        with release_ledger.anchored(known, asked.folder if asked else None):
            data = releasing.release_difference(connection, (first, second), known, open_texts)
    storage.write_file(output, data, overwrite=overwrite)
    released = json.loads(data)
    click.echo(plain(f"{released['second'][:8]} against {released['first'][:8]} by {short_title(released['metric'])}: {released['verdict']}"))  # fmt: skip
    if (least := released["smallest_difference"]) is not None:
        click.echo(f"Differences below {least:g} points of chrF++ cannot be told apart by these entries.", err=True)
    click.echo(plain(f"Written: {output}"), err=True)
