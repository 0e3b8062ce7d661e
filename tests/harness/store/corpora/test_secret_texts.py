"""A text that is known as secret is recognised when it comes back as an open one."""

from __future__ import annotations

import json
import shutil
import stat
from contextlib import closing
from hashlib import blake2b, sha256
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.text.comparison import normalised
from harness.core.failures import StoreError, UsageError
from harness.store.deletion import erase
from harness.store.file.database import open_store
from harness.store.file.sealing import DIGEST_KEY as FILE
from harness.store.file.sealing import forget_keys
from harness.store.runs import find_run
from tests.harness.evaluation import begun, corpus_of, query, run_corpus
from tests.harness.run.breaking_plan import CHEAP as PLAN

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
