"""``rosetta corpus ask``: Hand sentences to speakers, who translate them, or translations, to which they agree.
``rosetta corpus gather``: Take into a corpus in the making what speakers wrote and said.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from corpora.model.entry import Segment
from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.method.option_table import SEGMENTS
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.create import handed_out
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.text import plain

with when_used():
    from corpora.model import vocabularies as model_labels
    from harness.project import authoring, state
    from harness.store.sqlite import database
    from review.office.making import creating
    from review.office.making import texts as making_texts
    from review.office.results import into_project, progress
    from review.office.store import store
    from rosetta_tui.commands.review import distribute
    from rosetta_tui.review.organiser.words import imported
    from rosetta_tui.review.organiser.words import plan as words_plan

_TEXT = "[TAG=]FILE"
_ASKED = (
    click.option("--segment", "segments", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment."),
    click.option("--again", is_flag=True, help="Include those that speakers have already and have not sent back."),
    click.option("--reviewers", default=1, show_default=True, help="How many people are asked."),
    click.option("--items-per-person", type=click.IntRange(1), help="Sentences for each person, spread evenly. Default: all of them."),
    click.option("--name", help="Name of the review and its files. Default: the corpus and the task, numbered."),
    click.option("--title", help="What speakers see above it."),
    click.option("--panel", default="", help="How they were chosen, in your words."),
    click.option("--language", default="en", show_default=True, help="Language of the words for speakers."),
    click.option("--consent", multiple=True, metavar=_TEXT, help="What speakers agree to. {organisation} is filled in. Once for each language."),
    click.option("--guide", multiple=True, metavar=_TEXT, help="How to go about it, in your words. Once for each language."),
)  # fmt: skip
_AT_LAST = (
    click.option("--shared-laptop", is_flag=True, help="With `agree`: speakers share a laptop, so include translations that were written on it. You know that another person looks at them, and the corpus says so."),
    click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of every draw. Default: random."),
    click.option("--anyway", is_flag=True, help="Make it even if not all of it can be read."),
    click.option("--dry-run", is_flag=True, help="Only show the plan."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)  # fmt: skip

Asking = Literal["translate", "agree"]


def _in_order(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return the decorator that adds these options, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def ask_speakers(project: Path, kind: Asking, given: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
    """Distribute what waits for speakers, sealed where a secret sentence is among it; the project notes it first."""
    with authoring.changing(project, database.home(), keep=not dry_run) as opened:
        progress.known_reviews(opened)
        # Words for speakers; the organisation and the labels are those of the corpus.
        dataset = opened.state.dataset
        given["organisation"] = dataset["organisation"]
        given["labels"] = model_labels.label_words(dataset.get("labels"))
        texts = distribute.own_texts(given, kind)
        segments = given["segments"]
        again = given["again"]
        wanted = [Segment(segment) for segment in segments]
        waiting = creating.to_translate if kind == "translate" else creating.to_agree
        entries = waiting(opened, wanted, again=again)
        shared = given["shared_laptop"]
        if kind == "agree" and not shared:
            entries, given["not_for"] = of_others(opened, entries, given)
        draft = _draft(opened, kind, entries, given)
        secret = creating.secret_among(entries)
        letters = words_plan.look_at_letters(draft, texts, given, secret=secret)
        distribute.say_plan(_plan(draft, letters, secret=secret), as_json=as_json)
        if dry_run:
            return
        gather = f"rosetta corpus gather {command_line([str(project)])}"
        name = str(opened.state.dataset["id"])
        made = distribute.Making(name, secret, texts, letters, draft, at_the_end=gather)
        with store.Office.open(database.home()) as office:
            given["name"] = making_texts.review_name(office, given["name"], f"{name}-{kind}")
            distribute.require_handing_out(office, made, given)
        opened.change(office=progress.own_key(database.home()))
        creating.note_handed_out(opened, given["name"], kind, entries, shared_laptop=shared)
        state.write_state(opened, overwrite=True)
        distribute.carry_out(store.Office.open(database.home()), made, given, as_json=as_json)
        creating.note_made(opened, given["name"])


def _draft(
    project: state.Project, kind: Asking, entries: Sequence[state.ProjectEntry], given: dict[str, Any]
) -> creating.TranslationDraft | creating.AgreementDraft:
    share = creating.Share(given["reviewers"], None, None, given["items_per_person"])
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    if kind == "translate":
        return creating.draft_sources(project, entries, share, seed)
    return creating.draft_agreement(project, entries, share, seed)


def _plan(
    draft: creating.TranslationDraft | creating.AgreementDraft, letters: words_plan.Letters, *, secret: bool
) -> Iterator[str]:
    dataset = draft.dataset
    yield words_plan.plan_line(
        "sentences", f"{len(draft.entries)}, {dataset.source_language} → {dataset.target_language}"
    )
    if secret:
        yield words_plan.plan_line("", "some are of secret segments, so all of it is sealed")
    yield from words_plan.people_lines(draft, letters)


# ---- Whom ``rosetta corpus ask agree`` gives translations: laptops on which they were not written,
# since nobody agrees with themselves.


_MENDS = (
    "Name the laptop of another speaker (--for), add --passphrases and give the cards to others, or say --shared-laptop where "
    "another person sits at it."
)


def of_others(
    project: state.Project, entries: Sequence[state.ProjectEntry], given: Mapping[str, Any]
) -> tuple[list[state.ProjectEntry], frozenset[str]]:
    """Return the entries that the laptops of ``--for`` may look over, and the known laptops for which nothing is sealed.

    UsageError where nothing is left to hand out, or no laptop for secret sentences.
    """
    if not entries or given["passphrases"]:
        return list(entries), frozenset()
    with store.Office.open(database.home()) as office:
        wrote, first = progress.laptops_that_wrote(project, office), progress.first_of(office)
        known = {laptop.signing_key: laptop.name for laptop in office.laptops() if laptop.removed is None}
    if given["laptops"]:
        named = {laptop.public.signing_key for laptop in given["laptops"]}
        return _for_named(entries, wrote, {first.get(signing_key, signing_key) for signing_key in named}), frozenset()
    writers = {key for entry in entries for key in wrote.get(entry.id, ())}
    not_for = frozenset(key for key in known if first[key] in writers)
    if creating.secret_among(entries):
        _say_not_for(known, not_for)
    return list(entries), not_for


def _say_not_for(known: Mapping[str, str], not_for: frozenset[str]) -> None:
    """Name the known laptops for which nothing is sealed; UsageError where none is left."""
    if known and not_for == known.keys():
        raise UsageError(f"Every laptop that is known here wrote some of these translations. {_MENDS}")
    for key in sorted(not_for):
        click.echo(plain(f"Not for the laptop {known[key]}: some of these translations were written on it."), err=True)


def _for_named(
    entries: Sequence[state.ProjectEntry], wrote: Mapping[int, frozenset[str]], named: set[str]
) -> list[state.ProjectEntry]:
    """Return what was written on none of the named laptops, and say how much was."""
    left = creating.written_elsewhere(entries, wrote, named)
    if not left:
        raise UsageError(
            f"All {counted(len(entries), 'translation')} that wait were written on the laptops of --for. {_MENDS}"
        )
    if own := len(entries) - len(left):
        click.echo(plain(f"Left out: {counted(own, 'translation')} that these laptops wrote themselves; make another batch of them for another laptop."), err=True)  # fmt: skip
    return left


# ---- Hand out what waits for speakers ----


@click.command("ask")
@click.argument("kind", type=click.Choice(("translate", "agree")))
@click.argument("project", metavar="FOLDER", type=click.Path(path_type=Path))
@_in_order(*_ASKED)
@handed_out
@_in_order(*_AT_LAST)
def ask_(project: Path, kind: Asking, *, as_json: bool, dry_run: bool, **given: Any) -> None:
    """Make a batch of what waits in FOLDER for speakers: `translate` for sentences, `agree` for translations.

    Speakers write in the window or terminal. Sentences of gold_standard and held_out go out sealed, for laptops you
    know (--for) or with --passphrases, and what speakers write comes back sealed. Bring the answers home with `rosetta
    review import STICK`, then: rosetta corpus gather FOLDER

    `agree` is for a second speaker, who did not write the translation. Acceptable and excellent count as agreement. A
    better wording replaces the translation, or is kept beside one that is excellent. A sentence that is rated reject
    or gist, without a better wording, goes back to translators.

    Nobody agrees with themselves: a laptop (--for) gets what was not written on it, and what comes back from the
    laptop of a translation does not count, unless you say --shared-laptop.
    """
    if kind == "translate" and given["shared_laptop"]:
        raise UsageError("--shared-laptop goes with `agree`. Leave it out.")
    ask_speakers(project, kind, given, as_json=as_json, dry_run=dry_run)


# ---- Take into a corpus in the making what speakers wrote and said ----


@click.command("gather")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--shared-laptop",
    "shared",
    multiple=True,
    metavar="REVIEW",
    help="In this review of second speakers another person sat at the laptop of the translation; the corpus says so.",
)
def gather_(folder: Path, shared: tuple[str, ...]) -> None:
    """Collect what came back from speakers (`rosetta review import`) into the corpus in FOLDER; doing it again changes nothing.

    Only what its writers allow to be used is taken. Secret translations stay sealed. Somebody who checks a
    translation on the laptop on which it was written does not count as a second speaker, unless you say
    --shared-laptop.
    """
    with authoring.changing(folder, database.home()) as project:
        progress.known_reviews(project)
        for name in shared:
            creating.note_shared_laptop(project, name)
        with store.Office.open(database.home()) as office:
            gathered_facts = into_project.gather(project, office)
    click.echo(imported.taken_words(gathered_facts))
    for line in imported.left_lines(gathered_facts):
        click.echo(plain(line), err=True)
