"""``rosetta review create``: Make a batch for reviewers from one run or several."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rosetta_tui.commands.review.handing_options import handed_out
from rosetta_tui.request.reading import FORMS, SEGMENTS
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from review.files.batch_form import TrainingItem
    from review.office.items.reviewed_runs import ReviewedRuns
    from review.office.making.creating import ReviewDraft, Size
    from review.office.making.texts import ReviewTexts
    from review.verdict.gate.policy import GatePolicy
    from rosetta_tui.review.organiser.handing.handing_out import Making
    from rosetta_tui.review.organiser.words.letters import Letters

_FILE = click.Path(path_type=Path)
_TEXT = "[TAG=]FILE"
"""In the review's own language, or in one that is named."""
_OF_RUNS = ("bad", "repeats", "anchors", "policy", "training", "second_look")
"""Options that mean something for ratings only."""
_OF_SENTENCES = ("source_language", "target_language", "form")


@click.command("create")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--translate", type=_FILE, metavar="FILE", help="Instead of runs: sentences that speakers translate.")  # fmt: skip
@click.option("--source-language", metavar="TAG", help="Of the sentences in FILE.")
@click.option("--target-language", metavar="TAG", help="Of the translations that are asked for.")
@click.option("--form", type=click.Choice(FORMS), help="Of FILE. Default: found out from it.")
@click.option("--reviewers", default=5, show_default=True, help="How many people are asked.")
@click.option("--items", default=80, show_default=True, help="Sentences drawn from the corpus; to translate: all.")  # fmt: skip
@click.option(
    "--core", type=click.IntRange(1), help="How many of them everybody is asked. Default: all."
)
@click.option(
    "--items-per-person", type=click.IntRange(0), help="Further sentences each, beyond the core."
)
@click.option("--bad", type=click.IntRange(0, 500), help="Translations made wrong on purpose.")
@click.option("--repeats", type=click.IntRange(0, 500), help="Translations asked twice.")
@click.option("--anchors", type=click.IntRange(0, 500), help="References among them.")
@click.option("--segment", "segments", multiple=True, type=click.Choice(SEGMENTS), help="Only entries of it.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Of every draw. Default: random.")
@click.option("--policy", type=_FILE, help="The gate's rule, as TOML. Default: our proposal.")
@click.option("--name", help="Of the review and its files. Default: the corpus, numbered.")
@click.option("--title", help="What reviewers see above it.")
@click.option("--organisation", help="Who asks, by the name that speakers know. Default: the policy's, or that of the review before.")  # fmt: skip
@click.option("--panel", default="", help="How the reviewers were chosen, for the certificate.")
@click.option("--language", default="en", show_default=True, help="Of the words for reviewers.")
@click.option("--consent", multiple=True, metavar=_TEXT, help="What reviewers agree to. {organisation} is filled in. Once for each language.")  # fmt: skip
@click.option("--guide", multiple=True, metavar=_TEXT, help="How to judge, or to translate, in your words. Once for each language.")  # fmt: skip
@click.option("--training", multiple=True, metavar=_TEXT, help="Training items of yours, TOML or TSV. Once for each language, with the same items.")  # fmt: skip
@click.option("--context", type=click.Choice(("open", "all", "none")), default="open", show_default=True, help="Of which sentences to show where they stand; all: of secret ones, too.")  # fmt: skip
@click.option("--second-look", is_flag=True, help="Tell people that what they write may be shown to the others, without names, where they differ.")  # fmt: skip
@click.option("--label", "labels", multiple=True, help="Tag of the community, such as “TK Verified”.")  # fmt: skip
@handed_out
@click.option("--anyway", is_flag=True, help="Make it, though the policy can give no verdict of it, or not all of it can be read.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create_(
    runs: Sequence[str],
    translate: Path | None,
    as_json: bool,
    dry_run: bool,
    **given: Any,
) -> None:
    """Make a batch for reviewers from one RUN or several of one corpus (id, its beginning, `last`, `last~1` …).

    The sentences are drawn by difficulty, the outputs are shown without naming their systems, and controls
    are mixed in. The answer key stays in your data folder. Secret sentences are only written
    sealed: for laptops you know (--for), or with passphrases.

    With --translate FILE instead of runs, speakers write the sentences of a corpus or of a text file (NAME.txt,
    one on each line) in their language; all of them, unless --items says how many.
    """
    ctx = click.get_current_context()
    asked = {
        name for name in ctx.params if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    _check_fit(runs, translate, asked)
    if translate is not None:
        from rosetta_tui.review.organiser.handing.creating_translations import create_translations

        given["items"] = given["items"] if "items" in asked else None
        create_translations(translate, given, as_json=as_json, dry_run=dry_run)
    else:
        _create(runs, given, as_json=as_json, dry_run=dry_run)


def _check_fit(runs: Sequence[str], translate: Path | None, asked: Collection[str]) -> None:
    """Refuse options that mean nothing for what is made."""
    from harness.core.failures import UsageError

    if translate is None and not runs:
        raise UsageError(
            "Name a run (its id, the beginning of it, `last`, `last~1` …) whose outputs are to be rated, or the sentences "
            "that are to be translated: --translate FILE"
        )
    if translate is not None and runs:
        raise UsageError(
            "A review is of runs or of sentences to translate (--translate), not both."
        )
    others = _OF_RUNS if translate is not None else _OF_SENTENCES
    wrong = [f"--{name.replace('_', '-')}" for name in others if name in asked]
    if wrong:
        what = "with" if translate is not None else "without"
        raise UsageError(f"{', '.join(wrong)}: means nothing {what} --translate. Leave it away.")


def _create(runs: Sequence[str], given: dict[str, Any], *, as_json: bool, dry_run: bool) -> None:
    from harness.store.file.database import home
    from review.office.store.store import Office
    from review.verdict.gate.policy import read_policy_file
    from rosetta_tui.review.organiser.handing.handing_out import (
        hand_out,
        own_texts,
        say_published,
        told,
    )
    from rosetta_tui.review.organiser.words.letters import look_at_letters, require_readable

    policy, policy_bytes = read_policy_file(given["policy"])
    texts = own_texts(given)
    given["organisation"] = given["organisation"] or policy.organisation
    reviewed = _runs(runs, given["segments"])
    draft = _draft(reviewed, policy, texts, given)
    letters = look_at_letters(draft, texts, given, secret=draft.secret)
    if not as_json:
        for line in _plan_lines(draft, policy, letters, given):
            click.echo(plain(line))
    if dry_run:
        return
    _require_verdict(draft, policy, anyway=given["anyway"])
    require_readable(letters, anyway=given["anyway"])
    with Office.open(home()) as office:
        published = hand_out(office, _making(draft, policy_bytes, texts, letters), given)
    if as_json:
        click.echo(form_text("review-create", told(published, letters)))
    else:
        say_published(published, passphrases=given["passphrases"])


def _runs(names: Sequence[str], segments: Sequence[str]) -> ReviewedRuns:

    from corpora.model.entry import Segment
    from harness.store.file.database import opened
    from review.office.items.reviewed_runs import read_runs

    with opened() as connection:
        return read_runs(connection, names, [Segment(each) for each in segments])


def _draft(
    runs: ReviewedRuns, policy: GatePolicy, texts: ReviewTexts, given: dict[str, Any]
) -> ReviewDraft:
    from review.office.items.sentences import Carries
    from review.office.making.creating import draft_review

    training = _own_training(given["training"], given["language"]) if given["training"] else None
    seed = secrets.randbits(32) if given["seed"] is None else given["seed"]
    carries = Carries(given["context"])
    return draft_review(runs, policy, _size(given, runs), seed, texts, training, carries)


def _own_training(named: Sequence[str], language: str) -> Sequence[TrainingItem]:
    """Read the organiser's items, explained in each language that is named."""
    from harness.core.failures import UsageError
    from review.office.items.training import explained_in, read_training
    from rosetta_tui.review.organiser.handing.handing_out import by_language

    files = by_language(named, language, "--training")
    if language not in files:
        raise UsageError(
            f"--training: there are no items in the review's own language, {language}. Add --training FILE, or name "
            "another --language."
        )
    read = {tag: (path, read_training(path)) for tag, path in files.items()}
    _, own = read.pop(language)
    return explained_in(own, read)


def _size(given: dict[str, Any], runs: ReviewedRuns) -> Size:
    from review.office.items.controls import Counts, usual_counts
    from review.office.making.creating import Size

    core = given["core"] or min(given["items"], len(runs.shared))
    usual = usual_counts(core * len(runs.runs))
    counts = Counts(
        *(
            usual_count if given[name] is None else given[name]
            for name, usual_count in (
                ("bad", usual.bad),
                ("repeats", usual.repeats),
                ("anchors", usual.anchors),
            )
        )
    )
    return Size(
        given["reviewers"], given["items"], given["core"], given["items_per_person"], counts
    )


def _plan_lines(
    draft: ReviewDraft, policy: GatePolicy, letters: Letters, given: dict[str, Any]
) -> list[str]:
    from rosetta_tui.review.organiser.words.plan import draft_lines

    own = bool(given["training"])
    return list(draft_lines(draft, policy, letters, own_training=own))


def _require_verdict(draft: ReviewDraft, policy: GatePolicy, *, anyway: bool) -> None:
    """Refuse a review of which the policy could give no verdict, however people rate."""
    from harness.core.failures import UsageError
    from rosetta_tui.review.organiser.words.plan import no_verdict

    if not anyway and (reasons := list(no_verdict(draft, policy))):
        raise UsageError(
            f"However people rate, this review could give no verdict: {'; '.join(reasons)}. Ask for more, give "
            "a --policy that asks for less, or add --anyway, for practice or to hear opinions."
        )


def _making(draft: ReviewDraft, policy: bytes, texts: ReviewTexts, letters: Letters) -> Making:
    from review.office.making.texts import check_words
    from rosetta_tui.review.organiser.handing.handing_out import Making

    return Making(
        corpus=draft.runs.dataset.id,
        secret=draft.secret,
        texts=texts,
        policy=policy,
        check=partial(check_words, draft.runs),
        letters=letters,
        drawn=draft,
    )
