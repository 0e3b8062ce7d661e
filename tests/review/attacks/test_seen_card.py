"""The speaker as attacker: Mallory, whose laptop is enrolled, speaks with a photo of Ann's card."""

import pytest

from review.log.event import make_event
from review.log.payloads import Comment, Consent, HarmFlag, Reasons, Related, Suggest, Undo
from review.log.table import insert_event
from review.office.intake.speaking import speaking
from review.rating import Rating, Reason, Relation
from tests.review.attacks.conftest import Stage


def consent(stage: Stage, *, share: bool) -> Consent:
    place = stage.ann.place
    return Consent(**place, consent_sha256="0" * 64, language="en", share_corrections=share)


def test_speaker_puts_no_words_in_anothers_mouth(stage: Stage) -> None:
    place, item = stage.ann.place, stage.ann.order[0]
    about = {**place, "item": item}
    for mine in (
        consent(stage, share=False), Related(**place, relation=Relation.MADE),
        Suggest(**about, text="mine"), Comment(**about, text="mine"),
    ):  # fmt: skip
        stage.ann.laptop.append(mine)
    stage.take(stage.ann)
    before = stage.state(stage.ann.code)
    assert dict(before.comments) == {item: "mine"}
    assert (before.relation, before.share_corrections) == (Relation.MADE, False)
    for said in (
        consent(stage, share=True), Related(**place, relation=Relation.NEITHER),
        Suggest(**about, text="rude"), Comment(**about, text="rude"),
        Reasons(**about, reasons=(Reason.WRONG_MEANING,)),
    ):  # fmt: skip
        stage.mallory.laptop.append(said)
    report = stage.take(stage.mallory)
    assert report.elsewhere == (stage.desk.card(stage.ann),)  # told at the import
    state = stage.state(stage.ann.code)
    assert (dict(state.suggestions), dict(state.comments)) == ({item: "mine"}, {item: "mine"})
    assert (state.reasons, state.relation) == ({}, Relation.MADE)
    assert (state.share_corrections, state.consented) == (False, True)
    assert len(state.judgements) == 3


@pytest.mark.parametrize("what", ["undo", "harm"])
def test_taking_back_in_anothers_name_is_told_and_not_heard(stage: Stage, what: str) -> None:
    place, item = stage.ann.place, stage.ann.order[0]
    last = next(e for e in reversed(list(stage.ann.laptop.events())) if e.kind == "rate")
    stage.ann.laptop.append(HarmFlag(**place, item=item, harmful=True))
    stage.take(stage.ann)
    undo = Undo(**place, target=last.id)
    stage.mallory.laptop.append(
        undo if what == "undo" else HarmFlag(**place, item=item, harmful=False)
    )
    report = stage.take(stage.mallory)
    assert [each.code for each in report.several] == [stage.desk.card(stage.ann)]
    assert stage.state(stage.ann.code).harmful == {item}  # a flag is heard from every laptop
    assert not stage.ratings(stage.ann.code)  # waits until the organisation says who speaks


def test_rating_for_somebody_absent_is_told_by_name_each_time(stage: Stage) -> None:
    stage.mallory.laptop.append(consent(stage, share=True))
    assert not stage.take(stage.mallory).speaks_for
    stage.mallory.laptop.append(stage.rate(stage.ann.code))
    card = stage.desk.card(stage.ann)
    for _ in range(2):
        assert card in stage.take(stage.mallory).speaks_for
    shared = speaking(stage.desk.office, stage.desk.review).shared
    assert [card in each.people for each in shared] == [True]


def test_logs_of_others_take_nothing_from_a_laptop(stage: Stage) -> None:
    stage.take(stage.ann)
    victim = stage.ann.laptop.device
    before = stage.state(stage.ann.code)
    last = [e for e in stage.ann.laptop.events() if e.device == victim][-1]
    for device, seq, prev in (
        (victim, last.seq + 1, last.id),
        (stage.desk.office.first_device, 0, ""),
    ):
        said = consent(stage, share=True)
        event = make_event(said, device=device, seq=seq, prev=prev, lamport=10**6, salt=bytes(16))
        with stage.mallory.laptop.connection as connection:
            insert_event(connection, event)
    report = stage.take(stage.mallory)
    assert report.aside or report.why
    assert stage.state(stage.ann.code) == before
    assert stage.ratings(stage.ann.code) == [Rating.GIST, Rating.REJECT, Rating.GIST]
