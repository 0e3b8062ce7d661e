"""Where texts may go: classes of licences, addresses that look alike, terms of segments, and sidecars of the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.model.licences import licence_class, licence_classes
from corpora.model.sending import Transmission, address_of, is_within
from corpora.model.sidecar import SET_1, mark_bytes
from tests.corpora.making import entry, json_file, only_problem

LOCAL = "local-only"
OURS = "https://translate.example.org/v1"


def test_licence_is_in_one_class_that_leads_somewhere() -> None:
    for licence, name in [
        ("CC-BY-4.0", "open"), ("CC0-1.0", "open"), ("cc-by-sa-3.0", "open"), ("GPL-3.0-only", "open"),
        ("CC-BY-NC-4.0", "non-commercial"), ("CC BY-NC-SA 4.0", "non-commercial"),
        ("Creative Commons Attribution-NonCommercial", "non-commercial"),
        ("PolyForm-Noncommercial-1.0.0", "non-commercial"),
        ("CC-BY-ND-4.0", "no-derivatives"), ("CC-BY-NC-ND-4.0", "no-derivatives"),
        ("Kaitiakitanga License", "community-only"), ("TK CR", "community-only"),
        ("community-eval-grant-nc", "community-only"), ("OCAP", "community-only"),
        ("All rights reserved", "closed"), ("CC-BY-4.0, do not share", "closed"),
        ("unknown", "unknown"), ("none", "unknown"), ("", "unknown"),
        ("LicenseRef-Council", None), ("CC BY-NC 4.0 with consent", None),
        ("CC BY 4.0, community", None), ("other", None), ("noncommercial, ask us", None),
    ]:  # fmt: skip
        found = licence_class(licence)
        assert (found.name if found else None) == name
    assert list(licence_classes()) == ["closed", "no-derivatives", "community-only", "non-commercial", "open", "unknown"]  # fmt: skip
    for each in licence_classes().values():
        assert Transmission(each.leads_to) in {Transmission.OPEN, Transmission.ASK, Transmission.LOCAL_ONLY}  # fmt: skip
        assert each.because[0].islower()
        assert all(licence_class(id_) == each for id_ in each.spdx)


def test_address_is_known_in_each_form_and_no_lookalike() -> None:
    for url in [OURS, f"{OURS}/", f"{OURS}/chat/completions", "https://TRANSLATE.example.org:443/v1", "https://translate.example.org./v1"]:  # fmt: skip
        assert is_within(url, [OURS])
    for url in [
        "https://translate.example.org.evil.net/v1", "https://translate-example.org/v1", "http://translate.example.org/v1",
        "https://translate.example.org:8443/v1", "https://translate.example.org/v10", "https://translate.example.org/v",
        "https://translate.example.org@evil.net/v1", "https://evil.net/https://translate.example.org/v1",
        "https://trаnslate.example.org/v1",  # a Cyrillic а
        "https://translate.example.org/v1/../v2", "https://translate.example.org/v1/%2e%2e/v2",
        "https://translate.example.org/v1/./x", "https://translate.example.org/v1?to=evil", "https://translate.example.org//v1",
        "https://translate.example.org\\@evil.net/v1", "https://evil.net#translate.example.org/v1", "ftp://translate.example.org/v1",
        "https://api.translate.example.org/v1", "https://translate.example.org:99999/v1", "translate.example.org/v1", "", "https://",
    ]:  # fmt: skip
        assert not is_within(url, [OURS])
    assert address_of("HTTPS://Translate.Example.org:443/v1/") == OURS
    assert address_of("http://[::1]:80/x") == "http://[::1]/x"
    assert not is_within("https://a.example/b", ["https://a.example/c", "https://b.example"])


def term(corpus: Corpus) -> tuple[Transmission, tuple[str, ...]]:
    return corpus.dataset.terms.transmission, corpus.dataset.terms.endpoints


@pytest.mark.parametrize(
    ("said", "led_to"),
    [
        ("nowhere", (Transmission.NOWHERE, ())), ("ask", (Transmission.ASK, ())), ("Open", (Transmission.OPEN, ())),
        ([OURS], (Transmission.NAMED, (OURS,))), (f"{OURS}, https://b.example", (Transmission.NAMED, (OURS, "https://b.example"))),
    ],
)  # fmt: skip
def test_a_corpus_says_where_its_texts_may_go(tmp_path: Path, said: Any, led_to: Any) -> None:
    corpus = load(json_file(tmp_path, [entry()], transmission=said, license="CC-BY-4.0"))
    assert term(corpus) == led_to
    assert corpus.entries[0].secret is led_to[0].kept_here
    again = load(json_file(tmp_path, [entry()], transmission=corpus.dataset.terms.as_written))
    assert term(again) == led_to


@pytest.mark.parametrize(
    "said",
    ["named", "somewhere", ["openrouter"], [OURS, "https://b.example/?x"], {}, {"development": "soon"},
     {"other": "open"}, {"development": {"development": "open"}}],
)  # fmt: skip
def test_what_is_not_understood_is_an_error(tmp_path: Path, said: Any) -> None:
    assert '"transmission"' in only_problem(json_file(tmp_path, [entry()], transmission=said)).mend


def test_a_segment_may_go_where_others_may_not(tmp_path: Path) -> None:
    rows = [entry(1, segment="development"), entry(2, segment="diagnostic"), entry(3), entry(4, segment="gold_standard")]  # fmt: skip
    said = {"development": "open", "diagnostic": [OURS]}
    corpus = load(json_file(tmp_path, rows, transmission=said))
    assert [each.secret for each in corpus.entries] == [False, False, True, True]
    terms = corpus.dataset.terms
    assert terms.sending(Segment.DIAGNOSTIC).endpoints == (OURS,)
    assert terms.sending(None).transmission is Transmission.LOCAL_ONLY
    assert terms.as_written == said
    assert "diagnostic: open texts may be sent to" in terms.words


def mark(folder: Path, **fields: Any) -> None:
    (folder / "corpus.json.champollion.json").write_text(json.dumps({"$schema": SET_1} | fields))


def test_a_sidecar_makes_a_corpus_stricter_and_never_freer(tmp_path: Path) -> None:
    own: Any
    beside: Any
    for own, beside, led_to in [
        ("open", {"transmission": "local-only"}, Transmission.LOCAL_ONLY),
        ([OURS], {"role": "dev"}, Transmission.NAMED),
        ("nowhere", {"role": "dev"}, Transmission.NOWHERE),
        ("open", {"tier": "sealed"}, Transmission.LOCAL_ONLY),
        ("open", {"segment": "held_out"}, Transmission.LOCAL_ONLY),
        ("open", {"tier": "public", "role": "train", "kind": "parallel", "x-note": 1}, Transmission.OPEN),
    ]:  # fmt: skip
        mark(tmp_path, **beside)
        assert (
            load(json_file(tmp_path, [entry()], transmission=own)).dataset.terms.transmission
            is led_to
        )


@pytest.mark.parametrize(
    ("beside", "left"),
    [([OURS], (OURS,)), (["https://b.example"], ()), (["https://b.example", OURS], (OURS,))],
)
def test_address_lists_intersect(tmp_path: Path, beside: list[str], left: tuple[str, ...]) -> None:
    mark(tmp_path, **{"x-rosetta-transmission": beside})
    corpus = load(json_file(tmp_path, [entry()], transmission=[OURS, "https://a.example"]))
    assert corpus.dataset.terms.endpoints == left
    assert corpus.entries[0].secret is (left == ())


def test_role_of_a_sidecar_does_not_widen_a_licence(tmp_path: Path) -> None:
    for role in ("dev", "train", "input", "resource"):
        mark(tmp_path, role=role)
        assert load(json_file(tmp_path, [entry()], license="CC-BY-ND-4.0")).entries[0].secret


def test_a_sidecar_says_who_may_learn_from_the_texts(tmp_path: Path) -> None:
    for terms, training in [
        ({"training": "not-allowed"}, False), ({"training": "allowed"}, True), ({"owner": "The council"}, None),
        ({"training": "allowed", "speakers_agreed": "not-yet"}, False), ({"speakers_agreed": "yes"}, None),
        ({"speakers_agreed": "some-said-no"}, False),
    ]:  # fmt: skip
        mark(tmp_path, terms=terms)
        corpus = load(json_file(tmp_path, [entry()], transmission="open"))
        assert corpus.dataset.terms.training is training
        assert corpus.dataset.terms.transmission is Transmission.OPEN
        assert load(json_file(tmp_path, [entry()], transmission="open", training=True)).dataset.terms.training is (training is not False)  # fmt: skip


def test_sidecar_not_understood_is_an_error_and_an_old_one_read(tmp_path: Path) -> None:
    fields: Any
    for fields in [{"$schema": "https://elsewhere.example"}, {"colour": "red"}, {"terms": {"training": "maybe"}}, {"tier": "x"},
     {"segment": "x"}, {"terms": {"training": "not-allowed", "also": "local-only please, ask us"}}]:  # fmt: skip
        mark(tmp_path, **fields)
        only_problem(json_file(tmp_path, [entry()], transmission="open"))
    (tmp_path / "corpus.json.champollion.json").write_text('{"terms": {"training": "not-allowed"}}')
    assert load(json_file(tmp_path, [entry()])).dataset.terms.training is False


def test_a_corpus_can_forbid_training_itself(tmp_path: Path) -> None:
    for fields in ({"training": "no"}, {"do_not_train": True}, {"training": False}):
        assert load(json_file(tmp_path, [entry()], **fields)).dataset.terms.training is False
    only_problem(json_file(tmp_path, [entry()], training="perhaps"))


def test_a_sidecar_that_is_written_is_read_back(tmp_path: Path) -> None:
    path = json_file(tmp_path, [entry()], transmission="open")
    corpus = load(path)
    told = {"transmission": "local-only", "training": "no", "owner": "The council", "role": "dev"}
    made = tmp_path / "corpus.json.champollion.json"
    made.write_bytes(mark_bytes(corpus.sha256, told))
    said = json.loads(made.read_text("utf-8"))
    assert (said["$schema"], said["sha256"]) == (SET_1, corpus.sha256)
    assert said["terms"] == {"training": "not-allowed", "owner": "The council"}
    again = load(path)
    assert again.entries[0].secret
    assert again.dataset.terms.training is False


@pytest.mark.parametrize(
    ("said", "for_others"),
    [("nowhere", LOCAL), ("ask", LOCAL), ([OURS], LOCAL), (LOCAL, LOCAL), ("open", None)],
)
def test_unknown_term_is_stricter_there(tmp_path: Path, said: Any, for_others: str | None) -> None:
    path = json_file(tmp_path, [entry()])
    made = mark_bytes(load(path).sha256, {"transmission": said})
    (tmp_path / "corpus.json.champollion.json").write_bytes(made)
    assert json.loads(made).get("transmission") == for_others
    assert load(path).dataset.terms.as_written == said
