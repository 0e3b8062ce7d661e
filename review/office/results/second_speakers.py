"""What second speakers think of translations of a corpus in the making: all of their answers, in whichever review they gave them.

An answer from the laptop on which the translation was written is no agreement, since nobody agrees with themselves; an objection
counts from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from corpora.text.comparison import comparison_form
from harness.project.state import HandedOut, Project, ProjectEntry, Spoken, today
from review.log.fold import State
from review.office.results.progress import Gathered, emptied, note, with_words
from review.office.results.results import people
from review.office.results.translations import cleared_items
from review.office.store.store import Review
from review.rating import CannotJudge, Rating
from review.verdict.gate.key import counted

GOOD = frozenset({Rating.ACCEPTABLE, Rating.EXCELLENT})


@dataclass(frozen=True)
class Heard:
    """A review of second speakers, and what came back of it."""

    out: HandedOut
    review: Review
    state: State
    laptops: Mapping[str, str]  # Id of an event → the laptop that wrote it


@dataclass(frozen=True)
class _Opinion:
    person: str
    # None where they cannot judge it, which is not an answer: another speaker is to be asked
    rating: Rating | None
    better: str  # A wording that may be used; empty where there is none
    objects: bool
    laptop: str


@dataclass(frozen=True)
class EntryLook:
    """What was said of one entry in one review."""

    review: str
    asked: str  # The wording that was shown
    said: tuple[_Opinion, ...]  # Those that count
    # True where somebody answered on the laptop of the translation, and the office does not say
    # that it was another person
    own: bool
    upheld: bool  # True where people decided that it is harmful
    # True where one of them came from the laptop of the translation, and the office says that
    # another person sat there
    same_laptop: bool

    @property
    def rated(self) -> tuple[_Opinion, ...]:
        """Return the opinions of those who could judge it."""
        return tuple(opinion for opinion in self.said if opinion.rating is not None)


Looks = Mapping[int, Sequence[EntryLook]]  # Entry → what was said of it, by review


def looks_of(heard: Iterable[Heard], wrote: Mapping[int, frozenset[str]]) -> Looks:
    """Return what second speakers said of each entry; ``wrote``: the laptops of an entry's translations."""
    looks: dict[int, list[EntryLook]] = {}
    for answers in heard:
        opinions, shared = _opinions(answers), answers.out.shared_laptop
        for item, about in answers.review.key.items.items():
            if not isinstance(about.entry, int):
                continue
            given, own = opinions.get(item, []), wrote.get(about.entry, frozenset())
            counts = tuple(o for o in given if o.objects or shared or o.laptop not in own)
            decided = answers.state.adjudications.get(item)
            look = EntryLook(
                answers.review.name,
                answers.review.texts[item].candidate,
                counts,
                own=len(counts) < len(given),
                upheld=decided is not None and decided.harmful is True,
                same_laptop=any(opinion.laptop in own for opinion in counts),
            )
            looks.setdefault(about.entry, []).append(look)
    return {id_: without_barred(look) for id_, look in looks.items()}


@dataclass(frozen=True)
class Barred:
    """The wordings of one entry that stay out of the corpus, as they are compared (``comparison_form``)."""

    # By a second speaker who wrote no better one, or because people upheld that they are harmful
    refused: frozenset[str]
    objected: frozenset[str]  # Until people decide
    # Of the refused ones those of which people upheld that they are harmful
    harmful: frozenset[str]


def barred(looks: Sequence[EntryLook]) -> Barred:
    """Return the wordings that second speakers refuse or object to; what they take back bars nothing."""
    asked = {comparison_form(look.asked) for look in looks}
    verdicts = {form: _verdict(_about(looks, form)) for form in asked}
    refused, objected = (
        frozenset(form for form in asked if verdicts[form] == verdict) for verdict in ("refused", "objected")
    )
    harmful = frozenset(comparison_form(look.asked) for look in looks if look.upheld)
    return Barred(refused, objected, harmful)


def without_barred(looks: Sequence[EntryLook]) -> list[EntryLook]:
    """Return the looks at one entry without better wordings that second speakers bar: what one of them writes, another may object to.

    A wording for which nothing better is left is barred then, too.
    """
    while True:
        bar = barred(looks)
        forms = bar.refused | bar.objected
        kept = [
            replace(
                look, said=tuple(replace(o, better="") if comparison_form(o.better) in forms else o for o in look.said)
            )
            for look in looks
        ]
        if kept == list(looks):
            return kept
        looks = kept


def _about(looks: Sequence[EntryLook], form: str) -> list[EntryLook]:
    return [look for look in looks if comparison_form(look.asked) == form]


def _verdict(looks: Sequence[EntryLook]) -> Literal["refused", "objected", "rated", "unanswered"]:
    """Return what was said, in all, of one wording."""
    opinions = [opinion for look in looks for opinion in look.said]
    if any(look.upheld for look in looks):
        return "refused"
    if any(opinion.objects for opinion in opinions):
        return "objected"
    if not any(look.rated for look in looks):
        return "unanswered"
    return "refused" if _outcome(looks[0].asked, opinions)[0] is None else "rated"


def judge_entries(project: Project, looks: Looks, found: Gathered) -> Iterator[ProjectEntry]:
    """Yield the entries of which second speakers said something, as they want them.

    Each is judged by all that was said until now of the wording that is there, in every review, so that it is the same whether answers
    came together or one by one.
    """
    for entry in project.state.entries:
        if entry.has_reference and entry.id in looks:
            judged = _with_looks(project, entry, looks[entry.id], found)
            yield judged
            own = any(look.own for look in looks[entry.id])
            if own and judged.usable and not judged.agreed:
                note(entry, found.own)


def _with_looks(project: Project, entry: ProjectEntry, looks: Sequence[EntryLook], found: Gathered) -> ProjectEntry:
    """Return an entry as second speakers want it; what was said of another wording than the one that is there does not count."""
    # The wording that second speakers were shown: its translators', where one of theirs took its place
    asked, agreed = project.texts(entry).reference, entry.agreed
    if agreed is not None and agreed.outcome == "corrected":
        asked = next((look.asked for look in looks if look.review == agreed.review), "")
    if not (about := _about(looks, comparison_form(asked))):
        if any(look.rated and look.review not in entry.refused for look in looks):
            note(entry, found.other_wording)
        return entry
    verdict = _verdict(about)
    if verdict == "objected":
        note(entry, found.objected)
        return _objected(project, _not_agreed(project, entry, asked), objected=True)
    entry = _objected(project, entry, objected=False)
    if verdict == "unanswered":
        # Return an entry about which no answer is there, or is there any more.
        if any(look.said for look in about):
            note(entry, found.unjudged)
        elif entry.agreed is None:
            note(entry, found.waiting)
        if entry.agreed is not None:
            note(entry, found.taken_back)
        return _not_agreed(project, entry, asked)
    return _judged(project, entry, asked, about, found)


def _objected(project: Project, entry: ProjectEntry, *, objected: bool) -> ProjectEntry:
    """Return an entry to whose wording somebody objects, which seals it, or nobody does."""
    project_entry = entry.model_copy(update={"objected": objected})
    if project_entry.kept_sealed is (entry.texts is None):
        return project_entry
    return project.with_texts(project_entry, project.texts(entry))


def _judged(
    project: Project, entry: ProjectEntry, asked: str, looks: Sequence[EntryLook], found: Gathered
) -> ProjectEntry:
    """Return an entry to whose wording ``asked`` people answered: as it is, with their wording, or without a translation."""
    opinions = [opinion for look in looks for opinion in look.said]
    outcome, reference, beside = _outcome(asked, opinions)
    if _took_back(project, entry, [opinion.better for opinion in opinions]):
        note(entry, found.taken_back)
    upheld = any(look.upheld for look in looks)
    if outcome is None or upheld:
        note(entry, found.refused)
        # The wordings that came with the source; what is harmful is not kept
        old, harmful = project.texts(entry), comparison_form(asked) if upheld else ""
        came = (asked, *old.variants) if entry.translated is None else old.came
        return emptied(project, entry, tuple(w for w in came if comparison_form(w) != harmful))
    spoken, *also = (
        Spoken(
            review=look.review,
            people=tuple(opinion.person for opinion in look.rated),
            outcome=outcome,
            on=today(),
            same_laptop=look.same_laptop,
        )
        for look in looks
        if look.rated
    )
    project_entry = entry.model_copy(update={"agreed": spoken, "agreed_also": tuple(also)})
    before, texts = entry.agreed, project.texts(entry)
    # Wordings of second speakers that are as right as the reference, without those that are there already
    known = {comparison_form(wording) for wording in (reference, *texts.variants)}
    offered = tuple(wording for wording in beside if comparison_form(wording) not in known)
    wanted = replace(texts, reference=reference, offered=offered)
    if before is not None and before.outcome == outcome and wanted == texts:
        return entry if _voices(entry) == _voices(project_entry) else project_entry
    found.corrected += outcome == "corrected" and reference != texts.reference
    found.agreed += outcome == "agreed" and (before is None or before.outcome != outcome)
    return with_words(project, project_entry, wanted)


def _took_back(project: Project, entry: ProjectEntry, said: Iterable[str]) -> bool:
    """Return whether an entry has a wording of second speakers that none of them says, or lets be used, any more."""
    if entry.agreed is None:
        return False
    texts = project.texts(entry)
    theirs = {*texts.offered, *([texts.reference] if entry.agreed.outcome == "corrected" else [])}
    return bool(theirs - set(said))


def _voices(entry: ProjectEntry) -> list[tuple[str, tuple[str, ...], bool]]:
    """Return who agreed, whatever the day on which it was noted."""
    return [(s.review, s.people, s.same_laptop) for s in entry.second_speakers]


def _outcome(asked: str, said: Sequence[_Opinion]) -> tuple[Literal["agreed", "corrected"] | None, str, list[str]]:
    """Return what becomes of a wording, None where it is refused; the reference; and the other wordings of second speakers.

    A wording beside a rating of excellent is as right as the one that was shown, and takes its place only where somebody else refuses that one.
    """
    rated = [opinion for opinion in said if opinion.rating is not None]
    better = [opinion for opinion in rated if opinion.rating is not Rating.EXCELLENT]
    others, instead = _wordings(asked, said), _wordings(asked, better)
    good = all(opinion.rating in GOOD for opinion in rated)
    if not good and not (instead := instead or _wordings(asked, rated)):
        return None, "", []
    return ("corrected", instead[0], others) if instead else ("agreed", asked, others)


def _wordings(asked: str, said: Iterable[_Opinion]) -> list[str]:
    """Return the other wordings than the one that was shown, each once, those of most people first."""
    given: dict[str, list[str]] = {}
    for opinion in said:
        if comparison_form(opinion.better) not in {"", comparison_form(asked)}:
            given.setdefault(comparison_form(opinion.better), []).append(opinion.better)
    return [alike[0] for alike in sorted(given.values(), key=len, reverse=True)]


def _not_agreed(project: Project, entry: ProjectEntry, asked: str) -> ProjectEntry:
    """Return an entry with its translators' words and no agreement."""
    if entry.agreed is None:
        return entry
    # Texts of an entry as second speakers were shown them, without wordings of theirs.
    texts = replace(project.texts(entry), reference=asked, offered=())
    return with_words(project, entry.model_copy(update={"agreed": None, "agreed_also": ()}), texts)


def _opinions(heard: Heard) -> dict[str, list[_Opinion]]:
    """Return what people said, by item."""
    review, state = heard.review, heard.state
    letters, cleared = people(review.key), cleared_items(state)
    opinions: dict[str, list[_Opinion]] = {}
    for reviewer, _, part in counted(state, review.key):
        answered = part.judgements.keys() | part.harmful - cleared
        for item in answered & review.key.items.keys():
            judged = part.judgements.get(item)
            laptop = heard.laptops.get(judged.event, "") if judged else ""
            rating, why_not = (judged.rating, judged.why_not) if judged else (None, None)
            better = part.suggestions.get(item, "").strip() if part.share_corrections else ""
            objects = item in part.harmful or why_not is CannotJudge.NOT_TO_SHARE
            objects = objects and item not in cleared
            opinion = _Opinion(letters[reviewer], rating, better, objects, laptop)
            opinions.setdefault(item, []).append(opinion)
    return opinions
