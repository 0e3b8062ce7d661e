"""Who counts as a second speaker of a corpus in the making, and what becomes of an agreement when somebody changes their mind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.failures import UsageError
from harness.project.lacking import lacking
from harness.project.making import progress_of, whole_corpus, write_open_part
from harness.project.state import write_state
from review.log.payloads import HarmFlag, NotJudged, Scope
from review.office.making.creating import Share
from review.office.making.of_project import (
    draft_agreement,
    note_shared_laptop,
    to_agree,
    to_translate,
    written_elsewhere,
)
from review.office.making.reviews_made import known_reviews, own_key
from review.office.results.into_project import gather
from review.office.results.laptops import laptops_that_wrote
from review.office.store.store import Office
from review.rating import CannotJudge, Rating
from review.verdict.gate.adjudication import queue
from rosetta_tui.report.project import next_step
from tests.review.office.school import Judge, School, decide, judge_of, school
from tests.review.office.translator import Desk, Translator

__all__ = ["school"]


def test_who_translated_does_not_agree_with_themselves(school: School) -> None:
    _, person = school.translated()
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk, of=person)
    judge.says(desk.item(1), Rating.EXCELLENT)
    judge.says(desk.item(2), Rating.GIST, "Alia frazo")
    desk.take(judge)
    found = gather(school.project, school.office)
    assert (found.agreed, found.corrected, sorted(found.own)) == (0, 0, [1, 2])
    assert [school.entry(number).agreed for number in (1, 2)] == [None, None]
    assert school.reference(2) == "Sekreta frazo"
    again = school.asks("agree", "look-2", again=True)
    other = judge_of(school, again)
    other.says(again.item(1), Rating.EXCELLENT)
    again.take(other)
    assert gather(school.project, school.office).agreed == 1
    agreed = school.entry(1).agreed
    assert agreed is not None
    assert (agreed.review, agreed.same_laptop) == ("look-2", False)


def test_a_shared_laptop_counts_where_the_office_says_so_and_the_corpus_tells_it(
    school: School,
) -> None:
    _, person = school.translated()
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk, of=person)
    judge.says(desk.item(1), Rating.EXCELLENT)
    desk.take(judge)
    assert gather(school.project, school.office).own == [1]
    with pytest.raises(UsageError, match="no review of this corpus"):
        note_shared_laptop(school.project, "words")
    note_shared_laptop(school.project, "look")
    found = gather(school.project, school.office)
    agreed = school.entry(1).agreed
    assert (found.agreed, found.own) == (1, [])
    assert agreed is not None
    assert agreed.same_laptop


def test_an_objection_counts_from_the_laptop_of_the_translation_too(school: School) -> None:
    _, person = school.translated()
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk, of=person)
    judge.says(desk.item(1), Rating.EXCELLENT)
    judge.laptop.append(HarmFlag(**judge.place, item=desk.item(1), harmful=True))
    desk.take(judge)
    assert gather(school.project, school.office).objected == [1]


def test_a_laptop_is_given_what_was_not_written_on_it(school: School) -> None:
    _, person = school.translated()
    waiting = to_agree(school.project)
    wrote = laptops_that_wrote(school.project, school.office)
    own = person.identity.public.signing_key
    assert wrote == {1: {own}, 2: {own}}
    assert written_elsewhere(waiting, wrote, {own}) == []
    assert written_elsewhere(waiting, wrote, {"another"}) == waiting
    later = "f" * 64
    school.office.enrol(later, "the new one", instead_of=own)
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk)
    judge.says(desk.item(1), Rating.EXCELLENT)
    desk.take(judge)
    school.office.enrol(judge.identity.public.signing_key, "x", instead_of=later)
    assert gather(school.project, school.office).own == [1], "its log goes on with the translator's"


@pytest.mark.parametrize("objecting", ["look", "look-2"])
def test_an_objection_in_either_of_two_reviews_takes_the_agreement_away(
    school: School, objecting: str
) -> None:
    school.translated()
    desks = [school.asks("agree", "look"), school.asks("agree", "look-2", again=True)]
    judges = [judge_of(school, desk) for desk in desks]
    for desk, judge in zip(desks, judges, strict=True):
        judge.says(desk.item(1), Rating.EXCELLENT)
        desk.take(judge)
    assert gather(school.project, school.office).agreed == 1
    assert [each.review for each in school.entry(1).second_speakers] == ["look", "look-2"]
    for desk, judge in zip(desks, judges, strict=True):
        if desk.review.name == objecting:
            judge.laptop.append(HarmFlag(**judge.place, item=desk.item(1), harmful=True))
            desk.take(judge)
    for _ in range(2):
        assert gather(school.project, school.office).objected == [1]
        assert school.entry(1).second_speakers == ()


def test_a_reject_in_a_second_review_counts_and_the_next_translation_is_looked_at_anew(
    school: School,
) -> None:
    school.translated()
    desks = [school.asks("agree", "look"), school.asks("agree", "look-2", again=True)]
    for desk, rating in zip(desks, (Rating.EXCELLENT, Rating.REJECT), strict=True):
        judge = judge_of(school, desk)
        judge.says(desk.item(1), rating)
        desk.take(judge)
    assert gather(school.project, school.office).refused == [1]
    desk = school.asks("translate", "words-2")
    person = Translator(school.folder / "second", desk, 0)
    person.write(desk.item(1), "Saluton")
    desk.take(person)
    gather(school.project, school.office)
    assert [each.id for each in to_agree(school.project)] == [1]


def test_a_variant_goes_when_its_writer_takes_the_wording_back(school: School) -> None:
    school.translated()
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk)
    judge.says(desk.item(1), Rating.EXCELLENT, "Saluton")
    desk.take(judge)
    gather(school.project, school.office)
    assert school.project.texts(school.entry(1)).all_variants == ("Saluton",)
    judge.withdraw(Scope.COMMENTS)
    desk.take(judge)
    assert gather(school.project, school.office).taken_back == [1]
    assert school.project.texts(school.entry(1)).all_variants == ()
    assert not school.entry(1).has_variants
    assert school.entry(1).agreed is not None, "the rating stands"


@pytest.mark.parametrize(
    ("rating", "scope", "agreed"),
    [(Rating.ACCEPTABLE, Scope.COMMENTS, "agreed"), (Rating.REJECT, Scope.BATCH, None)],
)
def test_the_translators_words_come_back_when_the_better_wording_is_taken_back(
    school: School, rating: Rating, scope: Scope, agreed: str | None
) -> None:
    school.translated()
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk)
    judge.says(desk.item(1), rating, "Saluton")
    desk.take(judge)
    assert gather(school.project, school.office).corrected == 1
    judge.withdraw(scope)
    desk.take(judge)
    found = gather(school.project, school.office)
    assert (found.taken_back, found.refused) == ([1], [])
    entry = school.entry(1)
    assert (entry.agreed and entry.agreed.outcome, school.reference(1)) == (agreed, "Bonan tagon")
    before = school.project.state
    assert gather(school.project, school.office).taken_back == []
    assert school.project.state == before


@pytest.mark.parametrize("leaves", [0, 1])
def test_wordings_of_a_translator_who_leaves_go_though_a_second_speaker_agreed(
    school: School, leaves: int
) -> None:
    desk = school.asks("translate", "words", people=2)
    people = [Translator(school.folder, desk, place) for place in range(2)]
    for person, text in zip(people, ("Bonan tagon", "Saluton"), strict=True):
        person.write(desk.item(1), text)
        desk.take(person)
    gather(school.project, school.office)
    texts = [school.reference(1), *school.project.texts(school.entry(1)).variants]
    assert sorted(texts) == ["Bonan tagon", "Saluton"]
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.EXCELLENT)
    look.take(judge)
    gather(school.project, school.office)
    gone = people[["Bonan tagon", "Saluton"].index(texts[leaves])]
    gone.withdraw()
    desk.take(gone)
    assert gather(school.project, school.office).taken_back == [1]
    entry = school.entry(1)
    left = school.project.texts(entry)
    assert (left.reference, left.variants) == (texts[1 - leaves], ())
    assert (entry.agreed is None) == (leaves == 0), "nobody looked at the other wording"
    assert entry.translated is not None
    assert len(entry.translated.people) == 1
    before = school.project.state
    gather(school.project, school.office)
    assert school.project.state == before


def two_wordings(school: School) -> tuple[Desk, list[Translator], list[str]]:
    """Have two people translate the first sentence differently; gives the review, both, and what they wrote, the reference first."""
    desk = school.asks("translate", "words", people=2)
    people = [Translator(school.folder, desk, place) for place in range(2)]
    for person, text in zip(people, ("Bonan tagon", "Saluton"), strict=True):
        person.write(desk.item(1), text)
        desk.take(person)
    gather(school.project, school.office)
    texts = school.project.texts(school.entry(1))
    wordings = [texts.reference, *texts.variants]
    assert len(wordings) == 2
    return desk, people, wordings


def test_of_two_translators_only_the_wording_that_was_refused_stays_out(school: School) -> None:
    _, _, (refused, other) = two_wordings(school)
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.REJECT)
    look.take(judge)
    assert gather(school.project, school.office).refused == [1]
    texts = school.project.texts(school.entry(1))
    assert (texts.reference, texts.all_variants) == (other, ())
    assert [each.id for each in to_agree(school.project)] == [1], "nobody looked at this one yet"
    before = school.project.state
    assert gather(school.project, school.office).beside == 0
    assert school.project.state == before
    judge.withdraw()
    look.take(judge)
    gather(school.project, school.office)
    texts = school.project.texts(school.entry(1))
    assert {texts.reference, *texts.all_variants} == {refused, other}


def object_to(school: School) -> tuple[Desk, Judge]:
    """Have a second speaker say that the first translation is harmful."""
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.EXCELLENT)
    judge.laptop.append(HarmFlag(**judge.place, item=look.item(1), harmful=True))
    look.take(judge)
    return look, judge


@pytest.mark.parametrize("harmful", [False, True])
def test_what_somebody_objects_to_is_in_no_corpus_until_people_decide(
    school: School, harmful: bool
) -> None:
    school.translated()
    write_open_part(school.project)
    corpus = school.project.folder / "corpus.json"
    assert "Bonan tagon" in corpus.read_text("utf-8")
    look, _ = object_to(school)
    assert gather(school.project, school.office).objected == [1]
    write_open_part(school.project)
    assert not corpus.exists()
    write_state(school.project, overwrite=True)
    assert "Bonan tagon" not in (school.project.folder / "project.json").read_text("utf-8")
    assert school.reference(1) == "Bonan tagon", "people who decide can still be shown it"
    assert [each.id for each in whole_corpus(school.project).entries] == [2]
    assert to_agree(school.project, again=True) == [school.entry(2)]
    assert "1 translation to which somebody objects (1 development)" in lacking(school.project)[1]
    decide(school, look, harmful=harmful)
    found = gather(school.project, school.office)
    assert found.objected == []
    if harmful:
        assert (found.refused, school.reference(1)) == ([1], "")
        assert [each.id for each in to_translate(school.project)] == [1]
    else:
        assert (found.agreed, school.reference(1)) == (1, "Bonan tagon")
        write_open_part(school.project)
        assert "Bonan tagon" in corpus.read_text("utf-8")
        assert school.entry(1).texts is not None, "it lies open again"


def test_speakers_are_those_whose_words_are_there(school: School) -> None:
    desk = school.asks("translate", "words", people=3)
    people = [Translator(school.folder, desk, place) for place in range(3)]
    for person in people[:2]:
        person.write(desk.item(1), "Bonan tagon")
        desk.take(person)
        gather(school.project, school.office)
    translated = school.entry(1).translated
    assert translated is not None
    assert len(translated.people) == 2, "the second one wrote it too"
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.GIST, "Saluton")
    look.take(judge)
    gather(school.project, school.office)
    for person, left in zip(people[:2], (1, 0), strict=True):
        person.withdraw()
        desk.take(person)
        gather(school.project, school.office)
        translated = school.entry(1).translated
        assert translated is not None
        assert (len(translated.people), school.reference(1)) == (left, "Saluton")
    [entry] = whole_corpus(school.project).entries
    [said] = (entry.model_extra or {})["speakers"]
    assert said["outcome"] == "corrected"


def test_what_should_not_be_shown_around_waits_for_a_decision(school: School) -> None:
    school.translated()
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    about = {"item": look.item(1), "position": 0, "active_ms": 1, "face": "lines", "version": "0"}
    judge.laptop.append(NotJudged(**judge.place, **about, why=CannotJudge.NOT_TO_SHARE))
    look.take(judge)
    gather(school.project, school.office)
    [case] = queue(school.office.state_of_any(look.review), look.review.key)
    assert (case.item, case.is_open) == (look.item(1), True)
    step = next_step(progress_of(school.project), school.project.folder)
    assert "take in" in step.words, "the other sentence is still out"
    judge.says(look.item(2), Rating.EXCELLENT)
    look.take(judge)
    gather(school.project, school.office)
    found = progress_of(school.project)
    found = replace(found, segments=tuple(replace(each, needed=0) for each in found.segments))
    assert found.objected == 1
    step = next_step(found, school.project.folder)
    assert step.words.startswith("decide on 1 translation")
    decide(school, look, harmful=False)
    assert gather(school.project, school.office).objected == []


def test_a_review_of_others_with_the_name_of_one_that_was_never_made_is_not_taken_for_it(
    school: School,
) -> None:
    school.translated()
    with Office.open(school.project.home) as office:
        assert office.is_taken("words")
    out = school.project.state.reviews[0]
    for entries, known in ((out.entries, 1), ((1,), 0)):
        school.project.change(
            reviews=(out.model_copy(update={"made": False, "entries": entries}),),
            office=own_key(school.project.home),
        )
        known_reviews(school.project)
        assert len(school.project.state.reviews) == known


def test_a_wording_that_somebody_objects_to_is_no_variant_of_the_next_one(school: School) -> None:
    _, _, (harmful, other) = two_wordings(school)
    object_to(school)
    for _ in range(2):
        assert gather(school.project, school.office).objected == [1]
        texts = school.project.texts(school.entry(1))
        assert (texts.reference, texts.all_variants) == (other, ())
        assert harmful not in str(school.entry(1))


def test_a_wording_that_somebody_objects_to_is_no_better_wording_of_another_speaker(
    school: School,
) -> None:
    _, _, (harmful, other) = two_wordings(school)
    first, _ = object_to(school)
    gather(school.project, school.office)
    assert school.reference(1) == other
    again = school.asks("agree", "again", again=True)
    judge = judge_of(school, again)
    judge.says(again.item(1), Rating.ACCEPTABLE, harmful)
    again.take(judge)
    gather(school.project, school.office)
    texts = school.project.texts(school.entry(1))
    assert (texts.reference, texts.all_variants) == (other, ())
    agreed = school.entry(1).agreed
    assert agreed is not None
    assert agreed.outcome == "agreed"
    decide(school, first, harmful=False)
    gather(school.project, school.office)
    assert school.reference(1) == harmful, "it is cleared, and better than the other"


def test_what_its_writer_takes_back_goes_where_others_wrote_only_what_was_refused(
    school: School,
) -> None:
    desk, people, (_, other) = two_wordings(school)
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.REJECT)
    look.take(judge)
    gather(school.project, school.office)
    assert school.reference(1) == other
    gone = people[["Bonan tagon", "Saluton"].index(other)]
    gone.withdraw()
    desk.take(gone)
    assert gather(school.project, school.office).taken_back == [1]
    assert other not in str(school.entry(1))
    assert [each.id for each in to_translate(school.project)] == [1]


def test_translators_who_leave_take_their_variants_of_a_corrected_sentence_along(
    school: School,
) -> None:
    desk, people, (_, other) = two_wordings(school)
    look = school.asks("agree", "look")
    judge = judge_of(school, look)
    judge.says(look.item(1), Rating.REJECT, "Bonvenon")
    look.take(judge)
    gather(school.project, school.office)
    texts = school.project.texts(school.entry(1))
    assert (texts.reference, texts.all_variants) == ("Bonvenon", (other,))
    for person in people:
        person.withdraw()
        desk.take(person)
    assert gather(school.project, school.office).taken_back == [1]
    texts = school.project.texts(school.entry(1))
    assert (texts.reference, texts.all_variants) == ("Bonvenon", ())


def test_what_is_with_speakers_is_named_with_the_way_to_give_it_to_others(school: School) -> None:
    school.translated()
    school.asks("agree", "look")
    with pytest.raises(UsageError, match=r"2 sentences are with speakers.*--again"):
        draft_agreement(school.project, to_agree(school.project), Share(1), 1)
