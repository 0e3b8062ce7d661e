"""``rosetta language``: Show languages; check what works for one here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpora.files.problems import CardError, Problem, Severity
from corpora.languages.tags import as_tag, is_language_tag
from harness.core.failures import UsageError
from rosetta_tui.commands.naming import NamedCommands, when_used
from rosetta_tui.request.reading import print_problems, problem_json
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject

with when_used():
    from corpora.languages import cards, tags
    from corpora.languages import writing as languages_writing
    from harness.fst import model as fst_model
    from harness.setup import language_check, preparing

_LISTED = 12
"""Items of a long list that are shown; ``--json`` gives all."""


@dataclass(frozen=True)
class LanguageRow:
    """One language of ``language show --json``."""

    tag: str
    aliases: list[str]
    name: str
    autonym: str
    scripts: list[str]
    analyser: str | None
    own: bool


@click.group(cls=NamedCommands)
def language() -> None:
    """Show language cards, and check what works for a language on this machine."""


@language.command()
@click.argument("tag", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(tag: str | None, as_json: bool) -> None:
    """Show everything that the card of TAG holds; TAG may also be a card's file.

    Without TAG: the languages that have a card, and whether an analyser is here.
    """
    if tag is None:
        _print_list(as_json=as_json)
        return
    found_card = _found(tag, as_json=as_json)
    if found_card is None:
        raise _unknown(tag)
    if as_json:
        card = found_card.card.model_dump(mode="json")
        click.echo(
            form_text("language-show", {"path": str(found_card.path), "sha256": found_card.sha256, "card": card})
        )
        return
    for line in _card_lines(found_card):
        click.echo(plain(line))


def _print_list(*, as_json: bool) -> None:
    rows: list[LanguageRow] = []
    broken: list[Problem] = []
    for path in tags.list_cards(_folders()):
        try:
            rows.append(_row(cards.read_card(path)))
        except CardError as error:
            broken += error.problems
        except Exception as error:  # noqa: BLE001  one card costs only its row; the error's own words may quote anything
            message = f"The card cannot be read ({type(error).__name__})."
            broken.append(Problem(Severity.ERROR, str(path), message, "Move it away, and report this."))
    rows.sort(key=lambda row: row.tag)
    if as_json:
        click.echo(form_text("language-list", list(map(asdict, rows))))
    else:
        width = max((len(row.name) for row in rows), default=4)
        click.echo(f"{'tag':<5}{'name':<{width + 2}}{'scripts':<12}{'analyser':<10}card")
        for row in rows:
            analyser = "here" if row.analyser else "-"
            whose = "yours" if row.own else "shipped"
            scripts, name = " ".join(row.scripts), plain(row.name)
            click.echo(f"{row.tag:<5}{name:<{width + 2}}{scripts:<12}{analyser:<10}{whose}")
        click.echo(f"{len(rows)} languages. `rosetta language check TAG` says what works for one.")
    print_problems(broken)
    if broken:
        raise click.exceptions.Exit(2)


@language.command()
@click.argument("tag")
@click.option("--source-language", metavar="TAG", default="en", show_default=True, help="Language of the sources.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(tag: str, source_language: str, as_json: bool) -> None:
    """Show which metrics work for TAG on this machine, and what to install or copy for the rest.

    TAG may be the file of a card that you are writing: then everything that is wrong in it is named.
    """
    found_card = _found(tag, as_json=as_json)
    name = found_card.card.tag if found_card is not None and _is_file(tag) else tag
    source_language = as_tag(source_language)
    if not is_language_tag(source_language):
        raise UsageError(f"{source_language!r} is no language tag. Give one such as en, fr or es.")
    if found_card is None and not is_language_tag(tag):
        raise _unknown(tag)
    checked = language_check.check_card(name, found_card, _folders(), source_language)
    if as_json:
        card = None
        if found_card is not None:
            card = {"tag": found_card.card.tag, "path": str(found_card.path), "sha256": found_card.sha256}
        document: JsonObject = {
            "tag": checked.tag,
            "script": checked.script,
            "no_script": checked.no_script,
            "card": card,
            "analyser": asdict(checked.analyser),
            "engines": checked.engines,
            "word_list": checked.word_list,
            "metrics": [asdict(metric) for metric in checked.metrics],
            "steps": [asdict(step) for step in checked.steps],
        }
        click.echo(form_text("language-check", document, default=str))
        return
    if found_card is None:
        click.echo(plain(str(_unknown(tag))), err=True)
    for line in _check_lines(checked):
        click.echo(plain(line))


def _folders() -> tuple[Path, ...]:
    return preparing.language_folders()


def _is_file(tag: str) -> bool:
    """Distinguish a file's name from a tag, which has no dot and no slash."""
    return tag.endswith(".toml") or (any(mark in tag for mark in "./\\") and Path(tag).is_file())


def _found(tag: str, *, as_json: bool) -> cards.FoundCard | None:
    """Find the card of a tag or read the named file; exits with 2 where the card is wrong."""
    try:
        return cards.read_card(Path(tag)) if _is_file(tag) else cards.find_card(tag, _folders())
    except CardError as error:
        if as_json:
            problems = [problem_json(problem) for problem in error.problems]
            click.echo(form_text("unusable", {"usable": False, "problems": problems}))
        else:
            print_problems(error.problems)
        raise click.exceptions.Exit(2) from None


def _unknown(tag: str) -> Exception:
    # Tags that look like an unknown one, or whose language is named so.
    asked = tag[:40].casefold().partition("-")[0]
    names, named = {}, []
    for path in tags.list_cards(_folders()):
        try:
            card = cards.read_card(path).card
        except CardError:
            continue
        names.update(dict.fromkeys(card.tags, card))
        if len(asked) > 2 and asked in f"{card.name} {card.autonym}".casefold():
            named.append(card)
    alike = [names[name] for name in get_close_matches(asked, names, n=3, cutoff=0.6)]
    near = list(dict.fromkeys(f"{card.tag} ({card.name})" for card in (*named, *alike)))
    mend = f"Is one of these meant: {', '.join(near)}?" if near else "See: rosetta language show"
    return UsageError(f"There is no language card for {tag[:60]!r}. {mend}")


def _row(found: cards.FoundCard) -> LanguageRow:
    card = found.card
    analyser = fst_model.find_analyser(card, card.tag, _folders())
    return LanguageRow(
        tag=card.tag,
        aliases=list(card.aliases),
        name=card.name,
        autonym=card.autonym,
        scripts=list(card.writings),
        analyser=None if analyser is None else str(analyser),
        own=not found.shipped,
    )


def _card_lines(found: cards.FoundCard) -> Iterator[str]:
    card = found.card
    own_name = f", {card.autonym}" if card.autonym else ""
    yield f"{card.tag}  {card.name}{own_name}"
    yield _line("also", ", ".join(card.aliases))
    yield _line("card", f"{found.path} ({'shipped' if found.shipped else 'yours'})")
    yield _line("script", f"{card.default_script} where neither tag nor references tell")
    for script, writing in card.writings.items():
        yield f"written in {script}"
        yield from (_line(f"  {name}", text) for name, text in _writing(writing) if text)
    yield "words and analyses"
    rules = {} if card.variants is None else card.variants.model_dump(exclude_defaults=True)
    facts = {
        "words in common": _some(card.loan_words),
        "endings": _some(card.affixes),
        "glosses": _some([f"{gloss} = {tag or '(none)'}" for gloss, tag in card.glosses.items()]),
        "analysers": ", ".join(card.analysers),
        "variant rules": ", ".join(rules).replace("_", " "),
    }
    yield from (_line(f"  {name}", text) for name, text in facts.items() if text)
    yield "sources"
    for field, source in card.sources.items():
        yield _line(f"  {field.replace('_', ' ')}", source)


def _writing(writing: languages_writing.WritingSystem) -> Iterator[tuple[str, str]]:
    yield "letters", " ".join(writing.letters.split())
    yield "of names and loans", " ".join(writing.foreign_letters.split())
    yield "letters by use", _marks(writing.word_letters)
    yield "join words", _marks(writing.joiners)
    yield "capitals", "yes" if writing.cased else "no"
    yield "quotation marks", "  ".join(f"{pair[0]} … {pair[1]}" for pair in writing.quotes)
    yield "direction", "right to left" if writing.direction == "rtl" else "left to right"
    yield "ends of sentences", _marks(writing.sentence_end)
    yield "BLEU tokenizer", writing.bleu_tokenizer
    yield "read as", ", ".join(f"{old} as {new or 'nothing'}" for old, new in writing.normalisation)
    yield "hyphen at an end", "yes, of words that share their rest" * writing.suspended_hyphen
    yield "one set in a text", " or ".join(writing.vowel_marks)
    for rule in writing.forbidden:
        yield "never", f"{rule.pattern}  ({rule.why})"


def _some(items: tuple[str, ...] | list[str]) -> str:
    more = f" … and {len(items) - _LISTED} more" if len(items) > _LISTED else ""
    return ", ".join(items[:_LISTED]) + more


def _marks(marks: str) -> str:
    """Show marks apart, and what would not show by its number."""
    return " ".join(mark if mark.isprintable() else f"U+{ord(mark):04X}" for mark in marks)


def _line(name: str, text: str) -> str:
    return f"{name:<22}{text or '-'}"


def _check_lines(checked: language_check.LanguageCheck) -> Iterator[str]:
    found_card = checked.found
    title = "no language card" if found_card is None else found_card.card.name
    yield f"{checked.tag}  {title}, script {checked.script or 'unknown'}"
    whose = "none" if found_card is None else f"{found_card.path} ({'shipped' if found_card.shipped else 'yours'})"
    yield _line("card", whose)
    if checked.no_script is not None:
        yield _line("", checked.no_script)
    yield _line("analyser", _analyser(checked.analyser))
    ours, *others = (f"{name} {version}" for name, version in checked.engines.items())
    yield _line("FST engines", ours + (f"; installed to compare it with: {', '.join(others)}" if others else ""))
    yield _line("source words", checked.word_list or "no list; only each source's own words")
    yield ""
    width = max(len(metric.title) for metric in checked.metrics)
    for metric in checked.metrics:
        note = f"  {metric.note}" if metric.note else ""
        yield f"{metric.title:<{width}}  {metric.readiness:<10}{note}".rstrip()
    yield ""
    for step in checked.steps:
        yield step.why
        yield from (f"    {command}" for command in step.commands)


def _analyser(state: language_check.AnalyserState) -> str:
    if state.status is not fst_model.FstStatus.OK:
        return f"{state.message} (status {state.status})"
    if state.message:
        return state.message
    kind = "a spell checker, which only accepts" if state.acceptor else "with analyses"
    return f"{state.path}, {kind}, read by {state.engine} {state.engine_version}"
