"""Any sequence of keys: the session shows what a plain model of it says, and a restart changes nothing."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from review.log.event import Event
from review.log.fold import Person, fold
from review.log.payloads import Kind
from review.rating import CannotJudge, Rating
from review.session.view import Phase, TextField
from tests.review.session.scenes import CODE, Sitting, batch_of, items_of
from tests.review.thorough import times

KEYS = st.lists(st.sampled_from("1234 1234 0ssuuunnRE"), max_size=40)


class Model:
    """What a person remembers: the decisions that stand, and in which order they were made."""

    def __init__(self) -> None:
        self.decisions: list[tuple[str, object]] = []

    @property
    def judged(self) -> dict[str, object]:
        return {item: said for item, said in self.decisions if said != "s"}


def press(sitting: Sitting, model: Model, key: str) -> None:
    """Press a key as a person would: on what is painted, after a moment."""
    session = sitting.session
    if key == "R":
        sitting.restart()
        return
    if key == "E":
        session.go_on()
        return
    if key == "n":
        session.go_to_unrated()
        return
    item = sitting.see() if session.view.item else None
    if key == "u":
        session.undo()
        if model.decisions:
            back, _ = model.decisions.pop()
            assert session.view.item is not None
            assert session.view.item.id == back
    elif item is not None and key.strip():
        decide(sitting, item, key)
        model.decisions.append((item, key))


def decide(sitting: Sitting, item: str, key: str) -> None:
    if key == "0":
        sitting.session.cannot_judge(item, CannotJudge.UNSAID)
    elif key == "s":
        sitting.session.skip(item)
    else:
        sitting.session.rate(item, list(Rating)[int(key) - 1])


@settings(
    max_examples=times(15, 400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(KEYS)
def test_any_keys_give_what_the_model_says(keys: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sitting, model = Sitting(Path(folder), batch_of(items_of(5))), Model()
        for key in keys:
            press(sitting, model, key)
            view = sitting.session.view
            assert view.done == len(model.judged)
            assert view.can_undo == bool(model.decisions)
            assert (view.phase is Phase.END) <= (view.done + view.skipped == view.total)
            assert view.item is None or view.item.id not in model.judged
        check_disk(sitting, model)
        sitting.laptop.close()


def check_disk(sitting: Sitting, model: Model) -> None:
    """Compare the fold of the events with the model, from the disk alone."""
    sitting.restart()
    state = fold(sitting.laptop.events()).reviewers[sitting.batch.manifest.batch, CODE]
    said = {
        item: "0" if each.rating is None else str(each.rating.rank + 1)
        for item, each in state.judgements.items()
    }
    assert said == model.judged


def test_a_key_folds_only_the_events_that_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = Sitting(tmp_path, batch_of(items_of(12)))
    for _ in range(8):
        sitting.rate()
    folded: list[Kind] = []
    add = Person.add

    def noted(person: Person, event: Event) -> None:
        folded.append(event.kind)
        add(person, event)

    monkeypatch.setattr(Person, "add", noted)
    monkeypatch.setattr(sitting.laptop, "events", lambda *_: pytest.fail("the log is read again"))
    sitting.rate()
    sitting.session.skip(sitting.see())
    sitting.session.keep_draft(sitting.see(), TextField.COMMENT, "so")
    sitting.rate()
    sitting.see()
    sitting.session.undo()
    assert folded == [Kind.RATE, Kind.SKIP, Kind.COMMENT, Kind.RATE, Kind.COMMENT, Kind.UNDO]
    sitting.laptop.close()
