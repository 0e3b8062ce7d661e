"""``rosetta corpus new``: Begin a corpus for a language, in its own folder.
``rosetta corpus sources``: Add sentences that speakers are to translate, from a file or a model.
``rosetta corpus progress``: Say how far a corpus in the making is, what it lacks, and what comes next.
``rosetta corpus analyse``: Confirm the analyses that the language's analyser proposes.
``rosetta corpus consent``: Record that the community agreed: who said it, when, and to what.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from corpora.files.json_types import JsonObject
from corpora.files.problems import CorpusError
from corpora.model.entry import CONTEXTS, REGISTERS, Segment
from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.core.storage import read_bytes, read_text
from harness.method.option_table import SEGMENTS
from rosetta_tui.commands.corpus.files import requirement_fields
from rosetta_tui.commands.naming import when_used
from rosetta_tui.front import on_terminal
from rosetta_tui.request.reading import print_problems
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain

with when_used():
    from corpora.languages import tags
    from corpora.model import vocabularies as model_labels
    from harness.consent import given as consent_given
    from harness.project import authoring, candidates, state
    from harness.sealed import keys
    from harness.store.sqlite import database
    from review.office.results import progress
    from rosetta_tui.report import project as report_project
    from rosetta_tui.request import new_corpus


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--source-language", metavar="TAG", help="Language of the sentences that are translated, such as en.")
@click.option("--target-language", metavar="TAG", help="Language that they are translated into, such as crk.")
@click.option("--title", metavar="WORDS", help="Title of the corpus.")
@click.option("--organisation", metavar="NAME", help="Who makes it, by the name that speakers know.")
@click.option("--license", "licence", metavar="SPDX", help="Licence, by its SPDX id, such as CC-BY-NC-SA-4.0.")
@click.option("--id", "corpus_id", metavar="NAME", help="Short name of the corpus. Default: the folder's.")
@click.option(
    "--transmission",
    metavar="WORD",
    help="Where its open texts may go: local-only, ask, open … Default: what the licence says.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="A label of Local Contexts, such as “TK NC”; may be repeated.",
)
@click.option(
    "--labels",
    "list_labels",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, on: _list_labels(ctx) if on else None,
    help="List the labels, and do nothing else.",
)
def new_(folder: Path, **given: Any) -> None:
    """Start a corpus in FOLDER: one file that knows everything, and corpus.json, which grows.

    What you do not give is asked for. Every further step is its own command and can be stopped anywhere:
    sources, translate, gather, agree, analyse, consent; progress says what comes next. Sentences of secret segments
    are sealed in the folder.
    """
    for name in new_corpus.ASKED:
        # What an option says, or what a person at a terminal answers; UsageError where that is
        # empty, or nobody can be asked.
        option, asked, value = new_corpus.OPTIONS[name], new_corpus.ASKED[name], given[name]
        if value is None and not sys.stdin.isatty():
            raise UsageError(f"{option} is missing: {asked}.")
        answer = _answered(given, name) if value is None else str(value).strip()
        if not answer:
            raise UsageError(f"{option} is empty: {asked}.")
        given[name] = answer
    facts = new_corpus.corpus_facts(folder, given)
    try:
        warned = authoring.check_facts(facts).warnings
    except CorpusError as error:
        print_problems(error.problems)
        click.echo("Nothing was begun. Correct the option of that name; where texts may go is said with --transmission WORD.", err=True)  # fmt: skip
        raise click.exceptions.Exit(2) from None
    project = state.create_project(folder, database.home(), facts)
    print_problems(warned)
    dataset = project.state.dataset
    languages = [tags.language_name(dataset[f"{side}_language"]) for side in ("source", "target")]
    click.echo(plain(f"Begun: {facts['title']}, {' → '.join(languages)}, in {folder}"))
    click.echo(plain(f"Next: rosetta corpus sources {command_line([str(folder)])} FILE"))


def _answered(given: Mapping[str, Any], name: str) -> str:
    """Prompt until the answer is valid, so that an invalid one costs none of those before it."""
    if name == "licence":
        for licence, leads_to in new_corpus.offered_licences().items():
            click.echo(f"  {licence:<21}{leads_to}", err=True)
    while True:
        answer = str(click.prompt(new_corpus.ASKED[name], err=True)).strip()
        answers = {**{question: value for question, value in given.items() if value}, name: answer}
        wrong = new_corpus.look_at(answers).wrong.get(name, ()) if answer else ()
        if not wrong:
            return answer
        for fault in wrong:
            click.echo(plain(fault), err=True)


def _list_labels(ctx: click.Context) -> None:
    for context_label in model_labels.context_labels().values():
        click.echo(f"{context_label.identifier:<8}{context_label.name:<32}{model_labels.ADDRESS}{context_label.page}/")
    ctx.exit()


# ---- Add sentences that speakers are to translate, from a file or a model ----


@click.command("sources")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--segment",
    type=click.Choice(SEGMENTS),
    help="Segment of all of them. Default: as FILE says, else the one that lacks most.",
)
@click.option(
    "--difficulty",
    type=click.IntRange(1, 5),
    help="Difficulty of those that name none: 1 basic vocabulary … 5 advanced.",
)
@click.option("--register", type=click.Choice(REGISTERS), help="For those that name none.")
@click.option("--context", type=click.Choice(CONTEXTS), help="For those that name none.")
@click.option(
    "--phenomenon", metavar="WORDS", help="What they show of the language, such as “possessive”: their variant class."
)
@click.option(
    "--take",
    type=click.IntRange(1),
    metavar="N",
    help="Only N of them, mostly of difficulties 2 to 4, spread over the registers.",
)
@click.option("--model", metavar="NAME", help="Instead of FILE: a model that writes them.")
@click.option("--endpoint", default="ollama", show_default=True, metavar="NAME|URL", help="Endpoint of the model.")
@click.option(
    "--count", type=click.IntRange(1), default=20, show_default=True, help="Sentences that the model is asked for."
)
@click.option("--undo", is_flag=True, help="Take out what was added last.")
def sources_(folder: Path, file: Path | None, *, undo: bool, **given: Any) -> None:
    """Add the sentences in FILE to the corpus in FOLDER: a text file with one on each line, or any form of a corpus.

    FILE may give the difficulty, register, context, segment and variant_class of each sentence, and translations.
    Near copies of sentences that are already there are left out. What a model wrote is marked as such; a model on
    another machine writes for open segments only.
    """
    if sum((undo, file is not None, given["model"] is not None)) != 1:
        raise UsageError("Say one of FILE, --model and --undo.")
    with authoring.changing(folder, database.home()) as project:
        if undo:
            click.echo(report_project.taken_out_words(candidates.undo_last(project)))
            return
        offered = _asked(project, given) if file is None else _read(project, file)
        taken = candidates.take_candidates(project, offered, _usual(given), given["take"])
    for line in report_project.left_out_lines(taken):
        click.echo(plain(line), err=True)
    click.echo(report_project.added_words(taken))
    if file is not None and taken.secret:
        click.echo(plain(report_project.erase_words(folder, file)), err=True)


def _read(project: Any, file: Path) -> list[Any]:
    try:
        return list(candidates.read_candidates(project, file))
    except CorpusError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(2) from None


def _asked(project: Any, given: dict[str, Any]) -> list[Any]:
    """Request sources of the model that is named; the wish names one difficulty and one register."""
    if given["difficulty"] is None or given["register"] is None:
        raise UsageError("A model is asked for one --difficulty and one --register at a time.")
    wish = candidates.SourceWish(
        given["count"],
        given["difficulty"],
        given["register"],
        given["context"] or "",
        given["phenomenon"] or "",
        _segment(given),
    )
    return list(candidates.ask_model(project, wish, given["endpoint"], given["model"]))


def _segment(given: dict[str, Any]) -> Segment | None:
    return None if given["segment"] is None else Segment(given["segment"])


def _usual(given: dict[str, Any]) -> Any:
    return candidates.CandidateDefaults(
        _segment(given), given["difficulty"], given["register"], given["context"], given["phenomenon"] or ""
    )


# ---- Say how far a corpus in the making is, what it lacks, and what comes next ----

_TOLD = ("id", "version", "language_pair", "source_language", "target_language")


@click.command("progress")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def progress_(folder: Path, *, as_json: bool) -> None:
    """Count what the corpus in FOLDER has by segment, difficulty and register, beside what a benchmark needs (§11.1).

    Below that: what is worth having beyond it (§11.2), what a language takes in hours and money (§10.3), how long
    speakers have worked so far, and the next step. No text is shown.
    """
    project = state.read_project(folder, database.home())
    project_progress, worked = (authoring.progress_of(project), progress.worked_until_now(project))
    value: JsonObject = {
        "dataset": {name: getattr(project_progress.dataset, name) for name in _TOLD},
        "segments": [report_project.segment_fields(segment) for segment in project_progress.segments],
        "by_difficulty": project_progress.by_difficulty,
        "by_register": project_progress.by_register,
        "by_origin": project_progress.by_origin,
        "requirements": [requirement_fields(requirement) for requirement in project_progress.requirements],
        "analysed": project_progress.analysed,
        "with_class": project_progress.with_class,
        "with_variants": project_progress.with_variants,
        "waiting": list(project_progress.waiting),
        "worked": None if worked is None else [asdict(working_time) for working_time in worked],
        "with_speakers": [asdict(out_review) for out_review in project_progress.out],
        "consent": {"documented": project_progress.consent.documented, "note": project_progress.consent.note},
        "in_vault": project_progress.in_vault,
        "warnings": project_progress.warnings,
    }
    lines = report_project.progress_lines(project_progress, folder, worked)
    print_form("corpus-progress", value, lines, as_json=as_json)


# ---- Confirm the analyses that the language's analyser proposes ----


@click.command("analyse")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--by", required=True, metavar="NAME", help="Who confirms, as it will be in the corpus.")
@click.option("--secret", is_flag=True, help="Include secret sentences, which are then shown on this screen.")
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
    with authoring.changing(folder, database.home()) as project:
        analyser = candidates.analyser_for(project)
        waiting = candidates.waiting_for_analysis(project, secret=secret)
        for proposal in candidates.proposals(project, analyser, waiting):
            if not proposal.readings:
                unknown.add(proposal.entry.id)
                continue
            answer = _analyse_asked(proposal)
            if answer == "q":
                break
            if answer:
                candidates.confirm(project, proposal, int(answer) - 1, by, analyser)
                state.write_state(project, overwrite=True)
                kept += 1
            else:
                passed += 1
    click.echo(f"Kept: {counted(kept, 'analysis', 'analyses')}; skipped:  {passed}.")
    if unknown:
        click.echo(f"With words that the analyser does not know: {len(unknown)}.", err=True)


def _analyse_asked(proposal: candidates.Proposal) -> str:
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

    answer: str = click.prompt("Number, Enter skips, q stops", default="", show_default=False, value_proc=checked)
    return answer


# ---- The community's consent ----


_MOST_PAPER = 64 * 2**20


@click.command("consent")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--community", required=True, metavar="NAME", help="Whose language it is, in their own words.")
@click.option(
    "--person",
    required=True,
    metavar="WORDS",
    help="Who said it for them, with their office: “Mary Cardinal, chair of the council”.",
)
@click.option("--date", required=True, metavar="YYYY-MM-DD", help="The day on which it was said.")
@click.option(
    "--statement",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE.txt",
    help="What was agreed to, word for word; it becomes part of the corpus.",
)
@click.option(
    "--paper",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A scan of what the person signed; its hash is kept, not the file.",
)
@click.option("--replace", is_flag=True, help="Replace a record that is there, without asking.")
def consent_(folder: Path, community: str, person: str, date: str, statement: Path, paper: Path | None, *, replace: bool) -> None:  # fmt: skip
    """Record in the corpus in FOLDER that its community agreed, signed with this computer's organisation key.

    The record travels with the corpus, so name the person only if they want to be named. A corpus has one record: a
    later one replaces it, after a question. To take consent back: rosetta community withdraw.
    """
    text, _ = read_text(statement, "what was agreed to", 4 * consent_given.MOST_STATEMENT)
    if not text.strip():
        raise UsageError(
            f"{statement}: it is empty, but it has to say what was agreed to, word for word. Write it there."
        )
    scan = "" if paper is None else sha256(read_bytes(paper, "the scan", _MOST_PAPER)).hexdigest()
    with authoring.changing(folder, database.home()) as project:
        facts = project.state.dataset
        parts = {
            "corpus": facts["id"],
            "source_language": facts["source_language"],
            "target_language": facts["target_language"],
            "community": community,
            "person": person,
            "date": date,
            "statement": text.strip(),
            "paper_sha256": scan,
            "recorded_by": facts["organisation"],
        }
        if facts.get("consent"):
            _say_replaced(facts["consent"], replace=replace)
        identity = keys.Identity.load(database.home(), keys.Role.ORGANISATION)
        record = consent_given.record_consent(parts, identity, consent_given.newest_day())
        project.change(dataset={**facts, "consent": record.model_dump(mode="json")})
    click.echo(plain(f"Recorded: {community}, said by {person} on {date}."))
    click.echo(f"Signed with the key of these six words: {keys.key_phrase(record.signing_key)}")


def _say_replaced(before: dict[str, Any], *, replace: bool) -> None:
    """Name the record that is there, and ask; without a terminal UsageError unless ``replace``."""
    who = f"{before['community']}, said by {before['person']} on {before['date']}"
    click.echo(plain(f"The corpus has a record already: {who}. The new one would replace it."), err=True)
    if replace:
        return
    if not on_terminal():
        raise UsageError("Nothing was recorded. To replace it with the new record: --replace.")
    click.confirm("Replace it with the new record?", abort=True, err=True)
