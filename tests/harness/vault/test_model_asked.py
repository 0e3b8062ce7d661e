"""What the log says of questions to a model: for a run that was opened, begun once, and counted once for what was begun."""

import pytest

from harness.sealed.keys import Identity
from harness.vault.opening import VaultOpening
from harness.vault.records import ModelAsked
from harness.vault.vault import Vault
from harness.vault.work import VaultWork
from tests.harness.vault.made import MINE, THEIRS, refused

RUN = "01234567-89ab-cdef-0123-456789abcdef"
OTHER = "11234567-89ab-cdef-0123-456789abcdef"
HERE = ("http://127.0.0.1:9/v1", "tiny")


@pytest.fixture
def opening(made: Vault) -> VaultOpening:
    found = VaultOpening(made, MINE, "a run", VaultWork.RUN, RUN)
    found.corpus("greetings")
    return found


def test_run_is_begun_counted_and_apart_from_others(opening: VaultOpening) -> None:
    other = VaultOpening(opening.vault, MINE, "another", VaultWork.RUN, OTHER)
    other.corpus("greetings")
    opening.note_model(RUN, *HERE)
    assert opening.vault.read().lines[-1].record.act.what == "model asked"
    opening.corpus("greetings")  # one that was cut has its first line, and the vault is whole
    other.note_model(OTHER, *HERE)
    opening.note_model(RUN, *HERE, calls=0)
    other.note_model(OTHER, *HERE, calls=4)
    acts = [line.record.act for line in opening.vault.read().lines]
    told = [each.calls for each in acts if isinstance(each, ModelAsked)]
    assert told == [None, None, 0, 4]


def refuses_line(opening: VaultOpening, words: str, act: ModelAsked, by: Identity) -> None:
    """A stranger to this code writes the line; the log with it is not read."""
    with opening.vault.changing(by) as state:  # whole still
        opening.vault.write(state, act, by)
    refused(words, opening.vault.read)


@pytest.mark.parametrize(("before", "line", "words"), [
    ([], (OTHER, *HERE, None), "its keeper opened nothing"),
    ([], ("", *HERE, None), "its keeper opened nothing"),
    ([], (RUN, *HERE, 3), "no line of its keeper begins"), ([None], (RUN, *HERE, None), "twice"),
    ([None, 3], (RUN, *HERE, None), "twice"), ([None, 3], (RUN, *HERE, 3), "counts them twice"),
    ([None], (RUN, "http://127.0.0.1:8/v1", "tiny", 3), "no line of its keeper begins"),
    ([None], (RUN, HERE[0], "other", 3), "no line of its keeper begins"),
    ([None], (OTHER, *HERE, 3), "its keeper opened nothing"),
])  # fmt: skip
def test_other_line_is_not_written_and_a_log_with_it_not_read(
    opening: VaultOpening,
    before: list[int | None],
    line: tuple[str, str, str, int | None],
    words: str,
) -> None:
    for calls in before:
        opening.note_model(RUN, *HERE, calls=calls)
    refused(words, opening.note_model, *line)
    run, endpoint, model, calls = line
    refuses_line(
        opening, words, ModelAsked(run=run, endpoint=endpoint, model=model, calls=calls), MINE
    )


@pytest.mark.parametrize(("before", "opens", "words"), [
    (None, False, "opened nothing"), (3, False, "opened nothing"),
    (3, True, "no line of its keeper begins"),
])  # fmt: skip
def test_keeper_who_opened_and_began_alone_says_so(
    opening: VaultOpening, before: int | None, opens: bool, words: str
) -> None:
    """``before``: the number that the other keeper says; None: none, for the other begins. ``opens``: the other opened as well."""
    other = VaultOpening(opening.vault, THEIRS, "another look", VaultWork.RUN, RUN)
    if before is not None:
        opening.note_model(RUN, *HERE)
    if opens:
        other.corpus("greetings")
    refused(words, other.note_model, RUN, *HERE, calls=before)
    act = ModelAsked(run=RUN, endpoint=HERE[0], model=HERE[1], calls=before)
    refuses_line(opening, words, act, THEIRS)
