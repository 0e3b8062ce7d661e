"""Whether open texts are sent: every rule refuses with its term, its reason and the mend, before anything is sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from harness.api import ask, estimate
from harness.core.failures import UsageError
from harness.endpoint import offline
from harness.privacy import MayNotSend, NobodySaidWhetherToSend, make_method, require_sending
from harness.run.beginning import begin, resume_method
from harness.store.file.database import opened
from harness.store.runs import read_run
from tests.corpora.making import entry, json_file
from tests.harness.sealed.refusals import refuses

ELSEWHERE = "https://api.example.org/v1"
HERE = "http://127.0.0.1:9/v1"


def corpus(folder: Path, *rows: dict[str, Any], **said: Any) -> Corpus:
    return load(json_file(folder, list(rows) or [entry()], **said))


def sent(made: Corpus, url: str, may_send: str | None = None) -> str:
    """Return why the texts may not be sent; empty where they may."""
    try:
        require_sending(made.dataset, made.entries, url, may_send)
    except NobodySaidWhetherToSend as error:
        return f"ask: {error}"
    except MayNotSend as error:
        return f"no: {error}"
    return ""


WORDS = "The council, on 3 May"


@pytest.mark.parametrize(("said", "here", "elsewhere", "answered", "term"), [
    ({}, "", "ask", "", "no licence and no other term"),
    ({"license": "unknown"}, "", "ask", "", "license: unknown"),
    ({"license": "CC-BY-NC-4.0"}, "", "ask", "", "only without profit"),
    ({"license": "CC-BY-4.0"}, "", "", "", ""), ({"transmission": "open"}, "", "", "", ""),
    ({"transmission": "ask"}, "", "ask", "", "the owner of the texts said so"),
    ({"transmission": "open", "training": "no"}, "", "ask", "", "no model may learn"),
    ({"license": "CC-BY-ND-4.0"}, "", "no", "no", "a translation is a derivative"),
    ({"license": "Kaitiakitanga"}, "", "no", "no", "the texts belong to a community"),
    ({"transmission": "local-only"}, "", "no", "no", "transmission: local-only"),
    ({"transmission": "nowhere"}, "no", "no", "no", "transmission: nowhere"),
    ({"transmission": ["https://other.example"]}, "", "no", "no", "https://other.example only"),
    ({"transmission": [ELSEWHERE], "training": "no"}, "", "", "", ""),
    ({"transmission": ["https://api.example.org.evil.net/v1"]}, "", "no", "no", "however much alike"),
])  # fmt: skip
def test_each_rule_says_where_texts_may_go(
    tmp_path: Path, said: dict[str, Any], here: str, elsewhere: str, answered: str, term: str
) -> None:
    made = corpus(tmp_path, **said)
    assert sent(made, HERE).partition(":")[0] == here
    found = sent(made, ELSEWHERE)
    assert found.partition(":")[0] == elsewhere
    assert sent(made, ELSEWHERE, WORDS).partition(":")[0] == answered
    assert term in found
    if found:
        assert "Term: " in found
        assert "Rule: " in found
        assert ("--may-send" in found) is (elsewhere == "ask")
        assert ("owner of the texts" in found) is (elsewhere == "no" or "the owner" in term)


def test_segment_of_the_chosen_entries_decides(tmp_path: Path) -> None:
    rows = [entry(1, segment="development"), entry(2, segment="diagnostic")]
    nowhere = corpus(tmp_path, *rows, transmission="nowhere")
    require_sending(nowhere.dataset, nowhere.entries, None, None)  # no server, whatever the terms
    terms: dict[str, Any] = {"development": "open", "diagnostic": [ELSEWHERE]}
    made = corpus(tmp_path, *rows, transmission=terms)
    first, second = ([each] for each in made.entries)
    other = "https://any.example"
    require_sending(made.dataset, first, other, None)
    words = "of diagnostic may be sent to"
    refuses(MayNotSend, words, require_sending, made.dataset, second, other, None)
    terms = {"development": "local-only", "diagnostic": "open"}
    made = corpus(tmp_path, *rows, transmission=terms)
    require_sending(made.dataset, second, ELSEWHERE, None)
    words = "These texts of development stay on this machine"
    refuses(MayNotSend, words, require_sending, made.dataset, first, ELSEWHERE, None)


def test_what_stays_here_is_refused_by_runs_and_estimates(tmp_path: Path, home: Path) -> None:
    made = corpus(tmp_path, license="CC-BY-ND-4.0")
    for asked in (request(made), request(made, offline=True)):
        refuses(MayNotSend, r"Term: license: CC-BY-ND-4\.0\. Rule: a translation", asked.method)
    for empty in ("", " \t"):
        without = corpus(tmp_path, license=empty)
        assert "Term: license is there and says nothing. Rule: " in sent(without, ELSEWHERE)
        assert without.dataset.terms.words.endswith("(license is there and says nothing)")
    refuses(MayNotSend, "Rule: a translation is a derivative", estimate, home / "rosetta.sqlite", request(made))  # fmt: skip


def request(made: Corpus, **told: Any) -> Any:
    return ask(made, "chat", {"endpoint": ELSEWHERE, "model": "m", **told})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("API_EXAMPLE_ORG_API_KEY", "sk-0123456789")
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_run_is_refused_before_a_key_is_asked_for(tmp_path: Path, home: Path) -> None:
    made = corpus(tmp_path, license="CC-BY-NC-4.0")

    def no(*_: object) -> Any:
        raise AssertionError("a key was asked for")

    asked = request(made)
    refuses(NobodySaidWhetherToSend, "", make_method, asked.plan, made.entries, made.entries, no, made.dataset)  # fmt: skip
    allowed = asked.allowed(f" {WORDS} ")
    assert allowed.plan.run.may_send == WORDS
    assert allowed.method().endpoint == ELSEWHERE


@pytest.mark.parametrize("option", ["judge", "embeddings"])
def test_judges_and_embeddings_are_endpoints_too(tmp_path: Path, home: Path, option: str) -> None:
    made = corpus(tmp_path)
    wanted = "lbrag.semantic_score" if option == "judge" else "semantic"
    told = {option: ELSEWHERE, f"{option}_model": "m", "metrics": f"chrf,{wanted}"}
    asked = ask(made, "copy-source", told)
    refuses(NobodySaidWhetherToSend, "", asked.method)
    assert ask(made, "copy-source", {**told, "may_send": WORDS}).method()


@pytest.mark.parametrize(("said", "told", "shut"), [
    ({}, {}, True), ({}, {"may_send": WORDS}, False), ({"license": "CC-BY-4.0"}, {}, False),
    ({"license": "CC-BY-4.0", "training": "no"}, {}, True),
    ({"transmission": [ELSEWHERE]}, {"may_send": WORDS}, True),
])  # fmt: skip
def test_foreign_code_reaches_nobody_unless_the_terms_say_so(
    tmp_path: Path, home: Path, said: dict[str, Any], told: dict[str, str], shut: bool
) -> None:
    (tmp_path / "own.py").write_text("class Own:\n    pass\n")
    made = corpus(tmp_path, **said)
    with pytest.raises(UsageError):  # it is no method; the door is shut before its first line runs
        ask(made, f"{tmp_path / 'own.py'}:Own", told).method()
    assert (offline.why() == offline.TERMS) is shut


def began(made: Corpus, store: Path, **told: Any) -> None:
    asked = ask(made, "copy-source", told)
    with opened(store) as connection:
        begin(connection, made, asked.positions, asked.method(), asked.plan)


@pytest.mark.parametrize(("before", "now", "refused"), [
    ({"transmission": [ELSEWHERE]}, {"transmission": "open"}, True),
    ({"transmission": [ELSEWHERE]}, {"transmission": [ELSEWHERE, "https://b.example"]}, True),
    ({"transmission": [ELSEWHERE]}, {}, True),
    ({"license": "CC-BY-NC-4.0"}, {"license": "CC-BY-4.0"}, True),
    ({"transmission": "open", "training": "no"}, {"transmission": "open"}, True),
    ({"transmission": "local-only"}, {"transmission": "open"}, True),
    ({"transmission": "open"}, {"transmission": [ELSEWHERE]}, False),
    ({"transmission": [ELSEWHERE]}, {"transmission": [ELSEWHERE]}, False),
    ({}, {"license": "CC-BY-4.0"}, False),
])  # fmt: skip
def test_a_file_whose_terms_were_widened_is_refused(
    tmp_path: Path, home: Path, before: Any, now: Any, refused: bool
) -> None:
    """Whoever edits the file, and its id too, is known by the sentences."""
    store = home / "rosetta.sqlite"
    began(corpus(tmp_path, **before), store)
    path = json_file(tmp_path, [entry(7, source="Source 1!")], **now)
    data = json.loads(path.read_text())
    data["dataset"]["id"] = "another"
    path.write_text(json.dumps(data))
    if refused:
        refuses(UsageError, r"stricter terms|known here as secret", began, load(path), store)
    else:
        began(load(path), store)


def test_corpus_of_a_known_name_or_kept_here_becomes_no_freer(tmp_path: Path, home: Path) -> None:
    store = home / "rosetta.sqlite"
    began(corpus(tmp_path, transmission=[ELSEWHERE]), store)
    exchanged = corpus(tmp_path, entry(9), transmission="open")  # every sentence
    refuses(UsageError, r"known here as made.*rosetta runs delete --now", began, exchanged, store)
    other = home / "other.sqlite"
    began(corpus(tmp_path, transmission="nowhere"), other)
    refuses(UsageError, "stricter terms", began, corpus(tmp_path, transmission="local-only"), other)


def test_a_run_from_before_goes_on_once_somebody_answered(tmp_path: Path, home: Path) -> None:
    """Runs that were begun when nothing was asked, or whose terms were never told, wait for the answer."""
    store, made = home / "rosetta.sqlite", corpus(tmp_path)
    asked = request(made, may_send=WORDS)
    with opened(store) as connection:
        number = begin(connection, made, asked.positions, asked.method(), asked.plan)
        before = json.dumps(asked.plan.model_dump(mode="json") | {"run": {}})
        connection.execute("UPDATE runs SET plan = ? WHERE id = ?", (before, number))
        run = read_run(connection, number)
        refuses(NobodySaidWhetherToSend, "", resume_method, connection, run)
        assert resume_method(connection, run, WORDS).endpoint == ELSEWHERE
