"""Sentences that speakers are to translate: the sources of a corpus, or the lines of a text file.

Where a sentence stands: what the corpus says of it, and the sentences next to it in its document.

Nothing of a secret entry goes along unless the organisation says so, neither beside its own sentence nor beside
another's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from corpora.languages.tags import as_tag, is_language_tag, pair_label
from corpora.model.corpus import Corpus, Dataset
from corpora.model.entry import Entry, EntryId, Segment
from corpora.text.comparison import is_blank
from harness.card.entry_ids import card_id
from harness.core.failures import UsageError
from harness.inputs.sentence_lines import check_length, read_lines
from review.files.manifests import MOST_ITEMS, SentenceContext
from review.log.payloads import MOST_TEXT
from review.office.items.controls import fits
from review.office.items.items import Item
from review.office.items.reviewed_runs import require_translation

DOCUMENT = "document"
"""Field of an entry that names its document; sentences of one follow each other in the order of the corpus."""


class ContextPolicy(StrEnum):
    """Of which sentences a batch tells where they stand."""

    OPEN = "open"
    ALL = "all"
    """Of secret ones, too."""
    NONE = "none"


@dataclass(frozen=True)
class Surroundings:
    """What can be told of each entry."""

    told: Mapping[EntryId, SentenceContext] = field(default_factory=dict)
    """Entry, by id as on cards → where its sentence stands; absent where there is nothing to tell."""
    secret: frozenset[EntryId] = frozenset()
    """Entries beside which a secret sentence stands."""

    def of(self, items: Iterable[Item]) -> list[Item]:
        """Return items with where their sentences stand: controls the same as the others."""
        return [self._with(item) for item in items]

    def _with(self, item: Item) -> Item:
        around = self.told.get(item.truth.entry)
        if around is None:
            return item
        return replace(item, shown=item.shown.model_copy(update={"around": around}))


def surroundings(entries: Sequence[Entry], carries: ContextPolicy) -> Surroundings:
    """Gather what can be told of the ``entries`` of a whole corpus, in its order.

    A neighbour is the entry directly before or after, of the same document. One that may not be shown, or is not
    stored here, is left out; the one behind it does not take its place.
    """
    sentence_contexts: dict[EntryId, SentenceContext] = {}
    secret: set[EntryId] = set()
    for place, entry in enumerate(entries):
        if not _may_be_told(entry, carries):
            continue
        id_ = card_id(entry.id)
        before = _neighbour(entries, place, -1, carries)
        after = _neighbour(entries, place, 1, carries)
        around = SentenceContext(
            context=_short(entry.context),
            formality=_short(entry.register_),
            before=before.source if before else "",
            after=after.source if after else "",
        )
        if around != SentenceContext():
            sentence_contexts[id_] = around
            if any(entry is not None and entry.secret for entry in (before, after)):
                secret.add(id_)
    return Surroundings(sentence_contexts, frozenset(secret))


def _may_be_told(entry: Entry, carries: ContextPolicy) -> bool:
    if carries is ContextPolicy.NONE or entry.not_stored:
        return False
    return carries is ContextPolicy.ALL or not entry.secret


def _neighbour(
    entries: Sequence[Entry], place: int, step: int, carries: ContextPolicy
) -> Entry | None:
    other = place + step
    if not 0 <= other < len(entries):
        return None
    document, entry = _document(entries[place]), entries[other]
    same = document is not None and _document(entry) == document
    return entry if same and _may_be_told(entry, carries) and fits(entry.source) else None


def _document(entry: Entry) -> object:
    named = (entry.model_extra or {}).get(DOCUMENT)
    return named if isinstance(named, str | int) and named != "" else None


def _short(tag: str | None) -> str:
    """Return a tag as it may be in a batch; what is longer than one is left out."""
    return tag if tag is not None and len(tag) <= 200 else ""


@dataclass(frozen=True)
class Sentences:
    """What can be asked about."""

    dataset: Dataset
    """Of the corpus, or made for the file: its name as id, the two languages."""
    entries: Sequence[Entry]
    """Without their answers."""
    repeated: int = 0
    """Lines that was in the file before; each sentence is asked once."""
    written: Sequence[str] = ()
    """Translations of the corpus, of which only the script and the letters are taken."""
    around: Surroundings = field(default_factory=Surroundings)
    """Where the sentences stand; nothing is known of lines."""


def of_corpus(
    corpus: Corpus, segments: Collection[Segment] = (), carries: ContextPolicy = ContextPolicy.OPEN
) -> Sentences:
    """Return the sources of a corpus, of some segments or of all; its translations are shown to nobody.

    Entries whose source is blank are passed over. UsageError for sentences of secret segments, because what speakers write is handed on in the open, and for
    one that is too long.
    """
    require_translation(corpus.dataset)
    entries = [
        entry
        for entry in corpus.entries
        if (not segments or entry.segment in segments) and not is_blank(entry.source)
    ]
    if not entries:
        raise UsageError(
            "There is no entry with a source in these segments. Choose others with --segment."
        )
    if secret := sum(entry.secret for entry in entries):
        raise UsageError(
            f"{secret} of these sentences belong to secret segments (gold_standard, held_out), and translations "
            "are handed on in the open. Leave them out: --segment development. Secret sentences are translated sealed, from a corpus "
            "in the making: rosetta corpus new"
        )
    for entry in entries:
        check_length(entry.source, f"entry {entry.id!r}", MOST_TEXT)
    return Sentences(
        corpus.dataset,
        [entry.question() for entry in entries],
        written=[entry.reference for entry in entries],
        around=surroundings(corpus.entries, carries),
    )


def of_lines(path: Path, source_language: str | None, target_language: str | None) -> Sentences:
    """Return the lines of a text file in UTF-8, one sentence each; empty ones are passed over.

    The id of a sentence is the number of its line. UsageError names file, line and fix.
    """
    languages = _languages(path, source_language, target_language)
    lines = read_lines(path, MOST_TEXT)
    first = {line: number for number, line in reversed(lines.items())}
    entries = [
        Entry(id=number, source=line, reference="")
        for number, line in lines.items()
        if first[line] == number
    ]
    dataset = Dataset(
        id=path.stem, language_pair=pair_label(*languages),
        source_language=languages[0], target_language=languages[1],
    )  # fmt: skip
    return Sentences(dataset, entries, len(lines) - len(entries))


def _languages(path: Path, source: str | None, target: str | None) -> tuple[str, str]:
    source, target = (None if tag is None else as_tag(tag) for tag in (source, target))
    for option, tag in (("--source-language", source), ("--target-language", target)):
        if tag is None:
            raise UsageError(
                f"{path}: lines of text do not say their languages. Name them: "
                "--source-language en --target-language crk"
            )
        if not is_language_tag(tag):
            raise UsageError(
                f"{option} {tag[:40]!r}: not a language tag. Write one such as en or crk."
            )
    return source or "", target or ""


def check_count(wanted: int) -> None:
    """Refuse more than a batch holds."""
    if not 1 <= wanted <= MOST_ITEMS:
        raise UsageError(f"--items {wanted:,}: between 1 and {MOST_ITEMS:,} are possible.")
