"""What speakers are asked about a corpus in the making: to translate its sources, then to look at others' translations.

Where a sentence of a secret segment is among them, the whole review is sealed, on its way and here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry, Segment
from corpora.text.messages import counted
from harness.core.failures import UsageError
from harness.project.state import HandedOut, Project, ProjectEntry, today
from review.office.making.batches import Drawn, check_reviewers, known_corpus
from review.office.making.creating import Share, TranslationDraft, draft_translations, sentence_orders
from review.office.making.items import new_item
from review.office.making.reviewed_runs import Sentences
from review.verdict.gate.key import KeyCorpus


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
