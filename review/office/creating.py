"""Making a review: which sentences, which controls, who gets what; then the files and the answer key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from corpora.entry import Entry, EntryId
from harness.failures import UsageError
from review.files.batch_form import MOST_ITEMS, TrainingItem
from review.files.keys import Identity
from review.files.reviewer_codes import make_codes
from review.office.assignment import orders
from review.office.batches import Asked, Made, Said, sign_batches
from review.office.controls import (
    Controls,
    Counts,
    Material,
    is_development,
    make_controls,
    usual_counts,
)
from review.office.items import Item, new_item
from review.office.known_forms import known_forms
from review.office.reviewed_runs import ReviewedRuns
from review.office.sampling import draw, drawing
from review.office.texts import ReviewTexts
from review.office.training import make_training
from review.verdict.key import AnswerKey
from review.verdict.policy import GatePolicy

MOST_REVIEWERS = 200


@dataclass(frozen=True)
class Size:
    """How much is asked of whom."""

    reviewers: int = 5
    items: int = 80
    """Entries that are drawn; each run's output of each is one item."""
    core: int | None = None
    """Entries that everybody is asked; None: all."""
    per_person: int | None = None
    """Further entries for each person; None: all of them."""
    controls: Counts | None = None
    """None: the usual number."""


@dataclass(frozen=True)
class Draft:
    """A review that is worked out and not yet written anywhere."""

    runs: ReviewedRuns
    entries: Sequence[Entry]
    """Those that were drawn."""
    core_entries: Sequence[Entry]
    real: Sequence[Item]
    controls: Controls
    why_no_forms: str
    """Why no wrong word forms were made; empty where they could be."""
    core: tuple[str, ...]
    """Real items that everybody is asked."""
    orders: Mapping[str, tuple[str, ...]]
    training: Sequence[TrainingItem]
    seed: int

    @property
    def items(self) -> list[Item]:
        """All items, in the order of their random ids, which tells nothing."""
        return sorted((*self.real, *self.controls.items), key=lambda item: item.id)

    @property
    def secret(self) -> bool:
        """True where an item shows a source of a secret segment."""
        shown = {item.truth.entry for item in (*self.real, *self.controls.items)}
        return any(self.runs.corpus[id_].secret for id_ in shown)

    @property
    def spare(self) -> list[Entry]:
        """Development entries that are not asked about: training is made of these, while there are any."""
        return _spare(self.runs, (*self.real, *self.controls.items))

    @property
    def longest(self) -> int:
        """Items of the reviewer who has most."""
        return max(map(len, self.orders.values()))


def draft_review(
    runs: ReviewedRuns,
    policy: GatePolicy,
    size: Size,
    seed: int,
    texts: ReviewTexts,
    training: Sequence[TrainingItem] | None = None,
) -> Draft:
    """Draw entries and make controls, orders and training; everything but ids and codes follows from the seed.

    UsageError where too much or too little is asked for.
    """
    _require_size(size)
    least = policy.enough.per_stratum
    entries = draw(runs.shared, size.items, least, seed)
    core = entries if size.core is None else draw_core(entries, size.core, least, seed)
    real = _real_items(runs, entries, seed)
    core_ids = {entry.id for entry in core}
    in_core = [item for item in real if _of(runs, item).id in core_ids]
    counts = size.controls or usual_counts(len(in_core))
    controls, why_no_forms = _controls(runs, real, in_core, counts, seed)
    every = [*real, *controls.items]
    if len(every) > MOST_ITEMS:
        raise UsageError(f"{len(every)} items are more than {MOST_ITEMS:,}. Lower --items.")
    return Draft(
        runs=runs,
        entries=entries,
        core_entries=core,
        real=real,
        controls=controls,
        why_no_forms=why_no_forms,
        core=tuple(item.id for item in in_core),
        orders=_orders(every, in_core, controls.items, size, seed),
        training=_training(runs, every, texts, seed) if training is None else training,
        seed=seed,
    )


def _controls(
    runs: ReviewedRuns, real: Sequence[Item], in_core: Sequence[Item], counts: Counts, seed: int
) -> tuple[Controls, str]:
    """Make the controls; gives also why there are no wrong word forms, where there are none."""
    forms = known_forms(runs.dataset, _attested(runs, real))
    material = Material(
        real=in_core,
        entries=runs.corpus,
        outputs=_outputs(runs),
        forms=forms.make or (lambda _: ()),
        inflects=forms.make is not None,
    )
    return make_controls(material, counts, seed), forms.why_not


def draw_core(entries: Sequence[Entry], wanted: int, least: int, seed: int) -> list[Entry]:
    """Draw those of the entries that everybody is asked, stratified like the entries themselves."""
    if not 1 <= wanted <= len(entries):
        raise UsageError(f"--core {wanted}: between 1 and {len(entries)} entries can be common.")
    return draw(entries, wanted, least, seed)


def _require_size(size: Size) -> None:
    if not 1 <= size.reviewers <= MOST_REVIEWERS:
        raise UsageError(
            f"--reviewers {size.reviewers}: between 1 and {MOST_REVIEWERS} are possible."
        )
    if not 1 <= size.items <= MOST_ITEMS:
        raise UsageError(f"--items {size.items}: between 1 and {MOST_ITEMS:,} are possible.")
    if size.per_person is not None and size.core is None:
        raise UsageError("--items-per-person counts items beyond the common core: add --core N.")


def _of(runs: ReviewedRuns, item: Item) -> Entry:
    return runs.corpus[item.truth.entry]


def _real_items(runs: ReviewedRuns, entries: Sequence[Entry], seed: int) -> list[Item]:
    """Ask every run's output of every entry; two runs with one output are asked apart, as two items."""
    by_id = {entry.id: id_ for id_, entry in runs.runs[0].entries.items()}
    items = [
        new_item(entry, each.outputs[by_id[entry.id]], run_id=each.run.run_id)
        for entry in entries
        for each in runs.runs
    ]
    drawing(seed, "items").shuffle(items)
    return items


def _outputs(runs: ReviewedRuns) -> dict[EntryId, list[str]]:
    outputs: dict[EntryId, list[str]] = defaultdict(list)
    for each in runs.runs:
        for id_, output in each.outputs.items():
            outputs[id_].append(output)
    return outputs


def _attested(runs: ReviewedRuns, real: Sequence[Item]) -> list[str]:
    """Give the texts whose words count as attested: open references, and what is asked anyway."""
    open_ = [entry.reference for entry in runs.corpus.values() if is_development(entry)]
    return [*open_, *(item.shown.candidate for item in real)]


def _orders(
    every: Sequence[Item],
    in_core: Sequence[Item],
    controls: Sequence[Item],
    size: Size,
    seed: int,
) -> dict[str, tuple[str, ...]]:
    for_all = {item.id for item in (*in_core, *controls)}
    extra: dict[EntryId, list[str]] = defaultdict(list)
    for item in every:
        if item.id not in for_all:
            extra[item.truth.entry].append(item.id)
    return orders(
        originals={item.id: item.truth.entry for item in every},
        repeats={
            item.id: item.truth.partner
            for item in controls
            if item.truth.control == "repeat" and item.truth.partner
        },
        for_all=[item.id for item in every if item.id in for_all],
        extra=extra,
        reviewers=make_codes(size.reviewers),
        per_person=size.per_person,
        seed=seed,
    )


def _training(
    runs: ReviewedRuns, every: Sequence[Item], texts: ReviewTexts, seed: int
) -> list[TrainingItem]:
    """Make training of development entries that are not asked about; of asked ones where none are left."""
    open_ = [entry for entry in runs.corpus.values() if is_development(entry)]
    return make_training(_spare(runs, every) or open_, texts.training, seed)


def _spare(runs: ReviewedRuns, every: Sequence[Item]) -> list[Entry]:
    asked = {item.truth.entry for item in every}
    return [
        entry for id_, entry in runs.corpus.items() if id_ not in asked and is_development(entry)
    ]


def make_review(
    draft: Draft, said: Said, policy: bytes, identity: Identity, *, one_each: bool = False
) -> Made:
    """Sign the batch, or one for each reviewer, and write the answer key; nothing is stored yet."""
    dataset = draft.runs.dataset
    asked = Asked(
        source_language=dataset.source_language,
        target_language=dataset.target_language,
        items={item.id: item.shown for item in draft.items},
        orders=draft.orders,
        training=draft.training,
    )
    batches = sign_batches(asked, said, policy, identity, one_each=one_each)
    key = AnswerKey(
        review=said.name,
        batches=tuple(each.manifest.batch for each in batches),
        batch_sha256={each.manifest.batch: each.sha256 for each in batches},
        runs=draft.runs.key_runs(draft.entries),
        items={item.id: item.truth for item in draft.items},
        core=tuple(sorted(draft.core)),
        orders=dict(draft.orders),
        seed=draft.seed,
        panel=said.panel,
    )
    return Made(key, batches, list(asked.items.values()))
