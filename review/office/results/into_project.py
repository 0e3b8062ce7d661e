"""What speakers said about a corpus in the making, taken back into it: translations first, then what second speakers think of them.

Nothing is written but the project, in which texts of secret segments lie sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpora.text.comparison import comparison_form
from harness.project.state import DraftTexts, HandedOut, Project, ProjectEntry, Spoken, today
from review.log.fold import ReviewerState, State
from review.office.results.rating_rows import people
from review.office.results.translations import collect
from review.office.store.store import Office, Review
from review.rating import CannotJudge, Rating
from review.verdict.panel.key import counted

GOOD = frozenset({Rating.ACCEPTABLE, Rating.EXCELLENT})


@dataclass
class Gathered:
    """What was taken into a project, in numbers and ids of entries."""

    translated: int = 0
    unshared: int = 0
    """Translations of people who did not say that theirs may be used."""
    withheld: int = 0
    """Sentences that somebody called harmful or not to be shown around."""
    agreed: int = 0
    corrected: int = 0
    """By the wording that a second speaker wrote."""
    refused: list[int] = field(default_factory=list)
    """Entries whose translation a second speaker did not agree to, without a better one: to be translated anew."""
    objected: list[int] = field(default_factory=list)
    """Entries whose translation a second speaker called harmful, or not to be shown around: people decide."""
    taken_back: list[int] = field(default_factory=list)
    """Entries that lose words, or an agreement, because their person took them back or does not let them be used any more."""
    waiting: int = 0
    """Entries of which nothing came back yet."""


def gather(project: Project, office: Office) -> Gathered:
    """Take in what came back of every review of a project; what was taken in before changes nothing."""
    found = Gathered()
    for out in project.state.reviews:
        review = office.review(out.review)
        review.require_unchanged()
        state = office.state_of_any(review)
        entries = {each.id: each for each in project.state.entries if each.id in out.entries}
        if out.kind == "translate":
            _translations(project, out, review, state, entries, found)
        else:
            project.put(_looked(project, review, state, entries, found))
    return found


def _translations(
    project: Project,
    out: HandedOut,
    review: Review,
    state: State,
    entries: Mapping[int, ProjectEntry],
    found: Gathered,
) -> None:
    """Take in what most people wrote, with other wordings as variants; nothing changes once a second speaker looked."""
    collected = collect(review, state)
    found.unshared += collected.unshared
    found.withheld += collected.withheld
    found.waiting += collected.unanswered
    usable = {each.id for each in collected.corpus.entries}
    changed = [
        _without_words(project, entry, found)
        for entry in entries.values()
        if entry.id not in usable and _stands_on(entry, review)
    ]
    for each in collected.corpus.entries:
        entry = entries.get(each.id) if isinstance(each.id, int) else None
        if entry is None or entry.agreed is not None or review.name in entry.refused:
            continue
        texts = replace(project.texts(entry), reference=each.reference, variants=each.variants)
        if texts == project.texts(entry):
            continue
        wordings = (each.model_extra or {})["translators"]
        who = tuple(letter for wording in wordings for letter in wording)
        said = Spoken(review=out.review, people=who, outcome="translated", on=today())
        changed.append(
            _without_analysis(project, entry.model_copy(update={"translated": said}), texts)
        )
        found.translated += 1
    project.put(changed)


def _stands_on(entry: ProjectEntry, review: Review) -> bool:
    """Tell whether an entry's translation was written in a review, and no second speaker put another in its place."""
    written = entry.translated is not None and entry.translated.review == review.name
    return written and (entry.agreed is None or entry.agreed.outcome == "agreed")


def _without_words(project: Project, entry: ProjectEntry, found: Gathered) -> ProjectEntry:
    """Return an entry that is to be translated anew, by whoever; nothing of what was there is kept."""
    found.taken_back.append(entry.id)
    gone = {"translated": None, "agreed": None, "refused": _refused(entry)}
    texts = replace(project.texts(entry), reference="", variants=())
    return _without_analysis(project, entry.model_copy(update=gone), texts)


@dataclass(frozen=True)
class _Opinion:
    person: str
    rating: Rating | None
    better: str
    """A wording that may be used; empty where there is none."""
    objects: bool


def _looked(
    project: Project,
    review: Review,
    state: State,
    entries: Mapping[int, ProjectEntry],
    found: Gathered,
) -> Iterator[ProjectEntry]:
    """Yield the entries that second speakers changed; what was said of another wording than the one that is there does not count."""
    opinions = dict(_opinions(review, state))
    for item, about in review.key.items.items():
        entry = entries.get(about.entry) if isinstance(about.entry, int) else None
        if entry is None or not entry.has_reference:
            continue
        texts, said = project.texts(entry), opinions.get(item, [])
        if entry.agreed is not None:
            if entry.agreed.review == review.name:
                yield from _still(project, entry, texts, said, found)
            continue
        if review.texts[item].candidate != texts.reference:
            continue
        if not said:
            found.waiting += 1
        elif any(each.objects for each in said):
            found.objected.append(entry.id)
        else:
            yield _judged(project, review, entry, texts, said, found)


def _still(
    project: Project,
    entry: ProjectEntry,
    texts: DraftTexts,
    said: Sequence[_Opinion],
    found: Gathered,
) -> Iterator[ProjectEntry]:
    """Yield an entry whose second speaker took back what it rests on: the agreement, or the wording."""
    if entry.agreed is not None and entry.agreed.outcome == "corrected":
        if texts.reference not in {each.better for each in said}:
            yield _without_words(project, entry, found)
    elif not said:
        found.taken_back.append(entry.id)
        yield entry.model_copy(update={"agreed": None})


def _judged(
    project: Project,
    review: Review,
    entry: ProjectEntry,
    texts: DraftTexts,
    said: Sequence[_Opinion],
    found: Gathered,
) -> ProjectEntry:
    """Return an entry as second speakers want it: as it is, with their wording, or without a translation."""
    good = all(each.rating in GOOD for each in said)
    perfect = all(each.rating is Rating.EXCELLENT for each in said)
    better = _most_frequent(each.better for each in said)
    if better and comparison_form(better) == comparison_form(texts.reference):
        better = ""
    if not good and not better:
        found.refused.append(entry.id)
        gone = {"translated": None, "refused": _refused(entry)}
        return _without_analysis(
            project, entry.model_copy(update=gone), replace(texts, reference="", variants=())
        )
    corrected = bool(better) and not perfect
    people_ = tuple(each.person for each in said)
    spoken = Spoken(
        review=review.name,
        people=people_,
        outcome="corrected" if corrected else "agreed",
        on=today(),
    )
    entry = entry.model_copy(update={"agreed": spoken})
    if corrected:
        found.corrected += 1
        return _without_analysis(project, entry, replace(texts, reference=better, variants=()))
    found.agreed += 1
    return project.with_texts(entry, _with_variant(texts, better))


def _refused(entry: ProjectEntry) -> tuple[str, ...]:
    """Return the reviews whose translation of an entry is not taken any more, that of now among them."""
    return (*entry.refused, *([entry.translated.review] if entry.translated else []))


def _with_variant(texts: DraftTexts, wording: str) -> DraftTexts:
    """Return texts with a wording that is as right as the reference; nothing changes where it is known."""
    known = {comparison_form(each) for each in (texts.reference, *texts.variants)}
    if not wording or comparison_form(wording) in known:
        return texts
    return replace(texts, variants=(*texts.variants, wording))


def _most_frequent(wordings: Iterable[str]) -> str:
    given = Counter(each for each in wordings if each)
    return given.most_common(1)[0][0] if given else ""


def _without_analysis(project: Project, entry: ProjectEntry, texts: DraftTexts) -> ProjectEntry:
    """Return an entry with other words, which no confirmed analysis is about."""
    return project.with_texts(
        entry.model_copy(update={"analysed": None}), replace(texts, analysis="")
    )


def _opinions(review: Review, state: State) -> Iterator[tuple[str, list[_Opinion]]]:
    """Yield what people said, by item."""
    letters = people(review.key)
    said: dict[str, list[_Opinion]] = {}
    for reviewer, _, told in counted(state, review.key):
        for item in told.judgements.keys() & review.key.items.keys():
            said.setdefault(item, []).append(_opinion(letters[reviewer], told, item))
    yield from said.items()


def _opinion(person: str, told: ReviewerState, item: str) -> _Opinion:
    judged = told.judgements[item]
    better = told.suggestions.get(item, "").strip() if told.share_corrections else ""
    objects = item in told.harmful or judged.why_not is CannotJudge.NOT_TO_SHARE
    return _Opinion(person, judged.rating, better, objects)
