"""Prompt versions, their slots, and the names of languages in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.languages.language_names import language_name
from corpora.languages.scripts import tag_script
from harness.core.failures import UsageError
from harness.inputs.prompt import Prompt, load_prompt, shipped_versions


@given(st.text(), st.text())
def test_braces_in_values_are_only_braces(first: str, second: str) -> None:
    filled = Prompt("p", "[{one}|{two}]").fill({"one": first, "two": second})
    assert filled == f"[{first}|{second}]"


@given(st.text())
def test_filling_never_interprets_anything_else(text: str) -> None:
    prompt = Prompt("p", text)
    if not prompt.slots and "{{" not in text:
        assert prompt.fill({}) == text


def test_slots_and_literals() -> None:
    prompt = Prompt("p", 'Keep {{name}} and {"1": "x"} and {0.__class__} for {who}.')
    assert prompt.slots == {"who"}
    assert prompt.fill({"who": "{{name}}"}) == (
        'Keep {name} and {"1": "x"} and {0.__class__} for {{name}}.'
    )
    with pytest.raises(UsageError, match=r"\{source_langauge\}.*\{\{source_langauge\}\}"):
        Prompt("p", "{source_langauge}").fill({"source_language": "English"})


def test_shipped_versions_fill_with_what_methods_give() -> None:
    known = {"source_language", "target_language", "source_tag", "target_tag"}
    more = {"coached-v1": {"notes", "examples"}, "retry-v1": {"findings"}}
    assert {"plain-v1", "coached-v1", "batch-v1", "retry-v1", "tools-v1", "analyse-v1"} == set(
        shipped_versions()
    )
    for version in shipped_versions():
        prompt = load_prompt(version)
        assert prompt.text
        assert prompt.slots <= known | more.get(version, set())


def test_a_prompt_of_one_s_own(tmp_path: Path) -> None:
    file = tmp_path / "mine-v2.txt"
    file.write_text("\ufeffTo {target_language}.\n", "utf-8")
    assert load_prompt(str(file)) == Prompt("mine-v2", "To {target_language}.")
    file.write_text(" \n")
    with pytest.raises(UsageError, match="empty"):
        load_prompt(str(file))
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="UTF-8"):
        load_prompt(str(file))


@pytest.mark.parametrize(
    ("tag", "name", "script"),
    [
        ("en", "English", None),
        ("crk", "Plains Cree", None),
        ("crk-Cans", "Plains Cree (Canadian Aboriginal syllabics)", "Cans"),
        ("crk_latn", "Plains Cree (Latin script)", "Latn"),
        ("pt-BR", "Portuguese (BR)", None),
        ("zh-Hant-TW", "Chinese (traditional characters, TW)", "Hant"),
        ("qaa", "qaa", None),
        ("iu", "Inuktitut", None),
    ],
)
def test_names_of_languages(tag: str, name: str, script: str | None) -> None:
    assert language_name(tag) == name
    assert tag_script(tag) == script


def test_line_ends_of_another_system_change_nothing(tmp_path: Path) -> None:
    for content in (b"One:\n{source}\n", b"One:\r\n{source}\r\n", b"One:\r{source}\r"):
        (tmp_path / "own.txt").write_bytes(content)
        assert load_prompt(str(tmp_path / "own.txt")).text == "One:\n{source}"
