"""Texts are sent, and replies kept, only as the clearance of the very run allows."""

import copy
import pickle
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.clearance import Clearance
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.model.vocabularies import Sending, Transmission
from harness.core.calls import Calls, Reply, Request
from harness.endpoint.endpoints import no_key
from harness.method.completions import read_completion
from harness.method.method import MethodClass, Output, Setup
from harness.privacy import SendingRules, clear
from harness.run.running import execute_run
from harness.setup.plan import RunOptions
from harness.store.file.database import open_store
from scoring.core.setup import Translation
from tests.guards.tree import PACKAGES, lines_with
from tests.harness.evaluation import CHEAP, Heard, begun_on, chat_plan, corpus, corpus_of, kept, query, run_corpus
from tests.harness.scripted import Scripted, error

FAR, NEAR = "https://a.example/v1", "http://127.0.0.1:9/v1"


def test_one_module_alone_makes_clearances() -> None:
    made = lines_with(r"(?<!class )\b(Clearance|ClearedMethod)\(.*|replace\(\w*\.?clearance.*", *PACKAGES)
    assert {each.split(":")[0] for each in made} == {"harness/privacy.py"}


@pytest.mark.parametrize(("sending", "allowed"), [
    (Sending(Transmission.OPEN), {FAR, NEAR}),
    (Sending(Transmission.NAMED, (FAR,)), {FAR, NEAR}),
    (Sending(Transmission.NAMED, ("https://b.example",)), {NEAR}),
    (Sending(Transmission.LOCAL_ONLY), {NEAR}),
    (Sending(Transmission.NOWHERE), set()),
])  # fmt: skip
def test_clearance_allows_addresses(sending: Sending, allowed: set[str]) -> None:
    clearance = Clearance(sending=sending)
    assert {url for url in (FAR, NEAR) if clearance.allows(url, local=url is NEAR)} == allowed


def test_clearance_leaves_its_process_by_no_way() -> None:
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="the process that made it"):
            way(Clearance())


@pytest.mark.parametrize(("segments", "options", "expected"), [
    (["development"], {}, Transmission.LOCAL_ONLY),  # nobody was asked
    (["development"], {"may_send": "we do"}, Transmission.ASK),
    (["development", "held_out"], {"may_send": "we do"}, Transmission.LOCAL_ONLY),
    (["development"], {"may_send": "we do", "offline": True}, Transmission.LOCAL_ONLY),
])  # fmt: skip
def test_strictest_of_the_entries_decides(
    segments: list[str], options: dict[str, object], expected: Transmission
) -> None:
    entries = [corpus(1, segment=segment).entries[0] for segment in segments]
    rules = SendingRules.of(corpus(1).dataset, dict(enumerate(entries)), RunOptions.model_validate(options))
    found = rules.clearance()
    assert found.sending.transmission is expected
    assert found.secret == {place for place, name in enumerate(segments) if name == "held_out"}


@pytest.mark.parametrize("mark", [{"segment": "held_out"}, {"segment": "development", "local_only": True}])
def test_secret_entry_shows_no_text_by_itself(mark: dict[str, Any]) -> None:
    [secret], [public] = corpus(1, notes="a note", **mark).entries, corpus(1, notes="a note").entries
    ways: list[Callable[[Entry], str]] = [repr, str, "{}".format, lambda entry: repr([Translation(entry, "x")])]
    for shown in ways:
        told = shown(secret)
        assert not [text for text in ("number", "NUMBER", "a note") if text in told]
        assert "entry number 0" in shown(public)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)
    assert pickle.loads(pickle.dumps(public)) == public
    assert copy.copy(secret) == copy.deepcopy(secret) == secret


class Straying:
    """A method that names one server and asks another one."""

    def __init__(self, named: str | None, asked: str) -> None:
        self.endpoint, self._asked = named, asked
        self.setup = Setup(
            method="straying", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", model_slug="m", condition="x"
        )

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> list[Output]:
        body = {"messages": [{"role": "user", "content": entries[0].source}]}
        reply: Reply = await calls.send(Request("x", f"{self._asked}/chat/completions", body, read_completion))
        return [Output(reply.text) for _ in entries]


def of_terms(transmission: object) -> Corpus:
    given = corpus(1, source="a text")
    told = given.dataset.model_copy(update={"transmission": transmission})
    kept = {"local_only": told.terms.local_only}
    return Corpus(told, tuple(entry.model_copy(update=kept) for entry in given.entries), given.sha256, given.form)


@pytest.mark.parametrize(("transmission", "words"), [
    (["https://b.example"], "do not let its texts be sent to this address"),
    ("local-only", "nothing may leave this machine, and the endpoint is on another one"),
])  # fmt: skip
def test_method_that_strays_from_its_terms_sends_nothing(store_path: Path, transmission: object, words: str) -> None:
    heard = run_corpus(store_path, of_terms(transmission), CHEAP, method=Straying(None, FAR))
    assert words in str(heard.finished.reason)
    assert heard.finished.done == 0


def test_no_text_goes_to_a_server_here_where_it_goes_nowhere(store_path: Path, endpoint: Scripted) -> None:
    heard = run_corpus(store_path, of_terms("nowhere"), CHEAP, method=Straying(None, endpoint.url))
    assert "do not let its texts be sent" in str(heard.finished.reason)
    assert endpoint.asked == []


def test_clearance_of_another_run_lets_none_begin(store_path: Path, endpoint: Scripted) -> None:
    """Somebody who was cleared for open entries goes on with secret ones."""
    secret, public = corpus(2, segment="held_out"), corpus(2)
    cleared = [
        clear(each.dataset, dict(enumerate(each.entries)), chat_plan(endpoint.url), each.entries, no_key,
              answered_before=True)
        for each in (secret, public)
    ]  # fmt: skip
    with closing(open_store(store_path)) as connection:
        number = begun_on(connection, secret, (0, 1), cleared[0])
    heard = Heard()
    with pytest.raises(ValueError, match="another run"):
        execute_run(store_path, number, cleared[1], heard, heard.control)
    assert endpoint.asked == []
    assert query(store_path, "SELECT count(*) FROM results") == [(0,)]


@pytest.mark.parametrize("segment", ["development", "held_out"])
@pytest.mark.parametrize("status", [200, 400, 500])
def test_words_of_a_server_about_a_secret_entry_are_withheld(
    store_path: Path, endpoint: Scripted, segment: str, status: int
) -> None:
    """Whatever the method is, and however many entries share the call, the run sees to it."""
    endpoint.answer = lambda asked: error(status, f"cannot say {asked.source}")
    plan = chat_plan(endpoint.url, batch_size=2)
    given = [*corpus(1).entries, *corpus(2, segment=segment).entries[1:]]
    heard = run_corpus(store_path, corpus_of(given), plan)
    kept_words = [each.error or "" for each in kept(store_path).results]
    assert ("cannot say" in f"{kept_words} {heard.events}") is (segment == "development")
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
