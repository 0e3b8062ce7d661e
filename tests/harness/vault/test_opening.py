"""A corpus opened from a vault is the one that was put in, kept on this machine, and in the log before it is open."""

import json
import shutil
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import CorpusError
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Selection, entry_fields
from corpora.model.entry import Segment
from harness import api
from harness.card.rows import load_card
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.run.vault_opening import terms_again
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileProblem
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.store.sqlite.sealing import forget_keys
from harness.vault.data_key import DataKey
from harness.vault.folder import LOG
from harness.vault.keepers import keeper_of
from harness.vault.log import VaultError
from harness.vault.opening import BECAUSE, VaultOpening, corpus_of, keeper_here
from harness.vault.request import VaultRequest, VaultWork
from harness.vault.sealed_corpus import UnsealedCorpus
from harness.vault.secret_text import SecretText
from harness.vault.vault import Vault
from harness.vault.vault_records import ModelAsked, Used
from rosetta import run
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import CANARY, KEEPERS, MINE, RECOVERY, START, THEIRS, readable, refused, vault

GOLD, HELD = Segment.GOLD_STANDARD, Segment.HELD_OUT
RUN = "01234567-89ab-cdef-0123-456789abcdef"

Kept = tuple[Vault, Corpus]
ENVELOPE = {
    "id": "words", "version": "3", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo",
    "variety": "north", "orthography": "1972", "license": "CC BY 4.0",
    "canary": [f"{CANARY} 7c9e6679-7425-40de"], "told_by": f"{CANARY} grandmother",
}  # fmt: skip
FIELDS: dict[str, Any] = {
    "variants": [f"{CANARY} other", f"{CANARY} third"], "difficulty": 2, "register": "formal",
    "context": "greeting", "notes": f"{CANARY} note", "place": "Oslo", "told_on": {"day": 3},
}  # fmt: skip
SEGMENTS = ("gold_standard", "held_out", "development", "gold_standard", "diagnostic")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Corpus]:
    """A folder with a vault that no test changes, of a file with something in every field, and ids of both kinds."""
    folder = tmp_path_factory.mktemp("kept")
    entries = [
        {"id": n if n % 2 else f"s{n}", "source": f"{CANARY} {n}", "reference": f"{CANARY} ref {n}"}
        | {"segment": segment, **(FIELDS if n != 3 else {})}
        for n, segment in enumerate(SEGMENTS)
    ]
    file = folder / "words.json"
    file.write_text(json.dumps({"dataset": ENVELOPE, "entries": entries}), "utf-8")
    corpus, made = load(file), vault(folder)
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(corpus, "words", MINE)
    return folder, corpus


@pytest.fixture
def kept(tmp_path: Path, once: tuple[Path, Corpus]) -> Kept:
    shutil.copytree(once[0] / "vault", tmp_path / "vault")
    return vault(tmp_path, START + timedelta(minutes=2)), once[1]


def opened_corpus(made: Vault, name: str = "words", identity: Identity = MINE, segments: Sequence[Segment] = ()) -> Corpus:  # fmt: skip
    return VaultOpening(made, identity, "a run", VaultWork.RUN, RUN).corpus(name, segments)


def unsealed(made: Vault, name: str = "words") -> UnsealedCorpus:
    return VaultOpening(made, MINE, "a look", VaultWork.CHECK).unsealed(name)


def test_opened_corpus_is_what_was_put_in_but_held_out(kept: Kept) -> None:
    made, corpus = kept
    for identity in (MINE, THEIRS, RECOVERY):
        found = opened_corpus(made, identity=identity)
        assert found.sha256 == corpus.sha256
        assert len(found.entries) == len(corpus.entries)
        for before, after in zip(corpus.reveal_here(), found.reveal_here(), strict=True):
            if before.segment is HELD:
                assert (after.not_stored, after.source, after.reference) == (True, "", "")
                assert after.segment is HELD
            else:
                assert entry_fields(after) == entry_fields(before)
                assert (after.variety, after.orthography) == ("north", "1972")
            assert after.secret
        assert Selection().apply(found) == (0, 2, 3, 4)
        assert Selection(sample=4, seed=5).apply(found) == (0, 2, 3, 4)
        refuses(CorpusError, "", Selection(segments=(HELD,)).apply, found)
    told = found.dataset
    for name in ENVELOPE.keys() - {"told_by", "canary"}:
        assert getattr(told, name) == getattr(corpus.dataset, name), name
    assert CANARY not in told.model_dump_json()  # a run stores the envelope
    assert (told.terms.local_only, told.terms.because.endswith(BECAUSE)) == (True, True)
    assert set(found.vault.recipients) == {each.recipient for each in KEEPERS}
    assert found.vault.run_id == RUN


def test_named_segments_alone_are_opened_and_places_stay(kept: Kept) -> None:
    made, corpus = kept
    found = opened_corpus(made, segments=[GOLD])
    assert [each.not_stored for each in found.entries] == [s != "gold_standard" for s in SEGMENTS]
    assert found.entries[3].id == corpus.entries[3].id
    assert {each.segment for each in found.entries if each.not_stored} == {None}
    line, [corpus_id] = made.read().lines[-1].record, made.read().head.corpora
    used = Used(corpus=corpus_id, entries={GOLD: 2}, purpose="a run", work=VaultWork.RUN, run=RUN)
    assert line.act == used
    error = refuses(VaultError, "", opened_corpus, made, segments=[HELD])
    assert error.problem is FileProblem.LOCKED
    assert made.read().lines[-1].record == line


def test_rotation_makes_another_state_of_the_same_corpus(kept: Kept) -> None:
    made, corpus = kept
    before = opened_corpus(made)
    made.rotate("words", HELD, GOLD, 1, "second year", MINE)
    after = opened_corpus(made)
    assert (after.sha256, after.dataset.id) == (before.sha256, before.dataset.id)
    assert after.dataset.opened_from != before.dataset.opened_from
    assert entry_fields(after.reveal_here()[1]) == entry_fields(corpus.reveal_here()[1]) | {"segment": GOLD}
    made.revoke("School", "moved away", MINE)
    again = opened_corpus(made)
    assert again.reveal_here() == after.reveal_here()
    assert replace(again, entries=()) == replace(after, entries=(), vault=again.vault)
    assert KEEPERS[1].recipient not in again.vault.recipients


def test_vault_of_an_earlier_version_has_one_fingerprint(made: Vault) -> None:
    use = unsealed(made, "greetings")
    fields = json.loads(use.envelope.reveal())["dataset"]
    old = replace(use, envelope=SecretText(json.dumps(fields)))
    found, again = corpus_of(old), corpus_of(replace(old, recipients=(), rotations=4))
    other = corpus_of(replace(old, number="0" * 16))
    assert found.sha256 == again.sha256 != other.sha256
    assert len(found.sha256) == 64
    assert found.dataset.id == "greetings"


@pytest.mark.parametrize(("said", "term"), [
    ({}, "local-only"), ({"transmission": "open"}, "local-only"),
    ({"transmission": ["https://llm.example.org/v1"]}, "local-only"),
    ({"transmission": {"development": "open", "diagnostic": "nowhere"}}, "nowhere"),
    ({"transmission": "nowhere"}, "nowhere"), ({"license": "CC BY-ND 4.0"}, "local-only"),
])  # fmt: skip
def test_no_term_lets_a_text_go_further(made: Vault, said: dict[str, Any], term: str) -> None:
    use = unsealed(made, "greetings")
    told = json.loads(use.envelope.reveal())
    told["dataset"] |= said
    found = corpus_of(replace(use, envelope=SecretText(json.dumps(told))))
    assert {each.secret for each in found.entries} == {True}
    terms = found.dataset.terms
    assert terms.transmission.value == term
    assert all(terms.keeps(segment) for segment in (None, *Segment))
    assert not terms.unclear


def test_nothing_opens_unlogged(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = kept
    lines = made.read().lines
    stranger = Identity.make(Role.KEEPER)

    def never(*_: object) -> None:
        raise AssertionError("a text was opened")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(DataKey, "open_text", never)
        for tried in (
            lambda: opened_corpus(made, "no such"),
            lambda: opened_corpus(made, identity=stranger),
            lambda: VaultOpening(made, MINE, "  ", VaultWork.RUN).corpus("words"),
            lambda: opened_corpus(Vault(tmp_path / "pulled", made.memory, made.clock)),
        ):
            refused("", tried)
        patched.setattr("harness.vault.folder.os.fsync", full)
        refuses(UsageError, "", opened_corpus, made)
    assert made.read().lines == lines
    log = made.folder / LOG
    log.write_bytes(log.read_bytes().replace(b"founded", b"fuonded", 1))
    refused(LOG, opened_corpus, made)


@pytest.mark.parametrize("rest", [
    '{"id": 1}', '{"place": 99, "id": 1}', '{"place": 3, "id": 1}',
    f'{{"place": 0, "id": {{"{CANARY}": 1}}}}', f"{CANARY}", f'["{CANARY}"]',
])  # fmt: skip
def test_sealed_text_that_is_no_entry_is_refused(kept: Kept, rest: str) -> None:
    made, _ = kept
    use = unsealed(made, "words")
    entries = sorted(use.entries, key=lambda each: '"place": 3' in each.rest.reveal())  # last
    first, *others = entries  # in one case with the place of the last one
    wrong = replace(use, entries=(replace(first, rest=SecretText(rest)), *others))
    error = refuses(VaultError, "", corpus_of, wrong)
    assert error.problem is FileProblem.DAMAGED
    assert CANARY not in "".join(traceback.format_exception(error))


def test_door_asks_for_keys(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    made, _ = kept
    wanted = VaultRequest(made.folder, "an estimate", work="estimate")
    refused("no keeper's keys", keeper_here, tmp_path / "home", None)
    refuses(UsageError, "says itself", api.open_corpus, api.CorpusRequest("words", id="x", vault=wanted))
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    found = api.open_corpus(api.CorpusRequest("words", vault=replace(wanted, others=(key,))))
    assert found.dataset.name == "words 3"
    assert made.read().lines[-1].record.by == keeper_of(RECOVERY, "x").signing_key
    assert readable(tmp_path / "home") == readable(made.folder) == []


# A vault is opened for a run only on a computer without a way to others, or for a reason that log and card keep

TERMS = terms_again("script")
WHY = "made-up sentences, to try it out"


@pytest.fixture
def wanted(made: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultRequest]:
    """What asks for the vault with the recovery key, on a computer that has a way out."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(offline, "network_routes", lambda: ("wlan0",))
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    yield VaultRequest(made.folder, "a try", others=(key,), work="script")
    forget_keys()


def acts(wanted: VaultRequest, tmp_path: Path) -> list[Used]:
    """Return the openings for work that the log has."""
    vault = Vault(wanted.folder, tmp_path / "elsewhere", lambda: pytest.fail("no clock is needed"))
    return [line.record.act for line in vault.read().lines if isinstance(line.record.act, Used)]


def test_work_of_foreign_code_opens_nothing(wanted: VaultRequest, tmp_path: Path) -> None:
    without_method = {VaultWork.ESTIMATE, VaultWork.CHECK, VaultWork.SEAL, VaultWork.COMPARE}
    by_people = {VaultWork.CALIBRATE, VaultWork.REVIEW, VaultWork.ADJUDICATE}
    for work in VaultWork:
        vault = replace(wanted, work=work)
        asked = api.CorpusRequest("greetings", vault=vault, terms=terms_again(work))
        before = acts(wanted, tmp_path)
        if work in without_method | by_people:
            assert api.open_corpus(asked).entries
        else:
            words = r"\(wlan0\).*Nothing was opened.*--despite-network"
            refuses(UsageError, words, api.open_corpus, asked)
            assert acts(wanted, tmp_path) == before


@pytest.mark.parametrize("routes", [("wlan0",), ()])
def test_reason_stands_in_log_and_card_where_there_is_a_way_out(
    wanted: VaultRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, routes: tuple[str, ...]
) -> None:
    monkeypatch.setattr(offline, "network_routes", lambda: routes)
    vault = replace(wanted, despite_network=f" {WHY}\n")
    asked = api.CorpusRequest("greetings", vault=vault, terms=TERMS)
    done = run(api.open_corpus(asked), method="copy-source")
    [act] = acts(wanted, tmp_path)
    noted = {"despite_network": WHY} if routes else {}
    said = act.model_dump(mode="json")
    assert {n: v for n, v in said.items() if n == "despite_network" and v} == noted
    with opened(done.store) as connection:
        card = load_card(connection, find_run(connection, done.run_id).id).as_json()
    assert {n: v for n, v in card["withheld"].items() if n == "despite_network"} == noted
    if routes:
        with opened() as connection:
            assert find_run(connection, "last").opening.despite_network == WHY
    else:
        assert "despite_network" not in json.loads(act.model_dump_json())


def test_reason_too_long_or_for_no_run_opens_nothing(wanted: VaultRequest, tmp_path: Path) -> None:
    for reason, terms, words in (
        ("x" * 201, TERMS, "The reason has 201 characters"),
        (WHY, None, "A vault opens for script by a grant only"),
    ):
        vault = replace(wanted, despite_network=reason)
        asked = api.CorpusRequest("greetings", vault=vault, terms=terms)
        refuses(UsageError, words, api.open_corpus, asked)
    assert acts(wanted, tmp_path) == []


# What the log says of questions to a model: for a run that was opened, begun once, and counted once for what was begun

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
    opening: VaultOpening, before: list[int | None], line: tuple[str, str, str, int | None], words: str
) -> None:  # fmt: skip
    for calls in before:
        opening.note_model(RUN, *HERE, calls=calls)
    refused(words, opening.note_model, *line)
    run, endpoint, model, calls = line
    act = ModelAsked(run=run, endpoint=endpoint, model=model, calls=calls)
    refuses_line(opening, words, act, MINE)


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
