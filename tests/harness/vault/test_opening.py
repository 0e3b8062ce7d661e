"""A corpus opened from a vault is the one that was put in, kept on this machine, and in the log before it is open."""

import json
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from tests.harness.vault.made import (
    CANARY,
    KEEPERS,
    MINE,
    RECOVERY,
    THEIRS,
    filled,
    readable,
    vault,
)

GOLD, HELD, OPEN = Segment.GOLD_STANDARD, Segment.HELD_OUT, Segment.DEVELOPMENT
RUN = "01234567-89ab-cdef-0123-456789abcdef"

ENVELOPE = {
    "id": "words",
    "version": "3",
    "language_pair": "EN→EO",
    "source_language": "en",
    "target_language": "eo",
    "variety": "north",
    "orthography": "1972",
    "license": "CC BY 4.0",
    "canary": [f"{CANARY} 7c9e6679-7425-40de"],
    "told_by": f"{CANARY} grandmother",
}
FIELDS: dict[str, Any] = {
    "variants": [f"{CANARY} other", f"{CANARY} third"],
    "difficulty": 2,
    "register": "formal",
    "context": "greeting",
    "notes": f"{CANARY} note",
    "place": "Oslo",
    "told_on": {"day": 3},
}
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


def kept(folder: Path) -> tuple[Vault, Corpus]:
    corpus, made = given(folder / "open"), vault(folder)
    made.found("Words of the elders", KEEPERS, MINE)
    made.add(corpus, "words", MINE)
    return made, corpus


def opened(
    made: Vault, name: str = "words", identity: Identity = MINE, segments: Sequence[Segment] = ()
) -> Corpus:
    return VaultOpening(made, identity, "a run", VaultWork.RUN, RUN).corpus(name, segments)


def unsealed(made: Vault, name: str = "words") -> UnsealedCorpus:
    return VaultOpening(made, MINE, "a look", VaultWork.CHECK).unsealed(name)


def test_it_is_the_corpus_that_was_put_in_with_all_but_its_held_out_entries(tmp_path: Path) -> None:
    made, corpus = kept(tmp_path)
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
        with pytest.raises(CorpusError):
            Selection(segments=(HELD,)).apply(found)
    told = found.dataset
    for name in ENVELOPE.keys() - {"told_by", "canary"}:
        assert getattr(told, name) == getattr(corpus.dataset, name), name
    assert CANARY not in told.model_dump_json()  # a run stores the envelope
    assert (told.terms.local_only, told.terms.because.endswith(BECAUSE)) == (True, True)
    assert found.vault is not None
    assert set(found.vault.recipients) == {each.recipient for each in KEEPERS}
    assert found.vault.run_id == RUN


def test_only_the_named_segments_are_opened_and_the_places_stay(tmp_path: Path) -> None:
    made, corpus = kept(tmp_path)
    found = opened(made, segments=[GOLD])
    assert [each.not_stored for each in found.entries] == [s != "gold_standard" for s in SEGMENTS]
    assert found.entries[3].id == corpus.entries[3].id
    assert {each.segment for each in found.entries if each.not_stored} == {None}
    line = made.read().lines[-1].record
    assert line.act == Used(
        corpus=next(iter(made.read().head.corpora)),
        entries={GOLD: 2},
        purpose="a run",
        work=VaultWork.RUN,
        run=RUN,
    )
    with pytest.raises(VaultError) as refused:
        opened(made, segments=[HELD])
    assert refused.value.problem is FileProblem.LOCKED
    assert made.read().lines[-1].record == line


def test_a_rotation_makes_another_state_of_the_same_corpus(tmp_path: Path) -> None:
    made, corpus = kept(tmp_path)
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


def test_a_vault_of_an_earlier_version_has_one_fingerprint_for_every_keeper(tmp_path: Path) -> None:
    made = filled(tmp_path)
    use = unsealed(made, "greetings")
    fields = json.loads(use.envelope.reveal())["dataset"]
    old = replace(use, envelope=SecretText(json.dumps(fields)))
    found, again = corpus_of(old), corpus_of(replace(old, recipients=(), rotations=4))
    other = corpus_of(replace(old, number="0" * 16))
    assert found.sha256 == again.sha256 != other.sha256
    assert len(found.sha256) == 64
    assert found.dataset.id == "greetings"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({}, "local-only"),
        ({"transmission": "open"}, "local-only"),
        ({"transmission": ["https://llm.example.org/v1"]}, "local-only"),
        ({"transmission": {"development": "open", "diagnostic": "nowhere"}}, "nowhere"),
        ({"transmission": "nowhere"}, "nowhere"),
        ({"license": "CC BY-ND 4.0"}, "local-only"),
    ],
)
def test_no_term_of_its_corpus_lets_a_text_of_a_vault_go_further(
    tmp_path: Path, said: dict[str, Any], kept: str
) -> None:
    made = filled(tmp_path)
    use = unsealed(made, "greetings")
    told = json.loads(use.envelope.reveal())
    told["dataset"] |= said
    found = corpus_of(replace(use, envelope=SecretText(json.dumps(told))))
    assert {each.secret for each in found.entries} == {True}
    terms = found.dataset.terms
    assert terms.transmission.value == kept
    assert all(terms.keeps(segment) for segment in (None, *Segment))
    assert not terms.unclear


def _full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def _no_purpose(made: Vault) -> Callable[[], object]:
    return lambda: VaultOpening(made, MINE, "  ", VaultWork.RUN).corpus("words")


def test_nothing_is_opened_where_the_log_does_not_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = kept(tmp_path)
    lines = made.read().lines
    stranger = Identity.make(Role.KEEPER)

    def refused(*_: object) -> None:
        raise AssertionError("a text was opened")

    with monkeypatch.context() as patched:
        patched.setattr(DataKey, "open_text", refused)
        for tried in (
            lambda: opened(made, "no such"),
            lambda: opened(made, identity=stranger),
            _no_purpose(made),
            lambda: opened(Vault(tmp_path / "pulled", made.memory, made.clock)),
        ):
            with pytest.raises(VaultError):
                tried()
        patched.setattr("harness.vault.folder.os.fsync", _full)
        with pytest.raises(UsageError):
            opened(made)
    assert made.read().lines == lines
    log = made.folder / LOG
    log.write_bytes(log.read_bytes().replace(b"founded", b"fuonded", 1))
    with pytest.raises(VaultError, match=LOG):
        opened(made)


@pytest.mark.parametrize(
    "rest",
    [
        '{"id": 1}',
        '{"place": 99, "id": 1}',
        '{"place": 3, "id": 1}',
        f'{{"place": 0, "id": {{"{CANARY}": 1}}}}',
        f"{CANARY}",
        f'["{CANARY}"]',
    ],
)
def test_what_a_keeper_sealed_that_is_no_entry_is_refused_without_its_words(
    tmp_path: Path, rest: str
) -> None:
    made, _ = kept(tmp_path)
    use = unsealed(made, "words")
    first, *others = sorted(use.entries, key=lambda each: "place" in each.rest.reveal())
    wrong = replace(use, entries=(replace(first, rest=SecretText(rest)), *others))
    if '"place": 3' in rest:  # the place of another one
        third = next(e for e in use.entries if '"place": 3' in e.rest.reveal())
        first = next(e for e in use.entries if e is not third)
        others = [e for e in use.entries if e is not first]
        wrong = replace(use, entries=(replace(first, rest=SecretText(rest)), *others))
    with pytest.raises(VaultError) as refused:
        corpus_of(wrong)
    assert refused.value.problem is FileProblem.DAMAGED
    assert CANARY not in "".join(traceback.format_exception(refused.value))


def test_the_door_asks_for_keys_and_takes_nothing_that_says_how_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    made, _ = kept(tmp_path)
    wanted = VaultRequest(made.folder, "an estimate", work="estimate")
    with pytest.raises(VaultError, match="no keeper's keys"):
        keeper_here(tmp_path / "home", None)
    with pytest.raises(UsageError, match="says itself"):
        api.open_corpus(api.CorpusRequest("words", id="x", vault=wanted))
    key = tmp_path / "recovery-key.txt"
    key.write_text(RECOVERY.text(), "utf-8")
    found = api.open_corpus(api.CorpusRequest("words", vault=replace(wanted, key=key)))
    assert found.dataset.name == "words 3"
    assert made.read().lines[-1].record.by == keeper_of(RECOVERY, "x").signing_key
    assert readable(tmp_path / "home") == readable(made.folder) == []
