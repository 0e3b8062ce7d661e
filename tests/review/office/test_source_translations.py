"""A translation that came with its sentence: refused by a second speaker, back when nobody refuses it, and never kept where it is harmful."""

from __future__ import annotations

import pytest

from corpora.model.entry import Segment
from harness.project.candidates import Usual, take_candidates
from review.log.payloads import HarmFlag
from review.office.making.of_project import to_translate
from review.office.results.into_project import gather
from review.rating import Rating
from tests.harness.project.making import candidate
from tests.review.office.school import Judge, School, decide, judge_of, school
from tests.review.office.translator import Desk, Translator

__all__ = ["school"]


def _with_translation(school: School) -> tuple[Desk, Judge]:
    """Have a sentence come with its translation, and a second speaker reject that."""
    taken = candidate("How are you", reference="Kiel vi fartas", segment=Segment.DEVELOPMENT)
    take_candidates(school.project, [taken], Usual())
    desk = school.asks("agree", "look")
    judge = judge_of(school, desk)
    judge.says(desk.item(3), Rating.REJECT)
    desk.take(judge)
    assert gather(school.project, school.office).refused == [3]
    assert school.reference(3) == ""
    assert 3 in {each.id for each in to_translate(school.project)}
    return desk, judge


def test_a_translation_that_came_with_its_sentence_is_back_when_nobody_refuses_it_any_more(
    school: School,
) -> None:
    desk, judge = _with_translation(school)
    assert gather(school.project, school.office).translated == 0, "it stays out"
    judge.says(desk.item(3), Rating.EXCELLENT)
    desk.take(judge)
    found = gather(school.project, school.office)
    assert (found.translated, found.agreed, school.reference(3)) == (1, 1, "Kiel vi fartas")
    assert gather(school.project, school.office).translated == 0


def test_a_speakers_translation_stays_where_that_of_the_file_is_no_longer_refused(
    school: School,
) -> None:
    desk, judge = _with_translation(school)
    written = school.asks("translate", "words")
    person = Translator(school.folder, written, 0)
    person.write(written.item(3), "Kiel vi")
    written.take(person)
    gather(school.project, school.office)
    judge.says(desk.item(3), Rating.EXCELLENT)
    desk.take(judge)
    gather(school.project, school.office)
    assert school.reference(3) == "Kiel vi"


@pytest.mark.parametrize("between", [False, True])
def test_a_wording_of_the_file_that_people_call_harmful_is_kept_nowhere(
    school: School, between: bool
) -> None:
    """Whether they are asked for what they say before it is decided, or after."""
    desk, judge = _with_translation(school)
    assert school.project.texts(school.entry(3)).came == ("Kiel vi fartas",)
    judge.laptop.append(HarmFlag(**judge.place, item=desk.item(3), harmful=True))
    desk.take(judge)
    if between:
        assert gather(school.project, school.office).objected == [3]
        assert school.entry(3).texts is None, "it is sealed until people decide"
    decide(school, desk, harmful=True, number=3)
    gather(school.project, school.office)
    assert school.reference(3) == ""
    assert school.project.texts(school.entry(3)).came == ()
