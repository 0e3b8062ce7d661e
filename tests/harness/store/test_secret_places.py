"""Of secret entries the store holds what runs use, nothing after them, and knows their texts when they come back as open ones."""

from __future__ import annotations

import json
import shutil
import stat
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b, sha256
from pathlib import Path

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.text.comparison import normalised
from harness.core.failures import StoreError, UsageError
from harness.store.corpora.entries import read_entries, save_corpus
from harness.store.corpora.listing import list_corpora, read_stored, stored_name
from harness.store.deletion import bring_back, erase, trash
from harness.store.file.database import open_store
from harness.store.file.sealing import DIGEST_KEY as FILE
from harness.store.file.sealing import forget_keys
from harness.store.file.transaction import transaction
from harness.store.runs import find_run
from tests.harness.evaluation import LANGUAGES, begun, corpus_of, kept, query, resume, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN

OPEN = range(6)
SECRET = range(6, 9)
CANARY = "kanario"


def mixed() -> Corpus:
    made = [
        {"id": n, "source": f"open {n}", "reference": f"malferma {n}", "segment": "development"}
        for n in OPEN
    ]
    made += [
        {"id": f"{CANARY}-{n}", "source": f"{CANARY} source {n}", "segment": "held_out",
         "reference": f"{CANARY} reference {n}", "variants": [f"{CANARY} variant {n}"],
         "notes": f"{CANARY} note", "provenance": CANARY, "register": CANARY}
        for n in SECRET
    ]  # fmt: skip
    return corpus_of([Entry.model_validate(fields) for fields in made])


def canaries(path: Path) -> int:
    """Count the canaries in all files of the data folder."""
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    assert path in files
    return sum(each.read_bytes().count(CANARY.encode()) for each in files)


def test_run_over_open_entries_stores_no_secret_one(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    assert canaries(store_path) == 0
    with closing(open_store(store_path)) as store:
        assert list_corpora(store)[0].segments == {"development": 6, "held_out": 3}
        entries = read_entries(store, 1)
        assert [entries[place].source for place in OPEN] == [f"open {n}" for n in OPEN]
        assert all(entries[place].not_stored and entries[place].secret for place in SECRET)


def test_later_run_fills_the_places_of_what_it_uses(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    run_corpus(store_path, mixed(), PLAN, positions=SECRET[:1])
    with closing(open_store(store_path)) as store:
        assert find_run(store, "last").corpus == 1
        entries = read_entries(store, 1)
    assert [entries[place].not_stored for place in SECRET] == [False, True, True]
    assert (entries[6].source, entries[6].variants) == (
        f"{CANARY} source 6",
        (f"{CANARY} variant 6",),
    )
    run_corpus(store_path, mixed(), PLAN)
    with closing(open_store(store_path)) as store:
        for remain in (True, False):  # erased with the last run that uses them
            erase(store, find_run(store, "last"))
            assert bool(canaries(store_path)) is remain
        entries = read_entries(store, find_run(store, "last").corpus)
        assert [entries[place].source for place in OPEN] == [f"open {n}" for n in OPEN]


def test_trash_erases_what_an_older_version_stored(store_path: Path) -> None:
    number, _ = begun(store_path, mixed(), PLAN, positions=OPEN)
    with closing(open_store(store_path)) as store:
        with transaction(store):  # as older versions did: every entry of the file
            assert save_corpus(store, mixed()) == 1
        assert canaries(store_path) > 0
        trash(store, number)
        assert canaries(store_path) == 0
        bring_back(store, number)
    resume(store_path)
    assert len(kept(store_path).results) == len(OPEN)


def test_corpus_kept_by_its_terms_is_erased_alike(store_path: Path, tmp_path: Path) -> None:
    whole = {
        "dataset": {"id": "made", **LANGUAGES, "transmission": "local-only"},
        "entries": [{"id": n, "source": f"{CANARY} {n}", "reference": "r"} for n in range(4)],
    }
    file = tmp_path / "elsewhere.json"
    file.write_text(json.dumps(whole))
    run_corpus(store_path, load(file), PLAN, positions=[2])
    with closing(open_store(store_path)) as store:
        entries = read_entries(store, 1)
        assert [each.not_stored for each in entries.values()] == [True, True, False, True]
        assert all(each.secret for each in entries.values())
        with pytest.raises(UsageError, match="delete --now"):
            trash(store, find_run(store, "last").id)
        erase(store, find_run(store, "last"))
    file.unlink()
    assert canaries(store_path) == 0


def test_a_stored_corpus_says_what_it_does_not_hold(store_path: Path) -> None:
    run_corpus(store_path, mixed(), PLAN, positions=OPEN)
    with closing(open_store(store_path)) as store:
        stored = read_stored(store, stored_name(mixed()), {})
    assert stored.warnings == ()
    run_corpus(store_path, stored, PLAN, positions=OPEN)
    with pytest.raises(UsageError, match="does not hold 3 of these entries"):
        begun(store_path, stored, PLAN)


def test_outputs_for_all_entries_fit_a_resumed_run(store_path: Path, tmp_path: Path) -> None:
    given = mixed()
    outputs = tmp_path / "outputs.jsonl"
    rows = [{"id": each.id, "output": f"of {each.id}"} for each in given.entries]
    outputs.write_text("\n".join(map(json.dumps, rows)))
    told = PLAN.options.model_copy(update={"outputs": outputs})
    plan = PLAN.model_copy(update={"method": "replay", "options": told})
    begun(store_path, given, plan, positions=OPEN)
    resume(store_path)
    assert [each.output for each in kept(store_path).results] == [f"of {n}" for n in OPEN]


def test_unknown_marks_are_refused_when_a_run_begins(store_path: Path) -> None:
    old = Entry.model_validate({"id": 1, "source": "a", "reference": "b", "Segment": "held_out"})
    with pytest.raises(UsageError, match="Segment"):
        begun(store_path, corpus_of([old]), PLAN)
    strange = replace(
        mixed(), dataset=mixed().dataset.model_copy(update={"transmission": "council"})
    )
    with pytest.raises(UsageError, match="transmission"):
        begun(store_path, strange, PLAN, positions=OPEN)


SOURCES = ["The elders met at the lake.", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ", "?!"]


def made(sources: list[str], segment: str | None, **more: str) -> Corpus:
    rows = [
        {"id": f"e{n}", "source": source, "reference": f"r{n}", "segment": segment, **more}
        for n, source in enumerate(sources)
    ]
    return corpus_of([Entry.model_validate(row) for row in rows])


@pytest.fixture(scope="module")
def kept_secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("secret") / "data" / "rosetta.sqlite"
    run_corpus(path, made(SOURCES, "held_out"), PLAN)
    return path


@pytest.fixture
def secret(kept_secret: Path, store_path: Path) -> Path:
    shutil.copytree(kept_secret.parent, store_path.parent)
    forget_keys()
    return store_path


def test_secret_text_is_refused_as_an_open_one(secret: Path) -> None:
    ((run,),) = query(secret, "SELECT substr(run_id, 1, 8) FROM runs")
    changed = ("the ELDERS  met, at the lake", "Ｔhe elders met at the lake!", " ᓂᐚᐸᒫᐤ\tᐊᑎᒼ ")
    for n, text in enumerate([*SOURCES, *changed]):
        given = made(["Something else.", text], ("development", "diagnostic", None)[n % 3])
        with pytest.raises(
            UsageError, match=r"1 entry here has .*known here as secret, in .*: e1"
        ) as caught:
            begun(secret, given, PLAN)
        said = str(caught.value)
        assert text not in said
        assert json.dumps(text)[1:6] not in json.dumps(said)
        assert f"(run {run})" in said
        assert said.endswith(f"rosetta runs delete --now {run}")
    assert query(secret, "SELECT count(*) FROM runs") == [(1,)]
    for segment in ("held_out", "gold_standard"):  # as a secret one it may come back
        begun(secret, made(SOURCES, segment, notes=segment), PLAN)


def test_what_the_store_does_not_hold_is_known_too(store_path: Path) -> None:
    open_ones = made(["A", "B"], "development").entries
    hidden = made(SOURCES, "held_out").entries
    renamed = [each.model_copy(update={"id": f"h{n}"}) for n, each in enumerate(hidden)]
    run_corpus(store_path, corpus_of([*open_ones, *renamed]), PLAN, positions=[0, 1])
    with pytest.raises(UsageError, match="3 entries here"):
        begun(store_path, made(SOURCES, "development"), PLAN)


def test_digests_confirm_no_guess_without_the_key(secret: Path) -> None:
    key = secret.parent / FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    kept = {row[0] for row in query(secret, "SELECT digest FROM secret_texts")}
    assert len(kept) == len(SOURCES)
    for source in SOURCES:
        for text in (source, normalised(source)):
            data = text.encode()
            assert not {sha256(data).digest()[:16], blake2b(data, digest_size=16).digest()} & kept


def test_they_go_with_the_last_run_over_their_file(secret: Path) -> None:
    with closing(open_store(secret)) as store:
        erase(store, find_run(store, "last"))
    assert query(secret, "SELECT count(*) FROM secret_texts") == [(0,)]
    begun(secret, made(SOURCES, "development"), PLAN)


def test_lost_key_or_digests_are_made_anew(secret: Path) -> None:
    before = query(secret, "SELECT digest FROM secret_texts")
    (secret.parent / FILE).unlink()
    with pytest.raises(UsageError, match="3 entries here"):
        begun(secret, made(SOURCES, "development"), PLAN)
    assert not {*before} & {*query(secret, "SELECT digest FROM secret_texts")}
    query(secret, "DELETE FROM secret_texts")  # as an older version left it
    with pytest.raises(UsageError, match="3 entries here"):
        begun(secret, made(SOURCES, "development"), PLAN)
    (secret.parent / FILE).write_bytes(b"short")
    forget_keys()
    with pytest.raises(StoreError, match="damaged"):
        begun(secret, made(["Something else."], "development"), PLAN)


def test_ordinary_corpora_make_no_key(store_path: Path) -> None:
    run_corpus(store_path, made(SOURCES, "development"), PLAN)
    assert not (store_path.parent / FILE).exists()
