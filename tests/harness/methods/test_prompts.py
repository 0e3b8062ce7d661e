"""Prompts and their slots, what can be said to a method, and what a call took, parted among its entries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.languages.tags import language_name, tag_script
from corpora.tasks.task import TASKS
from harness.core.calls import Usage
from harness.core.failures import UsageError
from harness.inputs.prompt import Prompt, load_prompt, shipped_versions
from harness.method.method import shares
from harness.method.options import MethodOptions, check_options, flag
from tests.harness.methods.conftest import options


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
    of_tasks = {f"{each.name}-v1" for each in TASKS.values() if each.asks_models} - {
        "translation-v1"
    }
    ours = {"plain-v1", "coached-v1", "batch-v1", "retry-v1", "tools-v1", "analyse-v1"}
    assert ours | of_tasks == set(shipped_versions())
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


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": float("nan")},
        {"temperature": -0.1},
        {"temperature": 2.1},
        {"max_tokens": 0},
        {"batch_size": 0},
        {"replicate": -1},
        {"max_retries": 21},
        {"no_such_option": 1},
        {"body": {"seed": 2**60}},
        {"body": {"x": float("inf")}},
        {"settings": {"x": "\ud800"}},
    ],
)
def test_values_out_of_range(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options(**given)


def test_what_a_plan_keeps_is_read_back() -> None:
    asked = options(model="m", body={"a": [1]}, checks=["length"], glossary="d.tsv")
    assert MethodOptions.model_validate_json(asked.model_dump_json()) == asked


def test_defaults_count_as_not_given() -> None:
    check_options("m", options(temperature=0.0, batch_size=1, body={}))
    with pytest.raises(
        UsageError, match="--temperature does not apply to method 'm': leave it out"
    ):
        check_options("m", options(temperature=0.3))
    with pytest.raises(UsageError, match="It takes --model, --check"):
        check_options("m", options(text="x", model="y"), needs=["model"], takes=["checks"])


def test_every_flag_is_one_of_the_command_line() -> None:
    from rosetta_tui.commands.run import run

    offered = {flag_ for option in run.params for flag_ in option.opts}
    for name in MethodOptions.model_fields.keys() - {
        "source_language",
        "target_language",
        "file_lines",
    }:
        if name != "service":  # the command line says api:SERVICE
            assert flag(name) in offered, name
    assert not [name for name in map(flag, MethodOptions.model_fields) if re.search("[_A-Z]", name)]


COUNTS = st.integers(0, 10**9)


@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS), st.integers(1, 500))
def test_shares_add_up_and_differ_by_one_at_most(usage: Usage, entries: int) -> None:
    parts = shares(usage, entries)
    assert len(parts) == entries
    total = Usage()
    for part in parts:
        assert part is not None
        total = total + part
    assert total == usage
    prompts = [part.prompt_tokens for part in parts if part is not None]
    assert max(prompts) - min(prompts) <= 1


def test_what_was_not_counted_is_unknown_for_each() -> None:
    assert shares(None, 3) == [None, None, None]
