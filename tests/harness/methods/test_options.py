"""What can be said to a method, and what cannot."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import ValidationError

from harness.core.failures import UsageError
from harness.method.options import MethodOptions, check_options, flag
from tests.harness.methods.conftest import options


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
