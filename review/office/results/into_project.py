"""What speakers said about a corpus in the making, taken back into it: translations first, then what second speakers think of them.

Nothing is written but the project, in which texts of secret segments lie sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from corpora.text.comparison import comparison_form
from harness.project.state import DraftTexts, HandedOut, Project, ProjectEntry, Spoken, today
from review.log.fold import ReviewerState, State
from review.office.results.rating_rows import people
from review.office.results.translations import Collected, cleared_items, collect
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
    beside: int = 0
    """Translations that came back although another review's translation of the sentence stands."""
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
    written: list[tuple[HandedOut, Collected]] = []
    looked: list[tuple[HandedOut, Review, State]] = []
    for out in project.state.reviews:
        review = office.review(out.review)
        review.require_unchanged()
        state = office.state_of_any(review)
        if out.kind == "translate":
            written.append((out, collect(review, state)))
        else:
            looked.append((out, review, state))
    _without_lost(project, written, found)
    for out, collected in written:
        _translations(project, out, collected, found)
    for out, review, state in looked:
        project.put(_looked(project, review, state, _entries(project, out), found))
    _without_lost(project, written, found)
    return found


def _entries(project: Project, out: HandedOut) -> dict[int, ProjectEntry]:
    """Return the entries that were handed out in a review, as they are now."""
    return {each.id: each for each in project.state.entries if each.id in out.entries}


def _without_lost(
    project: Project, written: Iterable[tuple[HandedOut, Collected]], found: Gathered
) -> None:
    """Take out the translations that their writers do not let be used any more, before others take their place."""
    for out, collected in written:
        usable = {each.id for each in collected.corpus.entries}
        project.put(
            [
                _without_words(project, entry, found)
                for entry in _entries(project, out).values()
                if entry.id not in usable and _stands_on(entry, out.review)
            ]
        )


def _translations(project: Project, out: HandedOut, collected: Collected, found: Gathered) -> None:
    """Take in what most people wrote in a review, with other wordings as variants; nothing changes once a second speaker looked.

    Where another review's translation stands, it stays: letters of two reviews cannot be told apart, so they are not counted together.
    """
    found.unshared += collected.unshared
    found.withheld += collected.withheld
    found.waiting += collected.unanswered
    entries = _entries(project, out)
    changed = []
    for each in collected.corpus.entries:
        entry = entries.get(each.id) if isinstance(each.id, int) else None
        if entry is None or out.review in entry.refused:
            continue
        if entry.has_reference and not _written_in(entry, out.review):
            found.beside += 1
            continue
        if entry.agreed is not None:
            continue
        texts = replace(project.texts(entry), reference=each.reference, variants=each.variants)
        if texts == project.texts(entry):
            continue
        wordings = (each.model_extra or {})["translators"]
        who = tuple(letter for wording in wordings for letter in wording)
        said = Spoken(review=out.review, people=who, outcome="translated", on=today())
        changed.append(_with_words(project, entry.model_copy(update={"translated": said}), texts))
        found.translated += 1
    project.put(changed)


def _written_in(entry: ProjectEntry, review: str) -> bool:
    """Tell whether the translation that an entry came by was written in a review."""
    return entry.translated is not None and entry.translated.review == review


def _stands_on(entry: ProjectEntry, review: str) -> bool:
    """Tell whether an entry's translation was written in a review, and no second speaker put another in its place."""
    own = entry.agreed is None or entry.agreed.outcome == "agreed"
    return own and _written_in(entry, review)


def _without_words(project: Project, entry: ProjectEntry, found: Gathered) -> ProjectEntry:
    """Return an entry whose words were taken back, for others to translate."""
    found.taken_back.append(entry.id)
    return _emptied(project, entry)


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
    """Yield the entries that second speakers changed; what was said of another wording than the one that is there does not count.

    Each is judged by all that was said in the review until now, so that it is the same whether answers came together or one by one.
    """
    opinions = dict(_opinions(review, state))
    for item, about in review.key.items.items():
        entry = entries.get(about.entry) if isinstance(about.entry, int) else None
        if entry is None or not entry.has_reference:
            continue
        asked, said = review.texts[item].candidate, opinions.get(item, [])
        if entry.agreed is None:
            if project.texts(entry).reference == asked:
                yield _judged(project, review, entry, asked, said, found)
        elif entry.agreed.review == review.name:
            if _correction_is_gone(project, entry, said):
                yield _without_words(project, entry, found)
            else:
                yield _judged(project, review, entry, asked, said, found)


def _correction_is_gone(project: Project, entry: ProjectEntry, said: Sequence[_Opinion]) -> bool:
    """Tell whether an entry has a second speaker's wording that nobody lets be used any more."""
    corrected = entry.agreed is not None and entry.agreed.outcome == "corrected"
    return corrected and project.texts(entry).reference not in {each.better for each in said}


def _judged(
    project: Project,
    review: Review,
    entry: ProjectEntry,
    asked: str,
    said: Sequence[_Opinion],
    found: Gathered,
) -> ProjectEntry:
    """Return an entry as second speakers want it, to whom ``asked`` was shown: as it is, with their wording, or without a translation."""
    if not said or any(each.objects for each in said):
        return _not_agreed(project, entry, asked, said, found)
    outcome, better = _outcome(asked, said)
    if outcome is None:
        found.refused.append(entry.id)
        return _emptied(project, entry)
    who = tuple(each.person for each in said)
    spoken = Spoken(review=review.name, people=who, outcome=outcome, on=today())
    told = entry.model_copy(update={"agreed": spoken})
    before, texts = entry.agreed, _as_shown(project, entry, asked)
    if outcome == "corrected":
        wanted = replace(texts, reference=better, variants=())
    else:
        wanted = _with_variant(texts, better)
    if before is not None and before.outcome == outcome and wanted == project.texts(entry):
        return entry if before.people == who else told
    found.corrected += outcome == "corrected"
    found.agreed += outcome == "agreed"
    return _with_words(project, told, wanted)


def _outcome(
    asked: str, said: Sequence[_Opinion]
) -> tuple[Literal["agreed", "corrected"] | None, str]:
    """Return what becomes of a wording, None where it is refused, and the wording that is better or as right."""
    good = all(each.rating in GOOD for each in said)
    perfect = all(each.rating is Rating.EXCELLENT for each in said)
    better = _most_frequent(each.better for each in said)
    if better and comparison_form(better) == comparison_form(asked):
        better = ""
    if not good and not better:
        return None, ""
    return ("corrected" if better and not perfect else "agreed"), better


def _not_agreed(
    project: Project,
    entry: ProjectEntry,
    asked: str,
    said: Sequence[_Opinion],
    found: Gathered,
) -> ProjectEntry:
    """Return an entry to which nobody says anything any more, or somebody objects: with its translators' words and no agreement."""
    if said:
        found.objected.append(entry.id)
    elif entry.agreed is None:
        found.waiting += 1
    else:
        found.taken_back.append(entry.id)
    if entry.agreed is None:
        return entry
    texts = _as_shown(project, entry, asked)
    return _with_words(project, entry.model_copy(update={"agreed": None}), texts)


def _as_shown(project: Project, entry: ProjectEntry, asked: str) -> DraftTexts:
    """Return the texts of an entry as second speakers were shown them, without a wording of theirs in the translation's place."""
    texts = project.texts(entry)
    return texts if texts.reference == asked else replace(texts, reference=asked, variants=())


def _emptied(project: Project, entry: ProjectEntry) -> ProjectEntry:
    """Return an entry that is to be translated anew, by whoever; nothing of what was there is kept."""
    gone = {"translated": None, "agreed": None, "refused": _refused(entry)}
    texts = replace(project.texts(entry), reference="", variants=())
    return _with_words(project, entry.model_copy(update=gone), texts)


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


def _with_words(project: Project, entry: ProjectEntry, texts: DraftTexts) -> ProjectEntry:
    """Return an entry with these texts; a confirmed analysis of another translation goes."""
    if texts.reference == project.texts(entry).reference:
        return project.with_texts(entry, texts)
    without = replace(texts, analysis="")
    return project.with_texts(entry.model_copy(update={"analysed": None}), without)


def _opinions(review: Review, state: State) -> Iterator[tuple[str, list[_Opinion]]]:
    """Yield what people said, by item."""
    letters, cleared = people(review.key), cleared_items(state)
    said: dict[str, list[_Opinion]] = {}
    for reviewer, _, told in counted(state, review.key):
        for item in told.judgements.keys() & review.key.items.keys():
            said.setdefault(item, []).append(
                _opinion(letters[reviewer], told, item, item in cleared)
            )
    yield from said.items()


def _opinion(person: str, told: ReviewerState, item: str, cleared: bool) -> _Opinion:
    judged = told.judgements[item]
    better = told.suggestions.get(item, "").strip() if told.share_corrections else ""
    objects = item in told.harmful or judged.why_not is CannotJudge.NOT_TO_SHARE
    return _Opinion(person, judged.rating, better, objects and not cleared)
