"""What speakers said about a corpus in the making, taken back into it: translations first, then what second speakers think of them.

Nothing is written but the project, in which texts of secret segments are stored encrypted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpora.model.entry import Entry
from corpora.text.comparison import comparison_form
from harness.project.state import HandedOut, Project, ProjectEntry, Spoken, today
from review.office.results.progress import (
    Gathered,
    laptop_of_event,
    laptops_that_wrote,
    note,
    with_words,
    without_words,
)
from review.office.results.second_speakers import Barred, Heard, barred, judge_entries, looks_of
from review.office.results.translations import Collected, collect
from review.office.store.store import Office


@dataclass(frozen=True)
class _Written:
    """A review of translators, and what came back of it."""

    out: HandedOut
    collected: Collected
    # What came back without the wordings that second speakers refuse or object to
    usable: tuple[Entry, ...]


def gather(project: Project, office: Office) -> Gathered:
    """Import what came back of every review of a project; what was imported before changes nothing."""
    came: list[tuple[HandedOut, Collected]] = []
    heard: list[Heard] = []
    for out in project.state.reviews:
        review = office.review(out.review)
        review.require_unchanged()
        state = office.state_of_any(review)
        if out.kind == "translate":
            came.append((out, collect(review, state)))
        else:
            heard.append(Heard(out, review, state, laptop_of_event(office, review)))
    looks = looks_of(heard, laptops_that_wrote(project, office))
    bars = {entry: barred(look) for entry, look in looks.items()}
    written = [_Written(out, c, _without_barred(c, bars)) for out, c in came]
    gathered = Gathered()
    before = None
    while before != project.state.entries:
        before = project.state.entries
        gathered.look_again()
        _without_lost(project, written, gathered)
        _translations(project, written, bars, gathered)
        project.put([_from_source(project, entry, bars, gathered) for entry in project.state.entries])
        project.put(list(judge_entries(project, looks, gathered)))
    _count(project, written, bars, gathered)
    return gathered


def _without_barred(collected: Collected, bars: Mapping[int, Barred]) -> tuple[Entry, ...]:
    """Return what came back without what second speakers refuse or object to; the next wording takes its place."""
    left = []
    for came in collected.corpus.reveal_here():
        if not isinstance(came.id, int):
            continue
        if (bar := bars.get(came.id)) is None:
            left.append(came)
            continue
        out = bar.refused | bar.objected
        if kept := [(w, who) for w, who in _by_wording(came) if comparison_form(w) not in out]:
            (reference, _), *others = kept
            texts = {"reference": reference, "variants": tuple(wording for wording, _ in others)}
            left.append(came.model_copy(update=texts | {"translators": [who for _, who in kept]}))
    return tuple(left)


def _by_wording(came: Entry) -> Iterator[tuple[str, list[str]]]:
    """Return each wording with who wrote it."""
    letters = (came.model_extra or {})["translators"]
    return zip((came.reference, *came.variants), letters, strict=True)


def _entries(project: Project, out: HandedOut) -> dict[int, ProjectEntry]:
    return {entry.id: entry for entry in project.state.entries if entry.id in out.entries}


def _count(project: Project, written: Iterable[_Written], bars: Mapping[int, Barred], found: Gathered) -> None:
    """Count what came back and is not in the corpus, and what did not come back."""
    for came_back in written:
        found.unshared += came_back.collected.unshared
        found.withheld += came_back.collected.withheld
        entries = _entries(project, came_back.out)
        found.beside += sum(
            entry.has_reference and not _written_in(entry, came_back.out.review)
            for entry, _ in _back(entries, came_back.usable)
        )
        for entry, came in _back(entries, came_back.collected.corpus.reveal_here()):
            if entry.id in bars and bars[entry.id].objected & _forms(came):
                note(entry, found.objected)
        done = {came.id for came in came_back.collected.corpus.entries} | came_back.collected.withheld_entries
        for entry in entries.values():
            if entry.untranslated and entry.id not in done and came_back.out.review not in entry.refused:
                note(entry, found.waiting)


def _back(entries: Mapping[int, ProjectEntry], came: Iterable[Entry]) -> list[tuple[ProjectEntry, Entry]]:
    """Return each entry with the translations of it that came back."""
    ids = ((entry.id, entry) for entry in came)
    return [(entries[id_], entry) for id_, entry in ids if isinstance(id_, int) and id_ in entries]


def _without_lost(project: Project, written: Iterable[_Written], found: Gathered) -> None:
    """Remove the wordings that their writers do not let be used any more, before others take their place.

    Only where nothing usable came back of the sentence; elsewhere ``_translated`` does. A second speaker's wording instead of
    a translation stays, without the wordings and names of its translators.
    """
    for came in written:
        usable = {entry.id for entry in came.usable}
        back = {entry.id: entry for entry in came.collected.corpus.reveal_here()}
        entries = (e for e in _entries(project, came.out).values() if e.id not in usable)
        lost = [entry for entry in entries if _written_in(entry, came.out.review)]
        project.put([_left_of(project, came.out, e, back.get(e.id), found) for e in lost])


def _left_of(
    project: Project, out: HandedOut, entry: ProjectEntry, came: Entry | None, found: Gathered
) -> ProjectEntry:
    """Return an entry of whose translations none is usable, with those that wait for a decision; ``came``: None where none came back."""
    texts, there = project.texts(entry), set() if came is None else _forms(came)
    stands = _stands_on(entry, out.review)
    if stands and comparison_form(texts.reference) not in there:
        return without_words(project, entry, found)
    kept = tuple(v for v in texts.variants if stands and comparison_form(v) in there)
    who = () if came is None else _writers(entry, came, (texts.reference, *kept))
    project_entry = _by(entry, out, who)
    if kept == texts.variants:
        return project_entry
    if {comparison_form(variant) for variant in texts.variants} - there:
        note(entry, found.taken_back)
    return project.with_texts(project_entry, replace(texts, variants=kept))


def _translations(project: Project, written: Iterable[_Written], bars: Mapping[int, Barred], found: Gathered) -> None:
    """Store what most people wrote in each review, with other wordings as variants.

    Once a second speaker looked, nothing is added, and what its writer took back goes. Where another review's translation stands, it stays:
    letters of two reviews cannot be told apart, so they are not counted together. A wording that second speakers bar is taken out by them first.
    """
    for came in written:
        translated = []
        for entry, back in _back(_entries(project, came.out), came.usable):
            # It has no translation, or this review's, or speakers' to which somebody objects
            objected = entry.objected and entry.translated is not None
            open_ = not entry.has_reference or _written_in(entry, came.out.review) or objected
            if open_ and not _is_barred(project, entry, bars):
                translated.append(_translated(project, came.out, entry, back, found))
        project.put(translated)


def _from_source(project: Project, entry: ProjectEntry, bars: Mapping[int, Barred], found: Gathered) -> ProjectEntry:
    """Return an entry without a translation with what came with its source, as far as no second speaker refuses it now.

    What somebody objects to comes too, since it is judged, and sealed, where it stands. What is harmful is not kept.
    """
    if entry.has_reference or entry.id not in bars:
        return entry
    texts, bar = project.texts(entry), bars[entry.id]
    came = tuple(wording for wording in texts.came if comparison_form(wording) not in bar.harmful)
    if not (kept := [wording for wording in came if comparison_form(wording) not in bar.refused]):
        return entry if came == texts.came else project.with_texts(entry, replace(texts, came=came))
    found.translated += 1
    return with_words(project, entry, replace(texts, reference=kept[0], variants=tuple(kept[1:])))


def _is_barred(project: Project, entry: ProjectEntry, bars: Mapping[int, Barred]) -> bool:
    """Return whether an entry's translation is to be judged before another takes its place: it is refused, or objected to and not yet noted so."""
    bar = bars.get(entry.id)
    if bar is None or not entry.has_reference:
        return False
    form = comparison_form(project.texts(entry).reference)
    return form in bar.refused or (form in bar.objected and not entry.objected)


def _translated(project: Project, out: HandedOut, entry: ProjectEntry, came: Entry, found: Gathered) -> ProjectEntry:
    """Return an entry with the words that came back of it and may be used now."""
    before = project.texts(entry)
    agreed, forms = entry.agreed, _forms(came)
    stands = comparison_form(before.reference) in forms
    if agreed is not None and (agreed.outcome == "corrected" or stands):
        left = tuple(variant for variant in before.variants if comparison_form(variant) in forms)
        project_entry = _by(entry, out, _writers(entry, came, (before.reference, *left)))
        if left == before.variants:
            return project_entry
        note(entry, found.taken_back)
        return project.with_texts(project_entry, replace(before, variants=left))
    project_entry = _by(entry, out, _writers(None, came, (came.reference, *came.variants)))
    texts = replace(before, reference=came.reference, variants=came.variants, offered=())
    if texts == before:
        return project_entry
    if entry.agreed is not None:
        note(entry, found.taken_back)
    found.translated += 1
    gone = {"agreed": None, "agreed_also": (), "objected": False}
    return with_words(project, project_entry.model_copy(update=gone), texts)


def _forms(came: Entry) -> set[str]:
    """Return the wordings that came back, as they are compared."""
    return set(map(comparison_form, (came.reference, *came.variants)))


def _writers(entry: ProjectEntry | None, came: Entry, kept: Sequence[str]) -> tuple[str, ...]:
    """Return who wrote the wordings that are kept, by the letters of the review; of an entry that was corrected, who translated it before."""
    forms = set(map(comparison_form, kept))
    wordings_of = [(comparison_form(w) in forms, p) for w, who in _by_wording(came) for p in who]
    if entry is None or entry.translated is None or _stands_on(entry, entry.translated.review):
        return tuple(person_id for is_kept, person_id in wordings_of if is_kept)
    there = {person_id for _, person_id in wordings_of}
    return tuple(person for person in entry.translated.people if person in there)


def _by(entry: ProjectEntry, out: HandedOut, who: tuple[str, ...]) -> ProjectEntry:
    """Return an entry with the people who translated it; as it is where it has them already."""
    known = entry.translated
    if known is not None and (known.review, known.people) == (out.review, who):
        return entry
    spoken = Spoken(review=out.review, people=who, outcome="translated", on=today())
    return entry.model_copy(update={"translated": spoken})


def _written_in(entry: ProjectEntry, review: str) -> bool:
    """Return whether the translation that an entry came by was written in a review."""
    return entry.translated is not None and entry.translated.review == review


def _stands_on(entry: ProjectEntry, review: str) -> bool:
    """Return whether an entry's translation was written in a review, and no second speaker put another in its place."""
    own = entry.agreed is None or entry.agreed.outcome == "agreed"
    return own and _written_in(entry, review)
