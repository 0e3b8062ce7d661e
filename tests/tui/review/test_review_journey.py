"""The whole way once: a run, a batch, a sitting at a laptop, the stick back, an import, the state."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from review.files.batch import open_batch
from review.files.reviewer_codes import printed
from review.office.store.store import Office
from review.rating import Rating
from review.session.view import Phase
from rosetta_tui.commands.review import review
from tests.review.office import made
from tests.review.session.scenes import Sitting


def rosetta(*arguments: str) -> str:
    result = CliRunner().invoke(review, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def sit(folder: Path, file: Path, code: str, rating: Rating) -> str:
    """Take the batch to the end, every sentence with one rating, and hand it over; gives the six words."""
    batch = open_batch(file.read_bytes())
    person = batch.person(code)
    assert person
    sitting = Sitting(folder, batch=batch, code=person)
    for _ in range(4 * len(batch.items)):
        phase = sitting.session.view.phase
        if phase is Phase.END:
            break
        if phase in {Phase.TRAINING, Phase.ITEMS} and sitting.session.view.lesson is None:
            sitting.rate(rating)
        else:
            sitting.session.go_on()
    assert sitting.session.view.phase is Phase.END
    phrase = sitting.session.export(file.parent).phrase
    sitting.session.close()
    return phrase


def test_what_speakers_press_is_what_the_office_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, stick = tmp_path / "home", tmp_path / "stick"
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    made.store_runs(home)
    rosetta(
        "create",
        "last",
        "--organisation",
        "The council",
        "-o",
        str(stick),
        "--name",
        "spring",
        "--reviewers",
        "3",
        "--items",
        "20",
        "--anyway",
    )
    file = stick / "spring.rosetta-batch"
    codes = made.codes_of(home)
    assert not any(code.encode() in file.read_bytes() for code in (*codes, *codes.values()))
    given = dict(
        zip(codes.values(), (Rating.GIST, Rating.ACCEPTABLE, Rating.EXCELLENT), strict=True)
    )
    phrases = {code: sit(tmp_path / code, file, code, rating) for code, rating in given.items()}
    told = rosetta("import", str(stick), "--enrol", "--yes")
    assert all(phrase in told for phrase in phrases.values())
    assert "damaged 0" in told
    assert "LOOK" not in told
    with Office.open(home) as office:
        found = office.review("spring")
        state = office.state(found)
        for who, code in codes.items():
            person, rating = state.reviewers[found.key.batches[0], who], given[code]
            assert list(person.judgements) == list(found.key.orders[who])
            assert {each.rating for each in person.judgements.values()} == {rating}
            assert len(person.trained) == 8
    shown = rosetta("status", "spring")
    assert all(printed(code) in shown for code in given)
    each = len(found.key.items)
    assert f"{3 * each} of {3 * each} decisions are here, from 3 files." in shown
