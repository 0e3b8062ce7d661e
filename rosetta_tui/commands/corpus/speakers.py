"""What the commands that ask speakers about a corpus in the making share: whom to ask, and handing out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from corpora.model.entry import Segment
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review.create import handed_out
from rosetta_tui.request.reading import SEGMENTS
from rosetta_tui.show.clipboard import command_line

with when_used():
    from corpora.model import labels as model_labels
    from harness.project import authoring, state
    from review.office.making import creating, of_project, reviews_made
    from review.office.making import texts as making_texts
    from review.office.store import store
    from rosetta_tui.commands.corpus import others
    from rosetta_tui.commands.review import distribute
    from rosetta_tui.review.organiser.words import letters as words_letters
    from rosetta_tui.review.organiser.words import plan as words_plan

_TEXT = "[TAG=]FILE"
_ASKED = (
    click.option("--segment", "segments", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of this segment."),
    click.option("--again", is_flag=True, help="Include those that speakers have already and have not sent back."),
    click.option("--reviewers", default=1, show_default=True, help="How many people are asked."),
    click.option("--items-per-person", type=click.IntRange(1), help="Sentences for each person, spread evenly. Default: all of them."),
    click.option("--name", help="Name of the review and its files. Default: the corpus and what is asked, numbered."),
    click.option("--title", help="What speakers see above it."),
    click.option("--panel", default="", help="How they were chosen, in your words."),
    click.option("--language", default="en", show_default=True, help="Language of the words for speakers."),
    click.option("--consent", multiple=True, metavar=_TEXT, help="What speakers agree to. {organisation} is filled in. Once for each language."),
    click.option("--guide", multiple=True, metavar=_TEXT, help="How to go about it, in your words. Once for each language."),
)  # fmt: skip
_AT_LAST = (
    click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of every draw. Default: random."),
    click.option("--anyway", is_flag=True, help="Make it even if not all of it can be read."),
    click.option("--dry-run", is_flag=True, help="Only show the plan."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)  # fmt: skip

Asking = Literal["translate", "agree"]


def asking_speakers(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the folder and the options of asking speakers."""
    for option in reversed(_AT_LAST):
        command = option(command)
    command = handed_out(command)
    for option in reversed(_ASKED):
        command = option(command)
    return click.argument("project", metavar="FOLDER", type=click.Path(path_type=Path))(command)


def ask_speakers(
    project: Path, kind: Asking, given: dict[str, Any], *, as_json: bool, dry_run: bool
) -> None:
    """Distribute what waits for speakers, sealed where a secret sentence is among it; the project notes it first."""
    with authoring.changing(project, home(), keep=not dry_run) as opened:
        reviews_made.known_reviews(opened)
        texts = _texts(opened, kind, given)
        entries = _waiting(opened, kind, given["segments"], again=given["again"])
        shared = given.get("shared_laptop", False)
        if kind == "agree" and not shared:
            entries, given["not_for"] = others.of_others(opened, entries, given)
        draft = _draft(opened, kind, entries, given)
        secret = of_project.secret_among(entries)
        letters = words_letters.look_at_letters(draft, texts, given, secret=secret)
        distribute.say_plan(_plan(draft, letters, secret=secret), as_json=as_json)
        if dry_run:
            return
        gather = f"rosetta corpus gather {command_line([str(project)])}"
        name = str(opened.state.dataset["id"])
        made = distribute.Making(name, secret, texts, letters, draft, at_the_end=gather)
        with store.Office.open(home()) as office:
            given["name"] = making_texts.review_name(office, given["name"], f"{name}-{kind}")
            distribute.require_handing_out(office, made, given)
        opened.change(office=reviews_made.own_key(home()))
        of_project.note_handed_out(opened, given["name"], kind, entries, shared_laptop=shared)
        state.write_state(opened, overwrite=True)
        distribute.carry_out(store.Office.open(home()), made, given, as_json=as_json)
        of_project.note_made(opened, given["name"])


def _texts(project: state.Project, kind: Asking, given: dict[str, Any]) -> making_texts.ReviewTexts:
    """Return the words for speakers; the organisation and the labels are those of the corpus."""
    dataset = project.state.dataset
    given["organisation"] = dataset["organisation"]
    given["labels"] = model_labels.label_words(dataset.get("labels"))
    return distribute.own_texts(given, kind)


def _waiting(
    project: state.Project, kind: Asking, segments: Sequence[str], *, again: bool
) -> list[state.ProjectEntry]:
    wanted = [Segment(segment) for segment in segments]
    waiting = of_project.to_translate if kind == "translate" else of_project.to_agree
    return waiting(project, wanted, again=again)


def _draft(
    project: state.Project,
    kind: Asking,
    entries: Sequence[state.ProjectEntry],
    given: dict[str, Any],
) -> creating.TranslationDraft | of_project.AgreementDraft:
    share = creating.Share(given["reviewers"], None, None, given["items_per_person"])
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    if kind == "translate":
        return of_project.draft_sources(project, entries, share, seed)
    return of_project.draft_agreement(project, entries, share, seed)


def _plan(
    draft: creating.TranslationDraft | of_project.AgreementDraft,
    letters: words_letters.Letters,
    *,
    secret: bool,
) -> Iterator[str]:
    dataset = draft.dataset
    yield words_plan.plan_line(
        "sentences", f"{len(draft.entries)}, {dataset.source_language} → {dataset.target_language}"
    )
    if secret:
        yield words_plan.plan_line("", "some are of secret segments, so all of it is sealed")
    yield from words_plan.people_lines(draft, letters)
