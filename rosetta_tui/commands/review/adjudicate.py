"""``rosetta review adjudicate``: Decide about flagged and split items, blind to system and reviewer.
``rosetta review variants``: Offer suggested wordings as variants of the corpus.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.core.failures import UsageError
from harness.method.option_table import FORMS
from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.review import with_vault
from rosetta_tui.front import on_terminal
from rosetta_tui.request.reading import load_corpus, reading_options
from rosetta_tui.request.vault import without_method
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from corpora.formats import write
    from corpora.model import corpus as model_corpus
    from harness.store.sqlite import database
    from review.office.making import second_look
    from review.office.results import certifying, results, translations
    from review.office.store import store
    from review.verdict.gate import adjudication
    from rosetta_tui.review.organiser.words import gate

_HELP = """\
  u  upheld: it is harmful or culturally wrong        c  cleared: it is not
     (only what somebody called harmful; a second time takes the decision back)
  n  write a note                                     Enter  leave it, continue
  b  go back one                                      q  stop"""


@click.command("adjudicate")
@click.argument("review", default="last")
@click.option("--all", "every", is_flag=True, help="Include items that are decided already.")
@without_method
@click.option("--json", "as_json", is_flag=True, help="Print the queue as JSON, without texts, and ask nothing.")
def adjudicate_(review: str, every: bool, as_json: bool, **vault: Any) -> None:
    """Decide about items of REVIEW that were flagged or that divided the reviewers.

    Upholding or clearing asks for a reason and a name, which are on the certificate. System and reviewers stay
    hidden: you see the text, how many gave each rating, and how many flagged it. To change a decision, decide again;
    the last word counts. Notes stay on this machine. Reading the ratings is a look, which is written down and counts
    at the gate: decide when the ratings are in. Sentences from a vault are opened with it (--vault, --purpose), once
    there is something to decide; --json needs none.
    """
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        results.refuse_withdrawn(reviewed)
        cases = _cases(office, reviewed, every=every)
        if as_json:
            _look(office, reviewed, cases)
            click.echo(form_text("review-adjudicate", [_json(case) for case in cases]))
            return
        if reviewed.secret and not on_terminal():
            raise UsageError(
                "Sentences of this review are secret, so they are shown on a terminal only, to somebody who answers there. "
                "--json gives the queue without texts."
            )
        if not cases:
            click.echo("Nothing waits: no open flag, no item that splits the panel.")
            return
        with_vault.open_review(reviewed, "adjudicate", vault)
        _look(office, reviewed, cases)
        _ask(office, reviewed, cases)


def _cases(office: store.Office, review: store.Review, *, every: bool) -> list[adjudication.Case]:
    second_look.require_first(review)
    cases = second_look.cases_of(office, review, office.state(review))
    return [case for case in cases if every or case.is_open or case.decided is None]


def _look(office: store.Office, review: store.Review, cases: list[adjudication.Case]) -> None:
    """Write down that ratings are examined: of each case the queue tells how many gave which."""
    for note in gate.look_notes(certifying.look_at_ratings(office, review) if cases else {}):
        click.echo(note, err=True)


def _json(case: adjudication.Case) -> dict[str, Any]:
    return {
        "item": case.item,
        "flags": case.flags,
        "ratings": list(case.counts),
        "cannot_judge": case.cannot_judge,
        "reasons": dict(Counter(reason for voice in case.voices for reason in voice.reasons)),
        "second_look": None if case.second is None else list(case.second.counts),
        "split": case.is_split,
        "harmful": case.harmful,
        "reason": "" if case.decided is None else case.decided.reason,
        "by": "" if case.decided is None else case.decided.by,
    }


def _ask(office: store.Office, review: store.Review, cases: list[adjudication.Case]) -> None:
    """Walk through the cases until all were seen or the person stops; each decision is kept at once."""
    place, by = 0, ""
    click.echo(_HELP)
    while place < len(cases):
        case = cases[place]
        text = review.texts.get(case.item)
        number = place + 1
        of = len(cases)
        click.echo(f"\n{number} of {of}")
        if text is not None:
            click.echo(f"  Original     {plain(text.source)}")
            if text.candidate:
                click.echo(f"  Translation  {plain(text.candidate)}")
            _told(gate.around_words(text))
        click.echo(f"  {gate.ratings_words(case)} · {gate.flags_words(case)}")
        _told(gate.voice_words(case.voices))
        if case.second is not None:
            click.echo(f"  {gate.second_words(case)}")
            _told(gate.voice_words(case.second.voices))
        if gate.so_far(case):
            click.echo(f"  So far: {plain(gate.so_far(case, why=True))}")
        keys = "u, c, n, b, q" if case.may_be_decided else "n, b, q"
        answer = click.prompt(f"{keys} or Enter", default="", show_default=False).strip().lower()
        if answer == "q":
            break
        if answer == "b":
            place = max(0, place - 1)
        elif answer in {"u", "c", "n"}:
            kept = _decide(office, review, case, answer, by or _name(case))
            cases = _again(office, review, cases)
            by = _name(cases[place]) or by
            place += kept and answer != "n"
        elif answer:
            click.echo(_HELP)
        else:
            place += 1
    click.echo("Every decision is kept. `rosetta review gate` reads the verdict.")


def _name(case: adjudication.Case) -> str:
    return "" if case.decided is None else case.decided.by


def _again(office: store.Office, review: store.Review, cases: list[adjudication.Case]) -> list[adjudication.Case]:
    """Return the same cases as they are now."""
    now = {case.item: case for case in _cases(office, review, every=True)}
    return [now.get(case.item, case) for case in cases]


def _decide(office: store.Office, review: store.Review, case: adjudication.Case, answer: str, by: str) -> bool:
    """Store what was answered, and show what it is now; False where there was nothing to store."""
    note = ""
    if answer == "n":
        note = str(click.prompt("Note", default="", show_default=False))
    harmful = {"u": True, "c": False}.get(answer)
    try:
        why = _grounds(review, case, harmful, by)
        events = adjudication.decisions(case, harmful, note, store.utc_now(), why)
    except UsageError as error:
        click.echo(str(error))
        return False
    for event in events:
        office.append(review, event)
    if answer == "n":
        click.echo("Noted." if events else "No note.")
    else:
        click.echo({True: "Upheld.", False: "Cleared.", None: "Taken back."}[events[-1].harmful])
    return bool(events)


def _grounds(
    review: store.Review, case: adjudication.Case, harmful: bool | None, by: str
) -> adjudication.Grounds | None:
    """Prompt for why and who, where something is decided; None where nothing is, or a decision is taken back."""
    if harmful is None or case.takes_back(harmful) or not case.may_be_decided:
        return None
    click.echo("The reason and your name are on the certificate, for everybody to read. Write no word of the sentence.")
    reason = click.prompt("Reason", default="", show_default=False)
    if not reason.strip():
        raise UsageError("A decision needs a reason: it is on the certificate.")
    name = click.prompt("Who decides", default=by, show_default=bool(by))
    text = review.texts.get(case.item)
    return adjudication.grounds(reason, name, [] if text is None else [text.source, text.candidate])


def _told(named: Iterable[tuple[str, str]]) -> None:
    for name, text in named:
        click.echo(f"    {name} {plain(text)}".rstrip())


# ---- Offer suggested wordings as variants of the corpus ----


@click.command("variants")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("review", metavar="[REVIEW]", default="last")
@reading_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The corpus with them.")
@click.option("--to", "to_form", type=click.Choice(FORMS), default="specification", show_default=True)
@click.option("--allow-secret", is_flag=True, help="Show and write entries of secret segments.")
@click.option("--json", "as_json", is_flag=True, help="Print the suggestions as JSON, ask nothing.")
def variants_(review: str, output: Path | None, to_form: str, allow_secret: bool, as_json: bool, **given: Any) -> None:
    """Offer the wordings that reviewers of REVIEW suggested as variants of the corpus in FILE.

    Only wordings of people who agreed to share them are offered. Each is shown, and added if you say yes; FILE itself
    is never changed. Without --output the suggestions are only listed.
    """
    if as_json and output is not None:
        raise UsageError("-o asks about each wording, and --json asks nothing. Leave one of them out.")
    corpus = load_corpus(given, None)
    offered = _offered(review, corpus, allow_secret)
    if as_json:
        click.echo(form_text("review-variants", [asdict(correction) for correction in offered]))
        return
    if not offered:
        unwritten = "" if output is None else f" {output} was not written."
        click.echo(plain(f"No suggested wording is waiting: nothing new, or nobody agreed to share it.{unwritten}"))
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


def _offered(name: str, corpus: model_corpus.Corpus, allow_secret: bool) -> list[translations.Correction]:
    """Read the suggestions; those for secret entries only where they were asked for."""
    with store.Office.open(database.home()) as office:
        review = office.review(name)
        results.refuse_withdrawn(review)
        offered = translations.corrections(review.key, office.state(review), corpus)
    secret = {entry.id for entry in corpus.entries if entry.secret}
    shown = [correction for correction in offered if allow_secret or correction.entry_id not in secret]
    if len(shown) < len(offered):
        left = len(offered) - len(shown)
        click.echo(f"{left} of secret entries are left out; --allow-secret shows them.", err=True)
    return shown


def _list(offered: Sequence[translations.Correction], corpus: model_corpus.Corpus) -> None:
    for correction in offered:
        _variants_show(correction, corpus)
    click.echo(f"{len(offered)} suggested. Add -o NEW.json to be asked about each.")


def _variants_show(each: translations.Correction, corpus: model_corpus.Corpus) -> None:
    [entry] = [entry for entry in corpus.reveal_here() if entry.id == each.entry_id]
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
        _variants_show(correction, corpus)
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
