"""What is found out about a draft, without a screen: its faults, its fields, the models of an endpoint."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, sample_path
from harness import privacy
from harness.core.failures import UsageError
from harness.endpoint.endpoints import MOST_BYTES, list_models
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands.run import run as run_command
from rosetta_tui.new_run.form import (
    _budget_words,  # as its line says it
    beside,
    in_a_line,
    measured,
)
from rosetta_tui.request.draft import NAME, YES, RunDraft, forget_draft, keep_draft, kept_draft
from rosetta_tui.request.draft_of_run import draft_of, plan_values
from rosetta_tui.request.fields import FIELDS, drafted
from rosetta_tui.request.look import FormCache, examine_draft
from rosetta_tui.request.options import make_plan
from rosetta_tui.request.suggesting import corpora, vaults
from rosetta_tui.show.clipboard import command_line
from tests.harness.evaluation import corpus, corpus_of, run_corpus
from tests.harness.scripted import Answer, serving
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import founded
from tests.harness.vault.made import filled
from tests.review.thorough import examples
from tests.tui.new_run.form import CHAT, CORPUS, path
from tests.tui.scenes import HOSTILE

__all__ = ["path"]

NOBODY_LISTENS = privacy.nobody_listens


def test_every_option_of_the_command_is_a_field_of_the_form() -> None:
    asked_in_the_app_at_the_end = {"keep_failed"}
    written_in_the_app_at_any_time = {"tags", "note"}
    typed_at_the_terminal = {"submit", "confirm", "estimate", "as_json"}
    options = {parameter.name for parameter in run_command.params} - {"style"}
    options -= asked_in_the_app_at_the_end | written_in_the_app_at_any_time
    assert FIELDS.keys() == options - typed_at_the_terminal


def test_what_another_method_takes_is_kept_but_not_asked_for() -> None:
    both = {"file": "c", "method": "constant", "text": "Jes.", "endpoint": "ollama", "model": "m"}
    assert drafted(both).values == {"file": "c", "method": "constant", "text": "Jes."}
    assert drafted(both | {"method": "chat"}).values == {
        "file": "c", "method": "chat", "endpoint": "ollama", "model": "m"
    }  # fmt: skip


def test_settings_fill_in_what_is_left_open(path: Path) -> None:
    path.parent.mkdir(parents=True)
    settings = 'endpoint = "mine"\nmodel = "aya"\n[endpoints]\nmine = "http://127.0.0.1:9/v1"\n'
    (path.parent / "settings.toml").write_text(settings, "utf-8")
    given = {"file": CORPUS, "method": "chat", "entries": ",".join(map(str, range(3000)))}
    draft = RunDraft.of(given)
    found = examine_draft(path, RunDraft.of({**given, "entries": ""}), FormCache())
    assert found.troubles == ()
    said = beside(draft, found, None).plain
    assert "POST http://127.0.0.1:9/v1/chat/completions" in said
    assert "more characters" in said, "the command line is cut"


@pytest.mark.parametrize(("task", "brings"), [("qa", True), ("qa", False), ("", True)])
def test_outputs_are_asked_if_missing(path: Path, tmp_path: Path, task: str, brings: bool) -> None:
    file = tmp_path / "mine.jsonl"
    answer = ', "predicted": "Anna"' if brings else ""
    file.write_text(f'{{"id": 1, "source": "Who?", "reference": "Anna"{answer}}}', "utf-8")
    tags = {"source_language": "en", "target_language": "eo", "task": task}
    draft = {"file": str(file), "method": "replay", **tags}
    found = examine_draft(path, RunDraft.of(draft), FormCache())
    assert [each.field for each in found.troubles] == ([] if brings else ["outputs"])
    assert examine_draft(path, RunDraft.of(draft | {"task": "q"}), FormCache()).troubles[0].field == "task"


def test_a_vault_is_not_opened_for_a_look(path: Path, tmp_path: Path) -> None:
    made = filled(tmp_path)
    lines, whole = made.read().lines, {"file": "greetings", "vault": str(made.folder)}
    whole |= {"method": "copy-source", "purpose": "the spring run"}
    found = examine_draft(path, RunDraft.of(whole), FormCache())
    assert found.corpus is not None
    assert (found.troubles, found.read, found.corpus.title) == ((), None, "greetings · sealed")
    assert (found.corpus.entries, found.corpus.segments) == (8, {"development": 2, "gold_standard": 4})
    said = beside(RunDraft.of(whole), found, None).plain
    assert "once the vault is open" in said
    assert "its log keeps every opening" in said
    for changed, field, words in (
        ({"purpose": ""}, "purpose", "This is needed."),
        ({"file": "songs"}, "file", "There are: greetings"),
        ({"vault": str(tmp_path / "pulled")}, "vault", "no vault"),
    ):
        found = examine_draft(path, RunDraft.of(whole | changed), FormCache())
        assert (found.troubles[0].field, words in found.troubles[0].words) == (field, True), changed
    assert made.read().lines == lines
    assert vaults(path.parent).keys() == {str(made.folder)}
    offered = corpora(path, lambda: str(made.folder))
    assert [each.value for each in offered("")] == ["greetings"]
    assert drafted(whole | {"vault": ""}).values.keys() == {"file", "method"}


def test_a_vault_of_several_names_the_command_that_asks(path: Path, tmp_path: Path) -> None:
    made = founded(tmp_path)
    lines, whole = made.read().lines, {"file": "greetings", "vault": str(made.folder)}
    whole |= {"method": "constant", "text": "Jes.", "purpose": "the spring run"}
    [trouble] = examine_draft(path, RunDraft.of(whole), FormCache()).troubles
    asked = f"rosetta run greetings --vault {made.folder} --purpose 'the spring run' --method constant --text Jes."
    assert (trouble.field, asked in trouble.words) == ("others", True), trouble
    assert examine_draft(path, RunDraft.of(whole | {"others": ("school.key",)}), FormCache()).troubles == ()
    assert made.read().lines == lines


def test_of_a_whole_form_nobody_is_told_to_fill_in_more(path: Path, tmp_path: Path) -> None:
    """The code of a plug-in is not loaded for a look, so no estimate will ever come."""
    (tmp_path / "mine.py").write_text("class Mine: ...\n", "utf-8")
    for method, whole in ((f"{tmp_path / 'mine.py'}:Mine", True), ("", False)):
        draft = RunDraft.of({"file": CORPUS, "method": method})
        found = examine_draft(path, draft, FormCache())
        shown = in_a_line(found).plain, beside(draft, found, None).plain.partition("\n\n")[0]
        assert all(("when the form is whole" in each) is not whole for each in shown), shown
        assert all(("is seen in the run" in each) is whole for each in shown), shown


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"limit": "x"}, "limit", "A whole number of at least 1 is wanted."),
        ({"budget": "-1"}, "budget", "A number above 0 is wanted."),
        ({"concurrency": "2000"}, "concurrency", "A whole number from 1 to 1024 is wanted."),
        ({"temperature": "7"}, "temperature", "A number of at most 2 is wanted."),
        ({"endpoint": "nowhere"}, "endpoint", "is not known. Use one of openrouter"),
        ({"prompt": "plain-v9"}, "prompt", "neither a file nor a shipped version"),
        ({"coaching": "/nowhere/c.json"}, "coaching", "cannot be read"),
        ({"metrics": "beauty"}, "metrics", "there is no metric 'beauty'"),
        ({"body": ("model=3",)}, "body", "use its own option"),
        ({"body": ("=3",)}, "body", "takes NAME=JSON"),
        ({"entries": "no-such-id"}, "entries", "No entry has the id"),
        ({"segment": ("held_out",)}, "segment", "held_out are not used before"),
        ({"file": "/nowhere.json"}, "file", "cannot be read"),
        ({"file": "store:00000000"}, "file", "no such corpus"),
        ({"method": "chatt"}, "method", "no such method"),
        ({"method": "/nowhere.py:Mine"}, "method", "file /nowhere.py does not exist"),
        ({"prices": "/nowhere.toml"}, "prices", "cannot be read"),
        ({"endpoint": "openai"}, "endpoint", "openai needs a key"),
        ({"method": "pipeline", "tools": ("lookup",)}, "tools", "needs a dictionary"),
        ({"method": "pipeline", "checks": ("glossary",)}, "checks", "cannot be made"),
        ({"endpoint": "https://a.example.org", "budget": "1"}, "budget", "price of this model is unknown"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_value_is_said_of_its_field(path: Path, given: Any, field: str, words: str) -> None:
    found = examine_draft(path, RunDraft.of(CHAT | given), FormCache())
    [trouble] = found.troubles
    assert trouble.field == field
    assert words in trouble.words
    assert not trouble.missing


def test_models_are_listed_by_servers_of_this_machine_alone() -> None:
    for url in ("https://llm.example.org/v1", "openai", "http://127.0.0.1:1/v1"):
        refuses(UsageError, r"not on this machine|does not answer", list_models, url)
    for body in (b"", b"[]", b'{"data": 3}', b"[" * 99_999, b"x" * (MOST_BYTES + 1)):
        with serving(lambda _, body=body: Answer(body=body)) as server, pytest.raises(UsageError, match="model"):  # type: ignore[misc]  # fmt: skip
            list_models(server.url)


def test_corpus_saved_meanwhile_is_measured_as_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    shutil.copy(sample_path(DEMO_CORPUS), file)
    known = FormCache()
    draft = RunDraft.of({"file": str(file), "method": "copy-source"})
    found = examine_draft(tmp_path / "s.sqlite", draft, known)
    assert not found.troubles
    assert found.read is not None
    file.write_text("an editor is not done yet", "utf-8")
    on, _ = measured(tmp_path / "s.sqlite", draft, found.read, known)
    assert "chrf_plus_plus" in on
    assert measured(tmp_path / "s.sqlite", draft, found.read, known)[0] is on


def test_a_table_without_languages_asks_for_them_in_fields_of_the_form(tmp_path: Path) -> None:
    file, store = tmp_path / "c.tsv", tmp_path / "s.sqlite"
    file.write_text("id\tsource\treference\n1\tHello\tSaluton\n2\tYes\tJes\n", "utf-8")
    draft = {"file": str(file), "method": "copy-source"}
    troubles = examine_draft(store, RunDraft.of(draft), FormCache()).troubles
    assert {each.field for each in troubles} == {"source_language", "target_language"}
    assert all("--" not in each.words for each in troubles)
    languages = {"source_language": "en", "target_language": "no tag"}
    [trouble] = examine_draft(store, RunDraft.of(draft | languages), FormCache()).troubles
    assert trouble.field == "target_language"
    languages["target_language"] = "eo"
    assert not examine_draft(store, RunDraft.of(draft | languages), FormCache()).troubles


def test_fault_of_a_file_is_said_with_its_place_and_of_the_store_too(tmp_path: Path) -> None:
    file, store = tmp_path / "c.tsv", tmp_path / "s.sqlite"
    head = "# source_language: en\n# target_language: eo\n"
    file.write_text(f"{head}id\tsource\treference\n1\tHello\tSaluton\n2\tYes\t\n", "utf-8")
    draft = RunDraft.of({"file": str(file), "method": "copy-source"})
    [trouble] = examine_draft(store, draft, FormCache()).troubles
    assert trouble.field == "file"
    assert trouble.words.startswith("Line 5, entry 2, field reference: It is blank.")
    store.write_bytes(b"no database at all" * 500)
    draft = RunDraft.of({"file": CORPUS, "method": "copy-source"})
    [trouble] = examine_draft(store, draft, FormCache()).troubles
    assert "no store at all" in trouble.words


def test_budget_too_small_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    dear = CHAT | {"endpoint": "openai", "model": "gpt-4o"}
    for budget, words in (
        ("0.001", "! No call can go out. The next call could cost up to $0.02"),
        ("0.0225", "! The budget would stop the run early"), ("0.06", "! It may not last"), ("9", ""),
    ):  # fmt: skip
        found = examine_draft(path, RunDraft.of(dear | {"budget": budget}), FormCache())
        said = _budget_words(found, budget)
        assert said.startswith(words)
        assert bool(said) is bool(words)
        assert found.key == "key from OPENAI_API_KEY"


def test_dead_port_is_told_beforehand(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rosetta_tui.request.look.nobody_listens", NOBODY_LISTENS)
    with serving() as scripted:
        draft = RunDraft.of(CHAT | {"endpoint": scripted.url})
        here = examine_draft(path, draft, known := FormCache())
        assert here.key == "on this machine, no key needed"
        assert scripted.asked == [], "nothing is sent for it"
    gone = examine_draft(path, draft, known)
    assert gone.key == "on this machine, no key needed · nothing listens there now"
    assert not gone.troubles, "it may be started before the run begins"
    for url in ("https://nobody.invalid/v1", "http://127.0.0.1:99999/v1", "localhost"):
        assert not NOBODY_LISTENS(url)


# A draft and a command line are one thing: what goes in one way comes out the other way the same

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
PATHS = TEXT.map(lambda text: Path("/data") / text.replace("/", "_"))
JSON = st.recursive(st.none() | st.booleans() | st.integers(-(2**50), 2**50) | TEXT, st.lists, max_leaves=4)
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
    parsed = run_command.make_context("run", draft.arguments()).params
    assert make_plan(given_corpus, parsed) == plan


@given(st.lists(TEXT | st.just(""), min_size=1, max_size=6))
@examples(5, 30)
def test_a_shell_reads_the_words_back(words: list[str]) -> None:
    assert read_by_bash(words) == words


def test_hostile_names_do_nothing_in_a_shell_or_a_terminal() -> None:
    words = [
        *(each.replace("\0", "") for each in HOSTILE), "$(touch /x)", "`id`", "a b", "", "'",
        "\udcff",
    ]  # fmt: skip
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
    draft = RunDraft.of({"file": "--offline", "method": "chat", "text": "-x", "model": "--json-lines"})
    given_ = draft.given()
    assert str(given_["file"]) == "--offline"
    assert (given_["offline"], given_["text"], given_["model"]) == (False, "-x", "--json-lines")
    assert "style" not in given_  # how a run is shown is the command's own


def test_what_the_command_line_says() -> None:
    draft = RunDraft.of(
        {"file": "my corpus.json", "method": "chat", "segment": ("diagnostic",), "budget": "0.5",
         "offline": YES, "model": ""}
    )  # fmt: skip
    assert draft.command() == ("rosetta run 'my corpus.json' --segment diagnostic --method chat --budget 0.5 --offline")


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (range(10), {}), (range(4), {"limit": "4"}), ([0, 5], {"difficulty": ("1",)}),
        ([1, 2, 7], {"entries": "1,2,7"}),
    ],
    ids=["all", "first", "tier", "ids"],
)  # fmt: skip
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
    other = type(made)(made.dataset.model_copy(update={"target_language": "fr"}), made.entries, made.sha256, made.form)
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
    run_corpus(path, corpus_of(entries), Plan(method="copy-source", options=options), positions=[1, 3])
    with closing(open_store(path)) as connection, pytest.raises(UsageError, match="hold commas"):
        draft_of(find_run(connection, "last"), connection)


def test_corpus_the_store_does_not_have_is_said_to_be_missing(tmp_path: Path) -> None:
    for name in ("store:", "store:zz", "store:0123456789", "store:../../x"):
        draft = RunDraft.of({"file": name, "method": "copy-source"})
        refuses(UsageError, "store", draft.corpus, tmp_path / "s.sqlite")


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
