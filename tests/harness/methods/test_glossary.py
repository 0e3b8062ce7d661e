"""Word by word from a dictionary, and the dictionary itself."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Segment
from corpora.text.words import words
from harness.core.failures import UsageError
from harness.inputs.dictionary import Dictionary, read_dictionary
from harness.method.method import Method
from harness.methods.glossary import word_by_word
from harness.methods.registry import build
from tests.harness.methods.conftest import HttpCalls, entry, options

CREE = Dictionary(
    [
        ("dog", "atim"),
        ("black dog", "kaskitêwastim"),
        ("dog house", "atimowikamik"),
        ("I", "niya"),
        ("see", "wâpam"),
        ("see", "wâpahta"),
        ("thank you", "kinanâskomitin"),
        ("don’t", "êkâwiya"),
    ]
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("I see the dog.", "niya wâpam the atim."),
        ("Dog, Black  dog!", "Atim, Kaskitêwastim!"),
        ("DOG", "Atim"),
        ("a dog house, dog", "a atimowikamik, atim"),
        ("see I", "wâpam niya"),
        ("black, dog", "black, atim"),
        ("{dog} %s <b>dog</b> ${see} https://dog.example/dog", None),
        ("Thank you, {{name}}!", "Kinanâskomitin, {{name}}!"),
        ("Don't see", "Êkâwiya wâpam"),
        ("dogs", "dogs"),
        ("", ""),
    ],
)
def test_word_by_word(source: str, expected: str | None) -> None:
    if expected is None:
        expected = source.replace(">dog<", ">atim<")
    assert word_by_word(CREE, source) == expected


@given(st.text())
def test_nothing_known_changes_nothing(source: str) -> None:
    assert word_by_word(Dictionary([("qqqxyz", "x")]), source) == source


@given(st.lists(st.sampled_from(["dog", "black", "see", "I", ",", "{dog}", "x"])))
def test_every_known_word_outside_a_placeholder_is_replaced(pieces: list[str]) -> None:
    left = {word.text for word in words(word_by_word(CREE, " ".join(pieces)))}
    assert not left & {"dog", "see", "I"}


def test_what_occurs_in_a_text() -> None:
    found = [head.phrase for head in CREE.occurring("My BLACK dog, I see a dog")]
    assert found == ["black dog", "dog", "I", "see"]
    assert CREE.lookup("SEE") == ("wâpam", "wâpahta")
    assert CREE.lookup("cat") == CREE.lookup("") == CREE.lookup("!") == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.tsv", "\ufeff# a remark\nsource\ttarget\ndog\tatim\tnoun\n\ndog\tacimosis\n"),
        ("d.txt", "dog\tatim\ndog\tacimosis"),
        ("d.csv", 'source,target\n"dog",atim\ndog,"acimosis"\n'),
        ("d.json", '{"dog": ["atim", "acimosis"]}'),
        ("d.json", '[{"source": "dog", "target": "atim"}, {"source":"Dog","target":"acimosis"}]'),
    ],
)
def test_every_form_of_dictionary(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    found = read_dictionary(file)
    assert found.lookup("dog") == ("atim", "acimosis")
    assert len(found) == 1
    assert found.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("d.tsv", "dog\tatim\ncat minôs\n", "line 2.*tab"),
        ("d.csv", "dog,atim\ncat,\n", "line 2.*comma"),
        ("d.tsv", "# only a remark\n", "empty"),
        ("d.json", "{", "not valid JSON"),
        ("d.json", "5", "object or list"),
        ("d.json", '{"dog": 5}', "item 1"),
        ("d.json", '{"dog": []}', "item 1"),
        ("d.json", '[{"source": "dog"}]', "item 1"),
        ("d.tsv", "x" * 200_000 + "\ty\n", "line 1"),
    ],
)
def test_mistakes_in_a_dictionary(tmp_path: Path, name: str, content: str, wanted: str) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=wanted):
        read_dictionary(file)


async def test_methods_that_call_nothing(tmp_path: Path, calls: HttpCalls) -> None:
    file = tmp_path / "d.tsv"
    file.write_text("dog\tatim\n", "utf-8")
    entries = [entry("Dog", 1), entry("cat", 2, Segment.GOLD_STANDARD)]
    made: list[tuple[Method, list[str]]] = [
        (build("copy-source", options()), ["Dog", "cat"]),
        (build("constant", options(text=" êkosi \n")), ["êkosi", "êkosi"]),
        (build("glossary", options(glossary=file)), ["Atim", "cat"]),
    ]
    for method, expected in made:
        assert [output.text for output in await method.translate(entries, calls)] == expected
        assert isinstance(method, Method)
        assert method.endpoint is None
    with pytest.raises(UsageError, match="needs --glossary"):
        build("glossary", options())
    with pytest.raises(UsageError, match="blank"):
        build("constant", options(text="  "))
    with pytest.raises(UsageError, match="--model does not apply to method 'copy-source'"):
        build("copy-source", options(model="m"))
