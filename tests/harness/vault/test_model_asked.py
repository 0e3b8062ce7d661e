"""What the log says of questions to a model: for a run that was opened, begun once, and counted once for what was begun."""

from pathlib import Path

import pytest

from harness.vault.log import VaultError
from harness.vault.opening import VaultOpening
from harness.vault.records import ModelAsked
from harness.vault.work import VaultWork
from tests.harness.vault.made import MINE, THEIRS, filled

RUN = "01234567-89ab-cdef-0123-456789abcdef"
OTHER = "11234567-89ab-cdef-0123-456789abcdef"
HERE = ("http://127.0.0.1:9/v1", "tiny")


@pytest.fixture
def opening(tmp_path: Path) -> VaultOpening:
    found = VaultOpening(filled(tmp_path), MINE, "a run", VaultWork.RUN, RUN)
    found.corpus("greetings")
    return found


def test_a_run_is_begun_and_counted(opening: VaultOpening) -> None:
    opening.note_model(RUN, *HERE)
    opening.note_model(RUN, *HERE, calls=0)
    acts = [line.record.act for line in opening.vault.read().lines]
    assert [getattr(act, "calls", "-") for act in acts[-3:]] == ["-", None, 0]


def test_a_run_that_was_cut_has_its_first_line_and_the_vault_is_whole(opening: VaultOpening) -> None:  # fmt: skip
    opening.note_model(RUN, *HERE)
    assert opening.vault.read().lines[-1].record.act.what == "model asked"
    opening.corpus("greetings")


@pytest.mark.parametrize(
    ("before", "line", "words"),
    [
        ([], (OTHER, *HERE, None), "its keeper opened nothing"),
        ([], ("", *HERE, None), "its keeper opened nothing"),
        ([], (RUN, *HERE, 3), "no line of its keeper begins"),
        ([None], (RUN, *HERE, None), "twice"),
        ([None, 3], (RUN, *HERE, None), "twice"),
        ([None, 3], (RUN, *HERE, 3), "counts them twice"),
        ([None], (RUN, "http://127.0.0.1:8/v1", "tiny", 3), "no line of its keeper begins"),
        ([None], (RUN, HERE[0], "other", 3), "no line of its keeper begins"),
        ([None], (OTHER, *HERE, 3), "its keeper opened nothing"),
    ],
)
def test_any_other_line_is_not_written_and_a_log_with_it_not_read(opening: VaultOpening, before: list[int | None], line: tuple[str, str, str, int | None], words: str) -> None:  # fmt: skip
    for calls in before:
        opening.note_model(RUN, *HERE, calls=calls)
    with pytest.raises(VaultError, match=words):
        opening.note_model(*line)
    run, endpoint, model, calls = line
    act = ModelAsked(run=run, endpoint=endpoint, model=model, calls=calls)
    with opening.vault.changing(MINE) as state:  # whole still, so a stranger to this code writes it
        opening.vault.write(state, act, MINE)
    with pytest.raises(VaultError, match=words):
        opening.vault.read()


def test_two_runs_are_counted_apart(opening: VaultOpening) -> None:
    other = VaultOpening(opening.vault, MINE, "another", VaultWork.RUN, OTHER)
    other.corpus("greetings")
    opening.note_model(RUN, *HERE)
    other.note_model(OTHER, *HERE)
    opening.note_model(RUN, *HERE, calls=3)
    other.note_model(OTHER, *HERE, calls=4)
    opening.vault.read()


@pytest.mark.parametrize(
    ("before", "opens", "words"),
    [
        (None, False, "opened nothing"),
        (3, False, "opened nothing"),
        (3, True, "no line of its keeper begins"),
    ],
)
def test_only_the_keeper_who_opened_and_began_says_so(opening: VaultOpening, before: int | None, opens: bool, words: str) -> None:  # fmt: skip
    """``before``: the number that the other keeper says; None: none, for the other begins. ``opens``: the other opened as well."""
    other = VaultOpening(opening.vault, THEIRS, "another look", VaultWork.RUN, RUN)
    if before is not None:
        opening.note_model(RUN, *HERE)
    if opens:
        other.corpus("greetings")
    with pytest.raises(VaultError, match=words):
        other.note_model(RUN, *HERE, calls=before)
    endpoint, model = HERE
    act = ModelAsked(run=RUN, endpoint=endpoint, model=model, calls=before)
    with opening.vault.changing(THEIRS) as state:
        opening.vault.write(state, act, THEIRS)
    with pytest.raises(VaultError, match=words):
        opening.vault.read()
