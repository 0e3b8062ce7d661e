"""Texts are sent, and replies kept, only as the clearance of the very run allows."""

import copy
import json
import pickle
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from corpora.files.packed_list import PlaceMap
from corpora.model.corpus import Corpus
from corpora.model.entry import Entry, SecretEntry, seal_secret
from corpora.model.terms import Clearance, reveal
from corpora.model.vocabularies import Sending, Transmission
from harness.core.calls import Calls, Reply, Request
from harness.endpoint.endpoints import no_key
from harness.method.completions import read_completion
from harness.method.method import MethodClass, Output, Setup
from harness.privacy import NO_CORPUS, SendingRules, clear
from harness.run.running import execute_run
from harness.setup.plan import RunOptions
from harness.store.corpora.entries import read_entries
from harness.store.sqlite.database import open_store
from scoring.core.setup import Translation
from tests.guards.tree import PACKAGES, lines_with
from tests.harness.evaluation import CHEAP, Heard, begun_on, chat_plan, corpus, corpus_of, kept, query, run_corpus
from tests.harness.scripted import Scripted, error
from tests.harness.sealed.refusals import refuses

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
        refuses(TypeError, "the process that made it", way, Clearance())


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
    rules = SendingRules.of(corpus(1).dataset, PlaceMap.of(entries), RunOptions.model_validate(options))
    found = rules.clearance()
    assert found.sending.transmission is expected
    assert found.secret == {place for place, name in enumerate(segments) if name == "held_out"}


def traceback_of(entry: Any) -> str:
    try:
        entry + 1
    except TypeError as error:
        return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    return ""


WAYS_OUT: list[Callable[[Any], object]] = [
    json.dumps, TypeAdapter(Any).dump_json, TypeAdapter(Any).dump_python, pickle.dumps, copy.copy, copy.deepcopy, vars,
    list, len, lambda entry: entry.source, lambda entry: entry.reference, lambda entry: entry.variants,
    lambda entry: f"{entry:>40}", lambda entry: entry.model_dump(), lambda entry: {**entry},
]  # fmt: skip
SHOWN: list[Callable[[Any], object]] = [
    repr, str, "{}".format, "{!r:>90}".format, "%s".__mod__, ascii, lambda entry: [entry], lambda entry: {entry: entry},
    lambda entry: [value for name in dir(entry) if not name.startswith("_") and not callable(value := getattr(entry, name))],
    lambda entry: Corpus(corpus(1).dataset, (entry,), "0" * 64, corpus(1).form), traceback_of,
    lambda entry: [entry.open_tag(name) for name in Entry.model_fields],
]  # fmt: skip


@given(st.text(), st.sampled_from(["held_out", "gold_standard", "local_only"]))
def test_sealed_entry_tells_nothing_of_its_texts(text: str, kept_by: str) -> None:
    mark = f"§{text}"
    fields: dict[str, Any] = {"local_only": True} if kept_by == "local_only" else {"segment": kept_by}
    more = {"notes": mark, "context": mark, "variety": mark, "own": mark, "variants": (mark,)}
    entry = Entry.model_validate({"id": 1, "source": mark, "reference": mark} | more | fields)
    secret = seal_secret(entry)
    for shown in SHOWN:
        assert "§" not in repr(shown(secret)), shown
    for way in WAYS_OUT:
        try:
            told = way(secret)
        except (TypeError, AttributeError, PydanticSerializationError) as error:
            told = error
        assert isinstance(told, Exception) or told is secret, way
        assert "§" not in repr(told), way
    assert secret not in (entry, seal_secret(entry))
    assert secret != entry
    assert reveal(secret, Clearance(marks=frozenset({seal_secret(entry).mark}))) is entry


@pytest.mark.parametrize("mark", [{"segment": "held_out"}, {"segment": "development", "local_only": True}])
def test_revealed_entry_shows_no_text_by_itself(mark: dict[str, Any]) -> None:
    [secret], [public] = (corpus(1, notes="a note", **more).reveal_here() for more in (mark, {}))
    ways: list[Callable[[Entry], str]] = [repr, str, "{}".format, lambda entry: repr([Translation(entry, "x")])]
    for shown in ways:
        told = shown(secret)
        assert not [text for text in ("number", "NUMBER", "a note") if text in told]
        assert "entry number 0" in shown(public)
    refuses(TypeError, "not pickled", pickle.dumps, secret)
    assert pickle.loads(pickle.dumps(public)) == public
    assert copy.copy(secret) == copy.deepcopy(secret) == secret


def test_clearance_reveals_the_entries_of_its_run_alone() -> None:
    """Other texts, other entries of its corpus, and the same texts once they are of another segment stay sealed."""
    whole, other = corpus(3, segment="gold_standard"), corpus(3, segment="held_out")
    cleared = clear(whole.dataset, PlaceMap.of(whole.entries).at([0]), CHEAP, whole.entries, no_key).clearance
    assert reveal(whole.entries[0], cleared).source == "entry number 0"
    assert reveal(corpus(3, segment="gold_standard").entries[0], cleared).source == "entry number 0"  # read again
    for secret in (*whole.entries[1:], *other.entries):
        refuses(ValueError, "another run", reveal, secret, cleared)
    refuses(ValueError, "another run", reveal, whole.entries[0], NO_CORPUS)
    assert reveal(corpus(1).entries[0], NO_CORPUS).source == "entry number 0"


REVEALED = {
    "sent or scored": {"harness/api.py", "harness/run/running.py"},
    "done here by its custodian": {
        # checked, counted, compared
        "corpora/checks/requirements.py", "harness/api.py", "harness/card/checking/lint_subject.py", "harness/card/importing.py",
        "harness/privacy.py",
        "harness/store/corpora/listing.py", "harness/vault/sealed_corpus.py", "rosetta_tui/commands/community/consent.py",
        "rosetta_tui/commands/vault/init.py",
        # scored by what is stored: a card, a comparison, an estimate
        "harness/card/material.py", "harness/compare/rows.py", "harness/estimate/earlier.py",
        "harness/setup/preparing.py", "harness/setup/scoring_tools.py",
        # written, sealed, or known by a digest
        "corpora/formats/write.py", "harness/project/authoring.py", "harness/store/corpora/entries.py",
        "harness/store/corpora/secrecy.py", "review/community/contents.py",
        # taken into a project or a review, and back
        "harness/project/candidates.py", "review/office/making/reviewed_runs.py", "review/office/results/into_project.py",
        "review/office/results/translations.py",
        # an output for each entry, by its id
        "harness/inputs/outputs.py", "rosetta_tui/commands/submission/pack.py",
        # shown
        "rosetta_tui/commands/review/adjudicate.py", "rosetta_tui/request/look.py",
    },
}  # fmt: skip
"""Module by what it does with secret texts; a new one is a decision."""


def test_texts_are_revealed_in_these_places_alone() -> None:
    ways = [r"(?<![.\w])reveal(?:_all)?\(", r"\breveal_here\("]
    for (what, modules), way in zip(REVEALED.items(), ways, strict=True):
        found = {place.split(":")[0] for place in lines_with(rf"^(?! *def ).*{way}", *PACKAGES)}
        assert (
            found - {"corpora/model/corpus.py", "corpora/model/terms.py", "harness/vault/secret_text.py"} == modules
        ), what
    within = {place.split(":")[0] for place in lines_with(r"(?<!self)\._entry\b", *PACKAGES)}
    assert within == {"corpora/model/entry.py", "corpora/model/terms.py"}
    assert {place.split(":")[0] for place in lines_with(r"\bOpenEntry\(", *PACKAGES)} == {"corpora/model/entry.py"}


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
    made = corpus(1, source="a text")
    told = made.dataset.model_copy(update={"transmission": transmission})
    kept = {"local_only": told.terms.local_only}
    return Corpus(told, tuple(entry.model_copy(update=kept) for entry in made.reveal_here()), made.sha256, made.form)


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
        clear(each.dataset, PlaceMap.of(each.entries), chat_plan(endpoint.url), each.entries, no_key,
              answered_before=True)
        for each in (secret, public)
    ]  # fmt: skip
    with closing(open_store(store_path)) as connection:
        number = begun_on(connection, secret, (0, 1), cleared[0])
        assert all(isinstance(entry, SecretEntry) for entry in read_entries(connection, 1).values())
    heard = Heard()
    refuses(ValueError, "another run", execute_run, store_path, number, cleared[1], heard, heard.control)
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
    mixed = [*corpus(1).reveal_here(), *corpus(2, segment=segment).reveal_here()[1:]]
    heard = run_corpus(store_path, corpus_of(mixed), plan)
    kept_words = [each.error or "" for each in kept(store_path).results]
    assert ("cannot say" in f"{kept_words} {heard.events}") is (segment == "development")
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
