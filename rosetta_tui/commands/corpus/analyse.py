"""``rosetta corpus analyse``: Confirm the analyses that the language's analyser proposes."""

from __future__ import annotations

from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.adjudicate import on_terminal
from rosetta_tui.show.text import plain
from scoring.core.messages import counted

with when_used():
    from harness.project import analyses, authoring, state


@click.command("analyse")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--by", required=True, metavar="NAME", help="Who confirms, as it will be in the corpus."
)
@click.option(
    "--secret", is_flag=True, help="Include secret sentences, which are then shown on this screen."
)
def analyse_(folder: Path, by: str, *, secret: bool) -> None:
    """Show what the analyser says of each translation in FOLDER, and keep the reading that you choose.

    A number keeps a reading, Enter alone skips the sentence, q stops; everything before is kept. If there is no
    analyser for the language, this step is left out.
    """
    if secret and not on_terminal():
        raise UsageError(
            "Secret sentences are shown on a terminal only, to somebody who answers there. Use a terminal, or leave --secret out."
        )
    kept = passed = 0
    unknown: set[int] = set()
    with authoring.changing(folder, home()) as project:
        analyser = analyses.analyser_for(project)
        waiting = analyses.waiting_for_analysis(project, secret=secret)
        for proposal in analyses.proposals(project, analyser, waiting):
            if not proposal.readings:
                unknown.add(proposal.entry.id)
                continue
            answer = _asked(proposal)
            if answer == "q":
                break
            if answer:
                analyses.confirm(project, proposal, int(answer) - 1, by, analyser)
                state.write_state(project, overwrite=True)
                kept += 1
            else:
                passed += 1
    click.echo(f"Kept: {counted(kept, 'analysis', 'analyses')}; skipped:  {passed}.")
    if unknown:
        click.echo(f"With words that the analyser does not know: {len(unknown)}.", err=True)


def _asked(proposal: analyses.Proposal) -> str:
    """Show a translation with its readings, and return the number that is typed, nothing, or q."""
    click.echo()
    click.echo(plain(f"{proposal.entry.id}: {proposal.reference}"))
    for number, reading in enumerate(proposal.readings, 1):
        click.echo(plain(f"  {number}: {reading}"))
    most = len(proposal.readings)
    choices = "1 keeps it" if most == 1 else f"1 to {most} keeps one"

    def checked(answer: str) -> str:
        if answer in {"", "q", *map(str, range(1, most + 1))}:
            return answer
        raise click.BadParameter(f"{choices}, Enter alone skips, q stops.")

    answer: str = click.prompt(
        "Number, Enter skips, q stops", default="", show_default=False, value_proc=checked
    )
    return answer
