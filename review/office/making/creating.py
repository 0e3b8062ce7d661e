"""Making a review: which sentences, which controls, who gets what; then the files and the answer key.

A language's analyser is asked for wrong forms of right words. A review may ask speakers for translations instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry, EntryId, Segment
from corpora.text.messages import counted
from corpora.text.tokens import JOINERS, words
from harness.card.comparability import card_id
from harness.core.failures import UsageError
from harness.project.state import HandedOut, Project, ProjectEntry, today
from harness.setup.preparing import word_analyser
from review.files.identities import make_codes
from review.files.manifests import MOST_ITEMS, TrainingItem
from review.office.making.batches import Drawn, check_reviewers, known_corpus
from review.office.making.controls import (
    ControlMaterial,
    Controls,
    Counts,
    is_development,
    make_controls,
    make_training,
    usual_counts,
)
from review.office.making.items import Item, draw, draw_core, drawing, new_item, orders
from review.office.making.reviewed_runs import (
    ContextPolicy,
    ReviewedRuns,
    Sentences,
    Surroundings,
    check_count,
    surroundings,
)
from review.office.making.texts import ReviewTexts
from review.office.making.wrong_texts import Inflected, OtherForms, inflected
from review.verdict.gate.key import KeyCorpus, KeyRun
from review.verdict.gate.policy import GatePolicy


@dataclass(frozen=True)
class Share:
    """How much is asked of whom."""

    reviewers: int = 5
    items: int | None = None  # Sentences that are drawn; None: all
    # Sentences that everybody is asked; None: all, or none where `per_person` is given
    core: int | None = None
    # Further sentences for each person, spread evenly; None: all of them
    per_person: int | None = None


@dataclass(frozen=True, kw_only=True)
class TranslationDraft(Drawn):
    """A review that is worked out and not yet written anywhere."""

    sentences: Sentences

    @property
    def key_corpus(self) -> KeyCorpus:
        return known_corpus(self.dataset)


def draft_translations(sentences: Sentences, share: Share, seed: int) -> TranslationDraft:
    """Draw sentences and part them; everything but ids and codes follows from the seed.

    UsageError where too much or too little is asked for.
    """
    check_reviewers(share.reviewers)
    wanted = len(sentences.entries) if share.items is None else share.items
    check_count(wanted)
    entries = draw(sentences.entries, wanted, 1, seed)
    common_entries = entries if share.per_person is None else []
    if share.core is not None:
        common_entries = draw_core(entries, share.core, 1, seed)
    common = {entry.id for entry in common_entries}
    items = sentences.around.of(new_item(entry, "") for entry in entries)
    drawing(seed, "items").shuffle(items)
    ids = {item.truth.entry: item.id for item in items}
    core = tuple(item for entry, item in ids.items() if entry in common)
    return TranslationDraft(
        dataset=sentences.dataset,
        sentences=sentences,
        entries=entries,
        items=sorted(items, key=lambda item: item.id),
        core=core,
        orders=sentence_orders(ids, core, share, seed),
        task="translate",
        written=sentences.written,
        seed=seed,
    )


def sentence_orders(
    ids: Mapping[EntryId, str], core: Sequence[str], share: Share, seed: int
) -> dict[str, tuple[str, ...]]:
    """Return new code → ids of the items in this person's order; ``ids`` is entry → its one item, ``core`` what all are asked."""
    return orders(
        originals={item: entry for entry, item in ids.items()},
        repeats={},
        for_all=core,
        extra={entry: [item] for entry, item in ids.items() if item not in core},
        reviewers=make_codes(share.reviewers),
        per_person=share.per_person,
        seed=seed,
    )


@dataclass(frozen=True)
class KnownForms:
    """What changes a word of a text into another of its forms, if anything here can."""

    make: Callable[[str], Sequence[Inflected]] | None
    why_not: str  # Why nothing can, in words; empty where something can


def known_forms(dataset: Dataset, texts: Iterable[str]) -> KnownForms:
    """Open the analyser of the target language; ``texts`` are those whose words are attested.

    What is looked up is kept nowhere: the texts may be secret.
    """
    sentences = list(texts)
    analyser = word_analyser(dataset.target_language, sentences)
    if isinstance(analyser, str):
        return KnownForms(None, analyser)
    writing, annotator = analyser.writing, analyser.annotator
    attested = {word for text in sentences for word in annotator.split(text)}
    forms = OtherForms(attested, annotator.analyse_words)
    joiners = writing.joiners if writing else JOINERS
    letters = writing.word_letters if writing else ""

    def make(text: str) -> Sequence[Inflected]:
        return inflected(text, list(words(text, joiners, letters)), forms)

    return KnownForms(make, "")


@dataclass(frozen=True)
class Size:
    """How much is asked of whom."""

    reviewers: int = 5
    items: int = 80  # Entries that are drawn; each run's output of each is one item
    core: int | None = None  # Entries that everybody is asked; None: all
    per_person: int | None = None  # Further entries for each person; None: all of them
    controls: Counts | None = None  # None: the usual number


@dataclass(frozen=True, kw_only=True)
class ReviewDraft(Drawn):
    """A review that is worked out and not yet written anywhere."""

    runs: ReviewedRuns
    core_entries: Sequence[Entry]
    real: Sequence[Item]
    controls: Controls
    why_no_forms: str  # Why no wrong word forms were made; empty where they could be
    around: Surroundings = field(default_factory=Surroundings)  # Where the sentences stand

    @property
    def secret(self) -> bool:
        """True where an item shows a source of a secret segment, its own or one next to it."""
        shown = {item.truth.entry for item in self.items}
        own = any(self.runs.corpus[id_].secret for id_ in shown)
        return own or not self.around.secret.isdisjoint(shown)

    @property
    def key_runs(self) -> tuple[KeyRun, ...]:
        """Return what the answer key says of the runs that are reviewed."""
        return self.runs.key_runs(self.entries)

    @property
    def below_deployable(self) -> dict[str, float]:
        """Run → composite, of runs below the Deployable threshold; none of secret entries, whose numbers stay inside."""
        return {} if self.secret else self.runs.below_deployable

    @property
    def vault_runs(self) -> tuple[str, ...]:
        """Ids of the runs where they are from a vault."""
        return self.runs.vault_runs

    @property
    def placed(self) -> int:
        return sum(card_id(entry.id) in self.around.told for entry in self.entries)

    @property
    def spare(self) -> list[Entry]:
        """Development entries that are not asked about: training is made of these, while there are any."""
        return _spare(self.runs, self.items)


def draft_review(
    runs: ReviewedRuns,
    policy: GatePolicy,
    size: Size,
    seed: int,
    texts: ReviewTexts,
    training: Sequence[TrainingItem] | None = None,
    carries: ContextPolicy = ContextPolicy.OPEN,
) -> ReviewDraft:
    """Draw entries and make controls, orders and training; everything but ids and codes follows from the seed.

    UsageError where too much or too little is asked for.
    """
    check_reviewers(size.reviewers)
    check_count(size.items)
    if size.per_person is not None and size.core is None:
        raise UsageError("--items-per-person counts items beyond the common core: add --core N.")
    least = policy.enough.per_stratum
    core = entries = draw(runs.shared, size.items, least, seed)
    if size.core is not None:  # the entries that everybody gets
        core = draw_core(entries, size.core, least, seed)
    real = _real_items(runs, entries, seed)
    wanted = {entry.id for entry in core}
    in_core = [item for item in real if runs.corpus[item.truth.entry].id in wanted]
    counts = size.controls or usual_counts(len(in_core))
    controls, why_no_forms = _controls(runs, real, in_core, counts, seed)
    around = surroundings(list(runs.corpus.values()), carries)
    items = [*real, *controls.items]
    if len(items) > MOST_ITEMS:
        raise UsageError(f"{len(items)} items are more than {MOST_ITEMS:,}. Lower --items.")
    every = around.of(items)
    return ReviewDraft(
        dataset=runs.dataset,
        runs=runs,
        entries=entries,
        items=sorted(every, key=lambda item: item.id),
        core_entries=core,
        real=real,
        controls=controls,
        why_no_forms=why_no_forms,
        around=around,
        core=tuple(item.id for item in in_core),
        orders=_orders(every, in_core, controls.items, size, seed),
        training=_training(runs, every, texts, seed) if training is None else training,
        seed=seed,
    )


def _controls(
    runs: ReviewedRuns, real: Sequence[Item], in_core: Sequence[Item], counts: Counts, seed: int
) -> tuple[Controls, str]:
    """Make the controls; gives also why there are no wrong word forms, where there are none."""
    # Texts whose words count as attested: open references, and the review's own items.
    open_ = [entry.reference for entry in runs.corpus.values() if is_development(entry)]
    forms = known_forms(runs.dataset, [*open_, *(item.shown.candidate for item in real)])
    outputs: dict[EntryId, list[str]] = defaultdict(list)
    for run in runs.runs:
        for id_, output in run.outputs.items():
            outputs[id_].append(output)
    material = ControlMaterial(
        real=in_core,
        entries=runs.corpus,
        outputs=outputs,
        forms=forms.make or (lambda _: ()),
        inflects=forms.make is not None,
    )
    return make_controls(material, counts, seed), forms.why_not


def _real_items(runs: ReviewedRuns, entries: Sequence[Entry], seed: int) -> list[Item]:
    """Return every run's output of every entry as an item; two runs with one output become two items."""
    by_id = {entry.id: id_ for id_, entry in runs.runs[0].entries.items()}
    items = [
        new_item(entry, run.outputs[by_id[entry.id]], run_id=run.run.run_id) for entry in entries for run in runs.runs
    ]
    drawing(seed, "items").shuffle(items)
    return items


def _orders(
    every: Sequence[Item], in_core: Sequence[Item], controls: Sequence[Item], size: Size, seed: int
) -> dict[str, tuple[str, ...]]:
    for_all = {item.id for item in (*in_core, *controls)}
    extra: dict[EntryId, list[str]] = defaultdict(list)
    for item in every:
        if item.id not in for_all:
            extra[item.truth.entry].append(item.id)
    return orders(
        originals={item.id: item.truth.entry for item in every},
        repeats={
            item.id: item.truth.partner for item in controls if item.truth.control == "repeat" and item.truth.partner
        },
        for_all=[item.id for item in every if item.id in for_all],
        extra=extra,
        reviewers=make_codes(size.reviewers),
        per_person=size.per_person,
        seed=seed,
    )


def _training(runs: ReviewedRuns, every: Sequence[Item], texts: ReviewTexts, seed: int) -> list[TrainingItem]:
    """Make training of development entries that are not asked about; of asked ones where none are left."""
    open_ = [entry for entry in runs.corpus.values() if is_development(entry)]
    return make_training(_spare(runs, every) or open_, texts.training, seed, texts.training_in)


def _spare(runs: ReviewedRuns, every: Sequence[Item]) -> list[Entry]:
    asked = {item.truth.entry for item in every}
    return [e for id_, e in runs.corpus.items() if id_ not in asked and is_development(e)]


# ---- What speakers are asked about a corpus in the making: to translate, then to look at translations of others ----
# Where a sentence of a secret segment is among them, the whole review is sealed, on its way and here.


@dataclass(frozen=True, kw_only=True)
class AgreementDraft(Drawn):
    """A review in which second speakers look at translations; it has no run and no verdict."""

    @property
    def key_corpus(self) -> KeyCorpus:
        return known_corpus(self.dataset)


def to_translate(project: Project, segments: Collection[Segment] = (), *, again: bool = False) -> list[ProjectEntry]:
    """Return the entries of these segments, or of all, that have no translation and are with no speaker; those too with ``again``."""
    waiting = (entry for entry in project.state.entries if entry.untranslated)
    return _not_out(project, waiting, "translate", segments, again=again)


def to_agree(project: Project, segments: Collection[Segment] = (), *, again: bool = False) -> list[ProjectEntry]:
    """Return the entries of these segments, or of all, that have a translation to which no second speaker agreed or objected.

    Those that are with one are left out, unless ``again``.
    """
    waiting = (e for e in project.state.entries if e.usable and e.agreed is None)
    return _not_out(project, waiting, "agree", segments, again=again)


def _not_out(
    project: Project, entries: Iterable[ProjectEntry], kind: str, segments: Collection[Segment], *, again: bool
) -> list[ProjectEntry]:
    """Return the entries of these segments that are in no review of this kind now, or all with ``again``."""
    asked: dict[int, set[str]] = defaultdict(set)
    for out in project.state.reviews if not again else ():
        for id_ in out.entries if out.kind == kind else ():
            asked[id_].add(out.review)
    wanted = (entry for entry in entries if not segments or entry.segment in segments)
    return [entry for entry in wanted if asked[entry.id] <= set(entry.refused)]


def secret_among(entries: Sequence[ProjectEntry]) -> bool:
    """Return whether one of them is of a secret segment."""
    return any(entry.secret for entry in entries)


def draft_sources(project: Project, entries: Sequence[ProjectEntry], share: Share, seed: int) -> TranslationDraft:
    """Work out who translates which sources; UsageError where there is nothing to translate."""
    if not entries:
        raise UsageError(
            f"No source waits for a translation: add some (rosetta corpus sources), or gather what came back (rosetta corpus gather).{_with_speakers(project, 'translate')}"
        )
    asked = [_entry(project, entry) for entry in entries]
    shown = (entry for entry in project.state.entries if entry.usable and not entry.secret)
    written = [project.texts(entry).reference for entry in shown]
    return draft_translations(Sentences(_dataset(project), asked, written=written), share, seed)


def draft_agreement(project: Project, entries: Sequence[ProjectEntry], share: Share, seed: int) -> AgreementDraft:
    """Work out who looks at which translations; UsageError where none waits for it."""
    if not entries:
        raise UsageError(
            f"No translation waits for a second speaker: gather what came back (rosetta corpus gather).{_with_speakers(project, 'agree')}"
        )
    check_reviewers(share.reviewers)
    asked = [_entry(project, entry) for entry in entries]
    items = [
        new_item(entry, project.texts(project_entry).reference)
        for entry, project_entry in zip(asked, entries, strict=True)
    ]
    ids = {item.truth.entry: item.id for item in items}
    core = () if share.per_person is not None else tuple(ids.values())
    return AgreementDraft(
        dataset=_dataset(project),
        entries=asked,
        items=sorted(items, key=lambda item: item.id),
        core=core,
        orders=sentence_orders(ids, core, share, seed),
        seed=seed,
    )


def _with_speakers(project: Project, kind: str) -> str:
    """Return how many sentences are with speakers and not done, and how to give them to others; nothing where none is."""
    waiting = to_translate if kind == "translate" else to_agree
    if not (many := len(waiting(project, again=True))):
        return ""
    return f" {counted(many, 'sentence')} {'is' if many == 1 else 'are'} with speakers; to give them to others too: --again."


def written_elsewhere(
    entries: Sequence[ProjectEntry], wrote: Mapping[int, frozenset[str]], laptops: Collection[str]
) -> list[ProjectEntry]:
    """Return the entries of which no translation was written on one of these laptops; ``wrote``: entry → its laptops."""
    return [entry for entry in entries if wrote.get(entry.id, frozenset()).isdisjoint(laptops)]


def _entry(project: Project, entry: ProjectEntry) -> Entry:
    """Return an entry as it is asked about: its source and its open tags."""
    return Entry(
        id=entry.id,
        source=project.texts(entry).source,
        reference="",
        segment=entry.segment,
        difficulty=entry.difficulty,
        register=entry.register_,
        context=entry.context,
    )


def _dataset(project: Project) -> Dataset:
    names = ("id", "language_pair", "source_language", "target_language")
    return Dataset(**{name: project.state.dataset[name] for name in names})


def note_handed_out(
    project: Project, name: str, kind: str, entries: Sequence[ProjectEntry], *, shared_laptop: bool = False
) -> None:
    """Record in the project which entries go out in which review, before it is made; ``note_made`` records that it is.

    ``shared_laptop``: the organisation says that second speakers are others than the translators, though they share laptops.
    """
    ids = tuple(entry.id for entry in entries)
    facts = {"review": name, "kind": kind, "on": today(), "entries": ids}
    out = HandedOut.model_validate(facts | {"shared_laptop": shared_laptop})
    project.change(reviews=(*project.state.reviews, out))


def note_made(project: Project, name: str) -> None:
    """Record in the project that a review was made, so that a data folder without it is known to be another one."""
    _mark(project, name, "made")


def note_shared_laptop(project: Project, name: str) -> None:
    """Record that the second speakers of a review are others than the translators, though they share laptops; UsageError for another review."""
    if name not in {review.review for review in project.state.reviews if review.kind == "agree"}:
        raise UsageError(
            f"--shared-laptop {name[:60]!r}: no review of this corpus in which second speakers look has this name. `rosetta corpus "
            "progress` names those that are out."
        )
    _mark(project, name, "shared_laptop")


def _mark(project: Project, name: str, mark: str) -> None:
    changed = (
        review.model_copy(update={mark: True}) if review.review == name else review for review in project.state.reviews
    )
    project.change(reviews=tuple(changed))
