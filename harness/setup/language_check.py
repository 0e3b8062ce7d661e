"""What this machine can do for a language: which metrics will work, and what to install or copy for the rest.

It asks the same questions as the beginning of a run does (``harness.setup.preparing``), of a corpus that has all
that a corpus can have: what is still missing then is missing here.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from corpora.languages.cards import FoundCard, LanguageCard, read_card, resolve_script
from corpora.languages.tags import tag_script
from corpora.model.entry import Entry
from corpora.text.messages import percent
from harness.core.installation import install_line
from harness.fst.analyser import Analyser, open_analyser
from harness.fst.model import AnalyserError, FstStatus, find_analyser, installed_engines, passed_over
from scoring.core.setup import AnalyserFacts, ScoringSetup
from scoring.core.specification import InventoryRow, specification
from scoring.metrics.inventory import maker
from scoring.words.source_words import Resources
from scoring.words.tokenizers import load_tokenizer
from scoring.words.word_lists import listed_words

_OF_THE_CORPUS = ("variants", "gold_analyses", "alignment", "terms", "checks")
"""What a corpus or a method brings along, by the names of the specification's table of needs."""


class Readiness(StrEnum):
    """How it stands with one metric."""

    READY = "ready"
    """It works with any corpus that has references."""
    CORPUS = "needs data"
    """It works where the corpus, the coaching or the method has what it needs."""
    OFF = "off"
    """Something has to be installed, copied or named first."""


@dataclass(frozen=True, slots=True)
class MetricState:
    """One metric on this machine."""

    id: str
    title: str
    readiness: Readiness
    note: str  # What it needs of the data, or why it is off; empty where it is simply ready


@dataclass(frozen=True, slots=True)
class AnalyserState:
    """The morphological analyser of the language, if there is one."""

    status: FstStatus
    path: Path | None
    message: str
    """What is wrong, with the fix, be it only that it reads another script; empty where nothing is."""
    engine: str | None = None
    engine_version: str | None = None
    acceptor: bool = False
    """True where it only says yes or no."""
    sha256: str | None = None

    @property
    def usable(self) -> bool:
        """True where it is sound and reads the script that was asked for."""
        return self.status is FstStatus.OK and not self.message


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and what it makes possible."""

    why: str
    commands: tuple[str, ...]
    """Lines for a shell, or options of a run; placeholders are in capitals."""


@dataclass(frozen=True, slots=True)
class LanguageCheck:
    """Everything that is known of a language on this machine."""

    tag: str
    script: str | None
    """From the tag, else the card's default; a corpus' references may tell another one."""
    no_script: str | None
    """Why the card does not serve the tag's script; None where it does, or names none."""
    found: FoundCard | None
    analyser: AnalyserState
    engines: dict[str, str]
    """Engines that read analysers here, the one that is tried first first, with versions."""
    word_list: str | None
    """List of words of the source language, by which words left untranslated are known."""
    metrics: tuple[MetricState, ...]
    steps: tuple[Step, ...]


def check_card(
    tag: str, found: FoundCard | None, folders: Sequence[Path], source_language: str = "en"
) -> LanguageCheck:
    """Find out what works for a language with this card; ``folders`` are the user's, the first is named in steps."""
    card = None if found is None else found.card
    script = resolve_script(tag, card, {})
    analyser = analyser_state(found, tag, folders)
    word_list = listed_words(source_language)[1]
    resources = _complete(tag, source_language, found, analyser, script)
    metrics = tuple(_state(id_, row, resources, analyser) for id_, row in specification().metrics.items())
    folder = folders[0]
    steps = []
    if found is None:
        language = _language(resources.setup.target_language)
        card_step = Step(
            "For spelling, quotation marks and the words of the language, write a language card "
            "(docs/languages.md has an example).",
            (f'"{folder / language}.toml"',),
        )
        steps.append(card_step)
    if not analyser.usable:
        steps.append(_analyser_step(found, resources.setup.target_language, analyser, folder))
    if word_list is None:
        why = (
            f"To know more words of the source language ({resources.setup.source_language}) that were left "
            "untranslated, install word lists; not every language has one."
        )
        steps.append(Step(why, (install_line("wordfreq"),)))
    if _why_no_tokenizer(name := resources.setup.bleu_tokenizer) is not None:
        extra = {"ja-mecab": "ja", "ko-mecab": "ko"}.get(name)
        another = f"For BLEU with the tokenizer {name}, choose another in a card of yours."
        install = (install_line(f"sacrebleu[{extra}]"),)
        steps.append(Step("For BLEU, install its tokenizer.", install) if extra else Step(another, ()))
    score, other = "rosetta score CORPUS OUTPUTS", ""
    options = [f"{score} --embeddings URL-OR-FOLDER"]
    if analyser.usable and not analyser.acceptor:
        options.append(f"{score} --gloss-dictionary FILE")
        other = ", or a dictionary of meanings"
    why = f"For semantic similarity, name an embedding model{other}."
    steps.append(Step(why, tuple(options)))
    why = "For COMET, name a checkpoint of yours or a file of its scores."
    steps.append(Step(why, (f"{score} --comet FILE",)))
    return LanguageCheck(
        tag=tag,
        script=script,
        no_script=None if card is None else why_no_script(tag, card),
        found=found,
        analyser=analyser,
        engines=installed_engines(),
        word_list=word_list,
        metrics=metrics,
        steps=tuple(steps),
    )


def read_card_and_analyser(path: Path, folders: Sequence[Path]) -> tuple[FoundCard, AnalyserState]:
    """Read a card and open its language's analyser; CardError with everything that is wrong in the card."""
    card = read_card(path)
    return card, analyser_state(card, card.card.tag, folders)


def analyser_state(found: FoundCard | None, tag: str, folders: Sequence[Path]) -> AnalyserState:
    """Find the analyser of a language and open it, as a run would."""
    path = find_analyser(None if found is None else found.card, tag, folders)
    card = None if found is None else found.card
    if path is None:
        return AnalyserState(FstStatus.NOT_CONFIGURED, None, _nothing_found(card, tag, folders))
    try:
        analyser = open_analyser(path)
    except AnalyserError as error:
        return AnalyserState(error.status, path, str(error))
    return AnalyserState(
        FstStatus.OK,
        path,
        "" if card is None else _other_script(analyser, card, tag),
        engine=analyser.engine,
        engine_version=analyser.engine_version,
        acceptor=analyser.acceptor,
        sha256=analyser.sha256,
    )


def why_no_script(tag: str, card: LanguageCard) -> str | None:
    """Return that a card has no section for the script that a tag names, or that the tag names none."""
    named = tag_script(tag)
    parts = tag.replace("_", "-").split("-")
    if named is None and len(parts) > 1 and parts[1].isalpha() and len(parts[1]) == 3:
        named = None if parts[0].lower() in _EXTENDED else parts[1]
    if named is None or named in card.writings or named in _JOINT:
        return None
    return f"the card has no script {named}; it has {', '.join(card.writings)}"


_EXTENDED = frozenset({"ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"})
"""Languages after which BCP 47 allows a further language of three letters (IANA registry)."""
_JOINT = frozenset({"Hans", "Hant", "Hani"})
"""Codes of one script, Chinese characters, of which a card may have any."""


def _other_script(analyser: Analyser, card: LanguageCard, tag: str) -> str:
    """Return which script an analyser reads where it is not the one asked for; empty where it is."""
    asked = resolve_script(tag, card, {}) or card.default_script
    shares = {script: analyser.share_spelt(writing.graphemes) for script, writing in card.writings.items()}
    if asked not in shares or shares[asked] >= _LEAST_SPELT:
        return ""
    reads = [script for script, share in shares.items() if share >= _LEAST_SPELT]
    if reads:
        return f"{analyser.name} reads {' and '.join(reads)}, not {asked}"
    return f"{analyser.name} has only {percent(shares[asked])} of the letters of {asked}"


_LEAST_SPELT = 0.5
"""Share of a script's letters from which on an analyser is taken to read it: alphabets of cards are
generous, and an analyser of another script has hardly any."""


def _nothing_found(card: LanguageCard | None, tag: str, folders: Sequence[Path]) -> str:
    """Return that there is no analyser, and what is in its place."""
    name = f"{_language(tag) if card is None else card.tag}.hfstol"
    for path in passed_over(card, tag, folders):
        if path.is_file():
            ending = ".gz" if path.name.endswith(".gz") else ""
            return f"{path.name} is there: rename it to {name}{ending}, or name it with --analyser"
        what = "a folder" if path.is_dir() else "a link to a file that is not there"
        return f"{path.name} is {what}: put the analyser's file in its place"
    return "there is no analyser file"


def _complete(
    tag: str, source_language: str, found: FoundCard | None, analyser: AnalyserState, script: str | None
) -> Resources:
    """Return what a run would have whose corpus lacks nothing."""
    card = None if found is None else found.card
    setup = ScoringSetup(
        metrics=(),
        source_language=source_language,
        target_language=tag,
        script=script,
        language_card=None if card is None else card.tag,
        language_card_sha256=None if found is None else found.sha256,
        variant_rules=card is not None and card.variants is not None,
        bleu_tokenizer="13a" if card is None else card.writing(script).bleu_tokenizer,
        has_variants=True,
        analyser=_facts(analyser),
        terms=1,
        alignment="any",
    )
    entry = Entry(id=1, source="", reference="", morphological_analysis="a+N")
    return Resources(setup, card=card, covered=(entry,))


def _facts(analyser: AnalyserState) -> AnalyserFacts | None:
    """Return an analyser's facts as if it knew the references, which only a corpus can tell."""
    if analyser.path is None or analyser.engine is None or not analyser.usable:
        return None
    return AnalyserFacts(
        name=analyser.path.name,
        sha256=analyser.sha256 or "",
        engine=analyser.engine,
        engine_version=analyser.engine_version or "",
        acceptor=analyser.acceptor,
        reference_words=1,
        reference_accepted=1,
    )


def _state(id_: str, row: InventoryRow, resources: Resources, analyser: AnalyserState) -> MetricState:
    # Why the metric is off whatever the corpus; None where it can have a value.
    made = maker(id_)
    if made is None:
        reason: str | None = "this version does not compute it"
    elif "analyser" in row.needs and not analyser.usable:
        reason = analyser.message
    elif "language_card" in row.needs and resources.card is None:
        reason = "there is no language card"
    elif id_ == "bleu":
        reason = _why_no_tokenizer(resources.setup.bleu_tokenizer)
    else:
        reason = made.why_off(resources)
    if reason is not None:
        return MetricState(id_, row.info.title, Readiness.OFF, reason)
    needs = [need for need in row.needs if need in _OF_THE_CORPUS]
    if "variants" in needs and resources.setup.variant_rules:
        needs.remove("variants")
    note = "; ".join(specification().needs[need] for need in needs)
    return MetricState(id_, row.info.title, Readiness.CORPUS if needs else Readiness.READY, note)


def _why_no_tokenizer(name: str) -> str | None:
    try:
        load_tokenizer(name)
    except ValueError as error:
        return str(error)
    return None


def _analyser_step(found: FoundCard | None, tag: str, analyser: AnalyserState, folder: Path) -> Step:
    language = _language(tag) if found is None else found.card.tag
    names = (found.card.analysers if found else ()) or (f"{language}.hfstol",)
    place = folder / language
    what = "copy an analyser"
    if analyser.path is not None:
        broken = analyser.status is not FstStatus.OK
        what = (
            "put a sound analyser in place of the broken one"
            if broken
            else f"name one that reads {resolve_script(tag, found.card if found else None, {})} with "
            "--analyser, or put it in place of this one"
        )
    make, copy = ("mkdir", "copy") if platform.system() == "Windows" else ("mkdir -p", "cp")
    own = f"{language}.hfstol"
    named = [*names[1:], *([] if own in names else [own])]
    others = f" It may also be named {' or '.join(named)}." if named else ""
    return Step(
        f"For word acceptance and morphology, {what}; GiellaLT publishes many.{others}",
        (f'{make} "{place}"', f'{copy} {names[0]} "{place}"'),
    )


def _language(tag: str) -> str:
    return tag.replace("_", "-").split("-")[0].lower()
