"""A corpus opened from a vault is the one that was put in, kept on this machine, and in the log before it is open."""

import json
import shutil
import traceback
from collections.abc import Sequence
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
from harness.core.failures import UsageError
from harness.sealed.forms import FileProblem
from harness.sealed.keys import Identity, Role
from harness.vault.data_key import DataKey
from harness.vault.folder import LOG
from harness.vault.keepers import keeper_of
from harness.vault.log import VaultError
from harness.vault.opening import BECAUSE, VaultOpening, corpus_of, keeper_here
from harness.vault.records import Used
from harness.vault.request import VaultRequest
from harness.vault.sealed_corpus import UnsealedCorpus
from harness.vault.secret_text import SecretText
from harness.vault.vault import Vault
from harness.vault.work import VaultWork
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import (
    CANARY,
    KEEPERS,
    MINE,
    RECOVERY,
    START,
    THEIRS,
    readable,
    refused,
    vault,
)

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT
RUN = "01234567-89ab-cdef-0123-456789abcdef"

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


def given(folder: Path) -> Corpus:
    """A corpus out of a file, whose entries have something in every field, and ids of both kinds."""
    folder.mkdir(exist_ok=True)
    entries = [
        {"id": n if n % 2 else f"s{n}", "source": f"{CANARY} {n}", "reference": f"{CANARY} ref {n}"}
        | {"segment": segment, **(FIELDS if n != 3 else {})}
        for n, segment in enumerate(SEGMENTS)
    ]
    file = folder / "words.json"
    file.write_text(json.dumps({"dataset": ENVELOPE, "entries": entries}), "utf-8")
    return load(file)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Corpus]:
    """A folder with a vault of the corpus that no test changes."""
    folder = tmp_path_factory.mktemp("kept")
    corpus, made = given(folder / "open"), vault(folder)
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(corpus, "words", MINE)
    return folder, corpus


@pytest.fixture
def kept(tmp_path: Path, once: tuple[Path, Corpus]) -> tuple[Vault, Corpus]:
    shutil.copytree(once[0] / "vault", tmp_path / "vault")
    return vault(tmp_path, START + timedelta(minutes=2)), once[1]


def opened(
    made: Vault, name: str = "words", identity: Identity = MINE, segments: Sequence[Segment] = ()
) -> Corpus:
    return VaultOpening(made, identity, "a run", VaultWork.RUN, RUN).corpus(name, segments)


def unsealed(made: Vault, name: str = "words") -> UnsealedCorpus:
    return VaultOpening(made, MINE, "a look", VaultWork.CHECK).unsealed(name)


def test_opened_corpus_is_what_was_put_in_but_held_out(kept: tuple[Vault, Corpus]) -> None:
    made, corpus = kept
    for identity in (MINE, THEIRS, RECOVERY):
        found = opened(made, identity=identity)
        assert found.sha256 == corpus.sha256
        assert len(found.entries) == len(corpus.entries)
        for before, after in zip(corpus.entries, found.entries, strict=True):
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
    assert found.vault is not None
    assert set(found.vault.recipients) == {each.recipient for each in KEEPERS}
    assert found.vault.run_id == RUN


def test_named_segments_alone_are_opened_and_places_stay(kept: tuple[Vault, Corpus]) -> None:
    made, corpus = kept
    found = opened(made, segments=[GOLD])
    assert [each.not_stored for each in found.entries] == [s != "gold_standard" for s in SEGMENTS]
    assert found.entries[3].id == corpus.entries[3].id
    assert {each.segment for each in found.entries if each.not_stored} == {None}
    line, [corpus_id] = made.read().lines[-1].record, made.read().head.corpora
    used = Used(corpus=corpus_id, entries={GOLD: 2}, purpose="a run", work=VaultWork.RUN, run=RUN)
    assert line.act == used
    with pytest.raises(VaultError) as caught:
        opened(made, segments=[HELD])
    assert caught.value.problem is FileProblem.LOCKED
    assert made.read().lines[-1].record == line


def test_rotation_makes_another_state_of_the_same_corpus(kept: tuple[Vault, Corpus]) -> None:
    made, corpus = kept
    before = opened(made)
    made.rotate("words", HELD, GOLD, 1, "second year", MINE)
    after = opened(made)
    assert (after.sha256, after.dataset.id) == (before.sha256, before.dataset.id)
    assert after.dataset.opened_from != before.dataset.opened_from
    assert entry_fields(after.entries[1]) == entry_fields(corpus.entries[1]) | {"segment": GOLD}
    made.revoke("School", "moved away", MINE)
    again = opened(made)
    assert again == replace(after, vault=again.vault)
    assert again.vault is not None
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
def test_no_term_lets_a_text_of_a_vault_go_further(made: Vault, said: dict[str, Any], term: str) -> None:  # fmt: skip
    use = unsealed(made, "greetings")
    told = json.loads(use.envelope.reveal())
    told["dataset"] |= said
    found = corpus_of(replace(use, envelope=SecretText(json.dumps(told))))
    assert {each.secret for each in found.entries} == {True}
    terms = found.dataset.terms
    assert terms.transmission.value == term
    assert all(terms.keeps(segment) for segment in (None, *Segment))
    assert not terms.unclear


def test_nothing_is_opened_where_the_log_does_not_have_it(
    kept: tuple[Vault, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
            lambda: opened(made, "no such"),
            lambda: opened(made, identity=stranger),
            lambda: VaultOpening(made, MINE, "  ", VaultWork.RUN).corpus("words"),
            lambda: opened(Vault(tmp_path / "pulled", made.memory, made.clock)),
        ):
            refused("", tried)
        patched.setattr("harness.vault.folder.os.fsync", full)
        refuses(UsageError, "", opened, made)
    assert made.read().lines == lines
    log = made.folder / LOG
    log.write_bytes(log.read_bytes().replace(b"founded", b"fuonded", 1))
    refused(LOG, opened, made)


@pytest.mark.parametrize("rest", [
    '{"id": 1}', '{"place": 99, "id": 1}', '{"place": 3, "id": 1}',
    f'{{"place": 0, "id": {{"{CANARY}": 1}}}}', f"{CANARY}", f'["{CANARY}"]',
])  # fmt: skip
def test_sealed_text_that_is_no_entry_is_refused_without_its_words(
    kept: tuple[Vault, Corpus], rest: str
) -> None:
    made, _ = kept
    use = unsealed(made, "words")
    entries = sorted(use.entries, key=lambda each: '"place": 3' in each.rest.reveal())  # last
    first, *others = entries  # in one case with the place of the last one
    wrong = replace(use, entries=(replace(first, rest=SecretText(rest)), *others))
    with pytest.raises(VaultError) as caught:
        corpus_of(wrong)
    assert caught.value.problem is FileProblem.DAMAGED
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_door_asks_for_keys_and_takes_nothing_that_says_how_to_read(
    kept: tuple[Vault, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    made, _ = kept
    wanted = VaultRequest(made.folder, "an estimate", work="estimate")
    refused("no keeper's keys", keeper_here, tmp_path / "home", None)
    refuses(UsageError, "says itself", api.open_corpus, api.CorpusRequest("words", id="x", vault=wanted))  # fmt: skip
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    found = api.open_corpus(api.CorpusRequest("words", vault=replace(wanted, key=key)))
    assert found.dataset.name == "words 3"
    assert made.read().lines[-1].record.by == keeper_of(RECOVERY, "x").signing_key
    assert readable(tmp_path / "home") == readable(made.folder) == []
