"""What a review is about: outputs of runs, or sentences to be translated, as far as speakers can judge them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from corpora.languages.tags import as_tag, is_language_tag, pair_label
from corpora.model.corpus import Corpus, Dataset
from corpora.model.entry import Entry, EntryId, Segment, reveal_here
from corpora.model.task import TRANSLATION
from corpora.text.comparison import is_blank
from harness.card.comparability import card_id
from harness.card.reading import block, number
from harness.core.failures import UsageError
from harness.inputs.table import check_length, read_lines
from harness.run.vault_opening import open_again
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.corpora.listing import segments_of
from harness.store.results import read_results
from harness.store.runs import Run, find_run, read_card
from review.files.manifests import MOST_ITEMS, SentenceContext
from review.log.payloads import MOST_TEXT
from review.office.making.controls import fits
from review.office.making.items import Item, stratum
from review.verdict.gate.key import KeyRun
from scoring.calibration.threshold import tier_line
from scoring.core.specification import COMPOSITE

# Opens what the store has of a run's texts, where that is from a vault; raises where it is not
# opened
TextOpening = Callable[[sqlite3.Connection, Run], None]

# Share of a run's entries that may be without an output: people judge only what is there
MOST_MISSING = 0.1


@dataclass(frozen=True)
class ReviewedRun:
    """One run."""

    run: Run
    card_hash: str
    # Those that the run was asked to translate and that are reviewed, by id as on its card
    entries: Mapping[EntryId, Entry]
    # What it gave for them; entries without an output that people could judge are absent
    outputs: Mapping[EntryId, str]
    composite: float | None = None  # As its card states it; None where it was not scored

    @property
    def missing(self) -> int:
        """Entries without such an output."""
        return len(self.entries) - len(self.outputs)


@dataclass(frozen=True)
class ReviewedRuns:
    dataset: Dataset
    runs: Sequence[ReviewedRun]
    # All entries that the store knows of the corpus, in its order, for controls and training; of
    # one from a vault those that the runs have, for which alone it was opened
    corpus: Mapping[EntryId, Entry]

    @property
    def vault_runs(self) -> tuple[str, ...]:
        """Ids of the runs where they are from a vault; none where they are out of a file."""
        if self.dataset.opened_from is None:
            return ()
        return tuple(run.run.run_id for run in self.runs)

    @property
    def below_deployable(self) -> dict[str, float]:
        """Run → composite, of runs below the threshold at which the specification's review begins (§7.3)."""
        scored = {r.run.run_id: r.composite for r in self.runs if r.composite is not None}
        return {run: value for run, value in scored.items() if value < tier_line()}

    @property
    def shared(self) -> list[Entry]:
        """The entries for which every run has an output, in the order of the first one's corpus."""
        entries = self.runs[0].entries.items()
        return [entry for id_, entry in entries if all(id_ in run.outputs for run in self.runs)]

    def key_runs(self, reviewed: Sequence[Entry]) -> tuple[KeyRun, ...]:
        """Return what the answer key says of the runs; ``reviewed`` are the entries that were drawn."""
        segments = Counter(str(entry.segment or "none") for entry in reviewed)
        return tuple(
            KeyRun(
                run_id=run.run.run_id,
                run_card_hash=run.card_hash,
                dataset_id=run.run.dataset_id,
                language_pair=run.run.language_pair,
                strata=dict(sorted(Counter(map(stratum, run.entries.values())).items())),
                segments=dict(sorted(segments.items())),
            )
            for run in self.runs
        )


def without_vault(connection: sqlite3.Connection, run: Run) -> None:
    """Open nothing: UsageError for a run from a vault."""
    open_again(connection, run, None, "review")


def read_runs(
    connection: sqlite3.Connection,
    names: Sequence[str],
    segments: Sequence[Segment] = (),
    open_texts: TextOpening = without_vault,
) -> ReviewedRuns:
    """Read the runs of these names from the store; ``segments`` narrows the review to some, empty: all.

    ``open_texts`` is called with each run before its texts are read, once all that needs none of them was examined; by
    itself it refuses runs from a vault. UsageError where a run is not complete, its card is not to be trusted, too much of
    it is missing, or the runs are not of one corpus.
    """
    by_id = {run.run_id: run for run in (find_run(connection, name) for name in names)}
    cards = {id_: _hash_and_composite(connection, run) for id_, run in by_id.items()}
    datasets = [read_dataset(connection, run.corpus) for run in by_id.values()]
    require_translation(datasets[0])
    # Refuse to put runs of different vaults, or some from a vault and some not, into one
    # review.
    if len({(dataset.opened_from or "").partition("/")[0] for dataset in datasets}) > 1:
        raise UsageError(
            "These runs are not out of one vault, or some of them out of none. Make a review of each on its own."
        )
    for run in by_id.values():
        if segments and not {*segments} & {*segments_of(connection, run.corpus, run.positions)}:
            raise UsageError(f"Run {run.run_id[:8]} has no entry of these segments. Choose others with --segment.")
        open_texts(connection, run)
    runs = [_reviewed(connection, run, *cards[id_], segments) for id_, run in by_id.items()]
    _require_one_corpus(runs)
    first = runs[0].run
    known = None  # of a corpus from a vault, the places that these runs have
    if datasets[0].opened_from is not None:
        known = {p for run in by_id.values() if run.corpus == first.corpus for p in run.positions}
    corpus = reveal_here(read_entries(connection, first.corpus, known).in_order)
    return ReviewedRuns(datasets[0], runs, {card_id(entry.id): entry for entry in corpus})


def require_translation(dataset: Dataset) -> None:
    """Raise UsageError for another task: scales, training and controls of a review are about translations."""
    if dataset.task != TRANSLATION:
        raise UsageError(
            f"The task of the corpus is {dataset.task}, and a review asks people to rate or write translations. Choose "
            "a corpus of translations, or score the outputs with metrics: `rosetta score`."
        )


def _reviewed(
    connection: sqlite3.Connection, run: Run, card_hash: str, composite: float | None, segments: Sequence[Segment]
) -> ReviewedRun:
    read = read_entries(connection, run.corpus, run.positions)
    revealed = zip(read, reveal_here(read.values()), strict=True)
    entries = {place: entry for place, entry in revealed if not segments or entry.segment in segments}
    outputs = {
        card_id(entry.id): result.output
        for result in read_results(connection, run.id)
        if (entry := entries.get(result.position)) and result.output is not None
        if fits(result.output) and fits(entry.source)
    }
    reviewed = ReviewedRun(
        run,
        card_hash,
        {card_id(entry.id): entry for _, entry in sorted(entries.items())},
        outputs,
        composite,
    )
    short = reviewed.run.run_id[:8]
    if reviewed.missing > MOST_MISSING * len(reviewed.entries):
        raise UsageError(
            f"Run {short} has no output that people could judge for {reviewed.missing} of its "
            f"{len(reviewed.entries)} entries (failed, empty, withheld or too long). They would judge only "
            "the rest, and the verdict would flatter the method. Run it again, then make the review."
        )
    return reviewed


def _hash_and_composite(connection: sqlite3.Connection, run: Run) -> tuple[str, float | None]:
    """Return what the run's card states; UsageError where it is not complete, or its seal does not hold."""
    short = run.run_id[:8]
    if (head := read_card(connection, run.id)) is None:
        raise UsageError(f"Run {short} is not complete. `{run.goes_on_with}` continues with it; then make the review.")
    if head.get("unverified"):
        raise UsageError(
            f"Run {short} was imported although its seal is absent or broken, so no certificate could rest on "
            "it. Import a sound card of this run, or run it here."
        )
    return str(head["run_card_hash"]), number(block(head, "scores").get(COMPOSITE))


def _require_one_corpus(runs: Sequence[ReviewedRun]) -> None:
    """Refuse runs whose entries of one id are not the same."""
    first = runs[0]
    for other in runs[1:]:
        both = first.entries.keys() & other.entries.keys()
        same = all(first.entries[id_].source == other.entries[id_].source for id_ in both)
        if not both or not same or other.run.language_pair != first.run.language_pair:
            raise UsageError(
                f"Runs {first.run.run_id[:8]} and {other.run.run_id[:8]} are not of one corpus. One review "
                "shows the same sentences for all of its runs; make two reviews."
            )


# ---- Sentences that speakers are to translate: the sources of a corpus, or the lines of a text
# file.
#
# Where a sentence stands: what the corpus says of it, and the sentences next to it in its
# document.
#
# Nothing of a secret entry goes along unless the organisation says so, neither beside its own
# sentence nor beside another's.

# Field of an entry that names its document; sentences of one follow each other in the order of the
# corpus
DOCUMENT = "document"


class ContextPolicy(StrEnum):
    """Of which sentences a batch tells where they stand."""

    OPEN = "open"
    ALL = "all"  # Of secret ones, too
    NONE = "none"


@dataclass(frozen=True)
class Surroundings:
    """What can be told of each entry."""

    # Entry, by id as on cards → where its sentence stands; absent where there is nothing to tell
    told: Mapping[EntryId, SentenceContext] = field(default_factory=dict)
    secret: frozenset[EntryId] = frozenset()  # Entries beside which a secret sentence stands

    def of(self, items: Iterable[Item]) -> list[Item]:
        """Return items with where their sentences stand: controls the same as the others."""
        return [
            replace(item, shown=item.shown.model_copy(update={"around": around}))
            if (around := self.told.get(item.truth.entry)) is not None
            else item
            for item in items
        ]


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


def _neighbour(entries: Sequence[Entry], place: int, step: int, carries: ContextPolicy) -> Entry | None:
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

    dataset: Dataset  # Of the corpus, or made for the file: its name as id, the two languages
    entries: Sequence[Entry]  # Without their answers
    repeated: int = 0  # Lines that was in the file before; each sentence is asked once
    # Translations of the corpus, of which only the script and the letters are taken
    written: Sequence[str] = ()
    # Where the sentences stand; nothing is known of lines
    around: Surroundings = field(default_factory=Surroundings)


def of_corpus(
    corpus: Corpus, segments: Collection[Segment] = (), carries: ContextPolicy = ContextPolicy.OPEN
) -> Sentences:
    """Return the sources of a corpus, of some segments or of all; its translations are shown to nobody.

    Entries whose source is blank are passed over. UsageError for sentences of secret segments, because what speakers write is handed on in the open, and for
    one that is too long.
    """
    require_translation(corpus.dataset)
    whole = corpus.reveal_here()
    entries = [entry for entry in whole if (not segments or entry.segment in segments) and not is_blank(entry.source)]
    if not entries:
        raise UsageError("There is no entry with a source in these segments. Choose others with --segment.")
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
        around=surroundings(whole, carries),
    )


def of_lines(path: Path, source_language: str | None, target_language: str | None) -> Sentences:
    """Return the lines of a text file in UTF-8, one sentence each; empty ones are passed over.

    The id of a sentence is the number of its line. UsageError names file, line and fix.
    """
    source, target = (tag and as_tag(tag) for tag in (source_language, target_language))
    for option, tag in (("--source-language", source), ("--target-language", target)):
        if tag is None:
            raise UsageError(
                f"{path}: lines of text do not say their languages. Name them: "
                "--source-language en --target-language crk"
            )
        if not is_language_tag(tag):
            raise UsageError(f"{option} {tag[:40]!r}: not a language tag. Write one such as en or crk.")
    languages = source or "", target or ""
    lines = read_lines(path, MOST_TEXT)
    first = {line: number for number, line in reversed(lines.items())}
    entries = [Entry(id=n, source=line, reference="") for n, line in lines.items() if first[line] == n]
    dataset = Dataset(
        id=path.stem, language_pair=pair_label(*languages),
        source_language=languages[0], target_language=languages[1],
    )  # fmt: skip
    return Sentences(dataset, entries, len(lines) - len(entries))


def check_count(wanted: int) -> None:
    """Refuse more than a batch holds."""
    if not 1 <= wanted <= MOST_ITEMS:
        raise UsageError(f"--items {wanted:,}: between 1 and {MOST_ITEMS:,} are possible.")
