"""What speakers said about a corpus in the making, taken back into it: translations first, then what second speakers think of them.

Nothing is written but the project, in which texts of secret segments lie sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpora.model.entry import Entry
from corpora.text.comparison import comparison_form
from harness.project.state import HandedOut, Project, ProjectEntry, Spoken, today
from review.office.results.gathered import Gathered, note_taken_back, with_words, without_words
from review.office.results.laptops import laptop_of_event, laptops_that_wrote
from review.office.results.second_speakers import Heard, judge_entries
from review.office.results.translations import Collected, collect
from review.office.store.store import Office


def gather(project: Project, office: Office) -> Gathered:
    """Take in what came back of every review of a project; what was taken in before changes nothing."""
    found = Gathered()
    written: list[tuple[HandedOut, Collected]] = []
    heard: list[Heard] = []
    for out in project.state.reviews:
        review = office.review(out.review)
        review.require_unchanged()
        state = office.state_of_any(review)
        if out.kind == "translate":
            written.append((out, collect(review, state)))
        else:
            heard.append(Heard(out, review, state, laptop_of_event(office, review)))
    _without_lost(project, written, found)
    _translations(project, written, found)
    project.put(list(judge_entries(project, heard, laptops_that_wrote(project, office), found)))
    _without_lost(project, written, found)
    _translations(project, written, found)
    _count(project, written, found)
    return found


def _entries(project: Project, out: HandedOut) -> dict[int, ProjectEntry]:
    """Return the entries that were handed out in a review, as they are now."""
    return {each.id: each for each in project.state.entries if each.id in out.entries}


def _count(
    project: Project, written: Iterable[tuple[HandedOut, Collected]], found: Gathered
) -> None:
    """Count what came back and is not in the corpus, and what did not come back."""
    for out, collected in written:
        found.unshared += collected.unshared
        found.withheld += collected.withheld
        found.waiting += collected.unanswered
        entries = _entries(project, out)
        found.beside += sum(
            entry.has_reference
            and out.review not in entry.refused
            and not _written_in(entry, out.review)
            for entry, _ in _back(entries, collected)
        )


def _back(
    entries: dict[int, ProjectEntry], collected: Collected
) -> list[tuple[ProjectEntry, Entry]]:
    """Return each entry with the translations of it that came back."""
    return [
        (entries[each.id], each)
        for each in collected.corpus.entries
        if isinstance(each.id, int) and each.id in entries
    ]


def _without_lost(
    project: Project, written: Iterable[tuple[HandedOut, Collected]], found: Gathered
) -> None:
    """Take out the translations that their writers do not let be used any more, before others take their place."""
    for out, collected in written:
        usable = {each.id for each in collected.corpus.entries}
        project.put(
            [
                without_words(project, entry, found)
                for entry in _entries(project, out).values()
                if entry.id not in usable and _stands_on(entry, out.review)
            ]
        )


def _translations(
    project: Project, written: Iterable[tuple[HandedOut, Collected]], found: Gathered
) -> None:
    """Take in what most people wrote in each review, with other wordings as variants.

    Once a second speaker looked, nothing is added, and what its writer took back goes. Where another review's translation stands, it stays:
    letters of two reviews cannot be told apart, so they are not counted together.
    """
    for out, collected in written:
        project.put(
            [
                _translated(project, out, entry, each, found)
                for entry, each in _back(_entries(project, out), collected)
                if out.review not in entry.refused
                and (not entry.has_reference or _written_in(entry, out.review))
            ]
        )


def _translated(
    project: Project, out: HandedOut, entry: ProjectEntry, came: Entry, found: Gathered
) -> ProjectEntry:
    """Return an entry with the words that came back of it and may be used now."""
    before = project.texts(entry)
    if entry.agreed is not None and (
        entry.agreed.outcome == "corrected" or _is_among(before.reference, came)
    ):
        left = tuple(each for each in before.variants if _is_among(each, came))
        if left == before.variants:
            return entry
        note_taken_back(entry, found)
        return project.with_texts(
            _by(entry, out, came, (before.reference, *left)), replace(before, variants=left)
        )
    texts = replace(before, reference=came.reference, variants=came.variants, offered=())
    if texts == before:
        return entry
    if entry.agreed is not None:
        note_taken_back(entry, found)
    found.translated += 1
    told = entry.model_copy(update={"agreed": None, "agreed_also": ()})
    return with_words(project, _by(told, out, came, (came.reference, *came.variants)), texts)


def _is_among(wording: str, came: Entry) -> bool:
    return comparison_form(wording) in map(comparison_form, (came.reference, *came.variants))


def _by(entry: ProjectEntry, out: HandedOut, came: Entry, kept: Sequence[str]) -> ProjectEntry:
    """Return an entry with the people who wrote the wordings that are kept, by the letters of the review."""
    forms = set(map(comparison_form, kept))
    wordings = zip(
        (came.reference, *came.variants), (came.model_extra or {})["translators"], strict=True
    )
    who = tuple(
        letter
        for wording, letters in wordings
        if comparison_form(wording) in forms
        for letter in letters
    )
    said = Spoken(review=out.review, people=who, outcome="translated", on=today())
    return entry.model_copy(update={"translated": said})


def _written_in(entry: ProjectEntry, review: str) -> bool:
    """Tell whether the translation that an entry came by was written in a review."""
    return entry.translated is not None and entry.translated.review == review


def _stands_on(entry: ProjectEntry, review: str) -> bool:
    """Tell whether an entry's translation was written in a review, and no second speaker put another in its place."""
    own = entry.agreed is None or entry.agreed.outcome == "agreed"
    return own and _written_in(entry, review)
