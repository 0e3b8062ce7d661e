"""What speakers say of a corpus in the making, and what becomes of it there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.core.failures import UsageError
from harness.project.candidates import Usual, take_candidates
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from review.community.reviews import files_of_review
from review.log.payloads import Adjudicate, Consent, HarmFlag, NotJudged, Scope
from review.office.making.batches import NO_POLICY, make
from review.office.making.creating import Share
from review.office.making.of_project import (
    draft_agreement,
    draft_sources,
    note_handed_out,
    to_agree,
    to_translate,
)
from review.office.results.gathered import Gathered
from review.office.results.into_project import gather
from review.office.results.results import require_runs
from review.office.store.store import Office, Review
from review.rating import CannotJudge, Rating
from tests.harness.project.making import begun, candidate
from tests.review.office import made
from tests.review.office.school import Judge, School, school
from tests.review.office.translator import Desk as Written
from tests.review.office.translator import Translator

__all__ = ["school"]

R = Rating


ROWS: tuple[tuple[Rating, str, str | None, str, tuple[str, ...]], ...] = (
    (R.EXCELLENT, "", "agreed", "Bonan tagon", ()),
    (R.EXCELLENT, "Saluton", "agreed", "Bonan tagon", ("Saluton",)),
    (R.EXCELLENT, " Bonan  tagon", "agreed", "Bonan tagon", ()),
    (R.ACCEPTABLE, "", "agreed", "Bonan tagon", ()),
    (R.ACCEPTABLE, "Bonan tagon!", "corrected", "Bonan tagon!", ()),
    (R.GIST, "Bonan tagon!", "corrected", "Bonan tagon!", ()),
    (R.REJECT, "Bonan tagon!", "corrected", "Bonan tagon!", ()),
    (R.GIST, "", None, "", ()),
    (R.REJECT, "", None, "", ()),
    (R.REJECT, "Bonan tagon", None, "", ()),
)
"""Rating, better wording → outcome, reference, variants."""


def test_what_a_second_speaker_says_is_what_becomes_of_it(tmp_path: Path) -> None:
    project = begun(tmp_path)
    sources = [
        candidate(f"{letter * 9} day to you", segment=Segment.DEVELOPMENT)
        for letter in "abcdefghij"
    ]
    take_candidates(project, sources, Usual())
    with Office.open(tmp_path / "home") as office:
        school = School(tmp_path, office, Identity.make(Role.ORGANISATION), project)
        school.translated(*["Bonan tagon"] * len(ROWS))
        desk = school.asks("agree", "look")
        judge = Judge(tmp_path / "judge", desk.batch, next(iter(desk.review.key.orders)))
        for number, (rating, better, *_) in enumerate(ROWS, 1):
            judge.says(desk.item(number), rating, better)
        desk.take(judge)
        found = gather(project, office)
        for number, (*_, outcome, reference, variants) in enumerate(ROWS, 1):
            agreed = school.entry(number).agreed
            assert (agreed and agreed.outcome) == outcome, number
            texts = project.texts(school.entry(number))
            assert (texts.reference, texts.all_variants) == (reference, variants)
            assert (number in found.refused) is (outcome is None)
        before = project.state
        again = gather(project, office)
        assert (again.translated, again.agreed, again.corrected, again.refused) == (0, 0, 0, [])
        assert project.state == before, "to gather once more changes nothing"


def test_one_of_two_who_disagrees_is_enough(school: School) -> None:
    school.translated()
    ratings = iter([Rating.EXCELLENT, Rating.GIST])
    found = school.looks(1, lambda judge, item: judge.says(item, next(ratings)), people=2)
    assert found.refused == [1]


Looks = Callable[[Judge, str], None]


def harms(judge: Judge, item: str) -> None:
    judge.says(item, Rating.EXCELLENT)
    flags(judge, item)


def flags(judge: Judge, item: str) -> None:
    judge.laptop.append(HarmFlag(**judge.place, item=item, harmful=True))


def cannot(why: CannotJudge) -> Looks:
    def leaves(judge: Judge, item: str) -> None:
        at = judge.order.index(item)
        about = {"item": item, "position": at, "active_ms": 1, "face": "lines", "version": "0"}
        judge.laptop.append(NotJudged(**judge.place, **about, why=why))

    return leaves


def rates(rating: Rating, better: str = "") -> Looks:
    return lambda judge, item: judge.says(item, rating, better)


LATER: tuple[tuple[Looks, Looks, str | None, str], ...] = (
    (rates(R.EXCELLENT), rates(R.EXCELLENT), "agreed", "Bonan tagon"),
    (rates(R.EXCELLENT), rates(R.REJECT), None, ""),
    (rates(R.EXCELLENT), harms, None, "Bonan tagon"),
    (rates(R.EXCELLENT), rates(R.GIST, "Saluton"), "corrected", "Saluton"),
    (rates(R.GIST, "Saluton"), rates(R.EXCELLENT), "corrected", "Saluton"),
    (rates(R.GIST, "Saluton"), harms, None, "Bonan tagon"),
)
"""What the first and the second of two say → outcome, reference."""


BOTH: tuple[tuple[tuple[Rating, str], tuple[Rating, str], str, tuple[str, ...]], ...] = (
    ((R.EXCELLENT, "Saluton"), (R.ACCEPTABLE, ""), "Bonan tagon", ("Saluton",)),
    ((R.EXCELLENT, "Saluton"), (R.EXCELLENT, "Hej"), "Bonan tagon", ("Saluton", "Hej")),
    ((R.EXCELLENT, "Saluton"), (R.EXCELLENT, "Saluton "), "Bonan tagon", ("Saluton",)),
    ((R.EXCELLENT, "Saluton"), (R.GIST, "Hej"), "Hej", ("Saluton",)),
    ((R.EXCELLENT, "Saluton"), (R.GIST, ""), "Saluton", ()),
)
"""What the first and the second of two say → reference, the wordings beside it."""


@pytest.mark.parametrize(("one", "other", "reference", "beside"), BOTH)
def test_no_wording_of_two_second_speakers_is_lost(
    school: School,
    one: tuple[Rating, str],
    other: tuple[Rating, str],
    reference: str,
    beside: tuple[str, ...],
) -> None:
    school.translated()
    answers = iter((one, other))
    school.looks(1, lambda judge, item: judge.says(item, *next(answers)), people=2)
    texts = school.project.texts(school.entry())
    assert (texts.reference, sorted(texts.all_variants)) == (reference, sorted(beside))
    before = school.project.state
    gather(school.project, school.office)
    assert school.project.state == before


def test_of_two_better_wordings_one_is_the_reference_and_the_other_a_variant(
    school: School,
) -> None:
    school.translated()
    answers = iter(("Saluton", "Hej"))
    school.looks(1, lambda judge, item: judge.says(item, Rating.GIST, next(answers)), people=2)
    texts = school.project.texts(school.entry())
    assert {texts.reference, *texts.all_variants} == {"Saluton", "Hej"}


@pytest.mark.parametrize("better", ["Saluton", "Hej"])
def test_a_correction_keeps_the_translators_variants(school: School, better: str) -> None:
    desk = school.asks("translate", "words", people=3)
    texts = ("Bonan tagon", "Bonan tagon", "Saluton")
    for place, text in enumerate(texts):
        person = Translator(school.folder, desk, place)
        person.write(desk.item(1), text)
        desk.take(person)
    gather(school.project, school.office)
    judges: list[Judge] = []

    def corrects(judge: Judge, item: str) -> None:
        judges.append(judge)
        judge.says(item, Rating.ACCEPTABLE, better)

    school.looks(1, corrects)
    corrected = school.project.texts(school.entry())
    assert corrected.reference == better
    assert corrected.all_variants == (("Saluton",) if better == "Hej" else ())
    judges[0].withdraw(Scope.COMMENTS)
    made.take_vouched(school.office, school.identity, judges[0].handed_over())
    gather(school.project, school.office)
    left = school.project.texts(school.entry())
    assert (left.reference, left.all_variants) == ("Bonan tagon", ("Saluton",))


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("one", "other", "outcome", "reference"), LATER)
def test_answers_that_come_later_count_as_those_that_come_together(
    school: School, one: Looks, other: Looks, outcome: str | None, reference: str, apart: bool
) -> None:
    school.translated()
    desk = school.asks("agree", "look", people=2)
    found = Gathered()
    for place, (code, says) in enumerate(zip(desk.review.key.orders, (one, other), strict=True)):
        judge = Judge(school.folder / f"judge {place}", desk.batch, code)
        says(judge, desk.item(1))
        desk.take(judge)
        if apart or place:
            found = gather(school.project, school.office)
    agreed = school.entry().agreed
    assert (agreed and agreed.outcome, school.reference()) == (outcome, reference)
    assert agreed is None or len(agreed.people) == 2
    assert found.objected == [1] * (other is harms)
    assert found.refused == [1] * (reference == "")
    before = school.project.state
    gather(school.project, school.office)
    assert school.project.state == before


def test_a_flag_that_people_cleared_holds_up_nothing(school: School) -> None:
    school.translated()
    assert school.looks(1, harms).objected == [1]
    review = school.office.review("agree1")
    [item] = [item for item, about in review.key.items.items() if about.entry == 1]
    decided = {"batch": next(iter(review.manifests)), "item": item, "note": ""}
    cleared = Adjudicate(wall=made.WALL, **decided, harmful=False, reason="usual", by="Ann")
    school.office.append(review, cleared)
    found = gather(school.project, school.office)
    assert (found.objected, found.agreed) == ([], 1)
    agreed = school.entry().agreed
    assert agreed is not None
    assert agreed.outcome == "agreed"


def test_a_translation_of_another_review_waits_until_the_one_that_stands_is_gone(
    school: School,
) -> None:
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
        desks[number].take(people[number])
        gather(school.project, school.office)
    before = school.project.state
    found = gather(school.project, school.office)
    assert (school.reference(), found.translated, found.beside) == ("Bonan tagon", 0, 1)
    assert school.project.state == before, "to gather once more changes nothing"
    people[1].withdraw()
    desks[1].take(people[1])
    found = gather(school.project, school.office)
    assert (school.reference(), found.taken_back, found.translated) == ("Saluton", [1], 1)


def test_what_was_refused_is_asked_of_a_translator_again_and_looked_at_again(
    school: School,
) -> None:
    school.translated()
    school.looks(1, lambda judge, item: judge.says(item, Rating.REJECT))
    assert [each.id for each in to_translate(school.project)] == [1]
    desk = school.asks("translate", "words-2")
    person = Translator(school.folder / "second", desk, 0)
    person.write(desk.item(1), "Saluton")
    desk.take(person)
    gather(school.project, school.office)
    assert school.reference() == "Saluton", "the refused one does not come back"
    assert school.entry().agreed is None, "nobody looked at this one yet"
    assert [each.id for each in to_agree(school.project)] == [1]


@pytest.mark.parametrize("objects", [harms, flags, cannot(CannotJudge.NOT_TO_SHARE)])
def test_what_is_harmful_or_not_to_be_shown_waits_for_people(
    school: School, objects: Looks
) -> None:
    school.translated()
    assert school.looks(1, objects).objected == [1]
    assert school.entry().agreed is None


def test_who_cannot_judge_leaves_the_sentence_to_another_speaker(school: School) -> None:
    school.translated()
    found = school.looks(1, cannot(CannotJudge.OTHER_DIALECT))
    assert (found.refused, found.unjudged, school.entry().agreed) == ([], [1], None)
    assert school.reference() == "Bonan tagon"
    desk = school.asks("agree", "look-2", again=True)
    judge = Judge(school.folder / "another", desk.batch, next(iter(desk.review.key.orders)))
    judge.says(desk.item(1), Rating.ACCEPTABLE)
    desk.take(judge)
    assert gather(school.project, school.office).agreed == 1
    assert [each.review for each in school.entry().second_speakers] == ["look-2"]


def test_a_wording_that_may_not_be_used_is_not(school: School) -> None:
    school.translated()

    def keeps(judge: Judge, item: str) -> None:
        agreed = {"consent_sha256": "0" * 64, "language": "en", "share_corrections": False}
        judge.laptop.append(Consent(**judge.place, **agreed))
        judge.says(item, Rating.GIST, "Bonan tagon!")

    assert school.looks(1, keeps).refused == [1]


def test_what_a_translator_takes_back_goes_out_of_the_corpus(school: School) -> None:
    desk, person = school.translated()
    school.looks(1, lambda judge, item: judge.says(item, Rating.EXCELLENT))
    person.withdraw()
    desk.take(person)
    found = gather(school.project, school.office)
    assert sorted(found.taken_back) == [1, 2]
    assert [school.reference(number) for number in (1, 2)] == ["", ""]
    assert school.entry().agreed is None
    assert [each.id for each in to_translate(school.project)] == [1, 2]


def test_a_correction_outlives_the_translator_and_not_its_own_writer(school: School) -> None:
    desk, person = school.translated()
    judges: list[Judge] = []

    def corrects(judge: Judge, item: str) -> None:
        judges.append(judge)
        judge.says(item, Rating.GIST, "Saluton al vi")

    school.looks(1, corrects)
    person.withdraw()
    desk.take(person)
    gather(school.project, school.office)
    assert (school.reference(1), school.reference(2)) == ("Saluton al vi", "")
    judges[0].withdraw(Scope.COMMENTS)
    desk.take(judges[0])
    assert gather(school.project, school.office).taken_back == [1]
    assert school.reference() == ""


def test_an_agreement_that_is_taken_back_is_none(school: School) -> None:
    school.translated()
    judges: list[Judge] = []

    def agrees(judge: Judge, item: str) -> None:
        judges.append(judge)
        judge.says(item, Rating.EXCELLENT)

    school.looks(1, agrees)
    judges[0].withdraw()
    made.take_vouched(school.office, school.identity, judges[0].handed_over())
    assert gather(school.project, school.office).taken_back == [1]
    assert (school.entry().agreed, school.reference()) == (None, "Bonan tagon")
    assert to_agree(school.project) == []
    assert [each.id for each in to_agree(school.project, again=True)] == [1, 2]


def test_only_what_waits_is_handed_out(school: School) -> None:
    assert [each.id for each in to_translate(school.project, [Segment.DEVELOPMENT])] == [1]
    school.translated()
    assert to_translate(school.project) == to_translate(school.project, again=True) == []
    with pytest.raises(UsageError, match="No source waits"):
        draft_sources(school.project, [], Share(1), 1)
    with pytest.raises(UsageError, match="No translation waits"):
        draft_agreement(school.project, [], Share(1), 1)


def test_secret_sentences_seal_the_whole_review_and_nothing_of_it_lies_open(school: School) -> None:
    desk, _ = school.translated()
    review: Review = school.asks("agree", "look").review
    assert (desk.review.secret, review.secret, review.is_agreement) == (True, True, True)
    assert not review.manifest.has_verdict
    with pytest.raises(UsageError, match="second speakers"):
        require_runs(review)
    with closing(open_store(school.folder / "rosetta.sqlite")) as store:
        out = {
            secrets: {
                each.path.rpartition("/")[2]: each.data
                for each in files_of_review(
                    school.office,
                    desk.review,
                    store,
                    school.identity,
                    open_secrets=secrets,
                    left_out=[],
                )
            }
            for secrets in (False, True)
        }
    assert out[False]["translations.jsonl.age"].startswith(b"age-encryption.org")
    assert b"Sekreta frazo" in out[True]["translations.jsonl"]
    assert "translations.jsonl" not in out[False]
    files = [path for path in (school.folder / "home").rglob("*") if path.is_file()]
    for text in (b"A secret sentence", b"Sekreta frazo"):
        assert not [path for path in files if text in path.read_bytes()]
