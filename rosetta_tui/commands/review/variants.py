"""``rosetta review variants``: Offer suggested wordings as variants of the corpus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import FORMS, load_corpus, reading_options
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from corpora.formats import write
    from corpora.model import corpus as model_corpus
    from review.office.results import results, translations
    from review.office.store import store


@click.command("variants")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("review", metavar="[REVIEW]", default="last")
@reading_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The corpus with them.")
@click.option("--to", "to_form", type=click.Choice(FORMS), default="specification", show_default=True)  # fmt: skip
@click.option("--allow-secret", is_flag=True, help="Show and write entries of secret segments.")
@click.option("--json", "as_json", is_flag=True, help="Print the suggestions as JSON, ask nothing.")
def variants_(
    review: str,
    output: Path | None,
    to_form: str,
    allow_secret: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Offer the wordings that reviewers of REVIEW suggested as variants of the corpus in FILE.

    Only wordings of people who agreed to share them are offered. Each is shown, and added if you say yes; FILE itself
    is never changed. Without --output the suggestions are only listed.
    """
    if as_json and output is not None:
        raise UsageError(
            "-o asks about each wording, and --json asks nothing. Leave one of them out."
        )
    corpus = load_corpus(given, None)
    offered = _offered(review, corpus, allow_secret)
    if as_json:
        click.echo(form_text("review-variants", [asdict(correction) for correction in offered]))
        return
    if not offered:
        unwritten = "" if output is None else f" {output} was not written."
        click.echo(
            plain(
                f"No suggested wording is waiting: nothing new, or nobody agreed to share it.{unwritten}"
            )
        )
        return
    if output is None:
        _list(offered, corpus)
        return
    accepted = _asked(offered, corpus, output)
    if not accepted:
        click.echo("Nothing was accepted, so nothing was written.")
        return
    after = translations.with_variants(corpus, accepted)
    write.write(after, output, to_form, allow_secret=allow_secret)
    click.echo(
        plain(
            f"Written: {output}, version {after.dataset.version}, with {len(accepted)} more variants. "
            "Runs on the earlier version cannot be compared with runs on this one."
        )
    )


def _offered(
    name: str, corpus: model_corpus.Corpus, allow_secret: bool
) -> list[translations.Correction]:
    """Read the suggestions; those for secret entries only where they were asked for."""
    with store.Office.open(home()) as office:
        review = office.review(name)
        results.refuse_withdrawn(review)
        offered = translations.corrections(review.key, office.state(review), corpus)
    secret = {entry.id for entry in corpus.entries if entry.secret}
    shown = [
        correction for correction in offered if allow_secret or correction.entry_id not in secret
    ]
    if len(shown) < len(offered):
        left = len(offered) - len(shown)
        click.echo(f"{left} of secret entries are left out; --allow-secret shows them.", err=True)
    return shown


def _list(offered: Sequence[translations.Correction], corpus: model_corpus.Corpus) -> None:
    for correction in offered:
        _show(correction, corpus)
    click.echo(f"{len(offered)} suggested. Add -o NEW.json to be asked about each.")


def _show(each: translations.Correction, corpus: model_corpus.Corpus) -> None:
    [entry] = [entry for entry in corpus.entries if entry.id == each.entry_id]
    whom = "1 person" if each.people == 1 else f"{each.people} people"
    click.echo(plain(f"entry {entry.id}   {entry.source}"))
    click.echo(plain(f"  known      {entry.reference}"))
    for variant in entry.variants:
        click.echo(plain(f"             {variant}"))
    click.echo(plain(f"  suggested  {each.wording}   ({whom})"))


def answering() -> bool:
    """Return whether a person can answer."""
    return sys.stdin.isatty()


def _asked(
    offered: Sequence[translations.Correction], corpus: model_corpus.Corpus, output: Path
) -> list[translations.Correction]:
    """Prompt about each; what was not answered with yes is not added."""
    if output.exists():
        raise UsageError(f"{output.name} is there already. Choose another name.")
    if not answering():
        raise UsageError(
            "Each wording needs a person's yes, so this asks on a terminal. Without -o it only lists them."
        )
    accepted = []
    for number, correction in enumerate(offered, start=1):
        _show(correction, corpus)
        answer = click.prompt(
            f"{number} of {len(offered)}: does it count as right? y yes, n no, q stop here",
            type=click.Choice(["y", "n", "q"]),
            default="n",
            show_choices=False,
        )
        if answer == "q":
            break
        if answer == "y":
            accepted.append(correction)
    return accepted
