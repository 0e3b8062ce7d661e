"""What speakers say of a corpus in the making, who counts as a second one, and what becomes of it there."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.project.authoring import lacking, progress_of, whole_corpus, write_open_part
from harness.project.candidates import CandidateDefaults, take_candidates
from harness.project.state import write_state
from harness.store.sqlite.database import open_store
from review.community.contents import files_of_review
from review.log.payloads import Consent, Scope
from review.office.making.batches import NO_POLICY, make
from review.office.making.creating import (
    Share,
    draft_agreement,
    draft_sources,
    note_handed_out,
    note_shared_laptop,
    to_agree,
    to_translate,
    written_elsewhere,
)
from review.office.results.progress import known_reviews, laptops_that_wrote, own_key
from review.office.results.results import require_runs
from review.office.store.store import Office, Review
from review.rating import CannotJudge, Rating
from review.verdict.gate.adjudication import queue
from rosetta_tui.report.project import next_step
from tests.harness.project.making import candidate
from tests.harness.sealed.refusals import refuses
from tests.review.office import made
from tests.review.office.school import Judge, School, Translator, Written, cheap, days, school

__all__ = ["cheap", "days", "school"]

R = Rating

ROWS: tuple[tuple[Rating, str, str | None, str, tuple[str, ...]], ...] = (
    (R.EXCELLENT, "", "agreed", "Bonan tagon", ()),
    (R.EXCELLENT, "Saluton", "agreed", "Bonan tagon", ("Saluton",)),
    (R.EXCELLENT, " Bonan  tagon", "agreed", "Bonan tagon", ()),
    (R.ACCEPTABLE, "", "agreed", "Bonan tagon", ()),
    (R.ACCEPTABLE, "Bonan tagon!", "corrected", "Bonan tagon!", ()),
    (R.GIST, "Bonan tagon!", "corrected", "Bonan tagon!", ()),
    (R.REJECT, "Bonan tagon!", "corrected", "Bonan tagon!", ()), (R.GIST, "", None, "", ()),
    (R.REJECT, "", None, "", ()), (R.REJECT, "Bonan tagon", None, "", ()),
)  # fmt: skip
"""Rating, better wording → outcome, reference, variants."""


def test_what_a_second_speaker_says_is_what_becomes_of_it(days: School) -> None:
    desk, judge = days.look()
    for number, (rating, better, *_) in enumerate(ROWS, 1):
        judge.says(desk.item(number), rating, better)
    found = days.take(desk, judge)
    for number, (*_, outcome, reference, variants) in enumerate(ROWS, 1):
        assert days.outcome(number) == outcome, number
        assert days.texts(number) == (reference, variants)
        assert (number in found.refused) is (outcome is None)
    again = days.gather_again()
    assert (again.translated, again.agreed, again.corrected, again.refused) == (0, 0, 0, [])


Looks = Callable[[Judge, str], None]


def rates(rating: Rating, better: str = "") -> Looks:
    return lambda judge, item: judge.says(item, rating, better)


def harms(judge: Judge, item: str) -> None:
    judge.says(item, Rating.EXCELLENT)
    judge.flags(item)


PAIRS: tuple[tuple[tuple[Looks, Looks], str | None, str, tuple[str, ...]], ...] = (
    ((rates(R.EXCELLENT), rates(R.EXCELLENT)), "agreed", "Bonan tagon", ()),
    ((rates(R.EXCELLENT), rates(R.REJECT)), None, "", ()),
    ((rates(R.EXCELLENT), rates(R.GIST)), None, "", ()),
    ((rates(R.EXCELLENT), harms), None, "Bonan tagon", ()),
    ((rates(R.EXCELLENT), rates(R.GIST, "Hej")), "corrected", "Hej", ()),
    ((rates(R.GIST, "Hej"), harms), None, "Bonan tagon", ()),
    ((rates(R.EXCELLENT, "Ho"), rates(R.ACCEPTABLE)), "agreed", "Bonan tagon", ("Ho",)),
    ((rates(R.EXCELLENT, "Ho"), rates(R.EXCELLENT, "Hej")), "agreed", "Bonan tagon", ("Hej", "Ho")),
    ((rates(R.EXCELLENT, "Ho"), rates(R.EXCELLENT, "Ho ")), "agreed", "Bonan tagon", ("Ho",)),
    ((rates(R.EXCELLENT, "Ho"), rates(R.GIST, "Hej")), "corrected", "Hej", ("Ho",)),
    ((rates(R.EXCELLENT, "Ho"), rates(R.GIST)), "corrected", "Ho", ()),
)
"""What the first and the second of two say → outcome, reference, the wordings beside it."""


@pytest.mark.parametrize(("apart", "turned"), [(True, False), (False, True)])
def test_answers_of_two_count_together_and_apart(days: School, apart: bool, turned: bool) -> None:
    desk, *judges = days.looks(2)
    if turned:
        judges.reverse()
    for place, judge in enumerate(judges):
        for number, pair in enumerate(PAIRS, 1):
            pair[0][place](judge, desk.item(number))
        desk.take(judge)
        if apart or place:
            found = days.gather()
    for number, (_, outcome, reference, beside) in enumerate(PAIRS, 1):
        text, variants = days.texts(number)
        told = (days.outcome(number), text, tuple(sorted(variants)))
        assert told == (outcome, reference, beside), number
        agreed = days.entry(number).agreed
        assert agreed is None or len(agreed.people) == 2
    assert found.objected == [n for n, pair in enumerate(PAIRS, 1) if harms in pair[0]]
    assert found.refused == [n for n, pair in enumerate(PAIRS, 1) if pair[2] == ""]
    days.gather_again()


def test_of_two_better_wordings_one_is_the_reference_the_other_a_variant(school: School) -> None:
    school.translated()
    desk, *judges = school.looks(2)
    for judge, better in zip(judges, ("Saluton", "Hej"), strict=True):
        judge.says(desk.item(1), Rating.GIST, better)
    school.take(desk, *judges)
    reference, variants = school.texts()
    assert {reference, *variants} == {"Saluton", "Hej"}


@pytest.mark.parametrize("better", ["Saluton", "Hej"])
def test_correction_keeps_the_translators_variants(school: School, better: str) -> None:
    desk = school.asks("translate", "words", people=3)
    people = [Translator(school.folder, desk, place) for place in range(3)]
    for person, text in zip(people, ("Bonan tagon", "Bonan tagon", "Saluton"), strict=True):
        person.write(desk.item(1), text)
    school.take(desk, *people)
    look, judge = school.look()
    judge.says(look.item(1), Rating.ACCEPTABLE, better)
    school.take(look, judge)
    assert school.texts() == (better, ("Saluton",) if better == "Hej" else ())
    judge.withdraw(Scope.COMMENTS)
    school.take(look, judge)
    assert school.texts() == ("Bonan tagon", ("Saluton",))


def test_translation_of_another_review_waits_until_the_first_is_gone(school: School) -> None:
    desks = [school.asks("translate", "words")]
    waiting = to_translate(school.project, again=True)
    said = made.said(school.identity, "words-2", secret=True)
    ready = make(draft_sources(school.project, waiting, Share(1), 1), said, school.identity)
    review = school.office.create_review(ready.key, NO_POLICY, ready.manifests, ready.texts)
    note_handed_out(school.project, "words-2", "translate", waiting)
    desks.append(Written(school.office, school.identity, review, ready.batches[0]))
    people = [Translator(school.folder / desk.review.name, desk, 0) for desk in desks]
    for number, text in ((1, "Bonan tagon"), (0, "Saluton")):
        people[number].write(desks[number].item(1), text)
        school.take(desks[number], people[number])
    found = school.gather_again()
    assert (school.reference(), found.translated, found.beside) == ("Bonan tagon", 0, 1)
    people[1].withdraw()
    found = school.take(desks[1], people[1])
    assert (school.reference(), found.taken_back, found.translated) == ("Saluton", [1], 1)


def test_refused_translation_is_written_and_looked_at_again(school: School) -> None:
    school.translated()
    desk, judge = school.look()
    judge.says(desk.item(1), Rating.REJECT)
    school.take(desk, judge)
    assert school.untranslated() == [1]
    school.translate_again("Saluton")
    assert school.reference() == "Saluton", "the refused one does not come back"
    assert school.outcome() is None, "nobody examined this one yet"
    assert school.waiting() == [1]


OBJECTIONS: tuple[Looks, ...] = (
    harms,
    lambda judge, item: judge.flags(item),
    lambda judge, item: judge.cannot(item, CannotJudge.NOT_TO_SHARE),
)


def test_what_is_harmful_or_not_to_be_shown_waits_for_people(days: School) -> None:
    desk, judge = days.look()
    for number, objects in enumerate(OBJECTIONS, 1):
        objects(judge, desk.item(number))
    assert days.take(desk, judge).objected == [1, 2, 3]
    assert [days.outcome(number) for number in (1, 2, 3)] == [None] * 3
    days.decide(desk, harmful=False)
    found = days.gather()
    assert (found.objected, found.agreed, days.outcome()) == ([2, 3], 1, "agreed")


def test_who_cannot_judge_leaves_the_sentence_to_another_speaker(school: School) -> None:
    school.translated()
    desk, judge = school.look()
    judge.cannot(desk.item(1), CannotJudge.OTHER_DIALECT)
    found = school.take(desk, judge)
    assert (found.refused, found.unjudged, school.outcome()) == ([], [1], None)
    assert school.reference() == "Bonan tagon"
    desk, judge = school.look("look-2", again=True)
    judge.says(desk.item(1), Rating.ACCEPTABLE)
    assert school.take(desk, judge).agreed == 1
    assert [each.review for each in school.entry().second_speakers] == ["look-2"]


def test_wording_that_may_not_be_used_is_not(school: School) -> None:
    school.translated()
    desk, judge = school.look()
    agreed = {"consent_sha256": "0" * 64, "language": "en", "share_corrections": False}
    judge.laptop.append(Consent(**judge.place, **agreed))
    judge.says(desk.item(1), Rating.GIST, "Bonan tagon!")
    assert school.take(desk, judge).refused == [1]


def test_what_a_translator_takes_back_goes_out_of_the_corpus(school: School) -> None:
    desk, person = school.translated()
    look, judge = school.look()
    judge.says(look.item(1), Rating.EXCELLENT)
    look.take(judge)
    person.withdraw()
    assert sorted(school.take(desk, person).taken_back) == [1, 2]
    assert [school.reference(number) for number in (1, 2)] == ["", ""]
    assert school.outcome() is None
    assert school.untranslated() == [1, 2]


def test_correction_outlives_the_translator_and_not_its_own_writer(school: School) -> None:
    desk, person = school.translated()
    look, judge = school.look()
    judge.says(look.item(1), Rating.GIST, "Saluton al vi")
    school.take(look, judge)
    person.withdraw()
    school.take(desk, person)
    assert (school.reference(1), school.reference(2)) == ("Saluton al vi", "")
    judge.withdraw(Scope.COMMENTS)
    assert (school.take(look, judge).taken_back, school.reference()) == ([1], "")


def test_agreement_that_is_taken_back_is_none(school: School) -> None:
    school.translated()
    desk, judge = school.look()
    judge.says(desk.item(1), Rating.EXCELLENT)
    school.take(desk, judge)
    judge.withdraw()
    assert school.take(desk, judge).taken_back == [1]
    assert (school.outcome(), school.reference()) == (None, "Bonan tagon")
    assert (school.waiting(), school.waiting(again=True)) == ([], [1, 2])


def test_only_what_waits_is_handed_out(school: School) -> None:
    assert [each.id for each in to_translate(school.project, [Segment.DEVELOPMENT])] == [1]
    school.translated()
    assert to_translate(school.project) == to_translate(school.project, again=True) == []
    refuses(UsageError, "No source waits", draft_sources, school.project, [], Share(1), 1)
    refuses(UsageError, "No translation waits", draft_agreement, school.project, [], Share(1), 1)


def test_secret_sentences_seal_the_whole_review(school: School) -> None:
    desk, _ = school.translated()
    review: Review = school.asks("agree", "look").review
    assert (desk.review.secret, review.secret, review.is_agreement) == (True, True, True)
    assert not review.manifest.has_verdict
    refuses(UsageError, "second speakers", require_runs, review)
    out: dict[bool, dict[str, bytes]] = {}
    with closing(open_store(school.folder / "rosetta.sqlite")) as store:
        for secrets in (False, True):
            files = files_of_review(
                school.office, desk.review, store, school.identity, open_secrets=secrets, left_out=[]
            )  # fmt: skip
            out[secrets] = {each.path.rpartition("/")[2]: each.data for each in files}
    assert out[False]["translations.jsonl.age"].startswith(b"age-encryption.org")
    assert b"Sekreta frazo" in out[True]["translations.jsonl"]
    assert "translations.jsonl" not in out[False]
    written = [path for path in (school.folder / "home").rglob("*") if path.is_file()]
    for text in (b"A secret sentence", b"Sekreta frazo"):
        assert not [path for path in written if text in path.read_bytes()]


# A translation that came with its sentence


def with_translation(school: School) -> tuple[Written, Judge]:
    taken = candidate("How are you", reference="Kiel vi fartas", segment=Segment.DEVELOPMENT)
    take_candidates(school.project, [taken], CandidateDefaults())
    desk, judge = school.look()
    judge.says(desk.item(3), Rating.REJECT)
    assert (school.take(desk, judge).refused, school.reference(3)) == ([3], "")
    assert 3 in school.untranslated()
    return desk, judge


def test_translation_of_the_file_is_back_when_nobody_refuses_it(school: School) -> None:
    desk, judge = with_translation(school)
    assert school.gather().translated == 0, "it stays out"
    judge.says(desk.item(3), Rating.EXCELLENT)
    found = school.take(desk, judge)
    assert (found.translated, found.agreed, school.reference(3)) == (1, 1, "Kiel vi fartas")
    assert school.gather().translated == 0


@pytest.mark.parametrize("between", [False, True])
def test_wording_of_the_file_that_is_harmful_is_kept_nowhere(school: School, between: bool) -> None:
    """Whether they are asked for what they say before it is decided, or after."""
    desk, judge = with_translation(school)
    assert school.project.texts(school.entry(3)).came == ("Kiel vi fartas",)
    judge.flags(desk.item(3))
    desk.take(judge)
    if between:
        assert school.gather().objected == [3]
        assert school.entry(3).texts is None, "it is sealed until people decide"
    school.decide(desk, harmful=True, number=3)
    school.gather()
    assert school.reference(3) == ""
    assert school.project.texts(school.entry(3)).came == ()


def test_who_translated_does_not_agree_with_themselves(school: School) -> None:
    _, person = school.translated()
    desk, judge = school.look(of=person)
    judge.says(desk.item(1), Rating.EXCELLENT)
    judge.says(desk.item(2), Rating.GIST, "Alia frazo")
    found = school.take(desk, judge)
    assert (found.agreed, found.corrected, sorted(found.own)) == (0, 0, [1, 2])
    assert [school.outcome(number) for number in (1, 2)] == [None, None]
    assert school.reference(2) == "Sekreta frazo"
    again, other = school.look("look-2", again=True)
    other.says(again.item(1), Rating.EXCELLENT)
    assert school.take(again, other).agreed == 1
    agreed = school.entry().agreed
    assert agreed is not None
    assert (agreed.review, agreed.same_laptop) == ("look-2", False)


def test_shared_laptop_counts_where_the_office_says_so(school: School) -> None:
    _, person = school.translated()
    desk, judge = school.look(of=person)
    judge.says(desk.item(1), Rating.EXCELLENT)
    assert school.take(desk, judge).own == [1]
    refuses(UsageError, "no review of this corpus", note_shared_laptop, school.project, "words")
    note_shared_laptop(school.project, "look")
    found, agreed = school.gather(), school.entry().agreed
    assert (found.agreed, found.own) == (1, [])
    assert agreed is not None
    assert agreed.same_laptop, "the corpus tells it"
    judge.flags(desk.item(1))
    assert school.take(desk, judge).objected == [1], "an objection counts in any case"


def test_laptop_is_given_what_was_not_written_on_it(school: School) -> None:
    _, person = school.translated()
    waiting = to_agree(school.project)
    wrote = laptops_that_wrote(school.project, school.office)
    own = person.identity.public.signing_key
    assert (wrote, written_elsewhere(waiting, wrote, {own})) == ({1: {own}, 2: {own}}, [])
    assert written_elsewhere(waiting, wrote, {"another"}) == waiting
    later = "f" * 64
    school.office.enrol(later, "the new one", instead_of=own)
    desk, judge = school.look()
    judge.says(desk.item(1), Rating.EXCELLENT)
    desk.take(judge)
    school.office.enrol(judge.identity.public.signing_key, "x", instead_of=later)
    assert school.gather().own == [1], "its log continues with the translator's"


@pytest.mark.parametrize("objecting", [0, 1])
def test_objection_in_either_review_takes_the_agreement(school: School, objecting: int) -> None:
    school.translated()
    looks = [school.look(), school.look("look-2", again=True)]
    for desk, judge in looks:
        judge.says(desk.item(1), Rating.EXCELLENT)
        desk.take(judge)
    assert school.gather().agreed == 1
    assert [each.review for each in school.entry().second_speakers] == ["look", "look-2"]
    desk, judge = looks[objecting]
    judge.flags(desk.item(1))
    desk.take(judge)
    for _ in range(2):
        assert school.gather().objected == [1]
        assert school.entry().second_speakers == ()


@pytest.mark.parametrize(("rating", "scope", "outcome", "between"), [
    (Rating.EXCELLENT, Scope.COMMENTS, "agreed", ("Bonan tagon", ("Saluton",))),
    (Rating.ACCEPTABLE, Scope.COMMENTS, "agreed", ("Saluton", ())),
    (Rating.REJECT, Scope.BATCH, None, ("Saluton", ())),
])  # fmt: skip
def test_wording_that_is_taken_back_leaves_the_translators(
    school: School, rating: Rating, scope: Scope, outcome: str | None, between: tuple[str, tuple[str, ...]]
) -> None:
    school.translated()
    desk, judge = school.look()
    judge.says(desk.item(1), rating, "Saluton")
    school.take(desk, judge)
    assert school.texts() == between
    judge.withdraw(scope)
    found = school.take(desk, judge)
    assert (found.taken_back, found.refused) == ([1], [])
    assert (school.outcome(), school.texts()) == (outcome, ("Bonan tagon", ()))
    assert not school.entry().has_variants
    assert school.gather_again().taken_back == []


def two_wordings(school: School) -> tuple[Written, dict[str, Translator], list[str]]:
    """Have two people translate the first sentence differently; gives the review, who wrote what, and what, the reference first."""
    desk = school.asks("translate", "words", people=2)
    people = {text: Translator(school.folder, desk, n) for n, text in enumerate(("Bonan tagon", "Hej"))}
    for text, person in people.items():
        person.write(desk.item(1), text)
    school.take(desk, *people.values())
    reference, variants = school.texts()
    assert {reference, *variants} == people.keys()
    return desk, people, [reference, *variants]


@pytest.mark.parametrize("leaves", [0, 1])
def test_wordings_of_a_translator_who_leaves_go_though_agreed(school: School, leaves: int) -> None:
    desk, people, wordings = two_wordings(school)
    look, judge = school.look()
    judge.says(look.item(1), Rating.EXCELLENT)
    school.take(look, judge)
    gone = people[wordings[leaves]]
    gone.withdraw()
    assert school.take(desk, gone).taken_back == [1]
    assert school.texts() == (wordings[1 - leaves], ())
    entry = school.entry()
    assert (entry.agreed is None) == (leaves == 0), "nobody examined the other wording"
    assert entry.translated is not None
    assert len(entry.translated.people) == 1
    school.gather_again()


def test_of_two_wordings_only_the_refused_one_stays_out(school: School) -> None:
    _, _, (refused, other) = two_wordings(school)
    look, judge = school.look()
    judge.says(look.item(1), Rating.REJECT)
    assert school.take(look, judge).refused == [1]
    assert school.texts() == (other, ())
    assert school.waiting() == [1], "nobody examined this one yet"
    assert school.gather_again().beside == 0
    judge.withdraw()
    school.take(look, judge)
    reference, variants = school.texts()
    assert {reference, *variants} == {refused, other}


def test_writer_takes_back_what_others_wrote_only_as_refused(school: School) -> None:
    desk, people, (_, other) = two_wordings(school)
    look, judge = school.look()
    judge.says(look.item(1), Rating.REJECT)
    school.take(look, judge)
    assert school.reference() == other
    people[other].withdraw()
    assert school.take(desk, people[other]).taken_back == [1]
    assert other not in str(school.entry())
    assert school.untranslated() == [1]


def object_to(school: School) -> tuple[Written, Judge]:
    look, judge = school.look()
    judge.says(look.item(1), Rating.EXCELLENT)
    judge.flags(look.item(1))
    assert school.take(look, judge).objected == [1]
    return look, judge


@pytest.mark.parametrize("harmful", [False, True])
def test_what_is_objected_to_is_in_no_corpus_until_decided(school: School, harmful: bool) -> None:
    school.translated()
    write_open_part(school.project)
    corpus = school.project.folder / "corpus.json"
    assert "Bonan tagon" in corpus.read_text("utf-8")
    look, _ = object_to(school)
    write_open_part(school.project)
    assert not corpus.exists()
    write_state(school.project, overwrite=True)
    assert "Bonan tagon" not in (school.project.folder / "project.json").read_text("utf-8")
    assert school.reference() == "Bonan tagon", "people who decide can still be shown it"
    assert [each.id for each in whole_corpus(school.project).entries] == [2]
    assert school.waiting(again=True) == [2]
    assert "1 translation to which somebody objects (1 development)" in lacking(school.project)[1]
    school.decide(look, harmful=harmful)
    found = school.gather()
    assert found.objected == []
    if harmful:
        assert (found.refused, school.reference(), school.untranslated()) == ([1], "", [1])
    else:
        assert (found.agreed, school.reference()) == (1, "Bonan tagon")
        write_open_part(school.project)
        assert "Bonan tagon" in corpus.read_text("utf-8")
        assert school.entry().texts is not None, "it is open again"


def test_speakers_are_those_whose_words_are_there(school: School) -> None:
    desk = school.asks("translate", "words", people=3)
    people = [Translator(school.folder, desk, place) for place in range(2)]

    def translators() -> int:
        translated = school.entry().translated
        assert translated is not None
        return len(translated.people)

    for person in people:
        person.write(desk.item(1), "Bonan tagon")
        school.take(desk, person)
    assert translators() == 2, "the second one wrote it too"
    look, judge = school.look()
    judge.says(look.item(1), Rating.GIST, "Saluton")
    school.take(look, judge)
    for person, left in zip(people, (1, 0), strict=True):
        person.withdraw()
        school.take(desk, person)
        assert (translators(), school.reference()) == (left, "Saluton")
    [entry] = whole_corpus(school.project).reveal_here()
    [said] = (entry.model_extra or {})["speakers"]
    assert said["outcome"] == "corrected"


def test_what_should_not_be_shown_around_waits_for_a_decision(school: School) -> None:
    school.translated()
    look, judge = school.look()
    judge.cannot(look.item(1), CannotJudge.NOT_TO_SHARE)
    school.take(look, judge)
    [case] = queue(school.office.state_of_any(look.review), look.review.key)
    assert (case.item, case.is_open) == (look.item(1), True)
    step = next_step(progress_of(school.project), school.project.folder)
    assert "take in" in step.words, "the other sentence is still out"
    judge.says(look.item(2), Rating.EXCELLENT)
    school.take(look, judge)
    found = progress_of(school.project)
    found = replace(found, segments=tuple(replace(each, needed=0) for each in found.segments))
    assert found.objected == 1
    step = next_step(found, school.project.folder)
    assert step.words.startswith("decide on 1 translation")
    school.decide(look, harmful=False)
    assert school.gather().objected == []


def test_review_of_others_is_not_taken_for_one_never_made(school: School) -> None:
    school.translated()
    with Office.open(school.project.home) as office:
        assert office.is_taken("words")
    out = school.project.state.reviews[0]
    for entries, known in ((out.entries, 1), ((1,), 0)):
        school.project.change(
            reviews=(out.model_copy(update={"made": False, "entries": entries}),), office=own_key(school.project.home)
        )
        known_reviews(school.project)
        assert len(school.project.state.reviews) == known


def test_wording_that_somebody_objects_to_is_no_variant_or_correction(school: School) -> None:
    _, _, (harmful, other) = two_wordings(school)
    first, _ = object_to(school)
    for _ in range(2):
        assert school.gather().objected == [1]
        assert school.texts() == (other, ())
        assert harmful not in str(school.entry())
    again, judge = school.look("again", again=True)
    judge.says(again.item(1), Rating.ACCEPTABLE, harmful)
    school.take(again, judge)
    assert (school.texts(), school.outcome()) == ((other, ()), "agreed")
    school.decide(first, harmful=False)
    school.gather()
    assert school.reference() == harmful, "it is cleared, and better than the other"


def test_what_is_with_speakers_is_named_with_the_way_to_others(school: School) -> None:
    school.translated()
    school.asks("agree", "look")
    with pytest.raises(UsageError, match=r"2 sentences are with speakers.*--again"):
        draft_agreement(school.project, to_agree(school.project), Share(1), 1)
