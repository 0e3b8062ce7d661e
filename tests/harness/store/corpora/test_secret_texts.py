"""A text that is known as secret is recognised when it comes back as an open one."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from hashlib import blake2b, sha256
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.text.comparison import normalised
from harness.core.failures import StoreError, UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.deletion import erase
from harness.store.file.database import open_store
from harness.store.file.sealing import DIGEST_KEY as FILE
from harness.store.runs import find_run
from tests.harness.evaluation import LANGUAGES, begun, corpus_of, query, run_corpus

PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES))
SOURCES = ["The elders met at the lake.", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ", "?!"]


def made(sources: list[str], segment: str | None, **more: str) -> Corpus:
    rows = [
        {"id": f"e{n}", "source": source, "reference": f"r{n}", "segment": segment, **more}
        for n, source in enumerate(sources)
    ]
    return corpus_of([Entry.model_validate(row) for row in rows])


@pytest.fixture
def secret(store_path: Path) -> Path:
    run_corpus(store_path, made(SOURCES, "held_out"), PLAN)
    return store_path


@pytest.mark.parametrize("segment", ["development", "diagnostic", None])
@pytest.mark.parametrize(
    "again",
    [*SOURCES, "the ELDERS  met, at the lake", "Ｔhe elders met at the lake!", " ᓂᐚᐸᒫᐤ\tᐊᑎᒼ "],
)
def test_it_is_refused_under_another_segment_and_name(
    secret: Path, segment: str | None, again: str
) -> None:
    with pytest.raises(
        UsageError, match=r"1 entry here has .*known here as secret, in .*: e1"
    ) as caught:
        begun(secret, made(["Something else.", again], segment), PLAN)
    assert again not in str(caught.value)
    ((run,),) = query(secret, "SELECT substr(run_id, 1, 8) FROM runs")
    assert f"(run {run})" in str(caught.value)
    assert str(caught.value).endswith(f"rosetta runs delete --now {run}")
    assert query(secret, "SELECT count(*) FROM runs") == [(1,)]


@pytest.mark.parametrize("segment", ["held_out", "gold_standard"])
def test_as_a_secret_one_it_may_come_back(secret: Path, segment: str) -> None:
    begun(secret, made(SOURCES, segment, notes="x"), PLAN)


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


def test_a_lost_key_is_made_anew_from_the_texts_that_are_here(secret: Path) -> None:
    before = query(secret, "SELECT digest FROM secret_texts")
    (secret.parent / FILE).unlink()
    with pytest.raises(UsageError, match="3 entries here"):
        begun(secret, made(SOURCES, "development"), PLAN)
    assert not {*before} & {*query(secret, "SELECT digest FROM secret_texts")}


def test_texts_that_an_older_version_stored_are_known(secret: Path) -> None:
    with closing(open_store(secret)) as store:
        store.execute("DELETE FROM secret_texts")
    with pytest.raises(UsageError, match="3 entries here"):
        begun(secret, made(SOURCES, "development"), PLAN)


def test_a_damaged_key_is_said(secret: Path) -> None:
    (secret.parent / FILE).write_bytes(b"short")
    with pytest.raises(StoreError, match="damaged"):
        begun(secret, made(["Something else."], "development"), PLAN)


def test_ordinary_corpora_make_no_key(store_path: Path) -> None:
    run_corpus(store_path, made(SOURCES, "development"), PLAN)
    assert not (store_path.parent / FILE).exists()


def test_nothing_of_the_text_is_said_in_json_either(secret: Path) -> None:
    with pytest.raises(UsageError) as caught:
        begun(secret, made(SOURCES, None), PLAN)
    assert not any(source[:5] in json.dumps(str(caught.value)) for source in SOURCES[:2])
