"""``rosetta review plan``: Say how likely a verdict is with how many people and items.
``rosetta review bundle``: Add and list the program for reviewers, which `review create -o` copies to sticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from corpora.text.messages import percent
from harness.core.failures import UsageError
from harness.store.sqlite.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain, table

with when_used():
    from harness.core import storage
    from review.office.making import reviewer_programs
    from review.verdict.gate import planner
    from review.verdict.gate import policy as gate_policy
    from rosetta_tui.commands.review import stick
    from rosetta_tui.review.organiser.words import plan

_PEOPLE = (3, 5, 8)
_SENTENCES = (50, 80, 100)


@click.command("plan")
@click.option("--reviewers", type=click.IntRange(2, 200), help="Only that many people.")
@click.option("--items", type=click.IntRange(10, 2000), help="Only that many sentences.")
@click.option("--share", default=0.85, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="How good the method truly is.")  # fmt: skip
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="The gate's rule. Default: our proposal, or for fewer people or sentences one that is derived from it.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE.toml", help="Write the rule to a new file, in which the organisation sets its numbers.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan_(
    reviewers: int | None, items: int | None, share: float, policy: Path | None, output: Path | None, as_json: bool
) -> None:
    """Show how likely a review is to reach a verdict, before anybody rates.

    Everybody rates every sentence, and of every 100 translations SHARE × 100 are truly acceptable or better. This is
    simulated: real people and sentences may differ more or less than assumed.

    With -o the rule that it follows is written, with a word about each number: change it, and name it with --policy
    here and with `rosetta review create`.
    """
    few = reviewers or min(_PEOPLE), items or min(_SENTENCES)
    rule, content = gate_policy.for_panel(*few) if policy is None else gate_policy.read_policy_file(policy)
    if output is not None:
        if output.exists():
            raise UsageError(f"{output.name} is there already. Choose another name.")
        storage.write_new_file(output, content)
        click.echo(f"Written: {plain(str(output))}", err=True)
    people = _PEOPLE if reviewers is None else (reviewers,)
    sentences = _SENTENCES if items is None else (items,)
    plan_rows = planner.promises(rule, people, sentences, share)
    lines = [*_lines(plan_rows, share, float(rule.level.share)), *plan.rule_lines(rule)]
    print_form("review-plan", [asdict(plan_row) for plan_row in plan_rows], lines, as_json=as_json)


def _lines(found: Sequence[planner.PlanRow], share: float, asked: float) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("people", "sentences", "level reached", "go", "no-go")]
    for plan_row in found:
        odds = plan_row.chances
        cells = (percent(chance) for chance in (odds.level, odds.go, odds.no_go))
        rows.append((str(plan_row.reviewers), str(plan_row.items), *cells))
    yield from table(rows)
    yield f"If {percent(share)} of the translations truly are acceptable or better, and the gate asks for {percent(asked)}."
    yield "level reached: the numbers alone. go: and no difficulty or reviewer is in the way."
    yield "The rest is “discuss”: more people help more than more sentences."
    yield (
        "Taken here: five difficulties, as many sentences of each. `rosetta review create RUN --dry-run` counts "
        "the difficulties of your corpus; where they are uneven, the chance is lower."
    )


# ---- Add and list the program for reviewers, which `review create -o` copies to sticks ----

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("files", type=_PATH, nargs=-1, metavar="[add] [FILE]")
@click.option("-o", "--output", "folder", type=_PATH, metavar="STICK", help="Fill a stick, too, that was made before.")
def bundle(files: tuple[Path, ...], folder: Path | None) -> None:
    """Add FILE, the program for reviewers as one archive, or replace the one for its system; without FILE, list them.

    `rosetta review create -o STICK` copies them to the stick. `make reviewer-bundle` packs them in the source of
    Rosetta, on the system that they are for. The whole archive is checked, but it is not signed: compare its SHA-256
    with the CHECKSUMS.txt of the computer that packed it.
    """
    adds = bool(files) and str(files[0]) == "add"
    files = files[adds:]
    if len(files) > 1 or (adds and not files):
        raise UsageError("Name one archive: `rosetta review bundle add FILE`.")
    if not files:
        _list()
    else:
        file = files[0]
        system = reviewer_programs.recognise_archive(file)
        size = file.stat().st_size
        program = stick.with_progress(
            file.name, size, lambda copied: reviewer_programs.add_program(file, system, home(), copied)
        )
        _say(program)
    if folder is not None:
        stick.fill_stick(folder, home())


def _list() -> None:
    """List the archives that are there, and the systems that have none."""
    programs = reviewer_programs.list_programs(home())
    for program in programs:
        _say(program)
    there = {program.system for program in programs}
    lacking = [title for system, title in reviewer_programs.TITLES.items() if system not in there]
    if lacking:
        click.echo(f"None for {', '.join(lacking)}: `rosetta review bundle FILE`.")


def _say(program: reviewer_programs.ReviewerProgram) -> None:
    """Print system, size, hash and place of an archive."""
    title = reviewer_programs.TITLES[program.system]
    size = reviewer_programs.megabytes(program.size)
    click.echo(f"{title:<8}{size:>9}  SHA-256 {program.sha256}")
    click.echo(plain(f"        {program.path}"))
