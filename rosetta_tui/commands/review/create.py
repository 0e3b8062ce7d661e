"""``rosetta review create``: Make a batch for reviewers from one run or several.
``rosetta review plan``: Say how likely a verdict is with how many people and items.
``rosetta review bundle``: Add and list the program for reviewers, which `review create -o` copies to sticks.

With ``--translate``, ``create`` asks speakers for translations of a corpus or a list of sentences.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from corpora.text.messages import percent
from harness.core.failures import UsageError
from harness.method.option_table import FORMS, SEGMENTS
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review import with_vault
from rosetta_tui.request.reading import load_corpus
from rosetta_tui.request.vault import without_method
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain, table

with when_used():
    from corpora.model import entry
    from harness.core import storage
    from harness.store import runs as store_runs
    from harness.store.sqlite import database
    from review.files import manifests
    from review.office.making import controls, creating, reviewed_runs, reviewer_programs, second_look
    from review.office.making import texts as making_texts
    from review.office.results import certifying, results
    from review.office.store import store
    from review.verdict.gate import planner
    from review.verdict.gate import policy as gate_policy
    from rosetta_tui.commands.review import distribute, stick
    from rosetta_tui.review.organiser.words import gate, plan
    from rosetta_tui.review.organiser.words import plan as words_plan

_FILE = click.Path(path_type=Path)
_TEXT = "[TAG=]FILE"
"""In the review's own language, or in one that is named."""
_VAULT = ("vault", "purpose", "clock_was_wrong", "others")
_OF_RUNS = ("bad", "repeats", "anchors", "policy", "training", "second_look")
"""Options that mean something for ratings only."""
_OF_SENTENCES = ("source_language", "target_language", "form")
_OF_FIRST = (
    *("reviewers", "items", "core", "items_per_person", "segments", "organisation", "panel", "context", "labels"),
)  # fmt: skip
"""What a second look has of the first one."""
_HANDED_OUT = (
    click.option("--font", "fonts", multiple=True, type=_FILE, metavar="FILE.ttf", help="A font to send along, for letters that the reviewers' windows lack."),
    click.option("--font-licence", "licences", multiple=True, type=_FILE, metavar="OFL.txt", help="Licence of the font; it must be the Open Font License."),
    click.option("--recipient", "recipients", multiple=True, metavar="age1…|FILE", help="Who else can open the ratings."),
    click.option("--for", "laptops", multiple=True, type=_FILE, callback=with_vault.laptop_cards, metavar="LAPTOP-FILE", help="Seal the batch for this laptop alone; repeat it for each laptop."),
    click.option("--page", is_flag=True, help="Also write NAME.html, which opens in any browser without the program."),
    click.option("--passphrases", is_flag=True, help="One file for each person, opened by the words on their card."),
    click.option("-o", "--output", "folder", type=_FILE, metavar="STICK", help="Folder for the files, such as a stick: START-HERE.html and the program for reviewers go along. Default: the batch alone, here."),
    click.option("--cards", type=_FILE, help="HTML file for the cards. Default: in review-cards/ in your data folder."),
)  # fmt: skip
"""Of every command that hands a batch out: what goes along, who can open it, where the files go."""


def handed_out(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of handing out to a command, in the order in which its help lists them."""
    for option in reversed(_HANDED_OUT):
        command = option(command)
    return command


@click.command("create")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--translate", type=_FILE, metavar="FILE", help="Instead of runs: sentences that speakers translate.")
@click.option("--second", metavar="REVIEW", help="Instead of runs: the sentences of REVIEW that divided people, once more.")  # fmt: skip
@click.option("--source-language", metavar="TAG", help="Language of the sentences in FILE.")
@click.option("--target-language", metavar="TAG", help="Language of the translations that are asked for.")
@click.option("--form", type=click.Choice(FORMS), help="Form of FILE. Default: recognised on its own.")
@click.option("--reviewers", default=5, show_default=True, help="How many people are asked.")
@click.option("--items", default=80, show_default=True, help="Sentences drawn from the corpus; to translate: all.")
@click.option("--core", type=click.IntRange(1), help="How many of them everybody is asked. Default: all.")
@click.option("--items-per-person", type=click.IntRange(0), help="Further sentences for each person, beyond the core.")
@click.option("--bad", type=click.IntRange(0, 500), help="Translations made wrong on purpose.")
@click.option("--repeats", type=click.IntRange(0, 500), help="Translations asked twice.")
@click.option("--anchors", type=click.IntRange(0, 500), help="References among them.")
@click.option("--segment", "segments", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of every draw. Default: random.")
@click.option(
    "--policy",
    type=_FILE,
    help="The gate's rule, as TOML. Default: our proposal, or for fewer people or sentences one that is derived from it.",
)
@click.option("--name", help="Name of the review and its files. Default: the corpus, numbered.")
@click.option("--title", help="What reviewers see above it.")
@click.option("--organisation", help="The organisation, by the name that speakers know. Default: the policy's, or that of the last review.")  # fmt: skip
@click.option("--panel", default="", help="How the reviewers were chosen, for the certificate.")
@click.option("--language", default="en", show_default=True, help="Language of the words for reviewers.")
@click.option("--consent", multiple=True, metavar=_TEXT, help="What reviewers agree to. {organisation} is filled in. Once for each language.")  # fmt: skip
@click.option("--guide", multiple=True, metavar=_TEXT, help="How to judge, or to translate, in your words. Once for each language.")  # fmt: skip
@click.option("--training", multiple=True, metavar=_TEXT, help="Your own training items, TOML or TSV. Once for each language, with the same items.")  # fmt: skip
@click.option("--context", type=click.Choice(("open", "all", "none")), default="open", show_default=True, help="For which sentences to show the ones around them; all: for secret ones too.")  # fmt: skip
@click.option("--second-look", is_flag=True, help="Tell people that what they write may be shown to the others, without names, where they differ.")  # fmt: skip
@click.option("--label", "labels", multiple=True, help="Tag of the community, such as “TK Verified”.")
@handed_out
@without_method
@click.option("--anyway", is_flag=True, help="Make it even if it cannot lead to a verdict under the policy, or not all of it can be read.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create_(
    runs: Sequence[str], translate: Path | None, second: str | None, as_json: bool, dry_run: bool, **given: Any
) -> None:
    """Make a batch for reviewers from one RUN or several of one corpus (id, its beginning, `last`, `last~1` …).

    The sentences are drawn by difficulty, the outputs are shown without naming their systems, and controls are mixed
    in. The answer key stays in your data folder. Secret sentences are only written sealed: for laptops you know
    (--for), or with passphrases. Those of a run from a vault go only to the laptops of --for: --vault and --purpose
    open them once, and the vault's log records that first. Keepers who are elsewhere are asked on the STICK.

    With --translate FILE instead of runs, speakers write the sentences of a corpus or of a text file (NAME.txt, one
    on each line) in their language; all of them, unless --items says how many.

    With --second REVIEW everybody who answered is asked once more about the sentences on which ratings are two steps
    apart or more, with the card that they have. What people wrote is shown to the others, without names and ratings,
    only if they knew that beforehand (--second-look). The new answers are advice for the person who decides (`rosetta
    review adjudicate REVIEW`): the gate and every measure of agreement count the first round alone. Reading what divided
    the reviewers is a look. A review has one second look.
    """
    ctx = click.get_current_context()
    asked = {name for name in ctx.params if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT}
    _check_fit(runs, translate, second, asked)
    if second is not None:
        _second(second, given, as_json=as_json, dry_run=dry_run)
    elif translate is not None:
        given["items"] = given["items"] if "items" in asked else None
        # Show the plan, and write the files unless only the plan was asked for.
        texts = distribute.own_texts(given, "translate")
        share = creating.Share(given["reviewers"], given["items"], given["core"], given["items_per_person"])
        seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
        draft = creating.draft_translations(_sentences(translate, given), share, seed)
        letters = words_plan.look_at_letters(draft, texts, given, secret=False)
        distribute.say_plan(_translation_plan(draft, letters), as_json=as_json)
        if not dry_run:
            making = distribute.Making(draft.sentences.dataset.id, False, texts, letters, draft)
            distribute.carry_out(store.Office.open(database.home()), making, given, as_json=as_json)
    else:
        _create(runs, given, as_json=as_json, dry_run=dry_run)


def _check_fit(runs: Sequence[str], translate: Path | None, second: str | None, asked: Collection[str]) -> None:
    """Refuse options that mean nothing for what is made."""
    chosen = bool(runs) + (translate is not None) + (second is not None)
    if not chosen:
        raise UsageError(
            "Name a run (its id, the beginning of it, `last`, `last~1` …) whose outputs are to be rated, the sentences "
            "that are to be translated (--translate FILE), or a review (--second REVIEW)."
        )
    if chosen > 1:
        raise UsageError("A review is of runs, of sentences to translate (--translate) or of one before (--second).")
    others: Sequence[str] = _OF_SENTENCES
    what = "without --translate"
    if second is not None:
        others, what = (*_OF_RUNS, *_OF_SENTENCES, *_OF_FIRST), "with --second"
    elif translate is not None:
        others, what = (*_OF_RUNS, *_VAULT), "with --translate"
    wrong = [f"--{name.replace('_', '-')}" for name in others if name in asked]
    if wrong:
        raise UsageError(f"{', '.join(wrong)}: means nothing {what}. Leave it out.")


def _create(runs: Sequence[str], given: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
    derived = given["policy"] is None
    policy, policy_bytes = (
        gate_policy.for_panel(given["reviewers"], given["items"])
        if derived
        else gate_policy.read_policy_file(given["policy"])
    )
    distribute.require_page(given, secret=given["vault"] is not None, second=False, rule=policy)
    texts = distribute.own_texts(given)
    given["organisation"] = given["organisation"] or policy.organisation
    training = _own_training(given["training"], given["language"]) if given["training"] else None
    too_little = words_plan.too_little(given["items"], given["reviewers"], policy)
    if given["vault"] is not None and not dry_run:
        _require_verdict(too_little, anyway=given["anyway"])
    if not dry_run:
        with store.Office.open(database.home()) as office:
            distribute.name_who_asks(office, given)
    reviewed = _runs(runs, given, dry_run=dry_run)
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    carries = reviewed_runs.ContextPolicy(given["context"])
    draft = creating.draft_review(reviewed, policy, _size(given, reviewed), seed, texts, training, carries)
    letters = words_plan.look_at_letters(draft, texts, given, secret=draft.secret)
    plan = words_plan.draft_lines(draft, policy, letters, own_training=bool(given["training"]))
    distribute.say_plan([*plan, *words_plan.rule_lines(policy)], as_json=as_json)
    if dry_run:
        return
    _require_verdict(words_plan.no_verdict(draft, policy), anyway=given["anyway"])
    making = distribute.Making(
        corpus=draft.runs.dataset.id,
        secret=draft.secret,
        texts=texts,
        rule=policy,
        policy=policy_bytes,
        check=partial(making_texts.check_words, draft.runs),
        letters=letters,
        drawn=draft,
        below_deployable=[*draft.below_deployable],
    )
    distribute.carry_out(store.Office.open(database.home()), making, given, as_json=as_json)


def _runs(names: Sequence[str], given: dict[str, Any], *, dry_run: bool) -> reviewed_runs.ReviewedRuns:
    """Read the runs; those from a vault are opened once, after everything that could be refused before."""
    segments = [entry.Segment(segment_name) for segment_name in given["segments"]]
    opening = with_vault.handing_out(given, several=dry_run or len(names) > 1)
    with database.opened() as connection:
        if given["vault"] is not None and not dry_run:
            corpus = store_runs.find_run(connection, names[0]).dataset_id
            with store.Office.open(database.home()) as office:
                distribute.look_ahead(office, given, corpus)
        return reviewed_runs.read_runs(connection, names, segments, opening)


def _own_training(named: Sequence[str], language: str) -> Sequence[manifests.TrainingItem]:
    """Read the organiser's items, explained in each language that is named."""
    files = distribute.by_language(named, language, "--training")
    if language not in files:
        raise UsageError(
            f"--training: there are no items in the review's own language, {language}. Add --training FILE, or name "
            "another --language."
        )
    read = {tag: (path, controls.read_training(path)) for tag, path in files.items()}
    _, own = read.pop(language)
    return controls.explained_in(own, read)


def _size(given: dict[str, Any], runs: reviewed_runs.ReviewedRuns) -> creating.Size:
    core = given["core"] or min(given["items"], len(runs.shared))
    usual = controls.usual_counts(core * len(runs.runs))
    counts = controls.Counts(
        *(
            usual_count if given[name] is None else given[name]
            for name, usual_count in (("bad", usual.bad), ("repeats", usual.repeats), ("anchors", usual.anchors))
        )
    )
    return creating.Size(given["reviewers"], given["items"], given["core"], given["items_per_person"], counts)


def _require_verdict(why_none: Iterable[str], *, anyway: bool) -> None:
    """Refuse a review of which the policy could give no verdict, however people rate, for these reasons."""
    if not anyway and (reasons := list(why_none)):
        raise UsageError(
            f"However people rate, this review could give no verdict: {'; '.join(reasons)}. Ask for more, name as few "
            "as there are (--reviewers, --items), or add --anyway, for practice or to hear opinions."
        )


def _sentences(path: Path, given: dict[str, Any]) -> reviewed_runs.Sentences:
    """Read lines from a text file, and sources from a corpus in any of its forms."""
    segments = [entry.Segment(segment_name) for segment_name in given["segments"]]
    if path.suffix.lower() == ".txt" and given["form"] is None:
        if segments:
            raise UsageError("--segment: lines of a text file are of no segment. Leave it out.")
        return reviewed_runs.of_lines(path, given["source_language"], given["target_language"])
    corpus = load_corpus({**given, "file": path, "corpus_id": None}, None)
    carries = reviewed_runs.ContextPolicy(given["context"])
    if carries is reviewed_runs.ContextPolicy.ALL:
        raise UsageError(
            "--context all: translations are handed on in the open, and so no secret sentence goes along. Leave it out."
        )
    return reviewed_runs.of_corpus(corpus, segments, carries)


def _translation_plan(draft: creating.TranslationDraft, letters: words_plan.Letters) -> Iterator[str]:
    """Return who is asked about which sentences."""
    sentences, dataset = draft.sentences, draft.sentences.dataset
    pair = f"{dataset.source_language} → {dataset.target_language}"
    yield words_plan.plan_line("sentences", f"{len(draft.entries)} of {len(sentences.entries)}, {pair}")
    if sentences.repeated:
        yield words_plan.plan_line("", f"{sentences.repeated} repeated in the file; each is asked once")
    yield from words_plan.people_lines(draft, letters)


# ---- Ask people once more about the sentences that divided them ----


def _second(name: str, given: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
    """Make a second review; reading what divided the reviewers is a look."""
    distribute.require_page(given, secret=False, second=True, rule=None)
    texts = distribute.own_texts(given, "second")
    with store.Office.open(database.home()) as office:
        reviewed = office.review(name)
        results.refuse_withdrawn(reviewed)
        second_look.cases_to_ask(office, reviewed)
        first, corpus = reviewed.manifest, f"{reviewed.name}-second"
        given |= {"organisation": first.organisation.name, "panel": reviewed.key.panel, "labels": first.labels}
        if given["vault"] is not None and not dry_run:
            distribute.look_ahead(office, given, corpus)
        with_vault.open_review(reviewed, "review", given, with_vault.handed_to(given), dry_run=dry_run)
        drawn = second_look.draft_second_look(
            office, reviewed, secrets.randbits(32) if given["seed"] is None else given["seed"]
        )
        # Record that ratings are examined: which sentences split the panel is shown.
        for note in gate.look_notes(certifying.look_at_ratings(office, reviewed)):
            click.echo(note, err=True)
        letters = words_plan.look_at_letters(drawn, texts, given, secret=reviewed.secret)
        distribute.say_plan(_plan_lines(drawn, letters), as_json=as_json)
        if dry_run:
            return
        making = distribute.Making(
            corpus=corpus,
            secret=reviewed.secret,
            texts=texts,
            letters=letters,
            drawn=drawn,
            second_of=reviewed.key.batches[0],
        )
        distribute.carry_out(nullcontext(office), making, given, as_json=as_json)
    if not as_json:
        click.echo(plain(f"Then: `rosetta review adjudicate {reviewed.name}` shows what they said."))


def _plan_lines(draft: second_look.SecondDraft, letters: words_plan.Letters) -> Iterator[str]:
    """Return who is asked about which sentences, and whether people read what others wrote."""
    yield words_plan.plan_line("sentences", f"{len(draft.items)} that split the panel of {draft.first.name}")
    yield words_plan.plan_line("people", f"{len(draft.orders)} who answered; at most {draft.longest} sentences each")
    shown = (
        f"what people wrote about them ({draft.words} times), without names and answers"
        if draft.first.manifest.shows_words
        else "nothing of what people wrote: they were not told that others may read it "
        "(`rosetta review create --second-look` tells them)"
    )
    yield words_plan.plan_line("shown", shown)
    yield from words_plan.letters_plan(letters)


# ---- Say how likely a verdict is with how many people and items ----

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
            file.name, size, lambda copied: reviewer_programs.add_program(file, system, database.home(), copied)
        )
        _say(program)
    if folder is not None:
        stick.fill_stick(folder, database.home())


def _list() -> None:
    """List the archives that are there, and the systems that have none."""
    programs = reviewer_programs.list_programs(database.home())
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
