"""A draft and a command line are one thing: what goes in one way comes out the other way the same."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta_tui.commands.run import run
from rosetta_tui.request.draft import NAME, YES, RunDraft, forget_draft, keep_draft, kept_draft
from rosetta_tui.request.draft_of_run import draft_of, plan_values
from rosetta_tui.request.options import make_plan
from rosetta_tui.show.clipboard import command_line
from tests.harness.evaluation import corpus, corpus_of, run_corpus
from tests.review.thorough import examples
from tests.tui.scenes import HOSTILE

TEXT = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12
)
PATHS = TEXT.map(lambda text: Path("/data") / text.replace("/", "_"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**50), 2**50) | TEXT, st.lists, max_leaves=4
)
NAMES = TEXT.filter(lambda text: "=" not in text)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


METHOD_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "model": TEXT, "endpoint": TEXT, "temperature": st.none() | st.floats(0, 2),
        "max_tokens": st.integers(1, 10**6), "prompt": TEXT, "coaching": PATHS,
        "body": st.dictionaries(NAMES, JSON, max_size=2), "settings": st.dictionaries(NAMES, JSON, max_size=2),
        "batch_size": st.integers(1, 500), "max_retries": st.integers(0, 20),
        "checks": st.lists(TEXT, max_size=3), "tools": st.lists(TEXT, max_size=2), "glossary": PATHS,
        "word_list": PATHS, "outputs": PATHS, "translator": TEXT, "text": TEXT, "region": TEXT, "prices": PATHS,
        "source_name": TEXT, "target_name": TEXT, "condition": TEXT, "replicate": st.integers(0, 99),
    },
)  # fmt: skip
RUN_OPTIONS = st.builds(
    RunOptions, concurrency=st.integers(1, 1024), budget_usd=maybe(st.floats(1e-6, 1e6)),
    timeout_seconds=st.floats(1e-3, 1e5), most_attempts=st.integers(1, 100), use_cache=st.booleans(),
    offline=st.booleans(),
)  # fmt: skip
SCORING = st.builds(
    ScoringOptions,
    metrics=st.sampled_from([("rosetta",), ("bleu", "ter"), ("chrf_plus_plus", "au.bertscore")]),
    terms=maybe(PATHS),
    language_card=maybe(PATHS),
    gloss_dictionary=maybe(PATHS),
    embeddings=maybe(TEXT.map(lambda text: f"no folder {text}")),
    embeddings_model=maybe(TEXT),
    comet=maybe(PATHS),
    bertscore=maybe(PATHS),
    multi_ref=st.booleans(),
).map(lambda made: made if made.unread is None else made.model_copy(update={made.unread: None}))


@given(
    st.sampled_from(["chat", "pipeline", "copy-source", "my/plug in.py:Mine", "-odd"]),
    METHOD_OPTIONS, RUN_OPTIONS, SCORING, maybe(PATHS),
)  # fmt: skip
@examples(20, 100)
def test_plan_becomes_a_draft_a_command_line_and_the_same_plan(
    method: str, told: Any, run_options: RunOptions, scoring: ScoringOptions, analyser: Any
) -> None:
    given_corpus = corpus(2)
    languages = {"source_language": "en", "target_language": "eo"}
    own = {"analyser": analyser} if method == "pipeline" else {}
    plan = Plan(
        method=method,
        options=MethodOptions.model_validate(told | languages | own),
        run=run_options,
        scoring=scoring.model_copy(update={"analyser": analyser}),
    )
    draft = RunDraft.of({"file": "c.json", **plan_values(plan)})
    assert draft.plan(given_corpus) == plan
    parsed = run.make_context("run", draft.arguments()).params
    assert make_plan(given_corpus, parsed) == plan


@given(st.lists(TEXT | st.just(""), min_size=1, max_size=6))
@examples(5, 30)
def test_a_shell_reads_the_words_back(words: list[str]) -> None:
    assert read_by_bash(words) == words


def test_hostile_names_do_nothing_in_a_shell_or_a_terminal() -> None:
    words = [
        *(each.replace("\0", "") for each in HOSTILE),
        "$(touch /x)",
        "`id`",
        "a b",
        "",
        "'",
        "\udcff",
    ]
    line = command_line(words)
    assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in line)
    assert "\u202e" not in line
    assert line.encode()
    assert read_by_bash(words) == words


def read_by_bash(words: list[str]) -> list[str]:
    said = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command_line(words)}"], capture_output=True, check=True
    ).stdout
    return said.decode("utf-8", "surrogateescape").split("\0")[:-1]


def test_a_file_whose_name_looks_like_an_option_stays_a_file() -> None:
    draft = RunDraft.of(
        {"file": "--offline", "method": "chat", "text": "-x", "model": "--json-lines"}
    )
    given_ = draft.given()
    assert str(given_["file"]) == "--offline"
    assert (given_["offline"], given_["text"], given_["model"]) == (False, "-x", "--json-lines")
    assert "style" not in given_  # how a run is shown is the command's own


def test_what_the_command_line_says() -> None:
    draft = RunDraft.of(
        {"file": "my corpus.json", "method": "chat", "segment": ("diagnostic",), "budget": "0.5",
         "offline": YES, "model": ""}
    )  # fmt: skip
    assert draft.command() == (
        "rosetta run 'my corpus.json' --segment diagnostic --method chat --budget 0.5 --offline"
    )


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (range(10), {}),
        (range(4), {"limit": "4"}),
        ([0, 5], {"difficulty": ("1",)}),
        ([1, 2, 7], {"entries": "1,2,7"}),
    ],
    ids=["all", "first", "tier", "ids"],
)
def test_draft_of_a_run_asks_the_same(tmp_path: Path, places: Any, said: dict[str, Any]) -> None:
    path, made = tmp_path / "s.sqlite", corpus(10)
    plan = Plan(
        method="constant",
        options=MethodOptions(source_language="en", target_language="eo", text="Jes, -- 'tre'."),
        run=RunOptions(concurrency=3),
    )
    run_corpus(path, made, plan, positions=list(places))
    with closing(open_store(path)) as connection:
        first = find_run(connection, "last")
        draft = draft_of(first, connection)
    assert {name: draft.values[name] for name in said} == said
    found = draft.corpus(path)
    assert found.sha256 == made.sha256
    assert found.entries == made.entries
    assert draft.positions(found) == first.positions
    again = draft.plan(found)
    assert again == Plan.model_validate(first.plan).model_copy(update={"corpus_files": ()})


def test_a_corpus_read_in_two_ways_is_told_apart(tmp_path: Path) -> None:
    path, made = tmp_path / "s.sqlite", corpus(3)
    other = type(made)(
        made.dataset.model_copy(update={"target_language": "fr"}),
        made.entries,
        made.sha256,
        made.form,
    )
    for each, tag in ((made, "eo"), (other, "fr")):
        options = MethodOptions(source_language="en", target_language=tag)
        run_corpus(path, each, Plan(method="copy-source", options=options))
    with closing(open_store(path)) as connection:
        draft = draft_of(find_run(connection, "last"), connection)
    assert draft.corpus(path).dataset.target_language == "fr"
    assert draft.get("target_language") == "fr"


def test_ids_that_no_command_line_can_list_are_refused_in_words(tmp_path: Path) -> None:
    entries = [Entry(id=f"a,{n}", source=f"s {n}", reference=f"r {n}") for n in range(4)]
    path = tmp_path / "s.sqlite"
    options = MethodOptions(source_language="en", target_language="eo")
    run_corpus(
        path, corpus_of(entries), Plan(method="copy-source", options=options), positions=[1, 3]
    )
    with closing(open_store(path)) as connection, pytest.raises(UsageError, match="hold commas"):
        draft_of(find_run(connection, "last"), connection)


def test_corpus_the_store_does_not_have_is_said_to_be_missing(tmp_path: Path) -> None:
    for name in ("store:", "store:zz", "store:0123456789", "store:../../x"):
        draft = RunDraft.of({"file": name, "method": "copy-source"})
        with pytest.raises(UsageError, match="store"):
            draft.corpus(tmp_path / "s.sqlite")


def test_a_draft_is_kept_privately_read_back_and_forgotten(tmp_path: Path) -> None:
    draft = RunDraft.of({"file": "/data/c\udcff.json", "checks": ("a", "b"), "model": HOSTILE[0]})
    keep_draft(tmp_path, draft)
    assert kept_draft(tmp_path) == draft
    assert json.loads((tmp_path / NAME).read_bytes())["values"]["checks"] == ["a", "b"]
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0
    forget_draft(tmp_path)
    forget_draft(tmp_path)
    assert kept_draft(tmp_path) is None


def test_damaged_draft_is_none(tmp_path: Path) -> None:
    nested = (b'{"values": 3}', b'{"values": {"a": {"b": 1}}}', b"[" * 100_000)
    for content in (b"", b"[]", b"\xff", b"{}", *nested):
        (tmp_path / NAME).write_bytes(content)
        assert kept_draft(tmp_path) is None
