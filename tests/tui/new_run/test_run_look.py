"""What is found out about a draft, without a screen: its faults, its fields, the models of an endpoint."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness import privacy
from harness.core.failures import UsageError
from harness.endpoint.endpoints import MOST_BYTES, list_models
from rosetta_tui.commands.run import run as run_command
from rosetta_tui.new_run.preview import beside, in_a_line, measured
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.request.fields import FIELDS, drafted
from rosetta_tui.request.look import Known, look
from rosetta_tui.request.suggesting import corpora, vaults
from tests.harness.scripted import Answer, serving
from tests.harness.vault.grants.made import founded
from tests.harness.vault.made import filled
from tests.tui.new_run.form import CHAT, CORPUS, path

__all__ = ["path"]

NOBODY_LISTENS = privacy.nobody_listens


def test_every_option_of_the_command_is_a_field_of_the_form() -> None:
    asked_in_the_app_at_the_end = {"keep_failed"}
    written_in_the_app_at_any_time = {"tags", "note"}
    typed_at_the_terminal = {"cards", "submit"}
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
    found = look(path, RunDraft.of({**given, "entries": ""}), Known())
    assert found.troubles == ()
    said = beside(draft, found, None).plain
    assert "POST http://127.0.0.1:9/v1/chat/completions" in said
    assert "more characters" in said, "the command line is cut"


def test_a_corpus_without_a_version_is_called_by_its_id_alone(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("source\treference\nYes.\tJes.\n", "utf-8")
    draft = RunDraft.of({"file": str(file), "source_language": "en", "target_language": "eo"})
    found = look(path, draft, Known()).corpus
    assert found is not None
    assert found.title == "mine · en → eo"


@pytest.mark.parametrize(("task", "brings"), [("qa", True), ("qa", False), ("", True)])
def test_outputs_are_asked_if_missing(path: Path, tmp_path: Path, task: str, brings: bool) -> None:
    file = tmp_path / "mine.jsonl"
    answer = ', "predicted": "Anna"' if brings else ""
    file.write_text(f'{{"id": 1, "source": "Who?", "reference": "Anna"{answer}}}', "utf-8")
    tags = {"source_language": "en", "target_language": "eo", "task": task}
    draft = {"file": str(file), "method": "replay", **tags}
    found = look(path, RunDraft.of(draft), Known())
    assert [each.field for each in found.troubles] == ([] if brings else ["outputs"])
    assert look(path, RunDraft.of(draft | {"task": "q"}), Known()).troubles[0].field == "task"


def test_a_vault_is_not_opened_for_a_look(path: Path, tmp_path: Path) -> None:
    made = filled(tmp_path)
    lines, whole = made.read().lines, {"file": "greetings", "vault": str(made.folder)}
    whole |= {"method": "copy-source", "purpose": "the spring run"}
    found = look(path, RunDraft.of(whole), Known())
    assert found.corpus is not None
    assert (found.troubles, found.read, found.corpus.title) == ((), None, "greetings · sealed")
    assert (found.corpus.entries, found.corpus.segments) == (
        8,
        {"development": 2, "gold_standard": 4},
    )
    said = beside(RunDraft.of(whole), found, None).plain
    assert "once the vault is open" in said
    assert "its log keeps every opening" in said
    for changed, field, words in (
        ({"purpose": ""}, "purpose", "This is needed."),
        ({"file": "songs"}, "file", "There are: greetings"),
        ({"vault": str(tmp_path / "pulled")}, "vault", "no vault"),
    ):
        found = look(path, RunDraft.of(whole | changed), Known())
        assert (found.troubles[0].field, words in found.troubles[0].words) == (field, True), changed
    assert made.read().lines == lines
    assert vaults(path.parent).keys() == {str(made.folder)}
    offered = corpora(path, lambda: str(made.folder))
    assert [each.value for each in offered("")] == ["greetings"]
    assert drafted(whole | {"vault": ""}).values.keys() == {"file", "method"}


def test_a_vault_of_several_asks_for_their_grant(path: Path, tmp_path: Path) -> None:
    made = founded(tmp_path)
    lines, whole = made.read().lines, {"file": "greetings", "vault": str(made.folder)}
    whole |= {"method": "constant", "text": "Jes.", "purpose": "the spring run"}
    [trouble] = look(path, RunDraft.of(whole), Known()).troubles
    asked = f"rosetta vault grant request {made.folder} greetings NAME.rosetta-request --purpose 'the spring run' --method constant --text Jes."
    assert (trouble.field, asked in trouble.words) == ("grant", True), trouble
    for filled_in in ({"grant": "spring.rosetta-request"}, {"others": ("school.key",)}):
        assert look(path, RunDraft.of(whole | filled_in), Known()).troubles == ()
    assert "purpose" not in drafted(whole | {"grant": "spring.rosetta-request"}).values
    assert made.read().lines == lines
    (alone := tmp_path / "alone").mkdir()
    given = whole | {"vault": str(filled(alone).folder), "grant": "spring.rosetta-request"}
    assert look(path, RunDraft.of(given), Known()).troubles == ()


def test_of_a_whole_form_nobody_is_told_to_fill_in_more(path: Path, tmp_path: Path) -> None:
    """The code of a plug-in is not loaded for a look, so no estimate will ever come."""
    (tmp_path / "mine.py").write_text("class Mine: ...\n", "utf-8")
    for method, whole in ((f"{tmp_path / 'mine.py'}:Mine", True), ("", False)):
        draft = RunDraft.of({"file": CORPUS, "method": method})
        found = look(path, draft, Known())
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
        ({"segment": ("held_out",)}, "segment", "No entry is left"),
        ({"file": "/nowhere.json"}, "file", "cannot be read"),
        ({"file": "store:00000000"}, "file", "no such corpus"),
        ({"method": "chatt"}, "method", "no such method"),
        ({"method": "/nowhere.py:Mine"}, "method", "no file /nowhere.py"),
        ({"prices": "/nowhere.toml"}, "prices", "cannot be read"),
        ({"endpoint": "openai"}, "endpoint", "openai needs a key"),
        ({"method": "pipeline", "tools": ("lookup",)}, "tools", "needs a dictionary"),
        ({"method": "pipeline", "checks": ("glossary",)}, "checks", "cannot be made"),
        (
            {"endpoint": "https://a.example.org", "budget": "1"},
            "budget",
            "price of this model is unknown",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_value_is_said_of_its_field(path: Path, given: Any, field: str, words: str) -> None:
    found = look(path, RunDraft.of(CHAT | given), Known())
    [trouble] = found.troubles
    assert trouble.field == field
    assert words in trouble.words
    assert not trouble.missing


def test_models_are_listed_by_servers_of_this_machine_alone() -> None:
    for url in ("https://llm.example.org/v1", "openai", "http://127.0.0.1:1/v1"):
        with pytest.raises(UsageError, match=r"not on this machine|does not answer"):
            list_models(url)
    for body in (b"", b"[]", b'{"data": 3}', b"[" * 99_999, b"x" * (MOST_BYTES + 1)):
        with serving(lambda _, body=body: Answer(body=body)) as server, pytest.raises(UsageError, match="model"):  # type: ignore[misc]  # fmt: skip
            list_models(server.url)


def test_corpus_saved_meanwhile_is_measured_as_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    shutil.copy(sample_path(DEMO_CORPUS), file)
    known = Known()
    draft = RunDraft.of({"file": str(file), "method": "copy-source"})
    found = look(tmp_path / "s.sqlite", draft, known)
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
    troubles = look(store, RunDraft.of(draft), Known()).troubles
    assert {each.field for each in troubles} == {"source_language", "target_language"}
    assert all("--" not in each.words for each in troubles)
    languages = {"source_language": "en", "target_language": "no tag"}
    [trouble] = look(store, RunDraft.of(draft | languages), Known()).troubles
    assert trouble.field == "target_language"
    languages["target_language"] = "eo"
    assert not look(store, RunDraft.of(draft | languages), Known()).troubles


def test_fault_of_a_file_is_said_with_its_place_and_of_the_store_too(tmp_path: Path) -> None:
    file, store = tmp_path / "c.tsv", tmp_path / "s.sqlite"
    head = "# source_language: en\n# target_language: eo\n"
    file.write_text(f"{head}id\tsource\treference\n1\tHello\tSaluton\n2\tYes\t\n", "utf-8")
    draft = RunDraft.of({"file": str(file), "method": "copy-source"})
    [trouble] = look(store, draft, Known()).troubles
    assert trouble.field == "file"
    assert trouble.words.startswith("Line 5, entry 2, field reference: It is missing.")
    store.write_bytes(b"no database at all" * 500)
    draft = RunDraft.of({"file": CORPUS, "method": "copy-source"})
    [trouble] = look(store, draft, Known()).troubles
    assert "no store at all" in trouble.words


def test_dead_port_is_told_beforehand(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rosetta_tui.request.look.nobody_listens", NOBODY_LISTENS)
    with serving() as scripted:
        draft = RunDraft.of(CHAT | {"endpoint": scripted.url})
        here = look(path, draft, known := Known())
        assert here.key == "on this machine, no key needed"
        assert scripted.asked == [], "nothing is sent for it"
    gone = look(path, draft, known)
    assert gone.key == "on this machine, no key needed · nothing listens there now"
    assert not gone.troubles, "it may be started before the run begins"
    for url in ("https://nobody.invalid/v1", "http://127.0.0.1:99999/v1", "localhost"):
        assert not NOBODY_LISTENS(url)
