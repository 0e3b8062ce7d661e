"""Who counts as a second speaker of a corpus in the making, and what becomes of an agreement when somebody changes their mind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.failures import UsageError
from harness.project.lacking import lacking
from harness.project.making import progress_of, whole_corpus, write_open_part
from harness.project.state import write_state
from review.log.payloads import Scope
from review.office.making.creating import Share
from review.office.making.of_project import (
    draft_agreement,
    note_shared_laptop,
    to_agree,
    written_elsewhere,
)
from review.office.making.reviews_made import known_reviews, own_key
from review.office.results.laptops import laptops_that_wrote
from review.office.store.store import Office
from review.rating import CannotJudge, Rating
from review.verdict.gate.adjudication import queue
from rosetta_tui.report.project import next_step
from tests.review.office.school import Judge, School, school
from tests.review.office.translator import Desk, Translator

__all__ = ["school"]


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
    with pytest.raises(UsageError, match="no review of this corpus"):
        note_shared_laptop(school.project, "words")
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
    assert wrote == {1: {own}, 2: {own}}
    assert written_elsewhere(waiting, wrote, {own}) == []
    assert written_elsewhere(waiting, wrote, {"another"}) == waiting
    later = "f" * 64
    school.office.enrol(later, "the new one", instead_of=own)
    desk, judge = school.look()
    judge.says(desk.item(1), Rating.EXCELLENT)
    desk.take(judge)
    school.office.enrol(judge.identity.public.signing_key, "x", instead_of=later)
    assert school.gather().own == [1], "its log goes on with the translator's"


@pytest.mark.parametrize("objecting", [0, 1])
def test_objection_in_either_of_two_reviews_takes_the_agreement(
    school: School, objecting: int
) -> None:
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


def test_reject_in_a_second_review_counts(school: School) -> None:
    school.translated()
    looks = [school.look(), school.look("look-2", again=True)]
    for (desk, judge), rating in zip(looks, (Rating.EXCELLENT, Rating.REJECT), strict=True):
        judge.says(desk.item(1), rating)
        desk.take(judge)
    assert school.gather().refused == [1]
    school.translate_again("Saluton")
    assert school.waiting() == [1], "the next translation is looked at anew"


@pytest.mark.parametrize(
    ("rating", "scope", "outcome", "between"),
    [
        (Rating.EXCELLENT, Scope.COMMENTS, "agreed", ("Bonan tagon", ("Saluton",))),
        (Rating.ACCEPTABLE, Scope.COMMENTS, "agreed", ("Saluton", ())),
        (Rating.REJECT, Scope.BATCH, None, ("Saluton", ())),
    ],
)
def test_wording_that_is_taken_back_leaves_the_translators(
    school: School,
    rating: Rating,
    scope: Scope,
    outcome: str | None,
    between: tuple[str, tuple[str, ...]],
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


def two_wordings(school: School) -> tuple[Desk, dict[str, Translator], list[str]]:
    """Have two people translate the first sentence differently; gives the review, who wrote what, and what, the reference first."""
    desk = school.asks("translate", "words", people=2)
    people = {
        text: Translator(school.folder, desk, n) for n, text in enumerate(("Bonan tagon", "Hej"))
    }
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
    assert (entry.agreed is None) == (leaves == 0), "nobody looked at the other wording"
    assert entry.translated is not None
    assert len(entry.translated.people) == 1
    school.gather_again()


def test_of_two_wordings_only_the_refused_one_stays_out(school: School) -> None:
    _, _, (refused, other) = two_wordings(school)
    look, judge = school.look()
    judge.says(look.item(1), Rating.REJECT)
    assert school.take(look, judge).refused == [1]
    assert school.texts() == (other, ())
    assert school.waiting() == [1], "nobody looked at this one yet"
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


def test_translators_who_leave_take_their_variants_along(school: School) -> None:
    desk, people, (_, other) = two_wordings(school)
    look, judge = school.look()
    judge.says(look.item(1), Rating.REJECT, "Bonvenon")
    school.take(look, judge)
    assert school.texts() == ("Bonvenon", (other,))
    for person in people.values():
        person.withdraw()
    assert school.take(desk, *people.values()).taken_back == [1]
    assert school.texts() == ("Bonvenon", ())


def object_to(school: School) -> tuple[Desk, Judge]:
    """Have a second speaker say that the first translation is harmful."""
    look, judge = school.look()
    judge.says(look.item(1), Rating.EXCELLENT)
    judge.flags(look.item(1))
    assert school.take(look, judge).objected == [1]
    return look, judge


@pytest.mark.parametrize("harmful", [False, True])
def test_what_somebody_objects_to_is_in_no_corpus_until_decided(
    school: School, harmful: bool
) -> None:
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
        assert school.entry().texts is not None, "it lies open again"


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
    [entry] = whole_corpus(school.project).entries
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
    """It has the same name."""
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
